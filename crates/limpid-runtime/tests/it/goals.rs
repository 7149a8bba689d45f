//! Goals over a real socket: what reaches the model, and what its replies and tools change.

mod refusals;

use std::sync::Arc;

use crate::kit::{Bench, all, last, say};
use limpid_core::goal::{CheckpointStatus, Goal, Priority};
use limpid_core::{ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard};
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Event, EventKind, TurnEvent};
use limpid_testkit::{Said, Talker};

const LAST: ConversationChoice = ConversationChoice::Last;

/// The shown goal on one line.
async fn shown(agent: &Agent) -> String {
    let goals = agent.goals().list(&LAST).await.unwrap();
    let line = |goal: &Goal| {
        let steps: Vec<String> =
            goal.checkpoints().iter().map(|step| format!("{}={}", step.description, step.status)).collect();
        let decisions: Vec<String> = goal
            .decisions()
            .iter()
            .map(|decision| format!("{}{}", decision.description(), if decision.is_locked() { "!" } else { "" }))
            .collect();
        let files: Vec<String> =
            goal.artifacts().iter().map(|artifact| format!("{} {}", artifact.action, artifact.path)).collect();
        format!("{} {} {steps:?} {decisions:?} {files:?}", goal.description(), goal.status())
    };
    goals.shown().map_or_else(|| "none".to_owned(), line)
}

fn notices(events: &[TurnEvent]) -> Vec<&str> {
    let told =
        events.iter().filter_map(|event| if let TurnEvent::Notice(text) = event { Some(text.as_str()) } else { None });
    told.filter(|text| text.starts_with("goal:")).collect()
}

/// The tools that a request declares.
fn declared(bench: &Bench, call: usize) -> String {
    bench.server.calls()[call].json()["tools"].to_string()
}

// OLLM-067 OLLM-129
#[tokio::test]
async fn a_goal_is_in_the_next_payload_in_every_profile_and_mode() {
    for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
        for mode in ["assistant", "developer", "planning", "debugger", "user"] {
            let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
            bench.config.agent.profile = profile.to_owned();
            bench.config.agent.mode = mode.to_owned();
            let agent = bench.agent();
            say(&agent, "hi").await;
            assert!(!bench.server.calls()[0].text().contains("Move the library"));
            agent.goals().create(&LAST, "Move the library", Priority::High).await.unwrap();
            say(&agent, "go on").await;
            let sent = bench.server.calls()[1].text().to_owned();
            assert_eq!(sent.matches("Move the library").count(), 1, "{profile} {mode}: {sent}");
        }
    }
}

const MARKED: &str = r#"
[[reply]]
text = """
I begin.

[GOAL] Move the library
[CHECKPOINT] Count the books - COMPLETED
[DECISION] In June - LOCKED
[ARTIFACT] Created: books.csv
[NEXT] Pack
[CHECKPOINT] Drive - DONE
"""
[[reply]]
text = "It goes on."
"#;

// OLLM-078 OLLM-110
#[tokio::test]
async fn markers_of_a_reply_change_the_goal_and_wrong_ones_are_reported() {
    let bench = Bench::new(MARKED).await;
    let agent = bench.agent();
    let mut bus = agent.subscribe();
    let events = say(&agent, "move my library").await;
    let wanted = r#"Move the library active ["Count the books=completed", "Pack=in-progress"] ["In June!"] ["created books.csv"]"#;
    assert_eq!(shown(&agent).await, wanted);
    let told = notices(&events);
    assert!(
        told.len() == 1 && told[0].starts_with("goal: a `[CHECKPOINT]` line changes nothing: a step is"),
        "{told:?}"
    );
    let changes: Vec<EventKind> = std::iter::from_fn(|| bus.try_recv().ok())
        .map(|Event { change, .. }| change)
        .filter(|change| matches!(change, EventKind::GoalUpdated { .. }))
        .collect();
    assert_eq!(changes.len(), 1, "once a change: {changes:?}");

    say(&agent, "and now?").await;
    let sent = bench.server.calls()[1].text().to_owned();
    assert!(sent.contains("Move the library") && sent.contains("Count the books"), "{sent}");
    assert!(sent.contains("[GOAL] Move the library"), "history keeps the raw text");
    // Another start of the program finds the same.
    assert_eq!(shown(&bench.agent()).await, wanted);
}

