//! The page in a real browser. Each test starts a script of `tests/browser`, which drives Chromium and asks this program, a line at a
//! time, for what happens behind the browser's back: what the model says, a heartbeat, an end of the server.

mod puppet;
mod stage;

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use self::stage::{Stage, Wish};

/// The folder of packages with Playwright and axe, and the browser.
const PARTS: [&str; 2] = ["LIMPID_TEST_MCP_BROWSER", "LIMPID_TEST_CHROMIUM"];

/// Longer than anything takes that a script asks for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What begins a line that asks for something.
const ASKS: &str = "> ";

/// Plays a script; its own words are the reason when it fails.
async fn play(script: &str) {
    play_at(script, Stage::open).await;
}

#[expect(clippy::print_stderr, clippy::print_stdout, reason = "whoever runs the tests is to know what was seen")]
async fn play_at(script: &str, open: impl AsyncFnOnce() -> Stage) {
    if PARTS.iter().any(|name| std::env::var_os(name).is_none()) {
        eprintln!("skipped: {PARTS:?} are not set, so {script} was not played");
        return;
    }
    let mut stage = open().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser").join(script);
    let mut node = Command::new("node");
    node.arg(file).env("LIMPID_URL", stage.url()).kill_on_drop(true);
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node starts");
    let mut answers = node.stdin.take().unwrap();
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut said = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let Some(wish) = line.strip_prefix(ASKS) else {
            said.push(line);
            continue;
        };
        let asked: Wish = serde_json::from_str(wish).unwrap();
        let granted = tokio::time::timeout(PATIENCE, stage.grant(asked)).await;
        let answer = granted.unwrap_or_else(|_| panic!("{script} asked {wish} and it never ended; before: {said:?}"));
        answers.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    }
    let status = node.wait().await.unwrap();
    let said = said.join("\n");
    assert!(status.success(), "{script} ended with {status}:\n{said}");
    println!("{said}");
}

// SUR-020 SUR-005
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_comes_asks_stops_reloads_and_is_two_at_once() {
    play("chat.mjs").await;
}

// SUR-020 SUR-026
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_comes_before_there_is_a_model_and_sees_it_when_it_is_there() {
    play_at("first.mjs", Stage::without_a_model).await;
}

// SUR-020
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_pickers_and_the_list_work_by_mouse_and_keyboard() {
    play("choosing.mjs").await;
}

// SUR-024 SEC-077 SEC-078
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_and_a_draft_is_approved() {
    play("drafts.mjs").await;
}

// SUR-022 SUR-024 PRO-056
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_edited_for_the_next_turn_and_what_is_deleted_comes_back() {
    play("editing.mjs").await;
}

// SUR-021 KAI-066 KAI-067 KAI-068
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_is_told_in_a_banner_until_it_is_read_or_dismissed() {
    play("banner.mjs").await;
}

// SUR-023 SUR-026 KAI-072 KAI-074
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_control_of_the_heartbeat_is_kept_by_mouse_and_keyboard() {
    play("settings.mjs").await;
}

// SUR-028
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_screen_is_accessible_in_both_themes_and_on_a_phone() {
    play("screens.mjs").await;
}

// SUR-029
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_screen_is_light_and_asks_nobody_else() {
    play("weight.mjs").await;
}

// SUR-020 SUR-028
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_are_found_archived_and_deleted_by_mouse_and_keyboard() {
    play("list.mjs").await;
}

// SUR-020 SUR-021 SUR-024 SUR-028
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_and_what_waits_are_told_on_every_screen_at_once() {
    play("around.mjs").await;
}

// SUR-020 SUR-028 SEC-053
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_go_along_and_a_message_is_said_again_by_mouse_and_keyboard() {
    play("saying.mjs").await;
}

// SUR-020 SEC-053
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_typed_and_not_sent_comes_back_as_what_it_was() {
    play("unsent.mjs").await;
}

// SUR-020 SUR-028 SUR-034 SEC-077
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_a_server_is_filled_in_by_mouse_and_keyboard() {
    play("asked.mjs").await;
}
