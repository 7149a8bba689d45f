//! A flood of what strangers send, of each kind, while the owner's turn begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::kit::mailbox::FakeMailbox;
use crate::kit::{Bench, all, last, say, text};
use limpid_channels::mail::{Mailbox, Secret};
use limpid_core::inbox::Source;
use limpid_core::{ConversationId, Trust};
use limpid_runtime::inbox::IngestKind;
use limpid_runtime::mail::AccountSettings;
use limpid_runtime::{Agent, AgentOptions};
use limpid_store::{DeliveryOrigin, ItemFilter, NewDelivery};
use serde_json::json;
use tokio::task::JoinSet;

const HELLO: &str = "[[reply]]\ntext = \"Hello.\"\n";

/// The measure is 200 ms for the beginning of a turn; ten times of it fails, of a whole turn and in a debug build.
const MOST: Duration = Duration::from_secs(2);

/// Items of a flood.
const FLOOD: usize = 2000;

async fn bench() -> Bench {
    let mut bench = Bench::new(&HELLO.repeat(2)).await;
    bench.config.inbox.mail = true;
    bench.config.inbox.sms = true;
    bench.config.inbox.notifications = true;
    bench
}

/// A whole turn of the owner's, which has to be over in time.
async fn turn_in_time(agent: &Agent, flood: &str) {
    let begun = Instant::now();
    assert_eq!(text(&say(agent, "hi").await), "Hello.", "{flood}");
    let took = begun.elapsed();
    assert!(took < MOST, "{flood}: a turn took {} ms", took.as_millis());
}

/// Waits until the flood has begun, so that what comes now stands behind it.
async fn under_way(kept: &AtomicUsize) {
    while kept.load(Ordering::SeqCst) < 20 {
        tokio::task::yield_now().await;
    }
}

async fn hand_in(agent: &Agent, kind: IngestKind, text: &str) {
    let object = json!({"from": "Eve", "text": text}).to_string();
    agent.inbox().ingest(kind, object.as_bytes(), None).await.unwrap();
}

// SEC-093
#[tokio::test]
async fn a_flood_of_what_is_handed_in_lets_the_owners_turn_begin_and_end() {
    for kind in IngestKind::ALL {
        let bench = bench().await;
        let agent = bench.agent();
        let kept = Arc::new(AtomicUsize::new(0));
        let mut flood = JoinSet::new();
        for number in 0..FLOOD {
            let (agent, kept) = (agent.clone(), Arc::clone(&kept));
            flood.spawn(async move {
                hand_in(&agent, kind, &format!("message {number}")).await;
                kept.fetch_add(1, Ordering::SeqCst);
            });
        }
        under_way(&kept).await;
        turn_in_time(&agent, kind.as_str()).await;
        let meanwhile = kept.load(Ordering::SeqCst);
        assert!(meanwhile < FLOOD / 2, "the turn waited for {meanwhile} messages of a stranger's");
        flood.join_all().await;
        assert_eq!(kept.load(Ordering::SeqCst), FLOOD, "and each of them was kept");
    }
}

// SEC-093
#[tokio::test]
async fn one_source_that_floods_does_not_hold_up_another() {
    let bench = bench().await;
    let agent = bench.agent();
    let mut flood = JoinSet::new();
    let kept = Arc::new(AtomicUsize::new(0));
    for number in 0..FLOOD {
        let (agent, kept) = (agent.clone(), Arc::clone(&kept));
        flood.spawn(async move {
            hand_in(&agent, IngestKind::Sms, &format!("message {number}")).await;
            kept.fetch_add(1, Ordering::SeqCst);
        });
    }
    under_way(&kept).await;
    let begun = Instant::now();
    hand_in(&agent, IngestKind::Notification, "The door is open").await;
    assert!(begun.elapsed() < MOST, "it waited {} ms", begun.elapsed().as_millis());
    let texts = agent.store().items(ItemFilter { source: Some(Source::Sms), ..ItemFilter::default() }).await.unwrap();
    assert!(texts.rows.len() < FLOOD / 2, "it waited for {} text messages", texts.rows.len());
    flood.join_all().await;
}

// SEC-093
#[tokio::test]
async fn a_mailbox_that_never_ends_lets_the_owners_turn_begin_and_end() {
    let bench = bench().await;
    let mailbox = Arc::new(FakeMailbox::new());
    let options = AgentOptions { mailbox: Some(Arc::clone(&mailbox) as Arc<dyn Mailbox>), ..bench.options() };
    let agent = Agent::open(options).unwrap();
    let settings = AccountSettings { address: "me@example.com".to_owned(), ..AccountSettings::default() };
    agent.mail().setup(settings, Some(Secret::new("correct-horse-battery"))).await.unwrap();
    agent.mail().fetch("me@example.com").await.unwrap();
    for number in 0..FLOOD {
        mailbox
            .deliver(&format!("From: Eve <eve@example.com>\nSubject: Letter {number}\n\nThis is letter {number}.\n"));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let fetching = tokio::spawn({
        let (agent, is_over) = (agent.clone(), Arc::clone(&is_over));
        async move {
            while !is_over.load(Ordering::SeqCst) {
                agent.mail().fetch("me@example.com").await.unwrap();
            }
        }
    });
    tokio::task::yield_now().await;
    turn_in_time(&agent, "mail").await;
    is_over.store(true, Ordering::SeqCst);
    fetching.await.unwrap();
}

fn report(number: usize, conversation: &ConversationId) -> NewDelivery {
    NewDelivery {
        key: format!("task/1/{number}"),
        conversation: conversation.clone(),
        origin: DeliveryOrigin::Task,
        title: "Prices".to_owned(),
        text: format!("Price {number} has changed."),
        trust: Trust::Outside,
        draft: None,
        now_ms: 1,
    }
}

// SEC-093
#[tokio::test]
async fn a_flood_of_results_of_tasks_lets_the_owners_turn_begin_and_comes_in_whole() {
    let bench = bench().await;
    let agent = bench.agent();
    let handle = agent.chat(last("hi")).await.unwrap();
    let chat = handle.conversation().clone();
    all(handle).await;
    agent.conversations().wait_idle(&chat).await;
    let mut flood = JoinSet::new();
    for number in 0..FLOOD {
        let (agent, report) = (agent.clone(), report(number, &chat));
        flood.spawn(async move { agent.store().enqueue(report).await.unwrap() });
    }
    flood.join_all().await;
    turn_in_time(&agent, "results of tasks").await;
    let left = agent.store().pending_deliveries(None).await.unwrap().rows.len();
    assert!(left > FLOOD / 2, "the turn waited for {} results", FLOOD - left);
    agent.conversations().wait_idle(&chat).await;
    assert_eq!(agent.store().pending_deliveries(None).await.unwrap().rows.len(), 0, "all of them are in the chat");
}

// SEC-093
#[tokio::test]
async fn a_thousand_unread_items_of_each_source_do_not_slow_the_start_and_the_next_turn() {
    let bench = bench().await;
    let agent = bench.agent();
    for kind in IngestKind::ALL {
        let mut flood = JoinSet::new();
        for number in 0..1000 {
            let agent = agent.clone();
            let text = format!("{} {number}", "Read this now. ".repeat(100));
            flood.spawn(async move { hand_in(&agent, kind, &text).await });
        }
        flood.join_all().await;
    }
    drop(agent);
    let begun = Instant::now();
    let agent = bench.agent();
    agent.conversations().resume().await.unwrap();
    assert!(begun.elapsed() < MOST, "the start took {} ms", begun.elapsed().as_millis());
    turn_in_time(&agent, "unread items").await;
}