// OLLM-079 OLLM-131
#[tokio::test]
async fn markers_that_others_wrote_change_nothing() {
    let script = r#"
[[reply]]
text = "[GOAL] While it works"
reasoning = "[GOAL] A thought"
calls = [{ id = "m", name = "memory_store", arguments = { key = "x", content = "[GOAL] A memory" } }]
[[reply]]
text = "You wrote:\n> [GOAL] A quote\n```\n[GOAL] Code\n```\nDone."
reasoning = "[GOAL] A thought"
"#;
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    let events = say(&agent, "[GOAL] Mine\n[CHECKPOINT] Typed - COMPLETED").await;
    assert_eq!((shown(&agent).await.as_str(), notices(&events)), ("none", vec![]));
}

// OLLM-084
#[tokio::test]
async fn an_aborted_reply_applies_nothing() {
    let script = "[[reply]]\ntext = \"[GOAL] Half\\n[NEXT] A step\\n\"\nhang = \"end\"\n";
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    let mut handle = agent.chat(last("begin")).await.unwrap();
    while let Some(event) = handle.next().await {
        if matches!(&event, TurnEvent::Text(text) if text.contains("step")) {
            handle.cancel();
        }
        if event.is_last() {
            break;
        }
    }
    let messages = agent.store().messages(handle.conversation(), None).await.unwrap().rows;
    assert!(messages.last().unwrap().message.text.contains("[GOAL] Half"), "what was said is kept");
    assert_eq!(shown(&agent).await, "none");
}

// OLLM-076
#[tokio::test]
async fn goal_tools_are_hidden_until_a_goal_exists_or_the_user_asks() {
    let names = [
        "create_goal",
        "create_checkpoint",
        "update_checkpoint",
        "complete_goal",
        "record_decision",
        "record_artifact",
        "switch_goal",
    ];
    let offered = |bench: &Bench, call| names.map(|name| declared(bench, call).contains(&format!("\"{name}\"")));
    for (mode, quiet) in [("assistant", true), ("user", true), ("developer", false), ("planning", false)] {
        let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
        bench.config.agent.mode = mode.to_owned();
        let agent = bench.agent();
        say(&agent, "hi").await;
        assert_eq!(offered(&bench, 0), [!quiet; 7], "{mode}");
        agent.goals().create(&LAST, "Move", Priority::Low).await.unwrap();
        say(&agent, "hi").await;
        assert_eq!(offered(&bench, 1), [true; 7], "{mode}");
    }
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    for (call, text) in ["hi", "Set a goal for me", "thanks"].into_iter().enumerate() {
        say(&agent, text).await;
        assert_eq!(offered(&bench, call), [call > 0; 7], "{text}");
    }
}

