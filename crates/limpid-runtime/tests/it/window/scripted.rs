//! One piece of work from its first word on, at every window (OLLM-115): task, goal, prompt, work, a digest that knows
//! the goal, the goal as it was, markers that advance it, and the work goes on.

use std::sync::Arc;

use limpid_core::goal::{CheckpointStatus, GoalStatus};
use limpid_model::ModelCall;
use limpid_runtime::{Agent, ConversationChoice, Outcome};
use limpid_testkit::{Said, Talker};

use super::{BARE, agent, bench, card, outcome, text_of};
use crate::kit::say;

const GOAL: &str = "Implement user authentication system";

/// Works through what it is told, one step a message.
fn work(call: &ModelCall) -> Said {
    if !call.prompt.path().starts_with("chat") {
        return Said::Text("They chose tokens; the login form is drawn; next comes the session store.".to_owned());
    }
    let newest = call.prompt.messages().last().map_or("", |message| message.text());
    let window = if newest.starts_with("Go on") { 60 } else { 5 };
    let markers = [
        (
            "I want",
            "[GOAL] Implement user authentication system\n[CHECKPOINT] Draw the form\n[CHECKPOINT] Store sessions",
        ),
        ("Decide", "[DECISION] Tokens in place of cookies - LOCKED"),
        ("Draw", "[CHECKPOINT] Draw the form - COMPLETED\n[ARTIFACT] Created src/form.rs\n[NEXT] Store sessions"),
        ("Store", "[CHECKPOINT] Store sessions - COMPLETED"),
    ];
    let said = markers.iter().find(|(said, _)| newest.starts_with(said)).map_or("", |(_, marker)| *marker);
    Said::Text(format!("{}\n{}", "Some work was done. ".repeat(window), said))
}

async fn tell(agent: &Agent, text: &str) {
    let events = say(agent, text).await;
    assert!(matches!(outcome(&events), Outcome::Answered { .. }), "{text}: {:?}", outcome(&events));
}

// OLLM-115
#[tokio::test]
async fn a_goal_is_worked_at_through_digests_until_it_is_done() {
    for window in [2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072] {
        let bench = bench().await;
        let model = Arc::new(Talker::new(card(window), work));
        let agent = agent(&bench, &model, &format!("[agent]\nprofile = \"ollm\"\n{BARE}"));
        tell(&agent, "I want people to log in to my site.").await;
        tell(&agent, "Decide how.").await;
        let goals = agent.goals().list(&ConversationChoice::Last).await.unwrap();
        assert_eq!(goals.shown().unwrap().description(), GOAL);
        tell(&agent, "Draw the form first.").await;
        let before = agent.goals().list(&ConversationChoice::Last).await.unwrap();
        assert_eq!(before.shown().unwrap().progress().completed, 1);
        let mut compactions = 0;
        for n in 0..400 {
            tell(&agent, &format!("Go on, {n}. {}", "There is more to be said of it. ".repeat(window as usize / 400)))
                .await;
            compactions = agent.conversations().context(&ConversationChoice::Last).await.unwrap().view.compactions;
            if compactions >= 2 {
                break;
            }
        }
        assert!(compactions >= 2, "{window}");
        let calls = model.take_sent();
        let digest = calls.iter().find(|prompt| prompt.path() == "summarize").unwrap();
        assert!(text_of(digest).contains(&format!("ACTIVE GOAL: {GOAL}")), "{window}: the digest knows the goal");
        let after = agent.goals().list(&ConversationChoice::Last).await.unwrap();
        assert_eq!(before, after, "{window}: no compaction touches the goal");

        tell(&agent, "Store the sessions now.").await;
        let sent = text_of(&model.take_sent()[0]);
        for part in [GOAL, "Tokens in place of cookies", "I want people to log in", "They chose tokens"] {
            assert!(sent.contains(part), "{window}, {part}: {sent}");
        }
        let goals = agent.goals().list(&ConversationChoice::Last).await.unwrap();
        let goal = goals.shown().unwrap();
        assert_eq!(goal.status(), GoalStatus::Completed, "{window}: {goal:?}");
        assert!(goal.checkpoints().iter().all(|step| step.status == CheckpointStatus::Completed));
        tell(&agent, "Thanks. What comes next?").await;
        assert!(text_of(&model.take_sent()[0]).contains("Completed"), "{window}: it stays in sight until a new task");
    }
}
