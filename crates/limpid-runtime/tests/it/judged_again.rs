//! Drafts whose call is judged once more, outside of its turn: the question says no less than before.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use limpid_core::{DraftState, Sentence};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, TurnEvent};
use limpid_store::{Audience, Draft};
#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
#[cfg(target_os = "linux")]
use rustix::io::retry_on_intr;
use serde_json::json;

use crate::kit::agents::{bench as answering, calls, newest, says};
use crate::kit::effects::{PageAndMail, results};
use crate::kit::program::program_leading_to;
use crate::kit::{Bench, all, last};

const SCRIPT: &str = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
calls = [{ id = "w", name = "write_file", arguments = { path = "RULES.md", content = "EVIL" } }]
[[reply]]
text = "Done."
"#;

/// A chat of the usual profile; another one of the home quotes the file.
// SEC-061 SEC-075
#[tokio::test]
async fn a_file_that_another_profile_quotes_is_what_the_agent_is_told_whoever_judges() {
    let bench = Bench::new(SCRIPT).await;
    let manifest =
        "base = \"picoclaw\"\ntitle = \"Mine\"\nabout = \"Mine.\"\n[order]\nfiles = [\"AGENTS.md\", \"RULES.md\"]\n";
    bench.write("profiles/mine/profile.toml", manifest);
    bench.write("workspace/RULES.md", "Be kind.\n");
    let agent = PageAndMail::new().agent(&bench);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let says_so = |draft: &Draft| assert!(draft.new.why.contains("change what the agent is told"), "{}", draft.new.why);
    let kept = agent.drafts().list(false).await.unwrap().rows.remove(0);
    says_so(&kept);
    let arguments = json!({ "path": "RULES.md", "content": "EVIL, too" }).to_string();
    says_so(&agent.drafts().edit(kept.id, &arguments).await.unwrap());
    bench.write("workspace/RULES.md", "Be kind. And brief.\n");
    let again = agent.drafts().approve(kept.id, None).await.unwrap();
    assert_eq!(again.state, DraftState::Open, "{}", again.detail);
    says_so(&again);
}

// SEC-075 SEC-101
#[tokio::test]
async fn a_task_that_waits_says_which_words_a_worker_learns_also_once_it_is_edited_or_others_read() {
    let (bench, sent) = answering("limpid", |request| {
        if newest(request).contains("Begin.") {
            calls(&[("research", json!({ "task": "Find a clinic for diabetes." }))])
        } else {
            says("Noted.")
        }
    })
    .await;
    bench.write("soul.md", "Ada has diabetes.");
    let agent = PageAndMail::new().agent(&bench);
    all(agent.chat(last("Begin.")).await.unwrap()).await;
    let kept = agent.drafts().list(false).await.unwrap().rows.remove(0);
    let told = "its task says “diabetes”, which you did not type here";
    assert!(kept.new.why.contains(told), "{}", kept.new.why);
    let arguments = json!({ "task": "Please find a clinic for diabetes." }).to_string();
    let edited = agent.drafts().edit(kept.id, &arguments).await.unwrap();
    assert_eq!(edited.new.why, kept.new.why);
    // What others read is asked about once more, and no less of it.
    agent.conversations().set_audience(&kept.new.conversation, Audience::Group).await.unwrap();
    let again = agent.drafts().approve(kept.id, None).await.unwrap();
    assert_eq!(again.state, DraftState::Open, "{}", again.detail);
    assert!(again.new.why.contains(told), "{}", again.new.why);
    agent.drafts().approve(kept.id, None).await.unwrap();
    assert!(sent.lock().unwrap().iter().any(|request| request.system().contains("research worker")), "a yes sends it");
}

const PROGRAM: &str = r#"
[[reply]]
calls = [{ id = "p", name = "program" }]
[[reply]]
text = "Done."
"#;

/// A call that needs no yes waits for its turn, as one with a yes does.
// SEC-058 SEC-078
#[tokio::test]
async fn a_call_that_leads_elsewhere_when_it_comes_to_run_does_not_run() {
    for moves in [false, true] {
        let bench = Bench::new(PROGRAM).await;
        let (looks, ran) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&ran);
        let place = move || if moves { looks.fetch_add(1, Ordering::SeqCst).to_string() } else { "there".to_owned() };
        let mut options = bench.options();
        options.tools = vec![program_leading_to(place, move || {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(Sentence::from("it ran").into())
        })];
        let agent = Agent::open(options).unwrap();
        all(agent.chat(last("run it")).await.unwrap()).await;
        let told = bench.server.calls()[1].text();
        assert_eq!(ran.load(Ordering::SeqCst), usize::from(!moves), "{told}");
        assert_eq!(told.contains("changed after the call was checked; call it again"), moves, "{told}");
    }
}

