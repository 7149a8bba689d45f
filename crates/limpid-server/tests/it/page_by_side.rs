//! Lists at the page and for programs: however much strangers' texts left, nothing of the owner's is missing.

use limpid_core::heartbeat::State;
use limpid_core::task::{MissedPolicy, Standing, TaskKind, Trigger};
use limpid_core::{CallId, Category, DraftState, Trust, TurnId};
use limpid_store::{
    DeliveryOrigin, DraftRoom, HeartbeatEnd, HeartbeatOutcome, HeartbeatRun, NewDelivery, NewDraft, NewMemory, NewTask,
};

use crate::api_kit::ApiBench;
use crate::kit::{PageBench, QUIET};

/// Later than anything that the owner does here.
const LATER_MS: i64 = 4_000_000_000_000;

/// Has a page store so many memories.
async fn flood(bench: &PageBench, count: usize, now_ms: i64) {
    for n in 0..count {
        let new = NewMemory {
            key: Some(format!("w{n}")),
            content: format!("filler {n}"),
            category: Category::General,
            trust: Trust::Outside,
            author: limpid_store::Author::Inferred,
            source: Some("turn:t1".to_owned()),
            now_ms,
        };
        bench.agent.store().store_memory(new).await.unwrap();
    }
}

// SEC-102 SUR-024
#[tokio::test]
async fn strangers_memories_push_none_of_the_owners_off_the_screen() {
    let bench = PageBench::new(QUIET, "").await;
    bench.leads("/memory", &[("key", "tea"), ("content", "never coffee"), ("category", "GENERAL")]).await;
    flood(&bench, 230, LATER_MS).await;
    let screen = bench.html("/memory").await;
    let (list, lately) = screen.split_once("id=\"lately\"").unwrap();
    assert!(list.contains("never coffee") && list.contains("31 more are not shown"), "{list}");
    assert!(lately.contains("aria-label=\"Undo: Saved tea\""), "{lately}");
    assert_eq!(lately.matches("mono foreign").count(), 19, "{lately}");
}

// SEC-102
#[tokio::test]
async fn strangers_memories_push_none_of_the_owners_out_of_what_a_program_lists() {
    let bench = ApiBench::new(QUIET, "").await;
    flood(&bench.page, 40, 0).await;
    for n in 0..12 {
        let key = format!("own{n}");
        bench.page.agent.memory().remember(&key, "the owner's", Category::General, "cli").await.unwrap();
    }
    let (_, listed) = bench.look("/v1/memories?limit=10").await;
    let labels: Vec<&str> =
        listed["memories"].as_array().unwrap().iter().map(|row| row["trust"].as_str().unwrap()).collect();
    let ours = labels.iter().filter(|label| **label == "owner").count();
    assert_eq!((ours, labels.len()), (10, 11), "{labels:?}");
}

// SEC-102 SUR-024
#[tokio::test]
async fn strangers_tasks_push_none_of_the_owners_off_the_screen() {
    let bench = PageBench::new(QUIET, "").await;
    let keep = async |name: String, trust| {
        let new = NewTask {
            key: None,
            description: name.clone(),
            prompt: name,
            kind: TaskKind::Reminder,
            trigger: Trigger::Heartbeat,
            zone: "UTC".to_owned(),
            missed: MissedPolicy::Skip,
            base: None,
            conversation: None,
            trust,
            typed: false,
        };
        let standing = Standing::begin(&new.trigger, bench.agent.now());
        bench.agent.store().keep_task(new, standing, 0).await.unwrap();
    };
    for n in 0..205 {
        keep(format!("theirs {n}"), Trust::Outside).await;
    }
    keep("Water the plants".to_owned(), Trust::Owner).await;
    let screen = bench.html("/tasks").await;
    assert!(screen.contains("Water the plants") && screen.contains("6 more are not shown"), "{screen}");
}