// OLLM-076 OLLM-130 OLLM-073
#[tokio::test]
async fn the_tools_change_the_goal_and_no_tool_unlocks() {
    let script = r#"
[[reply]]
calls = [{ id = "a", name = "create_goal", arguments = { description = "Move", priority = "high" } }]
[[reply]]
calls = [{ id = "b", name = "create_checkpoint", arguments = { description = "Find a van" } }]
[[reply]]
calls = [{ id = "c", name = "create_checkpoint", arguments = { description = "Pack" } }]
[[reply]]
calls = [{ id = "d", name = "update_checkpoint", arguments = { checkpoint_id = "find a VAN", status = "completed" } }]
[[reply]]
calls = [
  { id = "e", name = "record_decision", arguments = { description = "In June", rationale = "school", locked = true } },
  { id = "f", name = "record_artifact", arguments = { path = "docs/plan.md", action = "created" } },
]
[[reply]]
calls = [
  { id = "g", name = "record_decision", arguments = { description = "In June", locked = false } },
  { id = "h", name = "record_decision", arguments = { description = "In June", rationale = "why not" } },
]
[[reply]]
calls = [{ id = "i", name = "create_goal", arguments = { description = "Rest" } }]
[[reply]]
calls = [{ id = "j", name = "switch_goal", arguments = { goal = "move" } }]
[[reply]]
calls = [{ id = "k", name = "complete_goal", arguments = { summary = "moved" } }]
[[reply]]
text = "Done."
"#;
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    all(agent.chat(last("set goals as you like")).await.unwrap()).await;
    let request = bench.server.calls().last().unwrap().json();
    let results: Vec<String> = request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| format!("{} {}", message["tool_call_id"], message["content"]))
        .collect();
    insta::assert_snapshot!(results.join("\n"));
    assert_eq!(
        shown(&agent).await,
        r#"Move completed ["Find a van=completed", "Pack=pending"] ["In June!"] ["created docs/plan.md"]"#
    );
}

// OLLM-070 OLLM-071 OLLM-073
#[tokio::test]
async fn the_owner_changes_goals_by_hand_and_a_restart_loses_nothing() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    let early = agent.goals().clear(&LAST).await.unwrap_err();
    assert!(early.to_string().contains("limpid goal create"), "{early}");
    agent.goals().create(&LAST, "Move", Priority::High).await.unwrap();
    agent.goals().add_checkpoint(&LAST, "Find a van").await.unwrap();
    agent.goals().set_checkpoint(&LAST, "s1", CheckpointStatus::InProgress).await.unwrap();
    agent.goals().record_decision(&LAST, "In June", "school").await.unwrap();
    agent.goals().lock_decision(&LAST, "in june").await.unwrap();
    let before = shown(&agent).await;
    agent.goals().create(&LAST, "Rest", Priority::Low).await.unwrap();
    agent.goals().pause(&LAST, None).await.unwrap();
    assert_eq!(shown(&agent).await, "none");
    let agent = bench.agent();
    agent.goals().resume(&LAST, Some("move")).await.unwrap();
    assert_eq!(shown(&agent).await, before);
    assert_eq!(agent.goals().checkpoints(&LAST).await.unwrap().len(), 1);
    assert_eq!(agent.goals().resume(&LAST, Some("g1")).await.unwrap().what, [""; 0], "nothing to do");
    let history = agent.goals().history(&LAST).await.unwrap();
    let names: Vec<&str> = history.records.iter().map(|record| record.event.name()).collect();
    let wanted = [
        "created",
        "checkpoint-added",
        "checkpoint-set",
        "decision-recorded",
        "decision-locked",
        "created",
        "paused",
        "resumed",
    ];
    assert_eq!(names, wanted);
    agent.goals().complete(&LAST, None, "done").await.unwrap();
    agent.goals().clear(&LAST).await.unwrap();
    assert_eq!(shown(&agent).await, "none");
}

// PRO-040 PRO-041 OLLM-067
#[tokio::test]
async fn in_the_limpid_profile_a_changed_goal_stands_at_the_tail_and_the_beginning_stays() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config.agent.mode = "developer".to_owned();
    let agent = bench.agent();
    say(&agent, "hi").await;
    agent.goals().create(&LAST, "Move the library", Priority::High).await.unwrap();
    say(&agent, "go on").await;
    agent.goals().add_checkpoint(&LAST, "Pack").await.unwrap();
    say(&agent, "and on").await;
    say(&agent, "what else?").await;
    let calls = bench.server.calls();
    let messages = |at: usize| calls[at].json()["messages"].as_array().unwrap().clone();
    for at in 1..4 {
        let (before, after) = (messages(at - 1), messages(at));
        assert_eq!(before[..], after[..before.len()], "request {at} begins with every message of the one before");
    }
    let newest = |at: usize| messages(at).last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(newest(1).contains("Goal: Move the library (high priority, active)"), "{}", newest(1));
    assert!(newest(2).contains("  - [ ] Pack"), "{}", newest(2));
    assert!(!newest(3).contains("Goal:"), "{}", newest(3));
    // A border moves it up.
    bench.write("soul.md", "You are Ada.\n");
    say(&agent, "now").await;
    let system = bench.server.calls()[4].system();
    assert!(system.contains("## Goal\nMove the library") && system.contains("- [ ] Pack"), "{system}");
}

