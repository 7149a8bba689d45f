//! In which conversation a request is answered: the one that a header names, the one of a `user`, or the one that has said so far
//! what the request says was said. The last is for programs of the owner's: two strangers may have said the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, StatusCode};
use limpid_core::ConversationId;
use limpid_runtime::{ConversationChoice, Shares};
use limpid_store::Audience;
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

/// Bytes of what was said before that are remembered for threads of one program whose conversations do not hold it.
const REMEMBERED_BYTES: usize = 4 << 20;

/// The thread that a request goes on with.
#[derive(Clone)]
pub(super) struct Thread {
    pub(super) conversation: ConversationChoice,
    /// What was said before, where the conversation does not hold it.
    pub(super) before: Option<String>,
    /// Whether what it has said so far finds it.
    pub(super) by_words: bool,
    /// Whether others read it since they read what it stands in the place of, which nobody has said in it yet.
    pub(super) others_read: bool,
}

impl Thread {
    /// Sees to it that a thread of others has its conversation, now that something is about to be said in it.
    pub(super) async fn make_for_others(&mut self, api: &Api, program: &ApiToken) -> Result<(), ApiError> {
        if self.others_read && self.conversation == ConversationChoice::New {
            let directory = api.page.agent.directory();
            let made = directory.create_chat_for_others(directory.new_id(), &key_of(program)).await?;
            self.conversation = ConversationChoice::Id(made.id);
        }
        Ok(())
    }
}

/// A thread while a request in it begins. Where nothing comes of the request, the thread is known again by what was said in it before.
pub(super) struct Taken {
    api: Arc<Api>,
    program: ApiToken,
    said: Vec<Line>,
    pub(super) thread: Thread,
}

impl Taken {
    pub(super) fn new(api: &Arc<Api>, program: &ApiToken, said: &[Line], thread: Thread) -> Self {
        Self { api: Arc::clone(api), program: program.clone(), said: said.to_vec(), thread }
    }

    /// A command has answered: the thread goes on where that has led it, and has said so.
    pub(super) fn replied(mut self, said: &[Line]) -> ConversationChoice {
        let Thread { conversation, before, by_words, .. } = self.thread.clone();
        if by_words {
            let known = Known { conversation: conversation.clone(), before, others_read: false };
            self.api.threads.keep_with(&self.program, said, known);
        }
        self.said.clear();
        conversation
    }

    /// Something came of the request: whoever answers it says by what the thread is known from here on.
    pub(super) fn answered(mut self) {
        self.said.clear();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Thread { conversation, before, by_words, others_read } = self.thread.clone();
        if by_words && !self.said.is_empty() && matches!(conversation, ConversationChoice::Id(_)) {
            self.api.threads.keep_with(&self.program, &self.said, Known { conversation, before, others_read });
        }
    }
}

/// What conversations have said so far, by its hash. Two that have said the same are told apart by nothing that a client can see.
#[derive(Default)]
pub(super) struct Threads(Mutex<HashMap<Whose, VecDeque<(String, Known)>>>);

/// What is known of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) conversation: ConversationChoice,
    /// What was said before in the thread, where the conversation does not hold it: only commands were carried out in it yet.
    pub(super) before: Option<String>,
    /// Whether others read it, which nobody has said in it yet.
    pub(super) others_read: bool,
}

/// A program, by its token: one that is made anew under the same name is another.
pub(super) type Whose = (String, i64);

pub(super) fn whose(program: &ApiToken) -> Whose {
    (program.name.clone(), program.made_ms)
}

/// The same as one word, by which the store knows it.
pub(super) fn key_of(program: &ApiToken) -> String {
    format!("{} {}", program.name, program.made_ms)
}

impl Threads {
    /// Remembers what a conversation has said so far. Each program has its own places.
    pub(super) fn keep(&self, program: &ApiToken, said: &[Line], conversation: ConversationChoice) {
        self.keep_with(program, said, Known { conversation, before: None, others_read: false });
    }

