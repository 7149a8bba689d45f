//! In which conversation a request is answered: the one that a header names, the one of a `user`, or the one that has said so far
//! what the request says was said. The last is for programs of the owner's: two strangers may have said the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, StatusCode};
use limpid_core::ConversationId;
use limpid_runtime::{ConversationChoice, Shares};
use tokio::sync::OwnedSemaphorePermit;

use super::error::ApiError;
use super::state::Api;
use super::tokens::{ApiRole, ApiToken, hash};
use super::wire::{Asked, Line};

/// The header that names a conversation, in requests and answers.
pub(super) const CONVERSATION: &str = "x-limpid-conversation";

/// Ends of conversations of one program that are remembered.
const REMEMBERED: usize = 1024;

/// Requests that wait for one conversation.
const WAITING: usize = 4;

/// Where a request is answered.
pub(super) struct Place {
    pub(super) conversation: ConversationChoice,
    /// What was said before, where the conversation does not hold it.
    pub(super) before: Option<String>,
    /// Whether what it has said so far finds it.
    pub(super) by_words: bool,
}

/// What conversations have said so far, by its hash. Two that have said the same are told apart by nothing that a client can see.
#[derive(Default)]
pub(super) struct Threads(Mutex<HashMap<Whose, VecDeque<(String, ConversationChoice)>>>);

/// A program, by its token: one that is made anew under the same name is another.
pub(super) type Whose = (String, i64);

pub(super) fn whose(program: &ApiToken) -> Whose {
    (program.name.clone(), program.made_ms)
}

impl Threads {
    /// Remembers what a conversation has said so far. Each program has its own places.
    pub(super) fn keep(&self, program: &ApiToken, said: &[Line], conversation: ConversationChoice) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(whose(program)).or_default();
        known.truncate(REMEMBERED - 1);
        known.push_front((key(said), conversation));
    }

    /// The conversation that has said this so far. It is about to say more, so it is known by this no more.
    fn take(&self, program: &ApiToken, said: &[Line]) -> Option<ConversationChoice> {
        let key = key(said);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_mut(&whose(program))?;
        let at = known.iter().position(|(known, _)| *known == key)?;
        known.remove(at).map(|(_, conversation)| conversation)
    }
}

fn key(said: &[Line]) -> String {
    let lines: Vec<[&str; 2]> = said.iter().map(|line| [line.role.as_str(), line.text.trim()]).collect();
    hash(&serde_json::to_string(&lines).unwrap_or_default())
}

/// One request at a time in a conversation: the next one is answered after it, not by it.
#[derive(Default)]
pub(super) struct Turns(Shares);

impl Turns {
    /// Waits until no request is answered in a conversation.
    ///
    /// # Errors
    /// When too many wait for it already.
    pub(super) async fn wait(&self, conversation: &ConversationId) -> Result<OwnedSemaphorePermit, ApiError> {
        let turn = self.0.of(conversation.as_str(), 1);
        // Held by this one, by the one that is answered, and by those that wait.
        if Arc::strong_count(&turn) >= 2 + WAITING {
            let why = "too many requests wait for this conversation; ask again when they are answered";
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, why).after(1));
        }
        turn.acquire_owned().await.map_err(|_| ApiError::interrupted("the server ends"))
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
            return Err(ApiError::new(StatusCode::FORBIDDEN, why));
        }
        return match name.to_str().unwrap_or_default() {
            "new" => Ok(Place { conversation: ConversationChoice::New, before: before(), by_words: true }),
            name => {
                let conversation = ConversationChoice::Id(ConversationId::new(name));
                api.page.agent.directory().find(&conversation).await?;
                Ok(Place { conversation, before: None, by_words: false })
            }
        };
    }
    if let Some(user) = asked.request.user.as_deref().filter(|user| !user.is_empty()) {
        let whose = format!("{} {:?} {} {user}", program.name, program.role, program.made_ms);
        let id = ConversationId::new(format!("c-api-{}", &hash(&whose)[..24]));
        let is_empty = make(api, program.role, &id).await?;
        let before = before().filter(|_| is_empty);
        return Ok(Place { conversation: ConversationChoice::Id(id), before, by_words: false });
    }
    if program.role != ApiRole::Owner {
        let id = api.page.agent.directory().new_id();
        make(api, program.role, &id).await?;
        return Ok(Place { conversation: ConversationChoice::Id(id), before: before(), by_words: false });
    }
    let known = match asked.before.is_empty() {
        true => None,
        false => api.threads.take(program, &asked.before),
    };
    let is_there = match &known {
        // It may have been deleted since.
        Some(ConversationChoice::Id(id)) => api.page.agent.store().conversation(id).await?.is_some(),
        known => known.is_some(),
    };
    Ok(match known.filter(|_| is_there) {
        Some(conversation) => Place { conversation, before: None, by_words: true },
        None => Place { conversation: ConversationChoice::New, before: before(), by_words: true },
    })
}

/// Sees to it that a conversation is there: one whose answers leave, where nobody sits at the program. Says whether nothing was said in
/// it yet.
async fn make(api: &Api, role: ApiRole, id: &ConversationId) -> Result<bool, ApiError> {
    let agent = &api.page.agent;
    if let Some(found) = agent.store().conversation(id).await? {
        return Ok(found.messages == 0);
    }
    let (directory, profile) = (agent.directory(), agent.config().agent.profile.clone());
    let made = match role {
        ApiRole::Owner => directory.create_chat_as(id.clone(), profile, None, None).await,
        ApiRole::Program | ApiRole::Metrics => directory.create_chat_for_strangers(id.clone(), profile).await,
    };
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
        let program = |name: &str, made_ms| ApiToken { name: name.to_owned(), role: ApiRole::Owner, made_ms };
        let [a, b, again] = [program("a", 1), program("b", 1), program("a", 2)];
        threads.keep(&a, &said, ConversationChoice::Id(one.clone()));
        threads.keep(&a, &said, ConversationChoice::Id(two.clone()));
        let said = [line("user", "hi"), line("assistant", "Hello.")];
        assert_eq!(threads.take(&b, &said), None, "each program has its own");
        assert_eq!(threads.take(&again, &said), None, "a token that is made anew is another program's");
        assert_eq!(threads.take(&a, &[line("assistant", "hi"), line("user", "Hello.")]), None);
        // What another program says takes no place of this one's.
        for number in 0..2000 {
            threads.keep(&b, &[line("user", &number.to_string())], ConversationChoice::New);
        }
        assert_eq!(threads.take(&a, &said), Some(ConversationChoice::Id(two)));
        assert_eq!(threads.take(&a, &said), Some(ConversationChoice::Id(one)));
        assert_eq!(threads.take(&a, &said), None);
    }
}
