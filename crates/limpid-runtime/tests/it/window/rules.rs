//! The rules of the window one by one, through the whole agent.

use std::sync::Arc;

use limpid_core::goal::{GoalStatus, Priority};
use limpid_core::{FailureClass, ToolProtocol, WindowSize};
use limpid_model::{ModelCall, ModelCard, ModelError};
use limpid_runtime::{ChatRequest, ConversationChoice, EventKind, Outcome, PreviewRequest, TurnEvent};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, events_of, outcome, question, talker, text_of};
use crate::kit::{all, say};

const SUMMARIES: [&str; 3] = ["summarize", "merge-summaries", "state-snapshot"];

/// Whether a call is one for a summary.
fn is_summary(call: &ModelCall) -> bool {
    SUMMARIES.contains(&call.prompt.path())
}

// OLLM-087
#[tokio::test]
async fn a_reply_may_have_what_the_window_keeps_free_for_it() {
    for (window, setting, most) in [(4096, "", 870), (131_072, "", 4096), (131_072, "output_tokens = 500", 500)] {
        let bench = bench().await;
        let model = talker(window, "");
        let agent = agent(&bench, &model, &format!("{BARE}[limits]\n{setting}\n"));
        say(&agent, "hi").await;
        assert_eq!(model.take_calls()[0].sampling.max_output, Some(most));
    }
    let bench = bench().await;
    let unknown = ModelCard { window: None, usable_window: None, ..card(4096) };
    let model = Arc::new(Talker::new(unknown, |_| Said::Text("Hello.".to_owned())));
    say(&agent(&bench, &model, BARE), "hi").await;
    assert_eq!(model.take_calls()[0].sampling.max_output, None, "nothing is made up of a window that is not known");
}

// OLLM-090
#[tokio::test]
async fn a_request_for_a_summary_names_the_goal_the_five_kept_items_and_the_focus_of_the_mode() {
    for profile in ["limpid", "ollm"] {
        let bench = bench().await;
        let model = talker(4096, "They talk; the port is 8080.");
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"{profile}\"\nmode = \"debugger\"\n{BARE}"));
        agent.goals().create(&ConversationChoice::Last, "Mend the pump", Priority::High).await.unwrap();
        for n in 1..=25 {
            say(&agent, &question(n)).await;
        }
        let asked = model.take_calls().into_iter().find(is_summary).unwrap();
        let text = text_of(&asked.prompt);
        for part in ["ACTIVE GOAL: Mend the pump", "Focus: the fault", "Question 1: what about", "Preserve:"] {
            assert!(text.contains(part), "{profile}, {part}: {text}");
        }
        assert_eq!(text.lines().filter(|line| line.starts_with("- ")).count(), 5, "{profile}: {text}");
    }
}

// OLLM-092
#[tokio::test]
async fn the_message_that_began_the_goal_is_pinned_from_then_on() {
    let bench = bench().await;
    let answer = |call: &ModelCall| {
        let newest = call.prompt.messages().last().unwrap().text().to_owned();
        match call.prompt.path() {
            path if SUMMARIES.contains(&path) => Said::Text("They talked about this and that.".to_owned()),
            _ if newest.contains("a lighthouse of") => Said::Text("Yes.\n[GOAL] Build a lighthouse".to_owned()),
            _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
        }
    };
    let model = Arc::new(Talker::new(card(4096), answer));
    let agent = agent(&bench, &model, BARE);
    say(&agent, "The very first words.").await;
    for n in 1..=20 {
        say(&agent, &question(n)).await;
    }
    let last =
        |model: &Talker| text_of(&model.take_sent().into_iter().rev().find(|p| p.path() == "chat-remote").unwrap());
    let before = last(&model);
    assert!(before.contains("The very first words."), "{before}");
    let request = format!("Build me a lighthouse of {} and paint it white.", "four thousand blocks, ".repeat(100));
    say(&agent, &request).await;
    for n in 21..=40 {
        say(&agent, &question(n)).await;
    }
    let after = last(&model);
    let report = agent.conversations().context(&ConversationChoice::Last).await.unwrap();
    let pin = report.view.pin.unwrap();
    assert!(pin.text.starts_with("Build me a lighthouse of four") && pin.text.contains("characters left out"));
    assert!(pin.text.ends_with(&format!("paint it white.\n[message {}]", pin.message)), "{}", pin.text);
    assert!(pin.text.chars().count().div_ceil(4) <= report.size.available() / 10 + 10);
    assert!(pin.text.lines().all(|line| after.contains(line)) && !after.contains("The very first words."), "{after}");
}

