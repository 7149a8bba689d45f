//! In which conversation a request is answered: the one that a header names, the one of a `user`, or the one that has said so far
//! what the request says was said.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::http::HeaderMap;
use limpid_core::ConversationId;
use limpid_runtime::ConversationChoice;
use tokio::sync::OwnedMutexGuard;

use super::error::ApiError;
use super::state::Api;
use super::tokens::{ApiRole, ApiToken, hash};
use super::wire::{Asked, Line};

/// The header that names a conversation, in requests and answers.
pub(super) const CONVERSATION: &str = "x-limpid-conversation";

/// Ends of conversations that are remembered.
const REMEMBERED: usize = 1024;

/// Where a request is answered.
pub(super) struct Place {
    pub(super) conversation: ConversationChoice,
    /// What was said before, where the conversation does not hold it.
    pub(super) before: Option<String>,
}

/// What conversations have said so far, by its hash. Two that have said the same are told apart by nothing that a client can see.
#[derive(Default)]
pub(super) struct Threads(Mutex<VecDeque<(String, ConversationChoice)>>);

impl Threads {
    /// Remembers what a conversation has said so far.
    pub(super) fn keep(&self, program: &str, said: &[Line], conversation: ConversationChoice) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.truncate(REMEMBERED - 1);
        known.push_front((key(program, said), conversation));
    }

    /// The conversation that has said this so far. It is about to say more, so it is known by this no more.
    fn take(&self, program: &str, said: &[Line]) -> Option<ConversationChoice> {
        let key = key(program, said);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(known, _)| *known == key)?;
        known.remove(at).map(|(_, conversation)| conversation)
    }
}

fn key(program: &str, said: &[Line]) -> String {
    let lines: Vec<[&str; 2]> = said.iter().map(|line| [line.role.as_str(), line.text.trim()]).collect();
    hash(&serde_json::to_string(&(program, lines)).unwrap_or_default())
}

/// One request at a time in a conversation: the next one is answered after it, not by it.
#[derive(Default)]
pub(super) struct Locks(Mutex<HashMap<ConversationId, Weak<tokio::sync::Mutex<()>>>>);

impl Locks {
    /// Waits until no request is answered in a conversation.
    pub(super) async fn wait(&self, conversation: &ConversationId) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(conversation).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(conversation.clone(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

/// Where a request is answered.
///
/// # Errors
/// When it names a conversation that is not there, or that the program may not name.
pub(super) async fn place(
    api: &Api,
    program: &ApiToken,
    headers: &HeaderMap,
    asked: &Asked,
) -> Result<Place, ApiError> {
    let before = || (!asked.before.is_empty()).then(|| transcript(&asked.before));
    if let Some(name) = headers.get(CONVERSATION) {
        if program.role != ApiRole::Owner {
            let why = "the token of this program names no conversations; give `user` instead";
            return Err(ApiError::new(axum::http::StatusCode::FORBIDDEN, why));
        }
        return match name.to_str().unwrap_or_default() {
            "new" => Ok(Place { conversation: ConversationChoice::New, before: before() }),
            name => {
                let conversation = ConversationChoice::Id(ConversationId::new(name));
                api.page.agent.directory().find(&conversation).await?;
                Ok(Place { conversation, before: None })
            }
        };
    }
    if let Some(user) = asked.request.user.as_deref().filter(|user| !user.is_empty()) {
        let id = ConversationId::new(format!(
            "c-api-{}",
            &hash(&format!("{} {:?} {user}", program.name, program.role))[..24]
        ));
        let is_empty = make(api, &id).await?;
        let before = before().filter(|_| is_empty);
        return Ok(Place { conversation: ConversationChoice::Id(id), before });
    }
    let known = match asked.before.is_empty() {
        true => None,
        false => api.threads.take(&program.name, &asked.before),
    };
    if let Some(ConversationChoice::Id(id)) = &known
        && api.page.agent.store().conversation(id).await?.is_none()
    {
        // It was deleted since.
        return Ok(Place { conversation: ConversationChoice::New, before: before() });
    }
    Ok(match known {
        Some(conversation) => Place { conversation, before: None },
        None => Place { conversation: ConversationChoice::New, before: before() },
    })
}

/// Sees to it that a conversation is there. Says whether nothing was said in it yet.
async fn make(api: &Api, id: &ConversationId) -> Result<bool, ApiError> {
    let agent = &api.page.agent;
    if let Some(found) = agent.store().conversation(id).await? {
        return Ok(found.messages == 0);
    }
    let made = agent.directory().create_chat_as(id.clone(), agent.config().agent.profile.clone(), None, None).await;
    match (made, agent.store().conversation(id).await?) {
        // Another request may have been quicker.
        (_, Some(found)) => Ok(found.messages == 0),
        (Err(error), None) => Err(error.into()),
        (Ok(_), None) => Err(ApiError::not_found("the conversation was deleted")),
    }
}

/// What was said before, as one text.
fn transcript(before: &[Line]) -> String {
    let lines: Vec<String> = before.iter().map(|line| format!("{}:\n{}", line.role, line.text)).collect();
    lines.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(role: &str, text: &str) -> Line {
        Line { role: role.to_owned(), text: text.to_owned() }
    }

    // SUR-031
    #[test]
    fn what_was_said_so_far_finds_its_conversation_once() {
        let threads = Threads::default();
        let said = [line("user", "hi"), line("assistant", "Hello.\n")];
        let (one, two) = (ConversationId::new("one"), ConversationId::new("two"));
        threads.keep("a", &said, ConversationChoice::Id(one.clone()));
        threads.keep("a", &said, ConversationChoice::Id(two.clone()));
        let said = [line("user", "hi"), line("assistant", "Hello.")];
        assert_eq!(threads.take("b", &said), None, "each program has its own");
        assert_eq!(threads.take("a", &[line("assistant", "hi"), line("user", "Hello.")]), None);
        assert_eq!(threads.take("a", &said), Some(ConversationChoice::Id(two)));
        assert_eq!(threads.take("a", &said), Some(ConversationChoice::Id(one)));
        assert_eq!(threads.take("a", &said), None);
    }
}
