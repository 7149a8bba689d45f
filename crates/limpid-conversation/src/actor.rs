//! The actor of a conversation: it holds the lease, carries on what was interrupted, and runs turns one after the other
//! while there are messages. Everything that happens to a conversation comes in at one place, and what a command does in
//! each phase stands in one table.

#[cfg(test)]
mod tests;
mod work;

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use limpid_config::process;
use limpid_context::Headroom;
use limpid_core::{ConversationId, TurnId};
use limpid_services::error::AgentError;
use limpid_store::InboundId;
use limpid_turn::Outcome;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::actors::{ActorHandle, Actors, Command};
use crate::compaction::{Compaction, CompactionDone};
use crate::deps::ConversationDeps;
use crate::event::TurnEvent;
use crate::lease::{Attempt, HeldLease};
use crate::listeners::Listeners;
use crate::settings::{self, ChangeRequest};
use crate::turn::running::RunningTurn;
use crate::turn::start::NextTurn;
use crate::turn::steps::TurnStep;

/// How often a lease that another process holds is asked for.
const PATIENCE: Duration = Duration::from_millis(200);

/// Tries after which whoever waits is told for what.
const QUIET_TRIES: u32 = 10;

/// Tries after which a change that no message waits beside is given up: two minutes.
const MOST_TRIES: u32 = 600;

/// The work on one conversation.
pub(crate) struct Actor {
    deps: Arc<ConversationDeps>,
    actors: Arc<Actors>,
    handle: Arc<ActorHandle>,
    conversation: ConversationId,
    commands: UnboundedReceiver<Command>,
    listeners: Arc<Listeners>,
    lease: Option<HeldLease>,
    phase: Phase,
    /// Turns that a crash interrupted.
    unfinished: VecDeque<TurnId>,
    /// What is to be changed when no turn runs.
    changes: VecDeque<ChangeRequest>,
    /// The next turn, as far as it is known before it begins.
    next: NextTurn,
    /// What the newest turn left of the window.
    room: Option<Headroom>,
}

/// What an actor waits for, besides commands.
enum Phase {
    /// The lease: another process may have it.
    Lease { tries: u32 },
    /// Nothing: it looks for work.
    Idle,
    /// What the running turn waits for.
    Turn(Box<RunningTurn>),
    /// A digest or a note that models write.
    Compacting(Compaction),
    /// It has ended.
    Over,
}

/// Something that happened to a conversation.
enum ActorEvent {
    Command(Command),
    /// The time has come to ask for the lease.
    LeaseDue,
    LeaseLost,
    /// There is nothing to wait for.
    Idle,
    Turn(TurnStep),
    Compacted(CompactionDone),
}

impl Actor {
    pub(crate) fn new(
        deps: Arc<ConversationDeps>,
        actors: Arc<Actors>,
        handle: Arc<ActorHandle>,
        conversation: ConversationId,
        commands: UnboundedReceiver<Command>,
    ) -> Self {
        Self {
            deps,
            actors,
            listeners: Arc::clone(&handle.listeners),
            handle,
            conversation,
            commands,
            lease: None,
            phase: Phase::Lease { tries: 0 },
            unfinished: VecDeque::new(),
            changes: VecDeque::new(),
            next: NextTurn::default(),
            room: None,
        }
    }

    /// Works until there is nothing left to do.
    pub(crate) async fn run(mut self) {
        while !matches!(self.phase, Phase::Over) {
            let Err(error) = self.step().await else { continue };
            let resumed = match &self.phase {
                Phase::Turn(turn) if turn.was_resumed() => Some(turn.id().clone()),
                _ => None,
            };
            let ended = match resumed {
                Some(turn) => self.cannot_resume(&turn, &error).await,
                None => Err(error),
            };
            if let Err(error) = ended {
                self.give_up(&error.to_string()).await;
            }
        }
    }

    /// Waits for one event and takes it in. A panic is an error like any other, so that nobody waits for an actor that is
    /// gone; whatever it left half done goes with the turn.
    async fn step(&mut self) -> Result<(), AgentError> {
        let step = AssertUnwindSafe(async {
            let event = self.next_event().await;
            self.handle(event).await
        });
        step.catch_unwind().await.unwrap_or_else(|_| {
            let fault = "internal error; the message is kept, and the next one carries on from here";
            Err(AgentError::Invalid(fault.to_owned()))
        })
    }

