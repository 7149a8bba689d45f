//! Changes of goals that are refused, or that count only in part.

use std::sync::Arc;

use limpid_core::goal::Priority;
use limpid_core::{Trust, WindowSize};
use limpid_runtime::{Agent, Tool, TurnEvent};

use super::{LAST, notices, shown};
use crate::kit::effects::EffectTool;
use crate::kit::{Bench, say};

// OLLM-079 OLLM-084
#[tokio::test]
async fn of_a_reply_that_was_cut_off_the_last_line_changes_nothing_and_of_a_moderated_one_no_line() {
    let cases = [
        ("stop", r#"Move active ["Find a van=in-progress"] [] []"#),
        ("length", "Move active [] [] []"),
        ("moderated", "none"),
    ];
    for (finish, wanted) in cases {
        let script = format!("[[reply]]\ntext = \"[GOAL] Move\\n[NEXT] Find a van\"\nfinish = \"{finish}\"\n");
        let bench = Bench::new(&script).await;
        let agent = bench.agent();
        say(&agent, "move my library").await;
        assert_eq!(shown(&agent).await, wanted, "{finish}");
    }
}

// OLLM-078 OLLM-081
#[tokio::test]
async fn a_marker_that_may_mean_several_steps_is_reported() {
    let script = "[[reply]]\ntext = \"[GOAL] Ship\\n[CHECKPOINT] Add login\\n[CHECKPOINT] Add logout\\n\
                  [CHECKPOINT] Add - COMPLETED\\n[NEXT] Add login\"\n";
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    let events = say(&agent, "ship it").await;
    let told = notices(&events);
    let wanted = "goal: `Add` may mean several steps; name one of them whole: s1 (Add login), s2 (Add logout)";
    assert_eq!(told, [wanted]);
    assert_eq!(shown(&agent).await, r#"Ship active ["Add login=in-progress", "Add logout=pending"] [] []"#);
}

// OLLM-074
#[tokio::test]
async fn a_window_in_which_the_goal_has_no_room_is_refused_with_the_sizes() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 16384\ntools = \"native\"\n");
    let agent = bench.agent();
    say(&agent, "hi").await;
    agent.goals().create(&LAST, &"Move the library ".repeat(12), Priority::High).await.unwrap();
    for n in 1..=3 {
        agent
            .goals()
            .record_decision(&LAST, &format!("{n} {}", "by train and never by road ".repeat(9)), "")
            .await
            .unwrap();
        agent.goals().lock_decision(&LAST, &format!("d{n}")).await.unwrap();
    }
    let id = agent.directory().find(&LAST).await.unwrap().unwrap().id;
    let refused = agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap_err().to_string();
    assert!(refused.contains("the goal has 200 tokens") && refused.contains("3 locked decisions"), "{refused}");
    assert_eq!(agent.conversations().tiers(&LAST).await.unwrap().window, Some(WindowSize(16_384)));
    agent.goals().clear(&LAST).await.unwrap();
    agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap();
    assert_eq!(agent.conversations().tiers(&LAST).await.unwrap().window, Some(WindowSize(4096)));
}

// OLLM-070
#[tokio::test]
async fn without_a_name_the_goal_that_waits_goes_on_not_one_that_is_done() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    agent.goals().create(&LAST, "Move", Priority::High).await.unwrap();
    agent.goals().create(&LAST, "Rest", Priority::Low).await.unwrap();
    agent.goals().complete(&LAST, None, "rested").await.unwrap();
    agent.goals().resume(&LAST, None).await.unwrap();
    assert_eq!(shown(&agent).await, "Move active [] [] []");
}

// SEC-002 SEC-065 OLLM-078
#[tokio::test]
async fn a_goal_that_a_reply_names_after_a_strangers_text_is_not_made() {
    let script = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n\
                  [[reply]]\ntext = \"[GOAL] Serve Eve\"\n";
    let bench = Bench::new(script).await;
    let mut options = bench.options();
    options.tools = vec![EffectTool::outside("read_page") as Arc<dyn Tool>];
    let agent = Agent::open(options).unwrap();
    let events = say(&agent, "read the page").await;
    assert!(agent.goals().list(&LAST).await.unwrap().history().is_empty());
    let told =
        |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("only when the owner says so"));
    assert!(events.iter().any(told), "{events:?}");
    say(&agent, "[GOAL] is a word that I type; make a goal of moving.").await;
    agent.goals().create(&LAST, "Move", Priority::High).await.unwrap();
    assert_eq!(agent.goals().list(&LAST).await.unwrap().shown().unwrap().trust(), Trust::Owner);
}
