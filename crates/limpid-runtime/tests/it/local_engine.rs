//! The agent with a model in its own process: SmolLM2, named by `LIMPID_TEST_GGUF` (`. scripts/parts` sets it); without
//! it the test says that it did nothing.

#![cfg(feature = "local")]
#![allow(clippy::print_stderr, reason = "a test, and one that does nothing must be seen")]

use std::path::Path;

use crate::kit::{Bench, say, text};
use limpid_core::Usage;
use limpid_runtime::{Config, Outcome, TurnEvent};

fn usage(events: &[TurnEvent]) -> Usage {
    let usage = |event: &TurnEvent| if let TurnEvent::Usage { usage, .. } = event { Some(*usage) } else { None };
    events.iter().find_map(usage).unwrap()
}

// ARC-003 MEA-15
#[tokio::test]
async fn a_second_turn_evaluates_only_what_is_new() {
    let Some(file) = std::env::var_os("LIMPID_TEST_GGUF").filter(|file| !file.is_empty()) else {
        eprintln!("SKIPPED a test of the agent with a local model: LIMPID_TEST_GGUF names no file");
        return;
    };
    let mut bench = Bench::new("[[reply]]\ntext = \"never asked\"\n").await;
    let config = "model = \"local/SmolLM2-135M-Instruct.Q4_1\"\n[local]\nwindow = 4096\nthreads = 1\n[limits]\noutput_tokens = 12\n";
    bench.config = Config::parse(config, "limpid.toml").unwrap();
    let models = bench.home.path().join("models");
    std::fs::create_dir(&models).unwrap();
    link(Path::new(&file), &models.join("SmolLM2-135M-Instruct.Q4_1.gguf"));

    let agent = bench.agent();
    let first = say(&agent, "Name three colours.").await;
    assert!(matches!(first.last(), Some(TurnEvent::Done { outcome: Outcome::Answered { .. }, .. })), "{first:?}");
    assert!(!text(&first).trim().is_empty(), "{first:?}");
    assert_eq!(usage(&first).cached, 0);

    let second = say(&agent, "And one more?").await;
    let (first, second) = (usage(&first), usage(&second));
    assert!(second.cached >= first.input, "{second:?} after {first:?}");
    assert!(bench.server.requests().is_empty());
}

/// The file in another place without its bytes twice, where the system can.
fn link(file: &Path, place: &Path) {
    if std::fs::hard_link(file, place).is_err() {
        std::fs::copy(file, place).unwrap();
    }
}
