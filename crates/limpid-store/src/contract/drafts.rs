//! Calls that wait for the owner.

use limpid_core::{CallId, ConversationId, DraftState, Trust, TurnId};

use super::Bench;
use super::sample::{ODD, conversation};
use crate::ConversationKind::{Chat, Heartbeat, Run, Task};
use crate::{Draft, DraftEdit, DraftId, DraftRoom, NewConversation, NewDraft, Store, StoreError};

/// A draft holds the exact action and comes back as it was kept; kept twice, it is one.
// SEC-010
pub async fn a_draft_is_kept_once_with_all_that_it_is(bench: &Bench) {
    let store = bench.store.as_ref();
    let kept = keep(store, "c1").await;
    assert_eq!((kept.new.clone(), kept.state, kept.changed_ms), (new("c1"), DraftState::Open, 5));
    assert_eq!(keep_more(store, "c1").await, kept);
    let other = keep_more(store, "c2").await;
    assert_ne!(other.id, kept.id);
    assert_eq!(store.drafts(&[DraftState::Open]).await.unwrap().rows, [kept.clone(), other]);
    assert_eq!(store.draft(DraftId(99)).await.unwrap(), None);
    assert_eq!(bench.other.draft(kept.id).await.unwrap(), None, "it is its owner's");
}

/// Of two who approve a draft one wins, and every step stays known.
// SEC-010
pub async fn a_draft_moves_forward_only(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = keep(store, "c1").await.id;
    store.move_draft(id, DraftState::Approved, "command line", 6).await.unwrap();
    let again = store.move_draft(id, DraftState::Approved, "chat", 7).await;
    assert!(matches!(&again, Err(StoreError::Invalid(why)) if why.contains("is approved")), "{again:?}");
    store.move_draft(id, DraftState::Sending, "", 8).await.unwrap();
    let sent = store.move_draft(id, DraftState::Sent, "250 ok", 9).await.unwrap();
    assert_eq!((sent.state, sent.detail.as_str(), sent.changed_ms), (DraftState::Sent, "250 ok", 9));
    assert!(store.drafts(&[DraftState::Open]).await.unwrap().rows.is_empty());
    let steps = store.draft_events(id).await.unwrap().rows;
    let steps: Vec<_> = steps.iter().map(|step| format!("{} {} {}", step.state, step.detail, step.at_ms)).collect();
    assert_eq!(steps, ["open  5", "approved command line 6", "sending  8", "sent 250 ok 9"]);
    let missing = store.move_draft(DraftId(99), DraftState::Refused, "", 9).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
}

/// Whoever goes by what was read a moment ago moves nothing that has moved since, also when it stands where it stood.
// SEC-010 SEC-040
pub async fn a_draft_moves_as_it_was_seen_or_not_at_all(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = keep(store, "c1").await.id;
    let seen = store.move_draft(id, DraftState::Approved, "a dead process", 6).await.unwrap();
    let open = store.move_draft_as_seen(&seen, DraftState::Open, "it stopped", 7).await.unwrap().unwrap();
    assert_eq!((open.state, open.detail.as_str(), open.changed_ms), (DraftState::Open, "it stopped", 7));
    let approved = store.move_draft(id, DraftState::Approved, "a living process", 8).await.unwrap();
    assert_eq!(store.move_draft_as_seen(&seen, DraftState::Open, "it stopped", 9).await.unwrap(), None);
    assert_eq!(store.draft(id).await.unwrap(), Some(approved));
}

/// There is room for so many, counted where they are written.
// KAI-097
pub async fn there_is_room_for_so_many_drafts(bench: &Bench) {
    let store = bench.store.as_ref();
    let first = keep(store, "c1").await;
    let room = DraftRoom { open: 3, of_turn: 2, of_chat: None, of_background: (20, 20) };
    assert!(store.keep_draft(new("c2"), room).await.unwrap().is_some());
    assert_eq!(store.keep_draft(new("c3"), room).await.unwrap(), None, "two of one turn");
    assert_eq!(store.keep_draft(new("c1"), room).await.unwrap(), Some(first.clone()), "it is kept already");
    let of_other = |call| NewDraft { turn: TurnId::new("t2"), ..new(call) };
    assert!(store.keep_draft(of_other("c1"), room).await.unwrap().is_some());
    assert_eq!(store.keep_draft(of_other("c2"), room).await.unwrap(), None, "three in all");
    store.move_draft(first.id, DraftState::Refused, "", 6).await.unwrap();
    assert!(store.keep_draft(of_other("c2"), room).await.unwrap().is_some(), "what was answered makes room");
    let chat = DraftRoom { open: 20, of_turn: 20, of_chat: Some(3), of_background: (20, 20) };
    assert_eq!(store.keep_draft(new("c9"), chat).await.unwrap(), None, "three of one chat wait");
}

/// What nobody typed for can't take the room of the owner's turns.
// SEC-093
pub async fn the_background_leaves_room_for_drafts_of_chats(bench: &Bench) {
    let store = bench.store.as_ref();
    let room = DraftRoom { open: 6, of_turn: 6, of_chat: None, of_background: (3, 2) };
    for (id, kind) in [("a", Chat), ("h", Heartbeat), ("t", Task), ("r", Run)] {
        store.create_conversation(NewConversation { kind, ..conversation(id, 1) }).await.unwrap();
    }
    let mut kept = Vec::new();
    for (at, id) in ["h", "h", "h", "t", "r", "a", "a", "a", "a"].into_iter().enumerate() {
        let draft = NewDraft { conversation: ConversationId::new(id), ..new(&format!("c{at}")) };
        kept.push(store.keep_draft(draft, room).await.unwrap().is_some());
    }
    assert_eq!(kept, [true, true, false, true, false, true, true, true, false]);
}

