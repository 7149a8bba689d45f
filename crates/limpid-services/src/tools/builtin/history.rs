//! `search_history` and `read_history`: what compaction took out of the window is found and read again.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::inbox::preview;
use limpid_core::policy::Effect;
use limpid_core::recall::{Passage, Place, plain_words, query_words, rank_passages, text_words};
use limpid_core::{ConversationId, Labelled, MessageId, Role, Sentence, ToolClass, Trust, sentence};
use limpid_store::{FoundMessages, Store, StoredMessage};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::memory::SemanticIndex;
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// Messages of the owner's that a search returns.
const FOUND: usize = 8;

/// Messages of strangers' that it returns beside them, and more only where the owner's leave room. They take none of the owner's places.
const OF_STRANGERS: usize = 3;

/// Messages of each side that hold a word and are ranked, with those around them.
const CANDIDATES: u32 = 400;

/// Characters of a message that a search shows.
const SHOWN: usize = 300;

/// Messages that are read at once.
const READ: usize = 40;

/// The tools of this file.
pub fn tools(store: &Arc<dyn Store>, semantics: Option<&Arc<SemanticIndex>>) -> Vec<Arc<dyn Tool>> {
    let store = || Arc::clone(store);
    let semantics = semantics.cloned();
    vec![Arc::new(SearchHistory { store: store(), semantics }), Arc::new(ReadHistory { store: store() })]
}

/// Finds earlier messages of the conversation by words and by meaning.
struct SearchHistory {
    store: Arc<dyn Store>,
    semantics: Option<Arc<SemanticIndex>>,
}

/// Reads earlier messages of the conversation.
struct ReadHistory {
    store: Arc<dyn Store>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    from: i64,
    to: i64,
}

#[async_trait]
impl Tool for SearchHistory {
    fn name(&self) -> &'static str {
        "search_history"
    }

    fn group(&self) -> &'static str {
        "history"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Search>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Search { query } = read_arguments(arguments)?;
        let words = query_words(&query);
        if words.is_empty() {
            return Err("the query has no word to search for".into());
        }
        let meaning = match &self.semantics {
            Some(semantics) => semantics.meaning(&query, context.now_ms()).await,
            None => None,
        };
        let found = self.store.search_messages(&context.conversation, &words, meaning.as_ref(), CANDIDATES).await;
        let mut found = found.map_err(trouble)?;
        found.messages.retain(|(row, _)| row.turn != context.turn);
        let mut rows = best(&found, context.now_ms());
        if rows.is_empty() {
            return Ok(
                sentence!("no earlier message holds any of: {}", context.words(plain_words(&query).join(", "))).into()
            );
        }
        rows.sort_by_key(|row| row.id);
        listed(&*self.store, context, &rows, SHOWN).await
    }
}

#[async_trait]
impl Tool for ReadHistory {
    fn name(&self) -> &'static str {
        "read_history"
    }

    fn group(&self) -> &'static str {
        "history"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Read>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        let first = async {
            let Read { from, to } = read_arguments(arguments.clone()).ok()?;
            let after = MessageId(from.saturating_sub(1));
            let rows = self.store.messages(conversation?, Some(after)).await.ok()?.rows;
            let row = rows.into_iter().find(|row| row.id.0 <= to)?;
            let (id, role, begins) = (row.id, row.message.role, preview(said(&row)));
            Some(format!("messages from number {id} on; the first is the {role}'s: {begins}"))
        };
        Concerned::found(first.await, "there is no such message")
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Read { from, to } = read_arguments(arguments)?;
        let after = MessageId(from.saturating_sub(1));
        let found = self.store.messages(&context.conversation, Some(after)).await;
        let mut rows = found.map_err(trouble)?.rows;
        rows.retain(|row| row.id.0 <= to && row.turn != context.turn);
        if rows.is_empty() {
            return Err(sentence!(
                "this conversation has no earlier message from {} to {}; search_history shows numbers",
                from,
                echoed(to)
            ));
        }
        rows.truncate(READ);
        listed(&*self.store, context, &rows, usize::MAX).await
    }
}

/// The messages that answer best, ranked as memories are: the owner's as if no stranger's stood among them.
fn best(found: &FoundMessages, now_ms: i64) -> Vec<StoredMessage> {
    let is_strangers = |row: &StoredMessage| found.of_strangers.contains(&row.id);
    let passage = |(row, place): &(StoredMessage, Place)| Passage {
        words: text_words(said(row)),
        likeness: found.likeness.get(&row.id).copied().unwrap_or_default(),
        place: Some(*place),
        said_ms: Some(row.at_ms),
        touched_ms: row.at_ms,
        order: row.id.0,
        ..Passage::new(row.clone())
    };
    let all: Vec<Passage<StoredMessage>> = found.messages.iter().map(passage).collect();
    let ours: Vec<_> = all.iter().filter(|passage| !is_strangers(&passage.item)).cloned().collect();
    let ours = rank_passages(&found.corpus, ours, now_ms).into_iter().map(|ranked| ranked.item);
    let mut best: Vec<StoredMessage> = ours.take(FOUND).collect();
    let room = OF_STRANGERS.max(FOUND - best.len());
    // What answers a line of the owner's is found by that line's words.
    let theirs = rank_passages(&found.whole, all, now_ms).into_iter().map(|ranked| ranked.item);
    best.extend(theirs.filter(is_strangers).take(room));
    best
}

