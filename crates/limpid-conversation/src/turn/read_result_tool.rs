//! `read_result`: reads on in a result that was too long to be shown whole.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::inbox::preview;
use limpid_core::policy::Effect;
use limpid_core::{CallId, ConversationId, Labelled, Sentence, ToolClass, Trust, sentence};
use limpid_services::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};
use limpid_store::{Store, StoredMessage};
use limpid_turn::result::READ_ON;
use limpid_turn::{Event, ToolOutcome};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::turn::journal::{Entry, entries};

/// Characters of the line that says which part was read.
const HEADING: usize = 80;

/// Reads a stretch of a result of this conversation. The whole is in the journal of its turn
/// when the message shows it cut.
#[derive(Clone)]
pub struct ReadResult {
    store: Arc<dyn Store>,
    limit: usize,
}

impl ReadResult {
    /// The tool over a store; `limit` is how many characters of a result the model gets to read at once.
    pub fn new(store: Arc<dyn Store>, limit: usize) -> Self {
        Self { store, limit: limit.saturating_sub(HEADING).max(1) }
    }

    /// What a call returned, whole.
    async fn whole(&self, context: &ToolContext, call: &CallId) -> Result<Labelled<String>, Sentence> {
        let unknown = || sentence!("no call `{}` of this conversation has a result", echoed(call));
        let row = self.store.result_of_call(&context.conversation, call).await.map_err(trouble)?;
        let StoredMessage { id, turn, message, .. } = row.ok_or_else(unknown)?;
        // A result may repeat what the model wrote, which has the label of what it had read until then.
        let before = self.store.trust_until(&context.conversation, id).await.map_err(trouble)?;
        let before = if before.is_foreign() { before } else { Trust::Owner };
        let events = self.store.turn_events(&turn).await.map_err(trouble)?;
        let kept = entries(&events)
            .map_err(|bad| sentence!("the whole result of call `{}` can't be read: {}", echoed(call), echoed(bad)))?;
        let outcome = kept.into_iter().find_map(|entry| match entry {
            Entry::Event(Event::ToolDone { id, outcome }, _) if id == *call => Some(outcome),
            _ => None,
        });
        let said = match outcome {
            Some(ToolOutcome { said, .. }) => said,
            // The message shows all of it.
            None => {
                let trust = message.trust_of_all();
                Labelled::new(message.text, trust)
            }
        };
        Ok(said.join(before))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
    offset: Option<u32>,
    limit: Option<u32>,
}

#[async_trait]
impl Tool for ReadResult {
    fn name(&self) -> &'static str {
        READ_ON
    }

    fn group(&self) -> &'static str {
        "files"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        let call = CallId::new(arguments["id"].as_str().unwrap_or_default());
        let found = match conversation {
            Some(conversation) => self.store.result_of_call(conversation, &call).await.ok().flatten(),
            None => None,
        };
        let words =
            found.map(|row| format!("a result in this conversation, which begins: {}", preview(&row.message.text)));
        Concerned::found(words, "there is no such result in this conversation")
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { id, offset, limit } = read_arguments(arguments)?;
        let (text, trust) = self.whole(context, &CallId::new(id)).await?.into_parts();
        let (length, from) = (text.chars().count(), offset.unwrap_or(0) as usize);
        if from >= length.max(1) {
            return Err(sentence!("`offset` is {}, but the result has {} characters", from, length));
        }
        let count = limit.map_or(self.limit, |limit| (limit as usize).clamp(1, self.limit));
        let stretch: String = text.chars().skip(from).take(count).collect();
        let to = from + stretch.chars().count();
        Ok(Labelled::new(format!("[characters {from} to {to} of {length}]\n{stretch}"), trust))
    }
}
