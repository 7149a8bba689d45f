//! The owner is told on other screens what reached a conversation.

use std::sync::{Arc, Mutex};

use crate::kit::{Bench, dead_holder};
use async_trait::async_trait;
use limpid_core::{ConversationId, Message, Role, Trust};
use limpid_prompt::shown::Shown;
use limpid_runtime::{Agent, AgentOptions, Clock as _, Environment, EventKind, Notice, Notifier};
use limpid_store::{
    Acquired, Audience, ConversationKind, DeliveryOrigin, NewConversation, NewDelivery, NewMessage,
    PendingNotifications,
};
use limpid_testkit::Browser;
use limpid_testkit::browser::signed_claims;

const HELLO: &str = "[[reply]]\ntext = \"Hello.\"\n";

/// A screen that shows what it is told, or is broken.
#[derive(Default)]
struct Screen {
    shown: Mutex<Vec<Notice>>,
    broken: bool,
}

#[async_trait]
impl Notifier for Screen {
    fn name(&self) -> &'static str {
        "screen"
    }

    async fn notify(&self, notice: &Notice) -> Result<(), String> {
        self.shown.lock().unwrap().push(notice.clone());
        if self.broken { Err("it is dark".to_owned()) } else { Ok(()) }
    }
}

async fn report(agent: &Agent, key: &str, text: &str) {
    report_of(agent, key, text, Trust::Owner).await;
}

async fn report_of(agent: &Agent, key: &str, text: &str, trust: Trust) {
    let chat = ConversationId::new("c1");
    if agent.store().conversation(&chat).await.unwrap().is_none() {
        let new = NewConversation {
            id: chat.clone(),
            kind: ConversationKind::Chat,
            title: String::new(),
            profile: "limpid".to_owned(),
            mode: None,
            model: None,
            audience: Audience::Owner,
            now_ms: 1,
        };
        agent.store().create_conversation(new).await.unwrap();
    }
    let new = NewDelivery { key: key.to_owned(), trust, ..new_delivery(text) };
    agent.store().enqueue(new).await.unwrap();
    agent.conversations().deliver_waiting().await.unwrap();
}

fn new_delivery(text: &str) -> NewDelivery {
    NewDelivery {
        key: String::new(),
        conversation: ConversationId::new("c1"),
        origin: DeliveryOrigin::Heartbeat,
        title: "Disk “A”\u{9b}2K".to_owned(),
        text: text.to_owned(),
        trust: Trust::Owner,
        draft: None,
        now_ms: 1,
    }
}

// KAI-069 KAI-070 SEC-089
#[tokio::test]
async fn a_report_is_told_once_in_short_and_a_broken_screen_fails_nothing() {
    let bench = Bench::new(HELLO).await;
    let (good, bad) = (Arc::new(Screen::default()), Arc::new(Screen { broken: true, ..Screen::default() }));
    let notifiers: Vec<Arc<dyn Notifier>> = vec![Arc::clone(&bad) as _, Arc::clone(&good) as _];
    let agent = Agent::open(AgentOptions { notifiers, ..bench.options() }).unwrap();
    let mut bus = agent.subscribe();
    report(&agent, "k1", "## **Full**\n```kai-ui\n{}\n```\nThe disk is full\u{1b}]0;x\u{7}.").await;
    report(&agent, "k1", "again").await;
    report(&agent, "k2", "HEARTBEAT_OK").await;
    report(&agent, "k3", "```kai-ui\n{}\n```").await;
    assert!(agent.store().open_pushes().await.unwrap().rows.is_empty(), "what became of each is written down");
    let shown = good.shown.lock().unwrap().clone();
    let expected = Notice {
        id: "c1".to_owned(),
        title: Shown::new("Disk “A”\\u{9b}2K"),
        body: Shown::new("Full The disk is full\\u{1b}]0;x\\u{7}."),
        link: None,
    };
    assert_eq!(shown, [expected]);
    assert_eq!(bad.shown.lock().unwrap().len(), 1);
    assert_eq!(
        agent.deliveries().unread().await.unwrap().rows.len(),
        2,
        "what failed to be told was delivered all the same"
    );
    let mut failures = Vec::new();
    while let Ok(event) = bus.try_recv() {
        if let EventKind::NotificationFailed { by, reason } = event.change {
            failures.push(format!("{by}: {reason}"));
        }
    }
    assert_eq!(failures, ["screen: it is dark"]);
}