/// A long conversation of short turns, in a window that is then far too small for it.
async fn overflowing(
    answer: impl Fn(&ModelCall) -> Said + Send + Sync + 'static,
) -> (crate::kit::Bench, Arc<Talker>, limpid_runtime::Agent) {
    let bench = bench().await;
    let model = Arc::new(Talker::new(card(16_384), answer));
    let agent = agent(&bench, &model, BARE);
    for n in 1..=90 {
        let events = say(&agent, &format!("Short question {n}: what comes after the number {n}?")).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }));
    }
    let id = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap();
    model.take_calls();
    (bench, model, agent)
}

fn short(call: &ModelCall, note: Said) -> Said {
    if is_summary(call) { note } else { Said::Text("After it comes the next of all the numbers.".to_owned()) }
}

// OLLM-101 OLLM-110
#[tokio::test]
async fn a_rollover_leaves_the_note_that_the_model_writes() {
    const NOTE: &str = "Wanted: to count on and on.\nDone: ninety numbers.\nNext: the number 91.";
    let (_bench, model, agent) = overflowing(|call| short(call, Said::Text(NOTE.to_owned()))).await;
    let mut bus = agent.subscribe();
    assert!(matches!(outcome(&say(&agent, "Short question 91?").await), Outcome::Answered { .. }));
    let told = std::iter::from_fn(|| bus.try_recv().ok()).find_map(|event| match event.change {
        EventKind::CompactionFinished { before, after, steps } => Some((before > after, steps)),
        _ => None,
    });
    let (is_smaller, steps) = told.unwrap();
    assert!(is_smaller && steps[0].starts_with("the window was rolled over: "), "{steps:?}");
    let calls = model.take_calls();
    let paths: Vec<&str> = calls.iter().map(|call| call.prompt.path()).collect();
    assert_eq!(paths, ["state-snapshot", "chat-remote"]);
    let sent = text_of(&calls[1].prompt);
    assert!(NOTE.lines().all(|line| sent.contains(line)), "the note: {sent}");
    assert!(sent.contains("Short question 1: what comes after"), "the pin: {sent}");
    assert!(sent.contains("Short question 90") && !sent.contains("Short question 30:"), "{sent}");
    let report = agent.conversations().context(&ConversationChoice::Last).await.unwrap();
    assert_eq!((report.attempts[0].new.kind.as_str(), report.view.digests.len()), ("rollover", 1));
    // The moment before it was kept already, after turn 90.
    assert_eq!(report.snapshots[0].kept.reason, "every five turns");
    assert!(report.snapshots[0].kept.view.digests.is_empty(), "the moment before it can be gone back to");
}

// OLLM-101
#[tokio::test]
async fn a_rollover_needs_no_model() {
    let down = || Said::Error(ModelError::new(FailureClass::Server, "the provider is down"));
    let (_bench, model, agent) = overflowing(move |call| short(call, down())).await;
    assert!(matches!(outcome(&say(&agent, "Short question 91?").await), Outcome::Answered { .. }));
    let sent = text_of(&model.take_sent()[1]);
    assert!(sent.contains("- Short question 2: what comes"), "the first line of a turn: {sent}");
    assert!(sent.contains("Short question 90: what comes after the number 90?"), "the newest turns are whole: {sent}");
}

