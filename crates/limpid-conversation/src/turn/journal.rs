//! Events of a turn as JSON text, as the store's journal keeps them. The form stands here alone; the machine's own
//! types have none.

mod row;

use std::collections::BTreeMap;
use std::mem;
use std::time::Duration;

use limpid_core::{CacheLife, CallId, ConversationId, Trust, TurnId};
use limpid_prompt::Inputs;
use limpid_prompt::inputs::ToolInput;
use limpid_services::error::AgentError;
use limpid_services::heartbeat;
use limpid_services::heartbeat::HEARTBEAT_DECISION;
use limpid_services::models::{EffortChoice, cache_life};
use limpid_services::tools::Reservation;
use limpid_store::{InboundId, Kept, Listed, NewEvent, TurnEvent};
use limpid_turn::{Event, Limits, OfferedTool};
use row::{Row, trust_of};
use serde::{Deserialize, Serialize};

/// One entry of a turn's journal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    /// What the turn began with: enough to render its prompt again, byte for byte.
    Started(Box<TurnStarted>),
    /// Something that happened to the machine; a steering message comes with the accepted message that it is.
    Event(Event, Option<InboundId>),
    /// Calls are about to run that have consequences outside, or that ask for an address.
    ToolsStarted(Vec<CallId>),
    /// The skills that the turn uses, each with its version.
    Skills(Vec<(String, Option<String>)>),
    /// Calls that the model reserved, by which call.
    Reserved(Reserved),
    /// The reservation at this place was used once.
    Spent(usize),
}

/// Calls that the model reserved. Entries of older versions don't say by which call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Reserved {
    By { call: String, calls: Vec<Reservation> },
    Unknown(Vec<Reservation>),
}

/// What a turn began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnStarted {
    /// The model: `provider/id`.
    pub(crate) model: String,
    pub(crate) profile: String,
    pub(crate) path: String,
    /// Everything that the prompt uses but the history, which is in the store.
    pub(crate) inputs: Inputs,
    pub(crate) tools: Vec<(String, u64)>,
    pub(crate) calls_with_tools: u32,
    pub(crate) result_chars: usize,
    /// Of the tools whose results have a length of their own.
    #[serde(default)]
    pub(crate) own_result_chars: BTreeMap<String, usize>,
    /// How much the models are to reason, to the end of the turn.
    #[serde(default)]
    pub(crate) effort: EffortChoice,
    /// How long providers are asked to keep what they have read, to the end of the turn.
    #[serde(default, serialize_with = "cache_life::write", deserialize_with = "cache_life::read")]
    pub(crate) cache: CacheLife,
}

impl TurnStarted {
    pub(crate) fn tools(&self) -> Vec<OfferedTool> {
        let tool = |(name, seconds): &(String, u64)| OfferedTool {
            name: name.clone(),
            timeout: Duration::from_secs(*seconds),
            result_chars: self.own_result_chars.get(name).copied(),
        };
        self.tools.iter().map(tool).collect()
    }

    /// The tool that ends the turn.
    pub(crate) fn decision(&self) -> Option<&str> {
        let names = self.tools.iter().map(|(name, _)| name.as_str());
        names.filter(|_| self.path == heartbeat::PATH).find(|name| *name == HEARTBEAT_DECISION)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { calls_with_tools: self.calls_with_tools, result_chars: self.result_chars, ..Limits::default() }
    }
}

/// What prompts declare of the tools, which is the same in most turns.
#[derive(Serialize, Deserialize)]
struct Declared {
    tools: Vec<ToolInput>,
    more_tools: Vec<String>,
}

/// An entry of a journal that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("entry {number} ({kind}): {reason}")]
pub(crate) struct BadEntry {
    number: String,
    kind: String,
    reason: String,
}

impl BadEntry {
    /// What the owner is told of a turn whose journal has such an entry.
    pub(crate) fn of_turn(&self, turn: &TurnId, conversation: &ConversationId) -> AgentError {
        AgentError::Invalid(format!(
            "The journal of turn \"{turn}\" in conversation \"{conversation}\" can't be read: {self}. The turn ends here and \
             its messages are kept. Send the message again: limpid chat -c {conversation} \"…\""
        ))
    }
}