    /// The one place where an actor waits. Commands come first.
    async fn next_event(&mut self) -> ActorEvent {
        let Self { commands, lease, phase, .. } = self;
        let lost = async {
            match lease {
                Some(lease) => lease.lost().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(command) = commands.recv() => ActorEvent::Command(command),
            () = lost => ActorEvent::LeaseLost,
            event = phase.next() => event,
        }
    }

    /// Takes in one event. It waits for the store and for reading what a prompt is made from, and for nothing slower.
    async fn handle(&mut self, event: ActorEvent) -> Result<(), AgentError> {
        match event {
            ActorEvent::Command(command) => self.command(command).await,
            ActorEvent::LeaseDue => self.acquire().await,
            ActorEvent::LeaseLost => {
                Err(AgentError::Invalid("another process has taken over this conversation".to_owned()))
            }
            ActorEvent::Idle => self.look_for_work().await,
            ActorEvent::Turn(step) => {
                if let Phase::Turn(turn) = &mut self.phase {
                    turn.take(step).await?;
                }
                self.after_step().await
            }
            ActorEvent::Compacted(done) => self.compacted(done).await,
        }
    }

    /// What a command does in each phase.
    async fn command(&mut self, command: Command) -> Result<(), AgentError> {
        match (command, &mut self.phase) {
            (Command::Message { inbound, listener, .. }, Phase::Turn(turn)) => {
                self.listeners.add(listener);
                turn.steer(inbound).await?;
                self.after_step().await
            }
            // It is in the store, and the next turn takes it.
            (Command::Message { listener, path, .. }, _) => {
                self.listeners.add(listener);
                self.next.path = path;
                Ok(())
            }
            // From here on others read, also what this turn has still to say.
            (Command::Change(change), Phase::Turn(turn)) if change.is_for_others() => {
                settings::make(&self.deps, turn.lease(), change).await;
                Ok(())
            }
            (Command::Change(change), Phase::Turn(_)) => {
                self.changes.extend(change.defer());
                Ok(())
            }
            (Command::Change(change), _) => {
                self.changes.push_back(change);
                Ok(())
            }
            (Command::Cancel(message), Phase::Turn(turn)) => {
                if message.is_none_or(|message| turn.answers(message)) {
                    turn.cancel().await?;
                }
                // What came in the midst of the turn and is no part of it yet is not answered after it either.
                if let Some(message) = message {
                    self.take_back(message).await?;
                }
                self.after_step().await
            }
            (Command::Cancel(message), phase) => {
                if let Phase::Compacting(compaction) = phase {
                    compaction.cancel();
                }
                // No turn has begun that would answer them.
                for message in message.map_or_else(|| self.listeners.later(), |message| vec![message]) {
                    self.take_back(message).await?;
                }
                Ok(())
            }
            (Command::Answer { question, answer }, Phase::Turn(turn)) => {
                turn.answered_by_owner(&question, answer).await?;
                self.after_step().await
            }
            (Command::Answer { .. } | Command::Wake, _) => Ok(()),
        }
    }

    /// Takes a message back whose answer was stopped before it began: whoever stopped it thought better of it, so nobody answers it
    /// later. One that a turn has taken meanwhile is that turn's.
    async fn take_back(&mut self, message: InboundId) -> Result<(), AgentError> {
        if self.deps.store().take_back(&self.conversation, message).await? {
            let stopped = TurnEvent::Done { outcome: Outcome::Cancelled, answer: None };
            self.listeners.finish_later(message, &stopped);
        } else {
            let taken = "another limpid process is answering this message; its answer will be in the conversation";
            self.listeners.finish_later(message, &TurnEvent::Interrupted(taken.to_owned()));
        }
        Ok(())
    }

    /// Asks for the lease. Whoever waits beside another process is told for what, in the end.
    async fn acquire(&mut self) -> Result<(), AgentError> {
        let Phase::Lease { tries } = &mut self.phase else { return Ok(()) };
        let holder = match HeldLease::acquire(&self.deps.context.store, self.deps.host(), &self.conversation).await? {
            Attempt::Held(lease) => {
                self.lease = Some(lease);
                self.phase = Phase::Idle;
                let unfinished = self.deps.store().unfinished_turns().await?.rows;
                self.deps.agents.recover(Some(&self.conversation)).await?;
                let own = unfinished.into_iter().filter(|turn| turn.conversation == self.conversation);
                self.unfinished = own.map(|turn| turn.id).collect();
                return Ok(());
            }
            Attempt::Busy(holder) => holder,
        };
        *tries += 1;
        let tries = *tries;
        if tries == QUIET_TRIES {
            let who = match process::number(&holder) {
                Some(number) => format!("process {number}"),
                None => "a process on another machine".to_owned(),
            };
            let told = format!("{who} is at work on this conversation; this message is answered after it");
            self.listeners.notice_all(&told);
        }
        if tries > MOST_TRIES && !self.listeners.somebody_waits() {
            let busy = "the conversation is being worked on; try again when its turn is over";
            return Err(AgentError::Invalid(busy.to_owned()));
        }
        Ok(())
    }
}

impl Drop for Actor {
    /// However it ends, whoever waits for its end is told.
    fn drop(&mut self) {
        self.commands.close();
        self.actors.ended.notify_waiters();
    }
}

impl Phase {
    /// What happens next in a phase; it may be given up while it waits and asked for again.
    async fn next(&mut self) -> ActorEvent {
        match self {
            Self::Lease { tries: 0 } => ActorEvent::LeaseDue,
            Self::Lease { .. } => {
                tokio::time::sleep(PATIENCE).await;
                ActorEvent::LeaseDue
            }
            Self::Idle => ActorEvent::Idle,
            Self::Turn(turn) => ActorEvent::Turn(turn.next().await),
            Self::Compacting(compaction) => ActorEvent::Compacted(compaction.done().await),
            Self::Over => std::future::pending().await,
        }
    }
}
