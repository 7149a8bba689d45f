//! The measure of memory and turns in small.

#![cfg(target_os = "linux")]

use std::process::Command;

// LES-149
#[test]
fn memory_does_not_grow_with_the_turns() {
    let done = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["measure", "growth", "--turns", "1000", "--json"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let sums: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(sums["turns"], 1000);
    assert!(sums["percent"].as_f64().unwrap() < 10.0, "{sums}");
}
