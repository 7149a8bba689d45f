//! One worker a conversation: it holds the lease, carries on what was interrupted, and runs turns one after the other
//! while there are messages.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use limpid_config::process;
use limpid_core::{CallId, ConversationId, FailureClass, Message, Role, TurnId};
use limpid_store::{Acquired, Inbound, InboundId, Lease, TurnOutcome};
use limpid_turn::{Finish, Outcome};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

use crate::agent::Inner;
use crate::context::Headroom;
use crate::conversation::event::{Answer, TurnEvent};
use crate::conversation::settings::Settle;
use crate::services::error::AgentError;

/// How long a lease lasts when nobody renews it.
const LEASE: Duration = Duration::from_secs(30);

/// How often a lease that another process holds is asked for.
const PATIENCE: Duration = Duration::from_millis(200);

/// Tries after which whoever waits is told for what.
const QUIET_TRIES: u32 = 10;

/// Turns after which a moment of the conversation is kept.
const SNAPSHOT_TURNS: usize = 5;

/// What a worker is told.
pub(crate) enum Command {
    /// A message was accepted.
    Message { inbound: Inbound, sender: Option<Sender>, path: Option<String> },
    /// Something is to be set.
    Settle(Settle),
    /// The running turn is to stop, or the one that is to answer this message when it still waits.
    Cancel(Option<InboundId>),
    /// The owner answered the question about a call.
    Answer { call: CallId, answer: Answer },
    /// There may be something to do.
    Wake,
}

/// Where the events of one accepted message go.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    inbound: InboundId,
    events: UnboundedSender<TurnEvent>,
    /// Whether a person who may answer questions listens.
    answers: bool,
}

impl Sender {
    pub(crate) fn new(inbound: InboundId, events: UnboundedSender<TurnEvent>) -> Self {
        Self { inbound, events, answers: false }
    }

    /// The same, for somebody who may answer questions.
    pub(crate) fn answering(self, answers: bool) -> Self {
        Self { answers, ..self }
    }

    /// Whoever does not listen any more misses nothing that is not kept.
    pub(crate) fn send(&self, event: TurnEvent) {
        let _ = self.events.send(event);
    }
}

/// Those who wait for answers: to the running turn's messages, and to later ones.
#[derive(Default)]
pub(crate) struct Listeners {
    active: Vec<Sender>,
    waiting: Vec<Sender>,
}

impl Listeners {
    pub(crate) fn add(&mut self, sender: Option<Sender>) {
        self.waiting.extend(sender);
    }

    /// These messages are answered by the running turn.
    pub(crate) fn activate(&mut self, taken: &[InboundId]) {
        let (active, waiting) = self.waiting.drain(..).partition(|sender| taken.contains(&sender.inbound));
        self.waiting = waiting;
        self.active.extend::<Vec<Sender>>(active);
    }

    pub(crate) fn send(&self, event: &TurnEvent) {
        self.active.iter().for_each(|sender| sender.send(event.clone()));
    }

    /// Tells everybody who waits for an answer, be it of this turn or of a later one.
    pub(crate) fn notice_all(&self, text: &str) {
        let senders = self.active.iter().chain(&self.waiting);
        senders.for_each(|sender| sender.send(TurnEvent::Notice(text.to_owned())));
    }

    /// Whether somebody waits for the answer of a later turn.
    pub(crate) fn somebody_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether somebody listens.
    pub(crate) fn is_heard(&self) -> bool {
        self.active.iter().any(|sender| !sender.events.is_closed())
    }

    /// Whether somebody listens who can answer a question.
    pub(crate) fn can_answer(&self) -> bool {
        self.active.iter().any(|sender| sender.answers && !sender.events.is_closed())
    }

    /// Waits until nobody listens any more who could answer a question.
    pub(crate) async fn nobody_answers(&self) {
        for sender in self.active.iter().filter(|sender| sender.answers) {
            sender.events.closed().await;
        }
    }

    /// The last event of the running turn.
    pub(crate) fn finish(&mut self, event: &TurnEvent) {
        self.send(event);
        self.active.clear();
    }

    fn finish_all(&mut self, event: &TurnEvent) {
        self.active.append(&mut self.waiting);
        self.finish(event);
    }
}

/// The work on one conversation.
pub(crate) struct Worker {
    pub(crate) inner: Arc<Inner>,
    pub(crate) conversation: ConversationId,
    pub(crate) commands: UnboundedReceiver<Command>,
    pub(crate) listeners: Listeners,
    /// The path that the newest message asked for.
    pub(crate) path: Option<String>,
    /// What the newest turn left of the window.
    pub(crate) room: Option<Headroom>,
    /// What is to be set when no turn runs.
    pub(crate) settling: Vec<Settle>,
    /// Messages whose answer was stopped before it began.
    pub(crate) stopped: Vec<InboundId>,
}

