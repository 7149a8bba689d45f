//! Packs the vocabularies of the exact token counters: as `tiktoken-rs` carries them, in base64, they are 5.3 MB of every
//! binary, and packed they are 1.5 (MEA-06).

#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "a build stops at the first surprise")]

use std::path::PathBuf;
use std::{env, fs};

use miniz_oxide::deflate::compress_to_vec;
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder for what is built"));
    for (name, encoding) in [("cl100k_base", cl100k_base()), ("o200k_base", o200k_base())] {
        let words = words(&encoding.expect("the vocabulary is in the crate"));
        fs::write(folder.join(name), compress_to_vec(&words, 9)).expect("the folder can be written");
    }
}

/// Every token in the order of its rank: its length in one byte, and its bytes. Ranks are without a gap from 0 on; the
/// first one that stands for nothing ends them, and special tokens come after it.
fn words(encoding: &CoreBPE) -> Vec<u8> {
    let tokens = (0..).map_while(|rank| encoding.decode_bytes(&[rank]).ok());
    tokens.fold(Vec::new(), |mut words, token| {
        words.push(u8::try_from(token.len()).expect("no token is longer than 255 bytes"));
        words.extend(token);
        words
    })
}
