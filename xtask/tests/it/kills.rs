//! The kill loop in small: nothing that was accepted is lost or done twice.

use std::process::Command;

// SEC-040 SEC-041 KAI-073 KAI-097 LES-097
#[test]
fn thirty_kills_lose_and_double_nothing() {
    let done = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["measure", "kills", "--count", "30", "--seed", "7", "--json"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let sums: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(sums["kills"], 30);
    for (kind, accepted) in sums["accepted"].as_object().unwrap() {
        let needs_servers = matches!(kind.as_str(), "mail" | "draft") && sums["mail"] == false;
        assert!(needs_servers || accepted.as_u64().unwrap() > 0, "no {kind} was accepted: {sums}");
        assert_eq!((&sums["lost"][kind], &sums["doubled"][kind]), (&0.into(), &0.into()), "{sums}");
    }
}