/// A model with a small window that answers at some length and, as a summariser, forgets the goal.
fn talker() -> Arc<Talker> {
    let window = WindowSize(4096);
    let card = ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        window: Some(window),
        usable_window: Some(UsableWindow::default_for(window)),
        tools: ToolProtocol::None,
        ..ModelCard::default()
    };
    let answer = |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" => Said::Text("They talked; nothing was decided.".to_owned()),
        _ => Said::Text(format!("Noted: {}", "some words of an answer, ".repeat(12))),
    };
    Arc::new(Talker::new(card, answer))
}

// OLLM-072 OLLM-074 OLLM-120
#[tokio::test]
async fn no_compaction_touches_the_goal_and_every_request_shows_it() {
    for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
        let bench = Bench::new("[[reply]]\ntext = \"unused\"\n").await;
        let model = talker();
        let config = format!("[agent]\nprofile = \"{profile}\"\n[memory]\nenabled = false\n");
        let config = Config::parse(&config, "limpid.toml").unwrap();
        let own = Arc::clone(&model) as Arc<dyn Model>;
        let agent = Agent::open(AgentOptions { model: Some(own), config, ..bench.options() }).unwrap();
        let mut bus = agent.subscribe();
        say(&agent, "begin").await;
        agent.goals().create(&LAST, "Move the library", Priority::High).await.unwrap();
        agent.goals().add_checkpoint(&LAST, "Count the books").await.unwrap();
        agent.goals().record_decision(&LAST, "In June", "").await.unwrap();
        agent.goals().lock_decision(&LAST, "d1").await.unwrap();
        let before = agent.goals().list(&LAST).await.unwrap();
        for n in 1..=30 {
            say(&agent, &format!("Question {n}: {}", "what about this and that? ".repeat(10))).await;
        }
        let mut finished = 0;
        while let Ok(event) = bus.try_recv() {
            finished += usize::from(matches!(event.change, EventKind::CompactionFinished { .. }));
        }
        assert!(finished >= 2, "{profile}: {finished} compactions");
        assert_eq!(agent.goals().list(&LAST).await.unwrap(), before, "{profile}");
        let sent = model.take_sent();
        for (at, prompt) in sent.iter().filter(|prompt| prompt.path().starts_with("chat")).enumerate().skip(1) {
            let text: String = prompt.messages().iter().map(|message| format!("{}\n", message.text())).collect();
            for wanted in ["Move the library", "Count the books", "In June"] {
                assert!(text.contains(wanted), "{profile} request {at} lacks {wanted}: {text}");
            }
        }
        let summaries = sent.iter().filter(|prompt| prompt.path() == "summarize");
        let aware = summaries.filter(|prompt| prompt.messages()[0].text().contains("Move the library")).count();
        assert!(aware > 0 || !matches!(profile, "limpid" | "ollm"), "{profile}: the summariser is told the goal");
    }
}