// OLLM-103 OLLM-073
#[tokio::test]
async fn a_restored_moment_has_its_goals_its_mode_and_its_tier_and_what_was_locked_since() {
    let bench = bench().await;
    let model = talker(16_384, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, BARE);
    let last = || ConversationChoice::Last;
    let request = ChatRequest { text: question(1), mode: Some("planning".to_owned()), ..ChatRequest::default() };
    all(agent.chat(request).await.unwrap()).await;
    let id = agent.directory().find(&last()).await.unwrap().unwrap().id;
    agent.goals().create(&last(), "Mend the pump", Priority::High).await.unwrap();
    agent.goals().add_checkpoint(&last(), "Find the leak").await.unwrap();
    say(&agent, &question(2)).await;
    let kept = agent.conversations().save_snapshot(&last(), "before the detour").await.unwrap();
    let (then, goals, tiers) = moment(&agent).await;
    assert_eq!((kept.kept.tier, then.conversation.mode.as_deref()), (Some(3), Some("planning")));

    agent.goals().complete(&last(), None, "dry").await.unwrap();
    agent.goals().create(&last(), "Paint it", Priority::Low).await.unwrap();
    agent.conversations().set_mode(&id, "developer").await.unwrap();
    agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap();
    say(&agent, &question(3)).await;
    agent.conversations().set_window(&id, None).await.unwrap();
    let sum = agent.conversations().restore_snapshot(&last(), kept.id).await.unwrap();
    assert_eq!(sum.failure, None);
    let (mut now, restored, same) = moment(&agent).await;
    assert_eq!((now.size.recent, now.shown), (then.size.recent, then.shown));
    // What was said since is still there, and hidden.
    assert_eq!(std::mem::take(&mut now.view.hidden).len(), 1);
    assert_eq!(now.view, then.view);
    assert_eq!((now.conversation.mode, same.effective), (then.conversation.mode, tiers.effective));
    assert_eq!(restored.shown(), goals.shown());
    let statuses: Vec<_> = restored.history().iter().map(|goal| (goal.description(), goal.status())).collect();
    assert_eq!(statuses, [("Mend the pump", GoalStatus::Active), ("Paint it", GoalStatus::Paused)]);

    // A restart reads the same from the log.
    let again = super::agent(&bench, &model, BARE);
    assert_eq!(again.goals().list(&last()).await.unwrap(), restored);
}

async fn moment(
    agent: &limpid_runtime::Agent,
) -> (limpid_runtime::ContextReport, limpid_core::goal::Goals, limpid_runtime::Tiers) {
    let last = ConversationChoice::Last;
    let report = agent.conversations().context(&last).await.unwrap();
    (report, agent.goals().list(&last).await.unwrap(), agent.conversations().tiers(&last).await.unwrap())
}

// OLLM-125
#[tokio::test]
async fn the_smallest_windows_pass_a_hundred_turns_and_compact() {
    for window in [2048, 4096] {
        let bench = bench().await;
        let model = talker(window, "They talk; the port is 8080.");
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"ollm\"\n{BARE}"));
        for n in 1..=100 {
            let events = say(&agent, &question(n)).await;
            assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{window} {n}: {:?}", outcome(&events));
        }
        let done = agent.conversations().context(&ConversationChoice::Last).await.unwrap().view.compactions;
        assert!(done >= 5, "{window}: {done} compactions");
    }
}

// OLLM-127
#[tokio::test]
async fn an_oversize_file_of_the_owners_mandates_does_not_stop_compaction() {
    let bench = bench().await;
    // Far more than the tier's budget of the system prompt.
    let rules: String = (1..=120).map(|n| format!("Rule {n}: never do the thing of number {n}.\n\n")).collect();
    bench.write("soul.md", &rules);
    let model = talker(8192, "They talk; the port is 8080.");
    for profile in ["limpid", "ollm"] {
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"{profile}\"\n{BARE}"));
        let request = ChatRequest { text: question(0), ..ChatRequest::default() };
        all(agent.chat(request).await.unwrap()).await;
        for n in 1..=40 {
            let events = say(&agent, &question(n)).await;
            assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{profile} {n}: {:?}", outcome(&events));
        }
        let done = events_of(&agent).await.iter().filter(|event| event.new.kind == "compaction").count();
        assert!(done >= 1, "{profile}");
    }
}