// SEC-005
#[tokio::test]
async fn a_notice_of_a_strangers_text_has_no_address_and_the_conversation_has_it_whole() {
    let bench = Bench::new(HELLO).await;
    let screen = Arc::new(Screen::default());
    let notifiers: Vec<Arc<dyn Notifier>> = vec![Arc::clone(&screen) as _];
    let agent = Agent::open(AgentOptions { notifiers, ..bench.options() }).unwrap();
    let text = "Your parcel waits: http://evil.example/p/4711";
    report_of(&agent, "k1", text, Trust::Outside).await;
    report_of(&agent, "k2", text, Trust::Owner).await;
    let shown = screen.shown.lock().unwrap().clone();
    let bodies: Vec<&str> = shown.iter().map(|notice| notice.body.as_str()).collect();
    assert_eq!(bodies, ["Your parcel waits: evil[.]example (link)", text]);
    let ids: Vec<&str> = shown.iter().map(|notice| notice.id.as_str()).collect();
    assert_eq!(ids, ["c1-others", "c1"], "it takes the place of none of the owner's");
    let kept = agent.store().messages(&ConversationId::new("c1"), None).await.unwrap().rows;
    assert!(kept.iter().filter(|row| row.message.text.contains(text)).count() == 2, "{kept:?}");
}

// KAI-068 SEC-093
#[tokio::test]
async fn a_report_takes_the_place_of_reports_and_a_reminder_that_of_nothing() {
    let bench = Bench::new(HELLO).await;
    let screen = Arc::new(Screen::default());
    let notifiers: Vec<Arc<dyn Notifier>> = vec![Arc::clone(&screen) as _];
    let agent = Agent::open(AgentOptions { notifiers, ..bench.options() }).unwrap();
    report(&agent, "k1", "The disk is full.").await;
    report(&agent, "k2", "The disk is fuller.").await;
    for key in ["task/1/9", "task/2/9"] {
        let reminder = NewDelivery { origin: DeliveryOrigin::Reminder, ..new_delivery("Take the pills.") };
        agent.store().enqueue(NewDelivery { key: key.to_owned(), ..reminder }).await.unwrap();
        agent.conversations().deliver_waiting().await.unwrap();
    }
    let ids: Vec<String> = screen.shown.lock().unwrap().iter().map(|notice| notice.id.clone()).collect();
    let reminders = &ids[2..];
    assert_eq!(ids[..2], ["c1", "c1"]);
    assert!(reminders[0] != reminders[1] && reminders.iter().all(|id| id.starts_with("c1-")), "{ids:?}");
}

// KAI-068
#[tokio::test]
async fn while_a_client_is_open_nothing_is_notified() {
    let bench = Bench::new(HELLO).await;
    let screen = Arc::new(Screen::default());
    let notifiers: Vec<Arc<dyn Notifier>> = vec![Arc::clone(&screen) as _];
    let agent = Agent::open(AgentOptions { notifiers, ..bench.options() }).unwrap();
    let elsewhere = bench.agent().notifications().open_client().await.unwrap();
    report(&agent, "k1", "The disk is full.").await;
    assert!(screen.shown.lock().unwrap().is_empty());
    drop(elsewhere);
}

// KAI-068
#[tokio::test]
async fn a_client_that_died_without_a_word_is_not_open_whoever_has_its_number_now() {
    let bench = Bench::new(HELLO).await;
    let screen = Arc::new(Screen::default());
    let notifiers: Vec<Arc<dyn Notifier>> = vec![Arc::clone(&screen) as _];
    let agent = Agent::open(AgentOptions { notifiers, ..bench.options() }).unwrap();
    let clients = bench.home.path().join("data/clients");
    std::fs::create_dir_all(&clients).unwrap();
    let living = std::process::id().to_string();
    let holders = [
        dead_holder(),
        dead_holder().replace("999999999", &living),
        format!("before-the-restart/pid:[1]/{living}@1/1"),
    ];
    for (n, holder) in holders.iter().enumerate() {
        std::fs::write(clients.join(n.to_string()), holder).unwrap();
        report(&agent, &format!("k{n}"), "The disk is full.").await;
        assert_eq!(screen.shown.lock().unwrap().len(), n + 1, "{holder}");
        assert!(!clients.join(n.to_string()).exists());
    }
}