/// The entries of a journal; one that cannot be read is an error, since a turn without it is another turn.
pub(crate) fn entries(listed: &Listed<TurnEvent>) -> Result<Vec<Entry>, BadEntry> {
    if let Some(broken) = listed.broken.first() {
        let (number, reason) = (broken.id.clone(), broken.reason.clone());
        return Err(BadEntry { number, kind: "unknown".to_owned(), reason });
    }
    listed.rows.iter().map(Entry::from_row).collect()
}

/// Whether a journal says that a call was about to run.
pub(crate) fn was_started(entries: &[Entry], call: &CallId) -> bool {
    entries.iter().any(|entry| matches!(entry, Entry::ToolsStarted(ids) if ids.contains(call)))
}

/// A row of a turn's journal, read and written again as this version writes it.
///
/// # Errors
/// What is wrong with a row that cannot be read.
pub fn journal_row_again(row: &TurnEvent) -> Result<NewEvent, String> {
    let entry = Entry::from_row(row).map_err(|error| error.to_string())?;
    entry.into_row(Kept::UntilEnd).map_err(|error| error.to_string())
}

impl Entry {
    /// The entry as the store takes it.
    pub(crate) fn into_row(self, kept: Kept) -> Result<NewEvent, AgentError> {
        let (kind, payload, shared, trust) = match self {
            Self::Started(mut began) => {
                let inputs = &mut began.inputs;
                let (tools, more_tools) = (mem::take(&mut inputs.tools), mem::take(&mut inputs.more_tools));
                let shared = serde_json::to_string(&Declared { tools, more_tools });
                ("began", serde_json::to_string(&began), Some(shared), Trust::Owner)
            }
            Self::ToolsStarted(ids) => {
                let ids: Vec<&str> = ids.iter().map(CallId::as_str).collect();
                ("running", serde_json::to_string(&ids), None, Trust::Owner)
            }
            Self::Skills(versions) => ("skills", serde_json::to_string(&versions), None, Trust::Owner),
            Self::Reserved(calls) => ("reserved", serde_json::to_string(&calls), None, Trust::Owner),
            Self::Spent(at) => ("spent", serde_json::to_string(&at), None, Trust::Owner),
            Self::Event(event, inbound) => {
                let row = Row::new(&event, inbound);
                (row.kind(), serde_json::to_string(&row), None, trust_of(&event))
            }
        };
        let failed = |error| AgentError::Invalid(format!("the journal entry \"{kind}\" can't be written: {error}"));
        let payload = payload.map_err(failed)?;
        let shared = shared.transpose().map_err(failed)?;
        Ok(NewEvent { kind: kind.to_owned(), payload, shared, trust, kept })
    }

    /// Reads an entry.
    pub(crate) fn from_row(row: &TurnEvent) -> Result<Self, BadEntry> {
        let bad = |reason: String| BadEntry { number: row.seq.to_string(), kind: row.kind.clone(), reason };
        let read = |error: serde_json::Error| bad(error.to_string());
        match row.kind.as_str() {
            "began" => {
                let mut began: Box<TurnStarted> = serde_json::from_str(&row.payload).map_err(read)?;
                // Entries of older versions hold the tools themselves.
                if let Some(shared) = &row.shared {
                    let Declared { tools, more_tools } = serde_json::from_str(shared).map_err(read)?;
                    began.inputs.tools = tools;
                    began.inputs.more_tools = more_tools;
                }
                Ok(Self::Started(began))
            }
            "running" => {
                let ids: Vec<String> = serde_json::from_str(&row.payload).map_err(read)?;
                Ok(Self::ToolsStarted(ids.into_iter().map(CallId::new).collect()))
            }
            "skills" => serde_json::from_str(&row.payload).map(Self::Skills).map_err(read),
            "reserved" => serde_json::from_str(&row.payload).map(Self::Reserved).map_err(read),
            "spent" => serde_json::from_str(&row.payload).map(Self::Spent).map_err(read),
            _ => {
                let event: Row = serde_json::from_str(&row.payload).map_err(read)?;
                let event = event.into_event(row.trust);
                let (event, inbound) = event.ok_or_else(|| bad("it holds a word that is not known".to_owned()))?;
                Ok(Self::Event(event, inbound))
            }
        }
    }
}

#[cfg(test)]
mod tests;