impl Inner {
    /// Tells a conversation's worker something; it is started when there is none.
    pub(crate) fn command(self: &Arc<Self>, conversation: &ConversationId, command: Command) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let command = match workers.get(conversation) {
            Some(worker) => match worker.send(command) {
                Ok(()) => return,
                Err(refused) => refused.0,
            },
            None => command,
        };
        let (sender, commands) = unbounded_channel();
        // The receiver lives right here.
        let _ = sender.send(command);
        workers.insert(conversation.clone(), sender);
        let worker = Worker {
            inner: Arc::clone(self),
            conversation: conversation.clone(),
            commands,
            listeners: Listeners::default(),
            path: None,
            room: None,
            settling: Vec::new(),
            stopped: Vec::new(),
        };
        tokio::spawn(worker.work());
    }

    /// Tells a conversation's worker something when there is one, and says whether there is.
    pub(crate) fn tell(&self, conversation: &ConversationId, command: Command) -> bool {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.get(conversation).is_some_and(|worker| worker.send(command).is_ok())
    }
}

impl Inner {
    /// How the turn ended that took an accepted message; none while it has not.
    async fn end_elsewhere(&self, inbound: InboundId) -> Result<Option<TurnEvent>, AgentError> {
        let Some(turn) = self.store.accepted(inbound).await?.and_then(|inbound| inbound.turn) else { return Ok(None) };
        let Some(ended) = self.store.turn(&turn).await? else { return Ok(None) };
        let Some(end) = ended.end else { return Ok(None) };
        let answer = self.answer_of(&ended.conversation, &turn).await?;
        let outcome = match end.outcome {
            TurnOutcome::Answered => Outcome::Answered { finish: finish_of(&end.detail) },
            TurnOutcome::Cancelled => Outcome::Cancelled,
            TurnOutcome::Failed => failure_of(&end.detail),
        };
        Ok(Some(TurnEvent::Done { outcome, answer }))
    }
}

impl Inner {
    /// The last words of a turn; none when it said nothing.
    pub(crate) async fn answer_of(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
    ) -> Result<Option<String>, AgentError> {
        let messages = self.store.messages(conversation, None).await?.rows;
        let answer = messages.into_iter().rev().find(|row| row.turn == *turn && row.message.role == Role::Assistant);
        Ok(answer.map(|row| row.message.text).filter(|text| !text.is_empty()))
    }
}

/// The outcome that a stored end tells of.
fn failure_of(detail: &str) -> Outcome {
    let parsed = detail.split_once(": ").and_then(|(class, message)| Some((FailureClass::parse(class)?, message)));
    let (class, message) = parsed.unwrap_or((FailureClass::Malformed, detail));
    Outcome::Failed { class, message: message.to_owned() }
}

fn finish_of(detail: &str) -> Finish {
    [Finish::Length, Finish::Moderated].into_iter().find(|finish| finish.as_str() == detail).unwrap_or(Finish::Stop)
}

impl Worker {
    async fn work(mut self) {
        loop {
            match self.work_under_lease().await {
                Ok(true) => {}
                Ok(false) => return self.give_up("the message is kept; whoever works on this conversation answers it"),
                Err(error) => return self.give_up(&error.to_string()),
            }
            self.tell_of_others().await;
            if self.leave() {
                return;
            }
        }
    }

    /// Runs turns until no message waits, then gives the lease back. False: the person stopped waiting for the lease.
    async fn work_under_lease(&mut self) -> Result<bool, AgentError> {
        let Some(lease) = self.acquire().await? else { return Ok(false) };
        let renewing = self.renew(&lease);
        let worked = self.run_turns(&lease).await;
        renewing.abort();
        let released = self.inner.store.release(&self.conversation, lease.fence).await;
        worked?;
        released?;
        Ok(true)
    }

    async fn run_turns(&mut self, lease: &Lease) -> Result<(), AgentError> {
        self.drain();
        self.resume_turns(lease).await?;
        loop {
            let waiting = self.waiting().await?;
            self.settle().await;
            // After the commands were taken in: whoever enqueues from here on wakes this worker once more.
            self.deliver(lease).await?;
            if waiting.is_empty() {
                self.inner.housekeeping.when_idle().await;
                return Ok(());
            }
            self.turn(lease, waiting).await?;
            // What the turn said to other chats.
            self.inner.deliveries.wake_pending().await?;
            self.look_after_window(lease).await;
        }
    }

    /// Compacts after an answer when that is due, and keeps a moment every few turns. A failure
    /// costs nothing: what is not compacted here is fitted before the next request.
    async fn look_after_window(&mut self, lease: &Lease) {
        let Some(room) = self.room.take() else { return };
        if room.is_tight {
            let _ = self.inner.compact_if_due(lease).await;
        }
        if (room.turns + 1).is_multiple_of(SNAPSHOT_TURNS) {
            let _ = self.inner.keep_turn(lease).await;
        }
    }