// OLLM-127 OLLM-023
#[tokio::test]
async fn mandates_of_the_owners_that_are_over_the_budget_are_told_and_compaction_still_runs() {
    let bench = bench().await;
    let rules: String = (1..=120).map(|n| format!("- Rule {n}: never do the thing of number {n}.\n")).collect();
    bench.write("profiles/ollm/sections/core-mandates/tier2.md", &format!("[Core Mandates]\n{rules}"));
    let model = talker(8192, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"ollm\"\n{BARE}"));
    let mut told = Vec::new();
    for n in 1..=40 {
        let events = say(&agent, &question(n)).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{n}: {:?}", outcome(&events));
        told.extend(events.into_iter().filter_map(|event| match event {
            TurnEvent::Notice(text) if text.contains("core-mandates") => Some(text),
            _ => None,
        }));
    }
    assert!(told[0].starts_with("profiles/ollm/sections/core-mandates/tier2.md is not used: "), "{told:?}");
    assert!(told[0].contains("core-mandates ") && told[0].contains(" of 500 tokens"), "with the sizes: {}", told[0]);
    let sent = model.take_sent();
    let system = |prompt: &limpid_prompt::Prompt| prompt.messages()[0].text().to_owned();
    assert!(sent.iter().filter(|prompt| prompt.path() == "chat-remote").all(|prompt| {
        system(prompt).contains("[Core Mandates]") && !system(prompt).contains("never do the thing")
    }));
    let done = events_of(&agent).await.iter().filter(|event| event.new.kind == "compaction").count();
    assert!(done >= 1);
}

// OLLM-023 OLLM-048
#[tokio::test]
async fn a_template_of_the_owners_that_is_over_the_budget_is_told_and_the_shipped_one_answers() {
    let bench = bench().await;
    bench.write("profiles/ollm/modes/user/tier3.md", &"Never do the thing. ".repeat(1500));
    let model = talker(16_384, "They talk; the port is 8080.");
    let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"ollm\"\nmode = \"user\"\n{BARE}"));
    let events = say(&agent, &question(1)).await;
    assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{:?}", outcome(&events));
    let told: Vec<&String> = events
        .iter()
        .filter_map(|event| if let TurnEvent::Notice(text) = event { Some(text) } else { None })
        .filter(|text| text.starts_with("profiles/ollm/modes/user/tier3.md is not used: "))
        .collect();
    assert!(told.len() == 1 && told[0].contains(" of 1000 tokens: mode 7"), "with both sizes: {events:?}");
    let sent = model.take_sent();
    let system = sent[0].messages()[0].text();
    assert!(!system.contains("Never do the thing.") && system.len() > 1000, "{system}");
}

// OLLM-023 OLLM-048 OLLM-052
#[tokio::test]
async fn a_template_that_was_too_large_and_is_broken_now_leaves_the_shipped_one() {
    let bench = bench().await;
    let file = "profiles/ollm/modes/user/tier3.md";
    let model = talker(16_384, "They talk; the port is 8080.");
    for text in ["Never do the thing. ".repeat(1500), "{{ nobody }}".to_owned()] {
        bench.write(file, &text);
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"ollm\"\nmode = \"user\"\n{BARE}"));
        let events = say(&agent, &question(1)).await;
        assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{:?}", outcome(&events));
        assert!(!model.take_sent()[0].messages()[0].text().contains("Never do the thing."));
    }
}

