//! A conversation as its view shows it.

pub(crate) mod clean;

use std::collections::{BTreeMap, BTreeSet};

use limpid_core::{CallId, Digest, Entry, Message, MessageId, Pin, Shortened, WindowView};
use limpid_prompt::inputs::{self, HistoryMessage, Inputs, Quoted};
use limpid_prompt::prompt::hash_of;
use limpid_services::error::AgentError;
use limpid_store::{Audience, Conversation, Store, StoredMessage};
use limpid_turn::window::shown;

use crate::convert;
use crate::history::clean::cleaned;

/// The number of a message that is not stored yet: no view limits what is shown of it.
pub const UNSTORED: MessageId = MessageId(i64::MAX);

/// The messages that a conversation still shows, and what stands for the others.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// What the conversation shows of what was said.
    pub view: WindowView,
    /// Messages after those that digests stand for, as they were sent.
    pub entries: Vec<Entry>,
    /// What the person typed, where something else was sent.
    pub(crate) typed: BTreeMap<MessageId, String>,
    /// The message that began the work.
    pub(crate) request: Option<Entry>,
    /// Messages that were accepted before the newest one and that the running turn answers with it; they follow the
    /// rest. Before the turn is stored they are [`UNSTORED`].
    pub unanswered: Vec<Entry>,
    /// Names of every call of the conversation; no later call may have one of them.
    pub calls: BTreeSet<CallId>,
}

impl History {
    /// Reads what a conversation shows, without the turns that were taken out. A record that cannot be read costs that record only.
    pub async fn read(
        store: &dyn Store,
        conversation: &Conversation,
        notices: &mut Vec<String>,
    ) -> Result<Self, AgentError> {
        // A cleaned view may show messages again that left the window.
        let (view, clean) = cleaned(store, conversation, store.window(&conversation.id).await?).await?;
        let listed = store.messages(&conversation.id, view.through).await?;
        for broken in &listed.broken {
            notices.push(format!(
                "{} {} cannot be read ({}); everything else can",
                broken.table, broken.id, broken.reason
            ));
        }
        let hidden = store.hidden_turns(&conversation.id).await?;
        // While everything is shown, it holds the first message and every call.
        let (first, mut calls) = if view.through.is_some() {
            let first = store.first_message(&conversation.id).await.ok().flatten();
            (first, store.call_ids(&conversation.id).await?.into_iter().collect())
        } else {
            (None, BTreeSet::new())
        };
        if !hidden.is_empty() {
            calls = store.call_ids(&conversation.id).await?.into_iter().collect();
        }
        calls.extend(listed.rows.iter().flat_map(|row| &row.message.calls).map(|call| call.id.clone()));
        let is_whole = listed.broken.is_empty();
        let rows: Vec<StoredMessage> = listed.rows.into_iter().filter(|row| !hidden.contains(&row.turn)).collect();
        let rows = match clean {
            Some(clean) => clean.pointed(rows, is_whole),
            None => rows,
        };
        Ok(match is_read_by_others(conversation) {
            true => Self::new(view, rows.into_iter().map(as_typed).collect(), first.map(as_typed), calls),
            false => Self::new(view, rows, first, calls),
        })
    }

    pub(crate) fn new(
        view: WindowView,
        rows: Vec<StoredMessage>,
        first: Option<StoredMessage>,
        mut calls: BTreeSet<CallId>,
    ) -> Self {
        let mut typed = BTreeMap::new();
        let mut entry = |row: StoredMessage| {
            typed.extend(row.typed.map(|text| (row.id, text)));
            Entry { id: row.id, message: row.message }
        };
        let first = first.map(&mut entry);
        let entries: Vec<Entry> = rows.into_iter().map(entry).collect();
        let is_request = |entry: &&Entry| entry.message.role == limpid_core::Role::User;
        let request = first.or_else(|| entries.iter().find(is_request).cloned());
        calls.extend(entries.iter().flat_map(|entry| &entry.message.calls).map(|call| call.id.clone()));
        Self { view, entries, typed, request, calls, unanswered: Vec::new() }
    }

    /// Takes another message as the one that began the work: the one of the goal.
    pub(crate) fn began_with(&mut self, conversation: &Conversation, row: Option<StoredMessage>) {
        let Some(row) = row.map(|row| if is_read_by_others(conversation) { as_typed(row) } else { row }) else {
            return;
        };
        self.typed.extend(row.typed.map(|text| (row.id, text)));
        self.request = Some(Entry { id: row.id, message: row.message });
    }

    /// Puts what the view shows into the inputs of a prompt.
    pub fn show(&self, inputs: &mut Inputs) {
        show(&self.view, &self.entries, inputs);
        inputs.history.extend(self.unanswered.iter().map(|entry| message(&shown::show(&self.view, entry))));
    }

    /// The turn is stored, and these are the numbers of its first messages.
    pub fn stored(&mut self, ids: &[MessageId]) {
        self.unanswered.iter_mut().zip(ids).for_each(|(entry, id)| entry.id = *id);
    }

    /// The waiting messages that are stored: like those of the running turn they stay, and a view may shorten them.
    pub(crate) fn stored_unanswered(&self) -> impl Iterator<Item = &Entry> {
        self.unanswered.iter().filter(|entry| entry.id != UNSTORED)
    }