// KAI-068 KAI-070
#[tokio::test]
async fn a_topic_and_a_program_get_the_notice_as_an_object() {
    let mut bench = Bench::new(HELLO).await;
    let told = bench.home.path().join("told.json");
    bench.config.notify.ntfy = Some(format!("{}/ada", bench.server.url()));
    bench.config.notify.ntfy_token_env = Some("MY_TOPIC".to_owned());
    bench.config.notify.command = vec!["tee".to_owned(), told.display().to_string()];
    bench.config.notify.link = Some("https://agent.home/{conversation}".to_owned());
    let environment = Environment::new([("MY_TOPIC".to_owned(), "tk_secret9f3kX2mQ7vB4tL8w".to_owned())]);
    let agent = Agent::open(AgentOptions { environment, ..bench.options() }).unwrap();
    report(&agent, "k1", "The disk is full; the key is tk_secret9f3kX2mQ7vB4tL8w.").await;
    let body = "The disk is full; the key is [secret MY_TOPIC].";
    let request = bench.server.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/"));
    assert_eq!(request.header("authorization"), Some("Bearer tk_secret9f3kX2mQ7vB4tL8w"));
    let object = serde_json::json!({"topic": "ada", "title": "Disk “A”\\u{9b}2K", "message": body, "sequence_id": "c1", "click": "https://agent.home/c1"});
    assert_eq!(request.json(), object);
    let told: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(told).unwrap()).unwrap();
    assert_eq!(
        told,
        serde_json::json!({"id": "c1", "title": "Disk “A”\\u{9b}2K", "body": body, "link": "https://agent.home/c1"})
    );
}

// KAI-070
#[tokio::test]
async fn what_cannot_be_told_says_why() {
    let mut bench = Bench::new(HELLO).await;
    bench.config.notify.ntfy = Some("http://127.0.0.1:1/ada".to_owned());
    bench.config.notify.command = vec!["sh".to_owned(), "-c".to_owned(), "echo no bell >&2; exit 3".to_owned()];
    let agent = bench.agent();
    let mut bus = agent.subscribe();
    report(&agent, "k1", "The disk is full.").await;
    let mut failures = Vec::new();
    while let Ok(event) = bus.try_recv() {
        if let EventKind::NotificationFailed { by, reason } = event.change {
            failures.push(format!("{by}: {reason}"));
        }
    }
    failures.sort();
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert_eq!(failures[0], "command: `sh` failed (exit status: 3): no bell");
    assert!(failures[1].starts_with("ntfy: ") && !failures[1].contains("unknown"), "{failures:?}");
}

// KAI-068 KAI-070
#[tokio::test]
async fn a_browser_alone_can_read_what_it_is_told() {
    let mut bench = Bench::new(HELLO).await;
    bench.config.notify.web_push_contact = Some("mailto:me@example.com".to_owned());
    let agent = bench.agent();
    let browser = Browser::new();
    let added =
        agent.notifications().add_browser(&browser.subscription(&format!("{}/push/1", bench.server.url()))).unwrap();
    assert_eq!(agent.notifications().browsers().unwrap(), [added]);
    for _ in 0..2 {
        bench.server.will_answer(201, "");
    }
    report(&agent, "k1", "The disk is full.").await;
    report(&agent, "k2", "The disk is fuller.").await;
    let sent = bench.server.requests();
    assert_eq!((sent.len(), sent[0].method.as_str(), sent[0].path.as_str()), (2, "POST", "/push/1"));
    let shown = |name: &str| sent[0].header(name).unwrap_or_default().to_owned();
    let headers = ["content-encoding", "ttl", "urgency"].map(shown);
    assert_eq!(headers, ["aes128gcm", "86400", "normal"]);
    assert_eq!(sent[0].header("topic"), sent[1].header("topic"), "the later one takes the place of the first");
    let (claims, key) = signed_claims(sent[0].header("authorization").unwrap());
    let (audience, exp) = (bench.server.url(), bench.clock.now().as_second() + 12 * 60 * 60);
    assert_eq!(claims, serde_json::json!({"aud": audience, "exp": exp, "sub": "mailto:me@example.com"}));
    assert_eq!(key, bench.agent().notifications().push_key().unwrap(), "one key for all and over restarts");
    let told: serde_json::Value = serde_json::from_str(&browser.read(&sent[0].body)).unwrap();
    assert_eq!(told, serde_json::json!({"id": "c1", "title": "Disk “A”\\u{9b}2K", "body": "The disk is full."}));
}