// OLLM-086 OLLM-106
#[tokio::test]
async fn after_a_compaction_the_parts_add_up_under_their_own_names() {
    let bench = bench().await;
    let model = talker(8192, "They talk; the port is 8080 and the build is red.");
    for profile in ["limpid", "kai", "koshi", "ollm", "picoclaw"] {
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"{profile}\"\n{BARE}"));
        let request = ChatRequest { text: question(0), ..ChatRequest::default() };
        all(agent.chat(request).await.unwrap()).await;
        for n in 1..=6 {
            say(&agent, &question(n)).await;
        }
        agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
        let size = agent.conversations().context(&ConversationChoice::Last).await.unwrap().size;
        // Nothing runs; some profiles end a prompt with the time.
        assert!(size.in_flight.0 < 40, "{profile}: {size:?}");
        assert!(size.digests.0 > 0 && size.recent.0 > 100, "{profile}: {size:?}");
    }
}

// LES-081
#[tokio::test]
async fn a_result_that_the_window_shortens_says_how_to_read_on_and_is_read() {
    let bench = bench().await;
    let text: String = (1..=3000).map(|n| format!("line {n} of the log\n")).collect();
    bench.write("workspace/log.txt", &text);
    let answer = |call: &ModelCall| {
        let sent = text_of(&call.prompt);
        let newest = call.prompt.messages().iter().rev().find(|message| message.call_id().is_none()).unwrap();
        let is_over = call.prompt.messages().last().unwrap().call_id().is_some();
        match call.prompt.path() {
            path if SUMMARIES.contains(&path) => Said::Text("They read a log.".to_owned()),
            _ if is_over => Said::Text("Read.".to_owned()),
            _ if newest.text().starts_with("Read the log") => {
                Said::Calls(vec![("read_file".to_owned(), r#"{"path":"log.txt"}"#.to_owned())])
            }
            _ if newest.text().starts_with("Read on") => {
                let (_, next) = sent.split_once("read_result ").unwrap();
                let (next, _) = next.split_once(" reads on").unwrap();
                Said::Calls(vec![("read_result".to_owned(), next.to_owned())])
            }
            _ => Said::Text("Yes.".to_owned()),
        }
    };
    let model = Arc::new(Talker::new(ModelCard { tools: ToolProtocol::Native, ..card(16_384) }, answer));
    let agent = agent(&bench, &model, &format!("{BARE}[tools]\ndefer = false\n[limits]\nresult_chars = 100000\n"));
    say(&agent, "Read the log, please. ").await;
    let calls = model.take_calls();
    let shown = calls.last().unwrap().prompt.messages().last().unwrap().text().to_owned();
    assert!(
        shown.contains("line 1 of") && shown.contains("line 3000 of") && shown.contains("read_result {"),
        "{shown}"
    );
    assert!(!shown.contains("line 1500 of"));
    let events = say(&agent, "Read on, please.").await;
    let result = events.iter().find_map(|event| match event {
        TurnEvent::ToolDone { result, .. } => Some(result.clone()),
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.contains("[characters ") && result.contains("line 1500 of"), "{result}");
}

// PRO-050
#[tokio::test]
async fn what_is_shown_of_a_full_window_is_what_is_sent() {
    for window in [2048, 4096] {
        let bench = bench().await;
        let model = talker(window, "A summary of what was said so far.");
        let agent = agent(&bench, &model, BARE);
        say(&agent, "Hello.").await;
        for n in 1..=30 {
            // A compaction that follows a turn is over.
            let last = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
            agent.conversations().wait_idle(&last.id).await;
            let text = format!("{} {}", question(n), "and so on ".repeat(n * 10));
            let request = PreviewRequest { conversation: ConversationChoice::Last, text, ..PreviewRequest::default() };
            let shown = agent.preview(request.clone()).await.unwrap().prompt;
            model.take_sent();
            say(&agent, &request.text).await;
            let sent = model.take_sent();
            let sent = sent.iter().find(|prompt| prompt.path().starts_with("chat"));
            assert_eq!(sent.map(|prompt| text_of(prompt)), Some(text_of(&shown)), "window {window}, turn {n}");
        }
    }
}
