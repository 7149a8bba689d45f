//! Turns that nobody waits for: a heartbeat, a task whose time has come. Each is a turn of a hidden conversation of its
//! own, so its transcript stays readable, and a crash is carried on like that of any turn.

use limpid_core::{ConversationId, Role, Trust, TurnId, Usage};
use limpid_prompt::Inputs;
use limpid_services::deliveries::said_in_run;
use limpid_services::directory::conversation_of_run;
use limpid_services::error::AgentError;
use limpid_services::spending::Spender;
use limpid_services::tools::window_trust;
use limpid_store::{
    Accepted, Audience, Conversation, ConversationKind, NewConversation, NewInbound, RequestFilter, RequestSummary,
    Store, StoreError, StoredMessage, Turn, TurnEnd, TurnOutcome,
};
use limpid_turn::Outcome;

use crate::conversations::{Conversations, Taken};
use crate::event::TurnEvent;
use crate::listeners::Answerer;
use crate::outcome::outcome_of;
use crate::turn::journal::{Entry, entries};

/// Requests of one run that are counted.
const REQUESTS: u32 = 1000;

/// A run that is to be.
#[derive(Clone, Debug)]
pub struct BackgroundRun {
    /// What makes it the same run after a crash; letters, digits and `-`. What is behind a `/` goes on with the run before it, in
    /// the same conversation.
    pub key: String,
    /// The path of the profile: `heartbeat`, `task`, that of an agent.
    pub path: String,
    /// The mode; absent: the usual one.
    pub mode: Option<String>,
    /// Who pays for it.
    pub spender: Spender,
    /// The profile; absent: the owner's.
    pub profile: Option<String>,
    /// The model as `provider/id`; absent: the one that is set for all.
    pub model: Option<String>,
    /// Who reads what it reports: a run for a chat that others read knows nothing of the owner either.
    pub audience: Audience,
    /// What the run is told, where the path shows a message.
    pub text: String,
    /// Who wrote the text that it is told.
    pub trust: Trust,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The hidden conversation that holds its transcript.
    pub conversation: ConversationId,
    /// The turn that it ended with.
    pub turn: TurnId,
    /// How it ended.
    pub outcome: Outcome,
    /// What it said at the end, when that is what ended it.
    pub answer: Option<String>,
    /// What it told the owner besides, in their chat.
    pub messages: Vec<String>,
    /// The decision that ended it: the name of the tool, and the arguments.
    pub decision: Option<(String, String)>,
    /// Who wrote the least trusted text that it has read.
    pub trust: Trust,
    /// What its first prompt was made from; none when it could not begin.
    pub inputs: Option<Box<Inputs>>,
    /// Requests that it made.
    pub requests: u64,
    /// Tokens that providers counted.
    pub usage: Usage,
}

impl RunReport {
    /// What the owner is told at its end: what it told them by itself, else its answer.
    pub fn told(&self) -> Option<String> {
        if self.messages.is_empty() { self.answer.clone() } else { Some(self.messages.join("\n\n")) }
    }
}

impl Conversations {
    /// Runs a turn that nobody waits for and returns when it is over, and when the agents that it started are. The same key is
    /// the same run: one that a crash interrupted is carried on, one that is over is only read. One that was never begun does
    /// not begin while a spending limit stands against it.
    ///
    /// # Errors
    /// When a spending limit stands against it, or the store cannot be read or written.
    pub async fn run(&self, run: BackgroundRun) -> Result<RunReport, AgentError> {
        self.run_watched(run, &|_| {}, Answerer::Nobody).await
    }

    /// The same; `watch` sees what happens in it, and `answerer` can be asked.
    pub(crate) async fn run_watched(
        &self,
        run: BackgroundRun,
        watch: &(dyn Fn(&TurnEvent) + Send + Sync),
        answerer: Answerer,
    ) -> Result<RunReport, AgentError> {
        let (known, message_key) = place(&run.key);
        if self.deps.store().conversation(&known).await?.is_none() {
            self.deps.spending.check_and_tell(run.spender, None, None).await?;
        }
        let conversation = self.run_conversation(&run).await?;
        let new = NewInbound {
            conversation: conversation.id.clone(),
            key: Some(message_key),
            text: self.deps.redactor().clean(run.text),
            trust: run.trust,
            typed: false,
            base: self.deps.config().files.base_text().into(),
            now_ms: self.deps.host().now_ms(),
        };
        let accepted = self.deps.store().accept(new.clone()).await?;
        if self.ended(&accepted).await?.is_none() {
            let path = Some(run.path.clone());
            let (_, mut events) = self.accept(None, new.clone(), path, answerer, Taken::IsWaitedFor).await?;
            while let Some(event) = events.recv().await {
                watch(&event);
                if event.is_last() {
                    break;
                }
            }
        }
        self.wait_for_agents(&conversation.id).await?;
        // The key finds the message again, and the turn that took it.
        let accepted = self.deps.store().accept(new).await?;
        match self.ended(&accepted).await? {
            Some((turn, end)) => {
                let (turn, end) = self.last_turn(turn, end).await?;
                report(self.deps.store(), turn, &end).await
            }
            None => Err(AgentError::Invalid("the run is not over; the next start carries it on".to_owned())),
        }
    }