// SEC-102 KAI-067
#[tokio::test]
async fn strangers_reports_push_none_of_the_owners_out_of_the_banner() {
    let bench = PageBench::new(QUIET, "").await;
    let conversation = bench.agent.directory().reports().await.unwrap();
    for n in 0..40 {
        let (text, trust) = match n {
            0 => ("The disk is full.".to_owned(), Trust::Owner),
            n => (format!("Eve wrote {n} times."), Trust::Outside),
        };
        let new = NewDelivery {
            key: format!("k{n}"),
            conversation: conversation.clone(),
            origin: DeliveryOrigin::Heartbeat,
            title: "Report".to_owned(),
            text,
            trust,
            draft: None,
            now_ms: 1,
        };
        assert!(bench.agent.store().enqueue(new).await.unwrap());
    }
    let told = async {
        while bench.agent.deliveries().unread_reports().await.unwrap().len() < 40 {
            bench.agent.conversations().deliver_waiting().await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), told).await.unwrap();
    let screen = bench.html("/memory").await;
    assert!(screen.contains("Eve wrote 39 times.") && screen.contains("and 39 more"), "{screen}");
    assert!(screen.contains("The disk is full."), "{screen}");
}

// SEC-102 SUR-024
#[tokio::test]
async fn strangers_drafts_push_none_of_the_owners_out_of_what_was_decided() {
    let bench = PageBench::new(QUIET, "").await;
    let conversation = bench.agent.directory().reports().await.unwrap();
    let store = bench.agent.store();
    for n in 0..30 {
        let (tool, trust) = if n < 3 { ("own_tool", Trust::Owner) } else { ("their_tool", Trust::Outside) };
        let new = NewDraft {
            conversation: conversation.clone(),
            turn: TurnId::new(format!("t{n}")),
            call: CallId::new("c"),
            tool: tool.to_owned(),
            arguments: "{}".to_owned(),
            about: None,
            hash: "00ff".to_owned(),
            folder: String::new(),
            destination: None,
            why: String::new(),
            led_by: String::new(),
            trust,
            now_ms: n,
            expires_ms: LATER_MS,
        };
        let room = DraftRoom { open: 20, of_turn: 20, of_chat: None, of_background: (20, 20) };
        let draft = store.keep_draft(new, room).await.unwrap().unwrap();
        store.move_draft(draft.id, DraftState::Refused, "", n).await.unwrap();
    }
    let screen = bench.html("/activity").await;
    let decided = screen.split_once("id=\"decided\"").unwrap().1;
    let listed = (decided.matches("<code>own_tool</code>").count(), decided.matches("<code>their_tool</code>").count());
    assert_eq!(listed, (3, 2), "{decided}");
}

// SEC-102 SUR-024
#[tokio::test]
async fn runs_that_looked_at_strangers_messages_push_none_of_the_others_out_of_the_log() {
    let bench = PageBench::new(QUIET, "").await;
    for n in 0..30 {
        let (detail, trust) = match n {
            0 => ("The disk is full.", Trust::Owner),
            _ => ("Eve wrote.", Trust::Outside),
        };
        let run = HeartbeatRun {
            key: format!("k{n}"),
            part: String::new(),
            by_hand: false,
            began_ms: n,
            ended_ms: n,
            outcome: HeartbeatOutcome::Failed,
            detail: detail.to_owned(),
            report: None,
            report_key: None,
            trust,
            conversation: None,
            requests: 1,
            input_tokens: 0,
            output_tokens: 0,
        };
        let end = HeartbeatEnd {
            run,
            state: State::default(),
            quiet_mark: None,
            remainder_mark: None,
            deliveries: Vec::new(),
            consumed: Vec::new(),
            dropped: Vec::new(),
            asked: Vec::new(),
            alone: Vec::new(),
            timer: None,
        };
        assert!(bench.agent.store().end_heartbeat(end).await.unwrap());
    }
    let screen = bench.html("/settings").await;
    let listed = (screen.matches("The disk is full.").count(), screen.matches("Eve wrote.").count());
    assert_eq!(listed, (2, 8), "each stands in its line and in full behind it: {screen}");
}