/// What an approved program or another change holds as long as it lasts: calls that change files wait for it.
async fn in_the_way(bench: &Bench) -> File {
    let lock = File::create(bench.home.path().join("data/files.lock")).unwrap();
    while lock.try_lock().is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    lock
}

/// Hears when the lock of files is tried.
#[cfg(target_os = "linux")]
fn tries(bench: &Bench) -> OwnedFd {
    let events = inotify::init(CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&events, bench.home.path().join("data/files.lock"), WatchFlags::OPEN).unwrap();
    events
}

/// Waits until the lock is tried: the call is judged by then, and waits.
#[cfg(target_os = "linux")]
async fn until_tried(events: OwnedFd) {
    let tried = move || {
        let mut events = [PollFd::new(&events, PollFlags::IN)];
        retry_on_intr(|| poll(&mut events, Some(&Timespec { tv_sec: 60, tv_nsec: 0 })))
    };
    assert_eq!(tokio::task::spawn_blocking(tried).await.unwrap(), Ok(1), "nobody tried the lock within a minute");
}

/// A file that no prompt quotes.
const RULES: &str = "workspace/docs/rules.txt";

const KIND: &str = "Be kind.\n";

/// A model that reads a page and then writes over the file.
async fn writer() -> Bench {
    let bench = Bench::new(&SCRIPT.replace("RULES.md", "docs/rules.txt")).await;
    bench.write(RULES, KIND);
    bench
}

// SEC-077 SEC-078
#[tokio::test]
async fn a_yes_to_a_change_of_a_file_does_not_cover_what_the_file_has_become_while_the_call_waited() {
    for changed in [None, Some("Be kind. And brief.\n")] {
        let bench = writer().await;
        let agent = PageAndMail::new().agent(&bench);
        let mut handle = agent.chat(ChatRequest { can_answer: true, ..last("read the page") }).await.unwrap();
        let mut lock = None;
        while let Some(event) = handle.next().await {
            match &event {
                TurnEvent::ApprovalRequested { parts, .. } => {
                    lock = Some(in_the_way(&bench).await);
                    parts.iter().for_each(|part| handle.answer(&part.id, ApprovalAnswer::Once));
                }
                // It is judged by now, and waits.
                TurnEvent::ToolStarted { name, .. } if name == "write_file" => {
                    changed.into_iter().for_each(|text| bench.write(RULES, text));
                    drop(lock.take());
                }
                _ => {}
            }
            if event.is_last() {
                break;
            }
        }
        let (told, now) = (results(&bench).pop().unwrap(), std::fs::read(bench.home.path().join(RULES)));
        assert_eq!(now.unwrap(), changed.unwrap_or("EVIL").as_bytes(), "{told}");
        assert_eq!(told.contains("what was approved is not what is there now"), changed.is_some(), "{told}");
        let kept = agent.file_history().versions(None).await.unwrap().rows;
        assert_eq!(kept.is_empty(), changed.is_some(), "{kept:?}");
    }
}

// SEC-075 SEC-077 SEC-078
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_draft_waits_again_when_its_file_or_its_readers_have_changed_while_it_waited_for_the_file() {
    for (text, audience, said) in [
        (KIND, Audience::Owner, ""),
        ("Be kind. And brief.\n", Audience::Owner, "rules.txt` has changed"),
        (KIND, Audience::Group, "that others read this conversation is new"),
    ] {
        let bench = writer().await;
        let agent = PageAndMail::new().agent(&bench);
        all(agent.chat(last("read the page")).await.unwrap()).await;
        let kept = agent.drafts().list(false).await.unwrap().rows.remove(0);
        let lock = in_the_way(&bench).await;
        let tries = tries(&bench);
        let (approver, id) = (agent.clone(), kept.id);
        let approving = tokio::spawn(async move { approver.drafts().approve(id, None).await.unwrap() });
        until_tried(tries).await;
        bench.write(RULES, text);
        agent.conversations().set_audience(&kept.new.conversation, audience).await.unwrap();
        drop(lock);
        let draft = approving.await.unwrap();
        let now = std::fs::read_to_string(bench.home.path().join(RULES)).unwrap();
        let wanted = if said.is_empty() { (DraftState::Sent, "EVIL") } else { (DraftState::Open, text) };
        assert_eq!((draft.state, now.as_str()), wanted, "{}", draft.detail);
        assert!(draft.detail.contains(said), "{}", draft.detail);
    }
}