    /// Waits until no agent that a conversation started works any more, and what they came to was taken in.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn wait_for_agents(&self, conversation: &ConversationId) -> Result<(), AgentError> {
        loop {
            // Listened to before the look, so that an end between the two is not missed.
            let ended = self.deps.agents.next_end();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let before = self.deps.agents.outstanding(conversation).await?;
            if before.waiting > 0 {
                self.wake(conversation);
                self.wait_idle(conversation).await;
                let after = self.deps.agents.outstanding(conversation).await?;
                // Somebody else is at work on it, or nobody can be: it is told by whoever comes next.
                if after == before {
                    return Ok(());
                }
            } else if before.working > 0 {
                ended.await;
            } else {
                return Ok(());
            }
        }
    }

    /// The turn with which a run ended: that which took in what its agents came to, where there is one.
    async fn last_turn(&self, first: Turn, end: TurnEnd) -> Result<(Turn, TurnEnd), AgentError> {
        let last = self.deps.store().last_message(&first.conversation).await?;
        let Some(id) = last.map(|row| row.turn).filter(|id| *id != first.id) else { return Ok((first, end)) };
        let last = self.deps.store().turn(&id).await?;
        Ok(last.and_then(|turn| turn.end.clone().map(|end| (turn, end))).unwrap_or((first, end)))
    }

    /// The conversation of a run, made when this is its first try.
    async fn run_conversation(&self, run: &BackgroundRun) -> Result<Conversation, AgentError> {
        let (id, _) = place(&run.key);
        if let Some(found) = self.deps.store().conversation(&id).await? {
            return Ok(found);
        }
        let new = NewConversation {
            id: id.clone(),
            kind: ConversationKind::Run,
            title: run.key.clone(),
            profile: run.profile.clone().unwrap_or_else(|| self.deps.config().agent.profile.clone()),
            mode: run.mode.clone(),
            model: run.model.clone(),
            audience: run.audience,
            now_ms: self.deps.host().now_ms(),
        };
        match self.deps.store().create_conversation(new).await {
            // Another process was faster; the lease decides which of them runs it.
            Err(StoreError::Exists { .. }) => self.deps.directory.existing(&id).await,
            made => Ok(made?),
        }
    }

    /// The turn that took the message of a run, once it is over.
    async fn ended(&self, accepted: &Accepted) -> Result<Option<(Turn, TurnEnd)>, AgentError> {
        let Some(id) = &accepted.inbound.turn else { return Ok(None) };
        let turn = self.deps.store().turn(id).await?;
        Ok(turn.and_then(|turn| turn.end.clone().map(|end| (turn, end))))
    }
}

/// The conversation of a run, and the key of the message that begins it.
fn place(key: &str) -> (ConversationId, String) {
    let (begins, goes_on) = key.split_once('/').map_or((key, None), |(begins, goes_on)| (begins, Some(goes_on)));
    let conversation = conversation_of_run(begins);
    let message_key = goes_on.map_or_else(|| conversation.to_string(), |goes_on| format!("{conversation}/{goes_on}"));
    (conversation, message_key)
}

/// What came of a run that is over.
async fn report(store: &dyn Store, turn: Turn, end: &TurnEnd) -> Result<RunReport, AgentError> {
    let Turn { id, conversation, .. } = turn;
    let messages = store.messages(&conversation, None).await?.rows;
    let filter = RequestFilter { turn: Some(id.clone()), limit: REQUESTS, ..RequestFilter::default() };
    let requests = store.requests(filter).await?.rows;
    let journal = entries(&store.turn_events(&id).await?);
    // What cannot be read may have held anything.
    let unread = if journal.is_err() { Trust::Outside } else { Trust::Owner };
    let began = journal.unwrap_or_default().into_iter().find_map(|entry| match entry {
        Entry::Started(began) => Some(Box::new(began.inputs)),
        _ => None,
    });
    Ok(RunReport {
        outcome: outcome_of(end),
        answer: answer_of(end, &messages),
        messages: said_in_run(messages.iter().map(|row| &row.message)),
        decision: decision_of(end, &messages),
        trust: trust_read(began.as_deref(), &messages, &requests).join(unread),
        inputs: began,
        requests: requests.len() as u64,
        usage: usage_of(&requests),
        conversation,
        turn: id,
    })
}

/// The last message, when it is the model's and calls nothing.
fn answer_of(end: &TurnEnd, messages: &[StoredMessage]) -> Option<String> {
    let last = messages.last().map(|row| &row.message)?;
    let says = end.outcome == TurnOutcome::Answered && last.role == Role::Assistant && last.calls.is_empty();
    says.then(|| last.text.clone())
}

/// The call of the last pair of messages: a turn that was answered ends with a result only when its decision ended it.
fn decision_of(end: &TurnEnd, messages: &[StoredMessage]) -> Option<(String, String)> {
    let [.., before, last] = messages else { return None };
    let decided = end.outcome == TurnOutcome::Answered && last.message.role == Role::Tool;
    let call = before.message.calls.first().filter(|_| decided)?;
    Some((call.name.clone(), call.arguments.clone()))
}

fn trust_read(inputs: Option<&Inputs>, messages: &[StoredMessage], requests: &[RequestSummary]) -> Trust {
    let messages: Vec<_> = messages.iter().map(|row| row.message.clone()).collect();
    let window = inputs.map_or(Trust::Owner, |inputs| window_trust(inputs, &messages));
    requests.iter().filter_map(|request| request.end.as_ref()).map(|end| end.trust).fold(window, Trust::join)
}

fn usage_of(requests: &[RequestSummary]) -> Usage {
    let mut usage = Usage::default();
    requests.iter().filter_map(|request| request.end.as_ref()?.usage).for_each(|one| usage += one);
    usage
}

#[cfg(test)]
mod tests;
