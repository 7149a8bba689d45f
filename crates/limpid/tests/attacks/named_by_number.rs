//! A page has the agent write over a memory and take out a task by their numbers, with words that fit to others.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, Planned, page};

fn wants() -> Vec<Planned> {
    vec![
        ("memory_update", json!({ "id": 1, "content": "Ada likes black tea." })),
        ("cancel_task", json!({ "task_id": "1" })),
        ("schedule_task", json!({ "description": "x", "prompt": "Water the plants", "cron": "0 9 * * 1" })),
        (
            "schedule_task",
            json!({ "description": "x", "prompt": "Water them", "execute_at": "2036-11-29T06:00:00-08:00" }),
        ),
    ]
}

/// Two drafts, of a memory and of a task, which a page led to.
async fn drafted() -> Attack {
    let reads = |_: &str| vec![("research", json!({ "task": "Read the page." }))];
    let attack = Attack::new(reads, |_| wants(), |_| page(MARK)).await;
    attack.world.done(&["memory", "add", "allergy", "Ada must not have penicillin."]).await;
    attack.world.done(&["task", "add", "--after", "2h", "take the heart pills"]).await;
    attack.world.done(&["chat", "what does the page say?"]).await;
    attack
}

// SEC-077
#[tokio::test]
async fn the_question_says_what_the_number_stands_for() {
    let attack = drafted().await;
    let memory = attack.world.done(&["draft", "show", "1"]).await;
    assert!(memory.contains("about  memory 1, allergy: Ada must not have penicillin.\n"), "{memory}");
    let task = attack.world.done(&["draft", "show", "2"]).await;
    assert!(
        task.contains("about  task 1, pending, due once, on ") && task.contains(": take the heart pills\n"),
        "{task}"
    );
    let repeated = attack.world.done(&["draft", "show", "3"]).await;
    assert!(repeated.contains("about  due on Mon at 9:00 (UTC)\n"), "{repeated}");
    let once = attack.world.done(&["draft", "show", "4"]).await;
    assert!(once.contains("about  due once, on Sat 29 Nov 2036 at 14:00 (UTC)\n"), "{once}");
}

// SEC-075 SEC-077
#[tokio::test]
async fn a_yes_covers_what_the_number_stood_for_and_nothing_that_it_stands_for_later() {
    let attack = drafted().await;
    attack.world.done(&["memory", "add", "allergy", "Ada must not have nuts."]).await;
    assert_eq!(attack.world.run(&["draft", "approve", "1"]).await.code, 1, "it waits again");
    let draft = attack.world.done(&["draft", "show", "1"]).await;
    assert!(draft.contains("about  memory 1, allergy: Ada must not have nuts.\n"), "{draft}");
    assert!(draft.contains("since it was kept, what it is about has changed; look again"), "{draft}");
    assert!(attack.world.done(&["memory", "list"]).await.contains("must not have nuts"));
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn what_was_seen_and_approved_is_done() {
        let attack = drafted().await;
        attack.world.done(&["draft", "approve", "1"]).await;
        attack.world.done(&["draft", "approve", "2"]).await;
        assert!(attack.world.done(&["memory", "list"]).await.contains("Ada likes black tea."));
        assert!(attack.world.done(&["task", "list", "--all"]).await.contains("cancelled"));
    }
}
