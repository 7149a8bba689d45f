//! Screens in answers. Only those of the newest answer can be pressed, and what a press says is made here from the stored answer:
//! a surface hands in a number and what was filled in, never the words.
//!
//! Whose words those are: the owner presses, but the model chose the words, and perhaps a stranger chose the model's. So the
//! message has the label of the answer that it comes from, and it counts as handed in, not as typed: it gives no right, and where
//! the answer was made from a stranger's text it stands in a boundary like that text. So it does where something was pasted into a field.

use std::cell::Cell;

use limpid_conversation::ChatRequest;
use limpid_core::ui::{Tree, trees};
use limpid_core::{ConversationId, Labelled, MessageId, Role, Trust};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::profiles::Reader;
use limpid_services::ui::may_be_interactive;
use limpid_store::{Audience, ConversationKind};

use crate::agent::Agent;

pub use limpid_services::ui::draws;

/// Digits of a number that is typed.
const DIGITS: usize = 3;

/// The screens of a conversation that can be pressed.
pub struct Live {
    conversation: ConversationId,
    /// The answer that they stand in.
    pub message: MessageId,
    /// The newest message of all, those that were taken out included.
    newest: MessageId,
    trust: Trust,
    trees: Vec<Tree>,
}

/// What was filled in.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The values: several where several were chosen.
    pub values: Vec<String>,
    /// Whether it was pasted, in more lines than count as typed.
    pub is_pasted: bool,
}

/// What a press says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pressed {
    /// The message, and whose words it is.
    pub said: Labelled<String>,
    /// What makes two presses in the same screen one.
    pub key: String,
}

impl Live {
    /// What pressing a number says, with what was filled in by name, and whether that was pasted and may be anybody's text.
    pub fn press(&self, number: usize, given: impl Fn(&str) -> Option<Filled>) -> Option<Pressed> {
        let is_pasted = Cell::new(false);
        // Only what goes along is asked for.
        let value = |name: &str| {
            let filled = given(name)?;
            is_pasted.set(is_pasted.get() || filled.is_pasted);
            Some(filled.values)
        };
        let said = self.trees.iter().find_map(|tree| tree.message(number, value))?;
        let filled = if is_pasted.get() { Trust::Outside } else { Trust::Owner };
        Some(self.pressed(said, filled))
    }

    /// What a typed line says by its number, such as `2` or `1 day: Tomorrow`.
    pub fn typed(&self, line: &str) -> Option<Pressed> {
        let line = line.trim();
        let end = line.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(line.len());
        let (number, behind) = line.split_at(end);
        if number.len() > DIGITS || !(behind.is_empty() || behind.starts_with(char::is_whitespace)) {
            return None;
        }
        let number = number.parse().ok()?;
        let said = self.trees.iter().find_map(|tree| tree.typed(number, behind))?;
        Some(self.pressed(said, Trust::Owner))
    }

    fn pressed(&self, said: String, filled: Trust) -> Pressed {
        let key = format!("press {} {} {}", self.conversation, self.message.0, self.newest.0);
        Pressed { said: Labelled::new(said, self.trust.join(filled)), key }
    }
}

impl Pressed {
    /// The message as it is sent to its conversation.
    pub fn into_request(self, conversation: ConversationId) -> ChatRequest {
        ChatRequest {
            conversation: ConversationChoice::Id(conversation),
            handed_in: Some(self.said),
            key: Some(self.key),
            can_answer: true,
            ..ChatRequest::default()
        }
    }
}

/// The screens of a conversation that can be pressed: those of its newest message, where that is an answer.
///
/// # Errors
/// When the store cannot be read.
pub async fn live(agent: &Agent, conversation: &ConversationId) -> Result<Option<Live>, AgentError> {
    let Some(own) = agent.store().conversation(conversation).await? else { return Ok(None) };
    if !draws(agent.config(), own.kind, own.audience) {
        return Ok(None);
    }
    let rows = agent.store().messages(conversation, None).await?.rows;
    let hidden = agent.store().hidden_turns(conversation).await?;
    let Some(newest) = rows.last().map(|row| row.id) else { return Ok(None) };
    let last = rows.iter().rev().find(|row| !hidden.contains(&row.turn));
    let Some(row) = last.filter(|row| row.message.role == Role::Assistant && row.message.calls.is_empty()) else {
        return Ok(None);
    };
    let trees = trees(&row.message.text);
    let live = Live { conversation: own.id, message: row.id, newest, trust: row.message.trust, trees };
    Ok((!live.trees.is_empty()).then_some(live))
}

/// Whether screens in the answers of a conversation are drawn.
///
/// # Errors
/// When the store cannot be read.
pub async fn are_drawn(agent: &Agent, conversation: &ConversationChoice) -> Result<bool, AgentError> {
    let own = match conversation {
        ConversationChoice::Id(id) => agent.store().conversation(id).await?,
        choice => agent.directory().find(choice).await?,
    };
    let (kind, audience) = own.map_or((ConversationKind::Chat, Audience::Owner), |own| (own.kind, own.audience));
    Ok(draws(agent.config(), kind, audience))
}

/// Whether a new conversation can be an interactive one.
pub async fn can_be_interactive(agent: &Agent) -> bool {
    let Ok(model) = agent.models().choose(None).await else { return false };
    let profile = agent.profiles().profile(&agent.config().agent.profile, Reader::Owner);
    profile.is_ok_and(|profile| may_be_interactive(model.info(), &profile).is_ok())
}
