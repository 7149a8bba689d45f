//! What a cleaned conversation shows: the owner's and their files' text only, and pointers in place of the rest. Nothing is
//! deleted: what is pointed at can still be read on request.

use limpid_core::goal::Goal;
use limpid_core::{ConversationId, Message, MessageId, Role, Trust, WindowView};
use limpid_services::error::AgentError;
use limpid_store::{Conversation, SettingEvent, Store, StoredMessage};

use crate::history::as_typed;

/// The name of the setting that holds up to which message a conversation was cleaned.
pub const CLEAN: &str = "clean";

/// How many messages up to one are put aside when their conversation is cleaned.
pub fn count_put_aside(rows: &[StoredMessage], until: MessageId) -> usize {
    put_aside(rows, until, false).into_iter().filter(|aside| *aside).count()
}

/// What a conversation shows once it was cleaned; as it is when it was not.
pub(crate) async fn cleaned(
    store: &dyn Store,
    conversation: &Conversation,
    view: WindowView,
    rows: Vec<StoredMessage>,
) -> Result<(WindowView, Vec<StoredMessage>), AgentError> {
    let newest = last_clean(store, &conversation.id).await?;
    let until = newest.and_then(|event| event.value?.parse().ok()).map(MessageId);
    Ok(match until {
        Some(until) => {
            let shown = view.digests.len();
            let view = cleaned_view(view, until);
            let tainted = view.digests.len() < shown;
            (view, pointed(rows, until, tainted))
        }
        None => (view, rows),
    })
}

/// Whether a goal was made from what strangers wrote, and from nothing of theirs since its conversation was cleaned:
/// then no prompt shows it.
pub(crate) async fn is_put_aside(
    store: &dyn Store,
    conversation: &ConversationId,
    goal: &Goal,
) -> Result<bool, AgentError> {
    if !goal.trust().is_foreign() {
        return Ok(false);
    }
    let Some(clean) = last_clean(store, conversation).await? else { return Ok(false) };
    let log = store.goal_log(conversation).await?.records;
    let mut foreign = log.iter().filter(|record| record.event.goal() == goal.id() && record.trust.is_foreign());
    Ok(foreign.all(|record| record.at_ms <= clean.at_ms))
}

async fn last_clean(store: &dyn Store, conversation: &ConversationId) -> Result<Option<SettingEvent>, AgentError> {
    Ok(store.setting_events(Some(conversation), CLEAN, 1).await?.rows.pop())
}

/// The view without digests and pins that were made from what strangers wrote up to a message.
fn cleaned_view(mut view: WindowView, until: MessageId) -> WindowView {
    let is_old = |through: MessageId| through <= until;
    view.digests.retain(|digest| !(digest.trust.is_foreign() && is_old(digest.last)));
    view.pin = view.pin.filter(|pin| !pin.trust.is_foreign());
    view
}

/// Which messages up to one are put aside: what a stranger wrote, and after the first of these everything that the owner
/// did not write themselves, since it may repeat it. `tainted` says that there was one before these.
fn put_aside(rows: &[StoredMessage], until: MessageId, mut tainted: bool) -> Vec<bool> {
    let mut aside: Vec<bool> = rows
        .iter()
        .map(|row| {
            // Where nobody typed it, all of it is a prompt's, with what that quoted.
            let is_prompts = row.typed.as_ref().is_none_or(String::is_empty);
            let foreign = row.message.trust.is_foreign() || (is_prompts && row.message.trust_of_all().is_foreign());
            tainted |= foreign && row.id <= until;
            row.id <= until && (foreign || (tainted && row.message.role != Role::User))
        })
        .collect();
    // The call of a result that is put aside goes with it, so that pairs stay whole.
    let mut results = Vec::new();
    for (row, aside) in rows.iter().zip(&mut aside).rev() {
        match &row.message.call_id {
            Some(_) => results.push(*aside),
            None => {
                let batch = std::mem::take(&mut results);
                *aside |= !row.message.calls.is_empty() && batch.contains(&true);
            }
        }
    }
    // And the other results of that call's batch.
    let mut with_call = false;
    for (row, aside) in rows.iter().zip(&mut aside) {
        match &row.message.call_id {
            Some(_) => *aside |= with_call,
            None => with_call = *aside && !row.message.calls.is_empty(),
        }
    }
    aside
}

/// The messages with one pointer in the place of each stretch that is put aside.
fn pointed(rows: Vec<StoredMessage>, until: MessageId, tainted: bool) -> Vec<StoredMessage> {
    let aside = put_aside(&rows, until, tainted);
    let mut shown: Vec<StoredMessage> = Vec::with_capacity(rows.len());
    let mut stretch: Option<(StoredMessage, MessageId)> = None;
    for (row, aside) in rows.into_iter().zip(aside) {
        if aside {
            let last = row.id;
            stretch = Some(stretch.map_or((row, last), |(first, _)| (first, last)));
            continue;
        }
        shown.extend(stretch.take().map(pointer));
        shown.push(if row.id <= until { without_quotes(row) } else { row });
    }
    shown.extend(stretch.map(pointer));
    shown
}