    /// The messages that wait, every listener of theirs known.
    async fn waiting(&mut self) -> Result<Vec<Inbound>, AgentError> {
        let inner = Arc::clone(&self.inner);
        let _nobody_accepts = inner.accepting.write().await;
        self.drain();
        Ok(inner.store.waiting(&self.conversation).await?.rows)
    }

    /// Takes in what was said since, while no turn runs. Says whether a stop was among it.
    fn drain(&mut self) -> bool {
        let mut stopped = false;
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Message { sender, path, .. } => {
                    self.listeners.add(sender);
                    self.path = path;
                }
                Command::Settle(settle) => self.settling.push(settle),
                Command::Cancel(message) => {
                    stopped = true;
                    self.stopped.extend(message);
                }
                Command::Answer { .. } | Command::Wake => {}
            }
        }
        stopped
    }

    /// Ends the worker with the work undone; what was accepted is kept.
    fn give_up(mut self, why: &str) {
        let inner = Arc::clone(&self.inner);
        // Nobody can tell this worker anything while it goes, so no listener is left without an end.
        let mut workers = inner.workers.lock().unwrap_or_else(PoisonError::into_inner);
        self.drain();
        workers.remove(&self.conversation);
        drop(workers);
        inner.worker_left.notify_waiters();
        self.listeners.finish_all(&TurnEvent::Interrupted(why.to_owned()));
    }

    /// Tells those who still listen how the turn of another process ended that took their message.
    async fn tell_of_others(&mut self) {
        for sender in std::mem::take(&mut self.listeners.waiting) {
            match self.inner.end_elsewhere(sender.inbound).await {
                Ok(Some(end)) => sender.send(end),
                Ok(None) => self.listeners.waiting.push(sender),
                Err(error) => sender.send(TurnEvent::Interrupted(error.to_string())),
            }
        }
    }

    /// Ends the worker unless somebody has told it something.
    fn leave(&mut self) -> bool {
        let mut workers = self.inner.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.commands.is_empty() {
            return false;
        }
        workers.remove(&self.conversation);
        drop(workers);
        self.inner.worker_left.notify_waiters();
        let kept = "another limpid process is answering this message; its answer will be in the conversation";
        self.listeners.finish_all(&TurnEvent::Interrupted(kept.to_owned()));
        true
    }

    async fn acquire(&mut self) -> Result<Option<Lease>, AgentError> {
        let inner = Arc::clone(&self.inner);
        let mut tries = 0;
        loop {
            let asked = inner.store.acquire(
                &self.conversation,
                inner.host.holder(),
                inner.host.now_ms(),
                LEASE.as_millis() as i64,
            );
            match asked.await? {
                Acquired::Lease(lease) => return Ok(Some(lease)),
                Acquired::Busy(other) if process::is_dead(&other.holder) => {
                    inner.store.release(&self.conversation, other.fence).await?;
                }
                Acquired::Busy(other) => {
                    tokio::time::sleep(PATIENCE).await;
                    tries += 1;
                    if tries == QUIET_TRIES {
                        let who = match process::number(&other.holder) {
                            Some(number) => format!("process {number}"),
                            None => "a process on another machine".to_owned(),
                        };
                        self.listeners.notice_all(&format!(
                            "{who} is at work on this conversation; this message is answered after it"
                        ));
                    }
                }
            }
            if self.drain() {
                return Ok(None);
            }
        }
    }

    /// Moves the lease's end while it is needed. When that fails, the next write says so.
    fn renew(&self, lease: &Lease) -> AbortHandle {
        let (inner, lease) = (Arc::clone(&self.inner), lease.clone());
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(LEASE / 3).await;
                let _ = inner.store.renew(&lease, inner.host.now_ms(), LEASE.as_millis() as i64).await;
            }
        });
        renewing.abort_handle()
    }
}

/// An accepted message as one of the conversation.
pub(crate) fn message_of(inbound: &Inbound, boundary: impl FnOnce() -> String) -> Message {
    let boundary = inbound.trust.is_foreign().then(boundary);
    Message { trust: inbound.trust, boundary, ..Message::new(Role::User, inbound.text.clone()) }
}

/// The outcome of a turn that could not begin.
pub(crate) fn failed(error: &AgentError) -> Outcome {
    let class = match error {
        AgentError::Model(error) => error.class,
        AgentError::File(_) | AgentError::Prompt(_) => FailureClass::OwnFile,
        _ => FailureClass::Malformed,
    };
    Outcome::Failed { class, message: error.to_string() }
}
