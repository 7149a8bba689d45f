//! Settings: the newest event of a name holds, and none is lost.

use limpid_core::ConversationId;

use super::Bench;
use super::sample::conversation;
use crate::{Audience, ConversationChange, ConversationKind, NewConversation, NewSetting, SettingEvent, StoreError};

/// The newest event of each name is what is set; the log keeps the others, newest first.
// LES-073
pub async fn the_newest_setting_holds_and_none_is_lost(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = ConversationId::new("a");
    store.create_conversation(conversation("a", 1)).await.unwrap();
    store.create_conversation(conversation("b", 1)).await.unwrap();
    for (value, now) in [(Some("25"), 2), (None, 3), (Some("40"), 4)] {
        store.set_in_conversation(&id, Vec::new(), vec![setting("focus", value)], now).await.unwrap();
    }
    store.set_for_all(vec![setting("focus", Some("all")), setting("other", Some("x"))], 5).await.unwrap();
    let settings = async |id: Option<&ConversationId>| told(&store.settings(id).await.unwrap().rows);
    assert_eq!(settings(Some(&id)).await, ["focus=40 at 4"]);
    assert_eq!(settings(Some(&ConversationId::new("b"))).await, [""; 0]);
    assert_eq!(settings(None).await, ["focus=all at 5", "other=x at 5"]);
    let log = told(&store.setting_events(Some(&id), "focus", 10).await.unwrap().rows);
    assert_eq!(log, ["focus=40 at 4", "focus=- at 3", "focus=25 at 2"]);
    assert_eq!(store.setting_events(Some(&id), "focus", 2).await.unwrap().rows.len(), 2);
    assert!(bench.other.settings(None).await.unwrap().rows.is_empty(), "another owner sees none of it");
}

/// What a setting changes of its conversation and the event are written together or not at all.
// LES-073
pub async fn a_setting_and_its_change_are_one(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = ConversationId::new("a");
    store.create_conversation(conversation("a", 1)).await.unwrap();
    let changes = || vec![ConversationChange::Mode(Some("planning".to_owned()))];
    let changed = store.set_in_conversation(&id, changes(), vec![setting("mode", Some("planning"))], 2).await.unwrap();
    assert_eq!(changed.mode.as_deref(), Some("planning"));
    let nobody = ConversationId::new("nobody");
    let missing = store.set_in_conversation(&nobody, changes(), vec![setting("mode", Some("x"))], 3).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    assert!(store.settings(Some(&nobody)).await.unwrap().rows.is_empty());
}

/// By the name, or because no name of its kind is set; what the owner alone reads and what is another's do not count.
// SEC-065
pub async fn what_others_read_is_found_by_what_is_set_in_it(bench: &Bench) {
    let store = bench.store.as_ref();
    let read_by_others = |id: &str, kind| NewConversation { kind, audience: Audience::Group, ..conversation(id, 1) };
    let others_read = async |name: &str| store.others_read_any(name, "program ").await.unwrap();
    let set = async |id: &str, value| {
        let event = vec![setting("program a", value)];
        store.set_in_conversation(&ConversationId::new(id), Vec::new(), event, 2).await.unwrap();
    };
    store.create_conversation(conversation("own", 1)).await.unwrap();
    set("own", Some("on")).await;
    store.create_conversation(read_by_others("run", ConversationKind::Run)).await.unwrap();
    store.create_conversation(read_by_others("reports", ConversationKind::Heartbeat)).await.unwrap();
    bench.other.create_conversation(read_by_others("theirs", ConversationKind::Chat)).await.unwrap();
    assert!(!others_read("program a").await);

    store.create_conversation(read_by_others("group", ConversationKind::Chat)).await.unwrap();
    assert!(others_read("program a").await && others_read("program b").await, "nothing says which program it is of");
    set("group", Some("on")).await;
    assert!(others_read("program a").await && !others_read("program b").await);
    let archive = vec![ConversationChange::Archived(true)];
    store.change_conversation(&ConversationId::new("group"), archive, 3).await.unwrap();
    assert!(others_read("program a").await, "it can be brought back");
    set("group", None).await;
    assert!(!others_read("program a").await);
    set("reports", Some("on")).await;
    assert!(others_read("program a").await);
}

fn setting(name: &str, value: Option<&str>) -> NewSetting {
    NewSetting { name: name.to_owned(), value: value.map(str::to_owned), trigger: "manual".to_owned() }
}

fn told(events: &[SettingEvent]) -> Vec<String> {
    events.iter().map(|e| format!("{}={} at {}", e.name, e.value.as_deref().unwrap_or("-"), e.at_ms)).collect()
}