/// A person's message without what its prompt quoted of strangers behind it: a goal, a skill.
fn without_quotes(row: StoredMessage) -> StoredMessage {
    let quotes = row.message.trust_of_all() != row.message.trust;
    if quotes { as_typed(row) } else { row }
}

fn pointer((first, last): (StoredMessage, MessageId)) -> StoredMessage {
    let text = format!("[messages {} to {} of this conversation: put aside]", first.id.0, last.0);
    // A window that ends with it ends behind the whole stretch.
    StoredMessage {
        id: last,
        message: Message::new(Role::Assistant, text, Trust::Owner),
        typed: None,
        request: None,
        ..first
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, Digest, DigestLevel, Pin, ToolCall, TurnId, message::unpaired};

    use super::*;

    fn rows() -> Vec<StoredMessage> {
        let call = |id: &str| ToolCall { id: CallId::new(id), name: "t".into(), arguments: "{\"a\":\"evil\"}".into() };
        let calling = |ids: &[&str]| Message {
            calls: ids.iter().map(|id| call(id)).collect(),
            ..Message::new(Role::Assistant, "", Trust::Owner)
        };
        let result = |id: &str, text: &str, trust: Trust| Message {
            call_id: Some(CallId::new(id)),
            boundary: trust.is_foreign().then(|| "00ff".to_owned()),
            ..Message::new(Role::Tool, text, trust)
        };
        let messages = [
            Message::new(Role::User, "hello", Trust::Owner),
            Message::new(Role::Assistant, "Hi.", Trust::Owner),
            Message::new(Role::User, "read it", Trust::Owner),
            calling(&["a", "b"]),
            result("a", "12:00", Trust::Owner),
            result("b", "evil", Trust::Outside),
            calling(&["c"]),
            result("c", "evil again", Trust::Owner),
            Message::new(Role::Assistant, "It says evil.", Trust::Owner),
            Message::new(Role::User, "and now?", Trust::Owner),
            Message::new(Role::Assistant, "evil, still", Trust::Owner),
        ];
        let row = |(message, id): (Message, i64)| StoredMessage {
            id: MessageId(id),
            turn: TurnId::new("t"),
            message,
            typed: None,
            request: None,
            at_ms: 0,
        };
        messages.into_iter().zip(1..).map(row).collect()
    }

    // SEC-002
    #[test]
    fn the_owners_text_stays_and_the_rest_becomes_pointers_in_whole_pairs() {
        let shown = |until: i64| {
            let rows = pointed(rows(), MessageId(until), false);
            let messages: Vec<Message> = rows.iter().map(|row| row.message.clone()).collect();
            assert_eq!(unpaired(&messages), None);
            messages.iter().map(|message| format!("{} {}", message.role, message.text)).collect::<Vec<_>>()
        };
        assert_eq!(
            shown(11),
            [
                "user hello",
                "assistant Hi.",
                "user read it",
                "assistant [messages 4 to 9 of this conversation: put aside]",
                "user and now?",
                "assistant [messages 11 to 11 of this conversation: put aside]",
            ]
        );
        assert_eq!(shown(0).len(), 11, "what came before is all that is cleaned");
        assert_eq!(shown(3).len(), 11);
        assert!(!shown(11).join(" ").contains("evil"));
    }

    // SEC-002
    #[test]
    fn digests_and_pins_of_strangers_go_and_those_of_the_owners_stay() {
        let digest = |first: i64, last: i64, trust| Digest {
            level: DigestLevel::Full,
            first: MessageId(first),
            last: MessageId(last),
            tokens: 1,
            compaction: 1,
            text: String::new(),
            trust,
        };
        let pin = |trust| Some(Pin { message: MessageId(1), text: String::new(), trust });
        let shown = |pinned, until| {
            let digests = vec![digest(1, 4, Trust::Outside), digest(5, 6, Trust::Owner), digest(7, 9, Trust::Guest)];
            let view = WindowView { pin: pin(pinned), digests, ..WindowView::default() };
            let view = cleaned_view(view, MessageId(until));
            let firsts: Vec<i64> = view.digests.iter().map(|digest| digest.first.0).collect();
            (view.pin.map(|pin| pin.trust), firsts)
        };
        assert_eq!(shown(Trust::Outside, 9), (None, vec![5]));
        assert_eq!(shown(Trust::Guest, 4), (None, vec![5, 7]), "what came after it was cleaned stays");
        assert_eq!(shown(Trust::Owner, 9), (Some(Trust::Owner), vec![5]));
    }

    // SEC-002
    #[test]
    fn what_a_prompt_quoted_behind_the_owners_words_goes_too() {
        let text = "go on\n\n[context]\nGoal: [untrusted 00ff]\nevil\n[/untrusted 00ff]";
        let asked = Message::new(Role::User, text, Trust::Owner);
        let row = |typed: Option<&str>| StoredMessage {
            message: asked.clone(),
            typed: typed.map(str::to_owned),
            ..rows().remove(0)
        };
        let shown = |typed, until| pointed(vec![row(typed)], MessageId(until), true).remove(0).message.text;
        assert_eq!(shown(Some("go on"), 1), "go on");
        assert_eq!(shown(Some("go on"), 0), text, "what comes after stays as it was sent");
        assert!(shown(None, 1).contains("put aside"), "a run's prompt, which nobody typed, goes whole");
    }
}