    /// Turns that are shown.
    pub(crate) fn turns(&self) -> usize {
        self.entries.iter().filter(|entry| entry.message.role == limpid_core::Role::User).count()
    }

    /// Takes out the messages of a turn that is not over.
    pub fn without(&mut self, own: &[StoredMessage]) {
        self.entries.retain(|entry| !own.iter().any(|row| row.id == entry.id));
        for call in own.iter().flat_map(|row| &row.message.calls) {
            self.calls.remove(&call.id);
        }
    }

    /// What changes when the view does: then the prefix is reset.
    pub(crate) fn view_id(view: &WindowView) -> String {
        if *view == WindowView::default() {
            return String::new();
        }
        // By name, so that a new field resets no prefix by accident and none is forgotten.
        let WindowView { compactions, through, pin, digests, request, shortened, reads_on, hidden } = view;
        let pin = pin.as_ref().map(|Pin { message, text, trust }| (message.0, text, trust.as_str()));
        let digests = digests.iter().map(|digest| {
            let Digest { level, first, last, tokens, compaction, text, trust } = digest;
            (level.as_str(), first.0, last.0, tokens, compaction, text, trust.as_str())
        });
        let digests: Vec<_> = digests.collect();
        let request = request.map(|(id, characters)| (id.0, characters));
        let shortened = shortened.map(|Shortened { through, results, texts }| (through.0, results, texts));
        let hidden: Vec<_> = hidden.iter().map(|(first, last)| (first.0, last.0)).collect();
        let through = through.map(|id| id.0);
        let shown = serde_json::json!([compactions, through, pin, digests, request, shortened, reads_on, hidden]);
        hash_of([shown.to_string().as_bytes()])
    }
}

fn is_read_by_others(conversation: &Conversation) -> bool {
    conversation.audience != Audience::Owner
}

/// A person's message as they wrote it. What stood beside it in its prompt, such as memories and folders, was for its owner: others who read
/// the conversation by now are told none of it.
pub(crate) fn as_typed(mut row: StoredMessage) -> StoredMessage {
    if let Some(typed) = row.typed.as_ref().filter(|typed| !typed.is_empty()) {
        row.message.text.clone_from(typed);
    }
    row
}

/// Puts what a view shows of messages into the inputs of a prompt.
pub(crate) fn show(view: &WindowView, entries: &[Entry], inputs: &mut Inputs) {
    inputs.pin = view.pin.as_ref().map(|pin| Quoted { text: pin.text.clone(), trust: pin.trust.into() });
    inputs.digests = view.digests.iter().map(digest).collect();
    inputs.history = shown::shown(view, entries).iter().map(message).collect();
}

/// A message of the past as prompts splice it in.
pub(crate) fn message(entry: &Entry) -> HistoryMessage {
    let id = (entry.id != UNSTORED).then_some(entry.id.0);
    HistoryMessage { id, ..convert::in_flight(&entry.message) }
}

/// Messages of the running turn as a view shows them; those whose number is not known yet are whole.
pub(crate) fn running(view: &WindowView, messages: &[Message], ids: &[MessageId]) -> Vec<Entry> {
    let known = ids.iter().map(Some).chain(std::iter::repeat(None));
    messages
        .iter()
        .zip(known)
        .map(|(message, id)| {
            let entry = Entry { id: id.copied().unwrap_or(UNSTORED), message: message.clone() };
            shown::show(view, &entry)
        })
        .collect()
}

fn digest(digest: &Digest) -> inputs::Digest {
    inputs::Digest { id: digest.id(), text: digest.text.clone(), trust: digest.trust.into() }
}

#[cfg(test)]
mod tests {
    use limpid_core::{DigestLevel, Trust};

    use super::*;

    // PRO-041 LES-020
    #[test]
    fn every_change_of_a_view_resets_the_prefix() {
        let id = MessageId(7);
        let digest = Digest {
            level: DigestLevel::Full,
            first: id,
            last: id,
            tokens: 9,
            compaction: 1,
            text: "said".to_owned(),
            trust: Trust::Owner,
        };
        let changes: [fn(&mut WindowView, Digest); 8] = [
            |view, _| view.compactions = 2,
            |view, _| view.through = Some(MessageId(7)),
            |view, _| view.pin = Some(Pin { message: MessageId(7), text: "do".to_owned(), trust: Trust::Owner }),
            |view, digest| view.digests = vec![Digest { trust: Trust::Outside, ..digest }],
            |view, _| view.request = Some((MessageId(7), 3)),
            |view, _| view.shortened = Some(Shortened { through: MessageId(7), results: 1, texts: 2 }),
            |view, _| view.reads_on = true,
            |view, _| view.hidden = vec![(MessageId(7), MessageId(8))],
        ];
        let view = WindowView { digests: vec![digest.clone()], ..WindowView::default() };
        let mut marks = BTreeSet::from([History::view_id(&WindowView::default()), History::view_id(&view)]);
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = view.clone();
            change(&mut changed, digest.clone());
            assert!(marks.insert(History::view_id(&changed)), "change {number} resets no prefix");
            assert_eq!(History::view_id(&changed), History::view_id(&changed.clone()));
        }
    }
}
