//! Goals at the page.

use limpid_core::goal::{CheckpointStatus, GoalStatus, Priority};
use limpid_runtime::ConversationChoice;
use reqwest::StatusCode;

use crate::kit::{PageBench, QUIET};

// SUR-024
#[tokio::test]
async fn a_goal_shows_its_steps_and_decisions_and_what_happened_to_it() {
    let bench = PageBench::new(QUIET, "").await;
    assert!(bench.html("/goals").await.contains("No goals yet."));
    let goals = bench.agent.goals();
    goals.create(&ConversationChoice::New, "Move the <b>papers</b>", Priority::High).await.unwrap();
    let own = goals.conversations(9).await.unwrap().remove(0).id;
    let choice = ConversationChoice::Id(own.clone());
    goals.add_checkpoint(&choice, "List every folder").await.unwrap();
    goals.add_checkpoint(&choice, "Move them").await.unwrap();
    goals.record_decision(&choice, "Originals stay", "they may be needed").await.unwrap();
    let screen = bench.html("/goals").await;
    for words in
        ["Move the &#60;b&#62;papers", "0 of 2 steps done", "high priority", "Originals stay", "they may be needed"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    let goal = async || goals.list(&choice).await.unwrap().history()[0].clone();
    let kept = goal().await;
    let (step, decision) =
        (kept.checkpoints()[0].id.to_string(), kept.decisions().iter().next().unwrap().id().to_string());
    let act = format!("/goals/{own}/act");
    bench.leads(&act, &[("act", "done"), ("name", &step)]).await;
    bench.leads(&act, &[("act", "lock"), ("name", &decision)]).await;
    let kept = goal().await;
    assert_eq!(kept.checkpoints()[0].status, CheckpointStatus::Completed);
    assert!(kept.decisions().iter().all(limpid_core::goal::Decision::is_locked));
    let screen = bench.html(&format!("/goals/{own}")).await;
    assert!(screen.contains("1 of 2 steps done") && !screen.contains("value=\"lock\""), "{screen}");
    let history = screen.split_once("id=\"history\"").unwrap().1;
    assert!(history.contains("papers") && history.contains("11 Apr, 12:00"), "{history}");
    let name = kept.id().to_string();
    for (what, status) in
        [("pause", GoalStatus::Paused), ("resume", GoalStatus::Active), ("complete", GoalStatus::Completed)]
    {
        bench.leads(&act, &[("act", what), ("name", &name)]).await;
        assert_eq!(goal().await.status(), status, "{what}");
    }
    let wrong = bench.post(&act, &[("act", "drop"), ("name", &name)]).send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bench.get("/goals/nobody").send().await.unwrap().status().is_client_error());
}

// SUR-024
#[tokio::test]
async fn the_example_of_the_empty_screen_makes_a_goal_when_it_is_typed() {
    let bench = PageBench::new(QUIET, "").await;
    let screen = bench.html("/goals").await;
    let line = screen.split("<code>/goal").nth(1).unwrap().split("</code>").next().unwrap();
    bench.sent("/c/new/send", &[("text", &format!("/goal{line}"))]).await;
    let screen = bench.html("/goals").await;
    assert!(screen.contains(">Move the tax papers to one place</bdi>"), "{screen}");
}