// KAI-070
#[tokio::test]
async fn a_browser_that_unsubscribed_is_forgotten_and_one_that_cannot_be_reached_is_not() {
    let bench = Bench::new(HELLO).await;
    let agent = bench.agent();
    let endpoint = |n: u32| format!("{}/push/{n}", bench.server.url());
    let added = |n: u32| agent.notifications().add_browser(&Browser::new().subscription(&endpoint(n))).unwrap();
    let mut browsers = [added(1), added(2)];
    assert_eq!(added(1).id, browsers[0].id, "the same browser once");
    browsers.sort_by(|a, b| a.id.cmp(&b.id));
    let [first, second] = browsers;
    bench.server.will_answer(410, "");
    bench.server.will_answer(503, "later");
    let mut bus = agent.subscribe();
    report(&agent, "k1", "The disk is full.").await;
    let EventKind::NotificationFailed { by, reason } = std::iter::from_fn(|| bus.try_recv().ok())
        .map(|event| event.change)
        .find(|change| matches!(change, EventKind::NotificationFailed { .. }))
        .unwrap()
    else {
        panic!()
    };
    let host = bench.server.url().replace("http://", "");
    let gone = format!("the browser {} has unsubscribed and is told nothing any more", first.id);
    let unwilling = format!("{host} answered with status 503: later");
    assert_eq!((by.as_str(), reason), ("web push", format!("{gone}; {unwilling}")));
    assert_eq!(agent.notifications().browsers().unwrap(), [second]);
    assert_eq!(
        agent.deliveries().unread().await.unwrap().rows.len(),
        1,
        "the report is in its conversation all the same"
    );
}

// SEC-040 SEC-041
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_dead_process_was_telling_is_of_unknown_outcome_and_not_told_again() {
    let bench = Bench::new(HELLO).await;
    let screen = Arc::new(Screen::default());
    let notifiers: Vec<Arc<dyn Notifier>> = vec![Arc::clone(&screen) as _];
    let agent = Agent::open(AgentOptions { notifiers, ..bench.options() }).unwrap();
    report(&agent, "k1", "HEARTBEAT_OK").await;
    let (store, chat) = (agent.store(), ConversationId::new("c1"));
    for (key, holder) in [("k2", dead_holder()), ("k3", "elsewhere/pid:[1]/1/1".to_owned())] {
        let new = NewDelivery { key: key.to_owned(), title: key.to_owned(), ..new_delivery("Full.") };
        store.enqueue(new).await.unwrap();
        let pending = store.pending_deliveries(None).await.unwrap().rows;
        let Acquired::Lease(lease) = store.acquire(&chat, "test", agent.now_ms(), 1).await.unwrap() else {
            panic!("busy")
        };
        let said = [(Role::User, "[heartbeat]"), (Role::Assistant, "Full.")];
        let said = said.map(|(role, text)| NewMessage::new(Message::new(role, text, Trust::Owner)));
        let pending_notifications = PendingNotifications { names: vec!["screen".to_owned()], holder };
        assert!(store.deliver(&lease, pending[0].id, said.to_vec(), pending_notifications, 2).await.unwrap());
        store.release(&chat, lease.fence).await.unwrap();
    }
    let mut bus = agent.subscribe();
    for _ in 0..2 {
        agent.jobs().serve_once(|_| {}).await.unwrap();
    }
    let mut failures = Vec::new();
    while let Ok(event) = bus.try_recv() {
        if let EventKind::NotificationFailed { by, reason } = event.change {
            failures.push(format!("{by}: {reason}"));
        }
    }
    assert_eq!(failures, ["screen: outcome unknown: the program stopped while it told of “k2”"]);
    assert!(screen.shown.lock().unwrap().is_empty());
    let open = store.open_pushes().await.unwrap().rows;
    assert_eq!(open.iter().map(|push| push.title.as_str()).collect::<Vec<_>>(), ["k3"], "its process may live");
}