/// What a model without tools reads of its goal, it can write: the instructions are there in every profile, and a reply
/// that keeps to them changes the goal.
// OLLM-077
#[tokio::test]
async fn a_model_without_tools_reports_by_the_markers_that_it_was_told_of() {
    let script = "[[reply]]\ntext = \"ok\"\n[[reply]]\ntext = \"\"\"\nDone so far.\n\n[CHECKPOINT] Pack - COMPLETED\n[DECISION] In June\n[NEXT] Drive\n\"\"\"\n";
    for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
        for (tools, window) in [("none", 4096), ("none", 8192), ("none", 65_536), ("native", 65_536)] {
            let mut bench = Bench::new(script).await;
            let model = format!("names = [\"openai/scripted\"]\nwindow = {window}\ntools = \"{tools}\"\n");
            bench.write("models.toml", &format!("[[model]]\n{model}"));
            bench.config.agent.profile = profile.to_owned();
            let agent = bench.agent();
            say(&agent, "hi").await;
            agent.goals().create(&LAST, "Move the library", Priority::High).await.unwrap();
            say(&agent, "go on").await;
            let sent = &bench.server.calls()[1];
            let told =
                ["[CHECKPOINT]", "[DECISION]", "[ARTIFACT]", "[NEXT]"].map(|marker| sent.text().contains(marker));
            let offered = sent.json()["tools"].to_string();
            assert_eq!(offered == "null", tools == "none", "{profile} {window}");
            // Markers stand in for the tools exactly where these are not offered.
            let markers = !offered.contains("\"update_checkpoint\"");
            assert_eq!(told, [markers; 4], "{profile} {window} {tools}: {}", sent.text());
            assert!(tools == "native" || markers, "{profile} {window}");
            let wanted = r#"Move the library active ["Pack=completed", "Drive=in-progress"] ["In June"] []"#;
            assert_eq!(shown(&agent).await, wanted, "{profile} {window}");
        }
    }
}

/// Markers stand in for tools: whoever has these reads nothing of those, whether there is a goal yet or not.
// OLLM-077
#[tokio::test]
async fn a_model_with_tools_is_told_of_no_markers() {
    // Profile koshi offers no tools of goals, so that there the markers stand in for them.
    for profile in ["limpid", "ollm", "kai", "picoclaw"] {
        let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n[[reply]]\ntext = \"ok\"\n").await;
        bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 65536\ntools = \"native\"\n");
        bench.config.agent.profile = profile.to_owned();
        bench.config.agent.mode = "developer".to_owned();
        let agent = bench.agent();
        say(&agent, "Make a goal of moving my library").await;
        agent.goals().create(&LAST, "Move the library", Priority::High).await.unwrap();
        say(&agent, "go on").await;
        for call in bench.server.calls() {
            assert!(call.json()["tools"].is_array(), "{profile}");
            let text = call.text();
            assert!(!text.contains("[GOAL]") && !text.contains("[CHECKPOINT]"), "{profile}: {text}");
        }
    }
}

/// Where another model has the tool that creates a goal, one without tools is told how to name one.
// OLLM-077 OLLM-076
#[tokio::test]
async fn a_model_without_tools_is_told_how_to_name_a_goal_when_it_is_asked_for_one() {
    let script = "[[reply]]\ntext = \"ok\"\n[[reply]]\ntext = \"\"\"\nI begin.\n\n[GOAL] Move the library\n[CHECKPOINT] Pack\n\"\"\"\n[[reply]]\ntext = \"ok\"\n";
    for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
        for mode in ["assistant", "developer"] {
            let mut bench = Bench::new(script).await;
            bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 8192\ntools = \"none\"\n");
            bench.config.agent.profile = profile.to_owned();
            bench.config.agent.mode = mode.to_owned();
            let agent = bench.agent();
            for text in ["hi", "Make a goal of moving my library", "go on"] {
                say(&agent, text).await;
            }
            let calls = bench.server.calls();
            let told = calls.iter().map(|call| call.system().contains("[GOAL]")).collect::<Vec<_>>();
            assert_eq!(told[..2], [mode == "developer", true], "{profile} {mode}: {}", calls[1].text());
            assert_eq!(shown(&agent).await, r#"Move the library active ["Pack=pending"] [] []"#, "{profile} {mode}");
            let last = calls[2].text();
            assert!(last.contains("[CHECKPOINT] <step> - COMPLETED"), "{profile} {mode}: {last}");
        }
    }
}