/// What a message says, without what the prompt put behind it.
fn said(row: &StoredMessage) -> &str {
    row.typed.as_deref().unwrap_or(&row.message.text)
}

/// Messages with their numbers, each with at most so many characters.
async fn listed(
    store: &dyn Store,
    context: &ToolContext,
    rows: &[StoredMessage],
    limit: usize,
) -> Result<Labelled<String>, Sentence> {
    let line = |row: &StoredMessage| {
        let calls: Vec<&str> = row.message.calls.iter().map(|call| call.name.as_str()).collect();
        let called = if calls.is_empty() { String::new() } else { format!(" (called {})", calls.join(", ")) };
        let shown = limpid_turn::result::keep_both_ends(said(row), limit);
        format!("[message {}] {}{called}: {shown}", row.id, row.message.role)
    };
    let mut trust = rows.iter().fold(Trust::Owner, |trust, row| trust.join(row.message.trust_of_all()));
    // What the model said or called after it had read a stranger's text may repeat it, also where that text is put aside.
    if let Some(said) = rows.iter().rfind(|row| row.message.role != Role::User) {
        let before = store.trust_until(&context.conversation, said.id).await.map_err(trouble)?;
        trust = if before.is_foreign() { trust.join(before) } else { trust };
    }
    Ok(Labelled::new(rows.iter().map(line).collect::<Vec<_>>().join("\n"), trust))
}

#[cfg(test)]
mod tests {
    use limpid_core::recall::Corpus;
    use limpid_core::{Message, TurnId};

    use super::*;

    // MEA-10 LES-070
    #[test]
    fn the_answer_to_a_line_that_holds_the_words_is_found_before_what_has_one_of_them() {
        let said = |(at, text): (usize, &str)| {
            let (id, position) = (MessageId(at as i64), at as i64);
            let message = Message::new(Role::User, text, Trust::Owner);
            let row = StoredMessage { id, turn: TurnId::new("t"), message, typed: None, request: None, at_ms: 0 };
            // Far apart, but for the first two.
            (row, Place { session: if at < 2 { 0 } else { position }, position })
        };
        let first = ["Where were you in the summer holidays?", "In Kyoto."];
        let others = ["The summer was hot, and everybody who could went to the sea for a while."; 20];
        let holding = |word: &str, count| (query_words(word).remove(0), count);
        let corpus = Corpus { documents: 22, words: 200, holding: vec![holding("summer", 21), holding("holidays", 1)] };
        let messages = first.into_iter().chain(others).enumerate().map(said).collect();
        let found = best(&FoundMessages { messages, corpus, ..FoundMessages::default() }, 0);
        assert_eq!(found.len(), FOUND);
        assert_eq!([found[0].id, found[1].id], [MessageId(0), MessageId(1)]);
    }

    // SEC-102 LES-070
    #[test]
    fn strangers_messages_take_no_place_of_the_owners() {
        let row = |id: i64, text: &str, trust| {
            let message = Message::new(Role::User, text, trust);
            let (turn, id) = (TurnId::new("t"), MessageId(id));
            let place = Place { session: 0, position: id.0 };
            (StoredMessage { id, turn, message, typed: None, request: None, at_ms: 0 }, place)
        };
        let corpus = |documents: i64| {
            let documents = documents.unsigned_abs();
            let holding = query_words("door code").into_iter().map(|word| (word, documents)).collect();
            Corpus { documents, words: documents * 7, holding }
        };
        let found = |ours: i64, theirs: i64| {
            let own = (0..ours).map(|id| row(id, "The door has a code and a handle.", Trust::Owner));
            let others = (ours..ours + theirs).map(|id| row(id, "door code door code", Trust::Outside));
            let found = FoundMessages {
                messages: own.chain(others).collect(),
                of_strangers: (ours..ours + theirs).map(MessageId).collect(),
                corpus: corpus(ours),
                whole: corpus(ours + theirs),
                ..FoundMessages::default()
            };
            let (theirs, ours): (Vec<_>, Vec<_>) =
                best(&found, 0).into_iter().map(|row| row.id).partition(|id| found.of_strangers.contains(id));
            (ours, theirs.len())
        };
        let alone = found(10, 0).0;
        assert_eq!(alone.len(), FOUND);
        assert_eq!(found(10, 30), (alone, OF_STRANGERS), "the very same as without them");
        assert_eq!(found(2, 30), (vec![MessageId(1), MessageId(0)], FOUND - 2));
        assert_eq!(found(0, 30).1, FOUND);
    }
}