/// However many drafts a stranger's text led to, what is the owner's alone finds all of its places, and the other way round.
// SEC-093 SEC-102
pub async fn drafts_of_strangers_take_no_place_of_the_owners(bench: &Bench) {
    let store = bench.store.as_ref();
    for (id, kind) in [("a", Chat), ("h", Heartbeat)] {
        store.create_conversation(NewConversation { kind, ..conversation(id, 1) }).await.unwrap();
    }
    let room = DraftRoom { open: 6, of_turn: 6, of_chat: None, of_background: (3, 3) };
    let kept = async |id: &str, trust: Trust, room| {
        let mut kept = 0;
        for at in 0..9 {
            let draft = NewDraft {
                conversation: ConversationId::new(id),
                turn: TurnId::new("one turn of both"),
                trust,
                ..new(&format!("{id} {trust} {at}"))
            };
            kept += usize::from(store.keep_draft(draft, room).await.unwrap().is_some());
        }
        kept
    };
    assert_eq!((kept("h", Trust::Outside, room).await, kept("a", Trust::Guest, room).await), (3, 3));
    assert_eq!((kept("h", Trust::File, room).await, kept("a", Trust::Owner, room).await), (3, 3));
    assert_eq!((kept("a", Trust::Outside, room).await, kept("a", Trust::File, room).await), (0, 0));
    // Nor do those of strangers count for one chat and its agents.
    let chat = DraftRoom { open: 20, of_turn: 20, of_chat: Some(4), of_background: (20, 20) };
    assert_eq!(kept("a", Trust::Owner, chat).await, 3 + 1, "three were kept before");
}

/// An edit is what the draft holds from then on, and no approval outlives it.
// KAI-097 SEC-011
pub async fn an_edit_voids_approval(bench: &Bench) {
    let store = bench.store.as_ref();
    let id = keep(store, "c1").await.id;
    store.keep_approval(id, "00ff", "one", 6).await.unwrap();
    let edit = DraftEdit {
        arguments: "{}".to_owned(),
        about: Some("memory 4, tea: black".to_owned()),
        hash: "11ee".to_owned(),
        folder: "/v".to_owned(),
        destination: None,
        why: "this would send something".to_owned(),
        detail: "edited".to_owned(),
    };
    let edited = store.change_draft(id, edit, 7).await.unwrap();
    assert_eq!((edited.state, edited.detail.as_str()), (DraftState::Open, "edited"));
    let held = (edited.new.arguments.as_str(), edited.new.hash.as_str(), edited.new.folder.as_str());
    assert_eq!((held, &edited.new.destination), (("{}", "11ee", "/v"), &None));
    assert_eq!(edited.new.about.as_deref(), Some("memory 4, tea: black"));
    assert_eq!(edited.new.why, "this would send something", "the reason is that of the call as it is now");
    let sending = store.move_draft(id, DraftState::Sending, "one", 8).await;
    assert!(matches!(sending, Err(StoreError::Invalid(_))), "{sending:?}");
    let stale = store.keep_approval(id, "00ff", "two", 8).await;
    assert!(matches!(&stale, Err(StoreError::Invalid(why)) if why.contains("not what was looked at")), "{stale:?}");
    store.keep_approval(id, "11ee", "two", 9).await.unwrap();
    store.move_draft(id, DraftState::Sending, "two", 10).await.unwrap();
    let late = store.change_draft(id, DraftEdit { arguments: "[]".to_owned(), ..of(&edited) }, 11).await;
    assert!(matches!(&late, Err(StoreError::Invalid(why)) if why.contains("is sending")), "{late:?}");
    assert_eq!(store.draft(id).await.unwrap().unwrap().new, edited.new);
}

async fn keep(store: &dyn Store, call: &str) -> Draft {
    store.create_conversation(conversation("a", 1)).await.unwrap();
    keep_more(store, call).await
}

async fn keep_more(store: &dyn Store, call: &str) -> Draft {
    store
        .keep_draft(new(call), DraftRoom { open: 20, of_turn: 20, of_chat: None, of_background: (20, 20) })
        .await
        .unwrap()
        .unwrap()
}

fn of(draft: &Draft) -> DraftEdit {
    let NewDraft { arguments, about, hash, folder, destination, why, .. } = draft.new.clone();
    DraftEdit { arguments, about, hash, folder, destination, why, detail: "edited".to_owned() }
}

fn new(call: &str) -> NewDraft {
    NewDraft {
        conversation: ConversationId::new("a"),
        turn: TurnId::new("t1"),
        call: CallId::new(call),
        tool: "send_mail".to_owned(),
        arguments: format!("{{\"to\":{ODD:?}}}"),
        about: None,
        hash: "00ff".to_owned(),
        folder: "/w".to_owned(),
        destination: Some("eve@example.com".to_owned()),
        why: "text from outside was read".to_owned(),
        led_by: ODD.to_owned(),
        trust: Trust::Outside,
        now_ms: 5,
        expires_ms: 500,
    }
}
