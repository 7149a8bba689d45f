//! What reached the owner while nobody looked, as the command line tells it.

use crate::kit::World;
use limpid_core::{ConversationId, Message, Role, Trust};
use limpid_store::{
    Acquired, Audience, ConversationKind, Conversations as _, Deliveries as _, DeliveryOrigin, NewConversation,
    NewDelivery, NewMessage, PendingNotifications, SqliteOptions, SqliteStore,
};

/// A report in a home that nobody has opened since.
async fn deliver(world: &World, key: &str, text: &str) {
    let path = world.home.path().join("data/limpid.db");
    let store = SqliteStore::open(path, SqliteOptions::default()).unwrap();
    let id = ConversationId::new("heartbeat");
    let new = NewConversation {
        id: id.clone(),
        kind: ConversationKind::Heartbeat,
        title: "Heartbeat".to_owned(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Owner,
        now_ms: 1,
    };
    let _ = store.create_conversation(new).await;
    let delivery = NewDelivery {
        key: key.to_owned(),
        conversation: id.clone(),
        origin: DeliveryOrigin::Heartbeat,
        title: "Disk".to_owned(),
        text: text.to_owned(),
        trust: Trust::Owner,
        draft: None,
        now_ms: 1,
    };
    assert!(store.enqueue(delivery).await.unwrap());
    let Acquired::Lease(lease) = store.acquire(&id, "test", 1, 1).await.unwrap() else { panic!("busy") };
    let pending = store.pending_deliveries(Some(&id)).await.unwrap().rows;
    let said = [(Role::User, DeliveryOrigin::Heartbeat.marker()), (Role::Assistant, text)];
    let said = said.map(|(role, text)| NewMessage::new(Message::new(role, text, Trust::Owner)));
    let messages = said.into_iter().map(|said| NewMessage { typed: typed(&said), ..said }).collect();
    assert!(store.deliver(&lease, pending[0].id, messages, PendingNotifications::default(), 2).await.unwrap());
    store.release(&id, lease.fence).await.unwrap();
}

fn typed(said: &NewMessage) -> Option<String> {
    (said.message.role == Role::User).then(String::new)
}

// KAI-066
#[tokio::test]
async fn a_report_is_told_in_one_line_and_listed_with_its_badge_until_it_is_read() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    deliver(&world, "a", "The disk is full.").await;
    deliver(&world, "b", "The disk is fuller.").await;
    let line = "Unread: heartbeat “Disk” and 1 more; limpid conversation show heartbeat";
    for _ in 0..2 {
        let run = world.run(&["chat", "hi"]).await;
        assert_eq!((run.code, run.out.as_str()), (0, "Hello.\n"), "{}", run.err);
        assert!(run.err.lines().any(|told| told == line), "{}", run.err);
    }
    let listed = world.json(&["conversation", "list", "--json"]).await;
    let rows = listed["conversations"].as_array().unwrap();
    let heartbeat = rows.iter().find(|row| row["id"] == "heartbeat").unwrap();
    assert_eq!((&heartbeat["badge"], &heartbeat["unread"]), (&"Heartbeat".into(), &2.into()));
    let table = world.done(&["conversation", "list"]).await;
    assert!(table.lines().any(|row| row.starts_with("heartbeat") && row.contains("Heartbeat       2")), "{table}");

    let shown = world.done(&["conversation", "show", "heartbeat"]).await;
    assert!(shown.contains("The disk is full.") && !shown.contains("## You"), "{shown}");
    let run = world.run(&["chat", "hi"]).await;
    assert!(!run.err.contains("Unread"), "{}", run.err);
}

// KAI-067
#[tokio::test]
async fn what_is_unread_is_read_or_dismissed_without_opening_its_conversation() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    let nothing = world.run(&["heartbeat", "read"]).await;
    assert_eq!((nothing.code, nothing.out.as_str(), nothing.err.as_str()), (0, "", "Nothing is unread.\n"));
    deliver(&world, "a", "The disk is full. HEARTBEAT_OK").await;
    deliver(&world, "b", "The disk is fuller.").await;
    let read = world.done(&["heartbeat", "read"]).await;
    assert_eq!(
        read,
        "1970-01-01 00:00  heartbeat\nThe disk is full.\n\n1970-01-01 00:00  heartbeat\nThe disk is fuller.\n"
    );
    assert!(!world.run(&["chat", "hi"]).await.err.contains("Unread"));

    deliver(&world, "c", "The disk is empty.").await;
    assert!(world.run(&["chat", "hi"]).await.err.contains("Unread: heartbeat “Disk”;"));
    let dismissed = world.done(&["heartbeat", "dismiss"]).await;
    assert_eq!(dismissed, "One report is taken for read; `limpid conversation show heartbeat` has it.\n");
    assert!(!world.run(&["chat", "hi"]).await.err.contains("Unread"));
    assert!(world.done(&["conversation", "show", "heartbeat"]).await.contains("The disk is empty."));
    deliver(&world, "d", "The disk is new.").await;
    let read = world.run(&["chat", "/heartbeat read"]).await;
    assert_eq!((read.code, read.out.as_str()), (0, "The disk is new.\n"), "{}", read.err);
}

// KAI-071
#[tokio::test]
async fn the_log_shows_the_five_newest_runs_with_their_time_and_what_went_wrong() {
    let script =
        "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n[[reply]]\ntext = \"HEARTBEAT_OK\"\n";
    let world = World::new(script).await;
    world.write("limpid.toml", "model = \"openai/scripted\"\n[agent]\nprofile = \"kai\"\n");
    assert_ne!(world.run(&["heartbeat", "run"]).await.code, 0);
    for _ in 0..4 {
        assert_eq!(world.run(&["heartbeat", "run"]).await.code, 0);
    }
    let rows = |log: &str| -> Vec<String> {
        log.lines().skip(1).map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    };
    let log = world.done(&["heartbeat", "log"]).await;
    assert_eq!(rows(&log), ["OK", "OK", "OK", "OK", "FAIL"], "{log}");
    assert!(log.lines().last().unwrap().contains("bad key"), "{log}");
    world.run(&["heartbeat", "run"]).await;
    let log = world.done(&["heartbeat", "log"]).await;
    assert_eq!(rows(&log), ["OK"; 5], "{log}");
}

// KAI-066 LES-099
#[tokio::test]
async fn whoever_answers_a_report_is_shown_it_first() {
    let world = World::new("[[reply]]\ntext = \"Done.\"\n").await;
    deliver(&world, "a", "The disk is full.").await;
    let run = world.run(&["chat", "--conversation", "heartbeat", "Clean it up."]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "Done.\n"), "{}", run.err);
    assert!(run.err.contains("[heartbeat]\n│ The disk is full."), "{}", run.err);
    let sent = world.recorder.calls().last().unwrap().text();
    assert!(sent.contains("The disk is full."), "{sent}");
    let again = world.run(&["chat", "hi"]).await;
    assert!(!again.err.contains("Unread") && !again.err.contains("disk"), "{}", again.err);
}

// LES-035
#[tokio::test]
async fn no_page_of_a_conversation_holds_the_quiet_word() {
    let world = World::new("[[reply]]\ntext = \"All is well. **heartbeat_ok**\"\n").await;
    let run = world.run(&["chat", "well?"]).await;
    let shown = world.done(&["conversation", "show", "last"]).await;
    let json = world.done(&["conversation", "show", "last", "--json"]).await;
    let exported = world.done(&["conversation", "export", "last"]).await;
    for page in [run.out, run.err, shown, json, exported] {
        assert!(!page.to_lowercase().contains("heartbeat_ok"), "{page}");
    }
}
