//! The corpus, played through the targets: what once broke something does not break it again.

#![allow(clippy::disallowed_methods, reason = "it reads its own repository")]

use std::path::Path;

use fuzz::{TARGETS, target};

// SEC-044
#[test]
fn every_input_of_the_corpus_gives_a_result_or_an_error() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, play) in TARGETS {
        let inputs = std::fs::read_dir(corpus.join(name)).unwrap_or_else(|error| panic!("corpus/{name}: {error}"));
        let played = inputs.map(|input| play(&std::fs::read(input.unwrap().path()).unwrap())).count();
        assert!(played > 0, "corpus/{name} is empty");
    }
    for folder in std::fs::read_dir(corpus).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(target(&name).is_some(), "corpus/{name} belongs to no target");
    }
}
