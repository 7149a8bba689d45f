//! Saying something again in other words: the turn that answered it and all after it are taken out of what is sent, as `/undo` does,
//! and the new words are the next message. Nothing is deleted, and what tools did stays done.
//!
//! No text rises by it. What was handed in is handed in again, so it counts as anybody's as before. Words that were pasted and made
//! the owner's own were not typed, and are not after they are sent again, whatever is changed in them.

use std::collections::HashSet;

use limpid_conversation::{ChatRequest, TurnHandle};
use limpid_core::attached::{AttachedFile, Part, parts};
use limpid_core::{ConversationId, MessageId, Role, TurnId};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_store::StoredMessage;

use crate::agent::Agent;
use crate::said::{Said, said};

/// What the owner said once, to be said again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The message.
    pub message: MessageId,
    /// Its words, and those of the owner's other messages that the same turn answered.
    pub text: String,
    /// Files that were handed in with it.
    pub files: Vec<AttachedFile>,
    /// What else was handed in with it.
    pub pasted: String,
    /// The newest message of the conversation. Whoever says it again has seen all up to here.
    pub newest: MessageId,
    /// Whether all its words were typed.
    is_typed: bool,
}

/// The messages of the owner that can be said again, one for each turn: `out` are the turns that are taken out already, and digests
/// stand for what is up to `digested`.
pub fn sayable(
    rows: &[StoredMessage],
    typed: &HashSet<String>,
    out: &[TurnId],
    digested: Option<MessageId>,
) -> HashSet<MessageId> {
    let mut looked_at: HashSet<&TurnId> = HashSet::new();
    let mut begun: HashSet<&TurnId> = HashSet::new();
    let mut found = HashSet::new();
    for (at, row) in rows.iter().enumerate() {
        // A turn that a digest reaches into cannot be taken out of it.
        if looked_at.insert(&row.turn) && digested.is_some_and(|digested| row.id <= digested) || out.contains(&row.turn)
        {
            begun.insert(&row.turn);
        }
        if is_owners(rows, at, typed) && begun.insert(&row.turn) {
            found.insert(row.id);
        }
    }
    found
}

fn is_owners(rows: &[StoredMessage], at: usize, typed: &HashSet<String>) -> bool {
    rows[at].message.role == Role::User && matches!(said(rows, at, typed), Said::Owner(_))
}

/// What a message of the owner's said, to be said again.
///
/// # Errors
/// When there is no such message of theirs, or the store cannot be read.
pub async fn earlier(agent: &Agent, id: &ConversationId, message: MessageId) -> Result<Earlier, AgentError> {
    let rows = agent.store().messages(id, None).await?.rows;
    let typed: HashSet<String> = agent.store().typed(id).await?.into_iter().collect();
    let at = rows.iter().position(|row| row.id == message).filter(|at| is_owners(&rows, *at, &typed));
    let (Some(at), Some(newest)) = (at, rows.last()) else {
        return Err(AgentError::Invalid("this message is none of yours, so it cannot be edited".to_owned()));
    };
    let (mut words, mut files, mut pasted) = (Vec::new(), Vec::new(), Vec::new());
    for (other, row) in rows.iter().enumerate().filter(|(_, row)| row.turn == rows[at].turn) {
        if row.message.role != Role::User {
            continue;
        }
        match said(&rows, other, &typed) {
            Said::Owner(text) => words.push(text),
            Said::HandedIn(text, _) => {
                for part in parts(text) {
                    match part {
                        Part::File { name, text } => {
                            files.push(AttachedFile { name: name.to_owned(), text: text.to_owned() });
                        }
                        Part::Words(words) => pasted.push(words),
                    }
                }
            }
            Said::Agent { .. } | Said::Nothing => {}
        }
    }
    Ok(Earlier {
        message,
        is_typed: words.iter().all(|text| typed.contains(*text)),
        text: words.join("\n\n"),
        files,
        pasted: pasted.join("\n\n"),
        newest: newest.id,
    })
}

/// Says something in place of an earlier message, with which all that came after it goes out of what is sent. `newest` is the
/// newest message that the owner has seen.
///
/// # Errors
/// When an answer is under way, something was said meanwhile, or a summary stands for the message already; then nothing changed.
pub async fn say_instead(
    agent: &Agent,
    mut request: ChatRequest,
    message: MessageId,
    newest: MessageId,
) -> Result<TurnHandle, AgentError> {
    let ConversationChoice::Id(id) = &request.conversation else {
        return Err(AgentError::Invalid("name the conversation of the message that is edited".to_owned()));
    };
    let is_empty = request.text.trim().is_empty() && request.files.is_empty() && request.handed_in.is_none();
    if is_empty {
        return Err(AgentError::Invalid("there is nothing to say; give a message".to_owned()));
    }
    if let Some(why) = limpid_core::attached::unfit(&request.files) {
        return Err(AgentError::Invalid(why));
    }
    if !earlier(agent, id, message).await?.is_typed {
        request.made_mine = Some(request.text.clone());
    }
    agent.conversations().take_out(id, message, newest).await?;
    agent.chat(request).await
}