    /// The same, with what the conversation does not hold.
    pub(super) fn keep_with(&self, program: &ApiToken, said: &[Line], thread: Known) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(whose(program)).or_default();
        known.truncate(REMEMBERED - 1);
        known.push_front((key(said), thread));
        // The newest stays, however long it is: a request has a limit of its own.
        let mut bytes = 0;
        known.retain(|(_, thread)| {
            let own = thread.before.as_ref().map_or(0, String::len);
            let has_room = own == 0 || bytes < REMEMBERED_BYTES;
            bytes += own;
            has_room
        });
    }

    /// The conversation that has said this so far. It is about to say more, so it is known by this no more.
    fn take(&self, program: &ApiToken, said: &[Line]) -> Option<Known> {
        let key = key(said);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_mut(&whose(program))?;
        let at = known.iter().position(|(known, _)| *known == key)?;
        known.remove(at).map(|(_, thread)| thread)
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

/// The thread that a request goes on with.
///
/// # Errors
/// When it names a conversation that is not there, or that the program may not name.
pub(super) async fn thread(
    api: &Api,
    program: &ApiToken,
    headers: &HeaderMap,
    asked: &Asked,
) -> Result<Thread, ApiError> {
    let before = || (!asked.before.is_empty()).then(|| transcript(&asked.before));
    if let Some(name) = headers.get(CONVERSATION) {
        if program.role != ApiRole::Owner {
            let why = "the token of this program names no conversations; give `user` instead";
            return Err(ApiError::new(StatusCode::FORBIDDEN, why));
        }
        return match name.to_str().unwrap_or_default() {
            "new" => unknown(api, program, before()).await,
            name => {
                let conversation = ConversationChoice::Id(ConversationId::new(name));
                api.page.agent.directory().find(&conversation).await?;
                Ok(Thread { conversation, before: None, by_words: false, others_read: false })
            }
        };
    }
    if let Some(user) = asked.request.user.as_deref().filter(|user| !user.is_empty()) {
        let whose = format!("{} {:?} {} {user}", program.name, program.role, program.made_ms);
        let id = ConversationId::new(format!("c-api-{}", &hash(&whose)[..24]));
        let made = make(api, program, &id, !asked.before.is_empty()).await?;
        let before = before().filter(|_| made.is_empty);
        let (conversation, others_read) = (ConversationChoice::Id(id), made.others_read);
        return Ok(Thread { conversation, before, by_words: false, others_read });
    }
    if program.role != ApiRole::Owner {
        let id = api.page.agent.directory().new_id();
        make(api, program, &id, false).await?;
        let conversation = ConversationChoice::Id(id);
        return Ok(Thread { conversation, before: before(), by_words: false, others_read: false });
    }
    let known = match asked.before.is_empty() {
        true => None,
        false => api.threads.take(program, &asked.before),
    };
    let is_there = match known.as_ref().map(|known| &known.conversation) {
        // It may have been deleted since.
        Some(ConversationChoice::Id(id)) => api.page.agent.store().conversation(id).await?.is_some(),
        known => known.is_some(),
    };
    match known.filter(|_| is_there) {
        Some(Known { conversation, before, others_read }) => {
            Ok(Thread { conversation, before, by_words: true, others_read })
        }
        None => unknown(api, program, before()).await,
    }
}

/// A thread that nobody knows. What was said before in it may have been read by others, as by those in a room that the
/// program passes on: where they read any conversation of the program, they are taken to read this one.
async fn unknown(api: &Api, program: &ApiToken, before: Option<String>) -> Result<Thread, ApiError> {
    let others_read = before.is_some() && api.page.agent.directory().others_read_any_of(&key_of(program)).await?;
    Ok(Thread { conversation: ConversationChoice::New, before, by_words: true, others_read })
}

/// What became of a conversation that a request names.
struct Made {
    /// Whether nothing was said in it yet.
    is_empty: bool,
    /// Whether it was made now and others read it.
    others_read: bool,
}

/// Sees to it that a conversation is there: one whose answers leave, where nobody sits at the program. Others read it where they read the
/// one of that id that was deleted, and where it goes on with a thread as [`unknown`] says.
async fn make(api: &Api, program: &ApiToken, id: &ConversationId, goes_on: bool) -> Result<Made, ApiError> {
    let agent = &api.page.agent;
    if let Some(found) = agent.store().conversation(id).await? {
        return Ok(Made { is_empty: found.messages == 0, others_read: false });
    }
    let (directory, profile, key) = (agent.directory(), agent.config().agent.profile.clone(), key_of(program));
    let is_owner = program.role == ApiRole::Owner;
    let is_for_others = is_owner && goes_on && directory.others_read_any_of(&key).await?;
    let made = match program.role {
        ApiRole::Owner if is_for_others => directory.create_chat_for_others(id.clone(), &key).await,
        ApiRole::Owner => directory.create_chat_as(id.clone(), profile, None, None).await,
        ApiRole::Program | ApiRole::Metrics => directory.create_chat_for_strangers(id.clone(), profile).await,
    };
    match (made, agent.store().conversation(id).await?) {
        // Another request may have been quicker.
        (_, Some(found)) => Ok(Made { is_empty: found.messages == 0, others_read: found.audience == Audience::Group }),
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
        let known = |id| Some(Known { conversation: ConversationChoice::Id(id), before: None, others_read: false });
        assert_eq!(threads.take(&a, &said), known(two));
        assert_eq!(threads.take(&a, &said), known(one));
        assert_eq!(threads.take(&a, &said), None);
    }

    // SUR-031
    #[test]
    fn what_was_said_before_takes_no_more_than_its_room() {
        let threads = Threads::default();
        let program = ApiToken { name: "a".to_owned(), role: ApiRole::Owner, made_ms: 1 };
        let said = |number: usize| [line("user", &number.to_string())];
        let new = ConversationChoice::New;
        threads.keep(&program, &said(0), new.clone());
        for number in 1..=5 {
            let before = Some("x".repeat(REMEMBERED_BYTES / 2));
            let known = Known { conversation: new.clone(), before, others_read: false };
            threads.keep_with(&program, &said(number), known);
        }
        let found: Vec<usize> = (0..=5).filter(|number| threads.take(&program, &said(*number)).is_some()).collect();
        assert_eq!(found, [0, 4, 5], "the oldest go, and one that holds nothing stays");
    }
}
