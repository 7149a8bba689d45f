//! What an actor does when nothing is under way, and what follows a turn.

use std::sync::Arc;

use limpid_context::{Folders, PrefixCache};
use limpid_core::TurnId;
use limpid_services::directory::is_run;
use limpid_services::error::AgentError;
use limpid_store::{Base, Inbound, Lease};

use crate::actor::{Actor, Phase};
use crate::actors::Command;
use crate::compaction::{Compaction, CompactionDone};
use crate::delivery::deliver_waiting;
use crate::event::TurnEvent;
use crate::outcome::{answer_of, end_of, end_of_message, failed};
use crate::settings::{self};
use crate::turn::resume::resume;
use crate::turn::start::{Start, start};

impl Actor {
    /// Takes up the next thing to do: a turn that was interrupted, changes, deliveries, messages. Gives the lease back when
    /// there is nothing.
    pub(super) async fn look_for_work(&mut self) -> Result<(), AgentError> {
        if let Some(turn) = self.unfinished.pop_front() {
            return self.resume(turn).await;
        }
        let Some(lease) = self.lease() else {
            self.phase = Phase::Lease { tries: 0 };
            return Ok(());
        };
        let waiting = self.waiting().await?;
        while let Some(change) = self.changes.pop_front() {
            if let Some(compaction) = settings::make(&self.deps, &lease, change).await {
                self.phase = Phase::Compacting(compaction);
                return Ok(());
            }
        }
        // Behind the commands that were taken in: whoever writes a delivery from here on wakes this actor once more.
        let more = deliver_waiting(&self.deps, &lease).await?;
        match (waiting.is_empty(), more) {
            (false, _) if self.waits_for_its_path(&waiting) => self.rest().await,
            (false, _) if self.is_beside_an_agents_work(&waiting).await? => self.rest().await,
            (false, _) if self.is_for_other_folders(&waiting).await? => self.rest().await,
            (false, _) => self.start_turn(&lease, waiting).await,
            // The next look takes them, behind what the owner has said meanwhile.
            (true, true) => Ok(()),
            (true, false) => self.rest().await,
        }
    }

    /// Whether the message that begins a run waits for whoever runs it to say on which path. A run is never answered as a chat is.
    fn waits_for_its_path(&self, waiting: &[Inbound]) -> bool {
        let begins_it = |inbound: &Inbound| inbound.key.as_deref() == Some(self.conversation.as_str());
        self.next.path.is_none() && is_run(&self.conversation) && waiting.iter().any(begins_it)
    }

    /// Whether what waits for an agent is kept and no turn follows: the agent has ended, or was told to come to its end and has
    /// done so meanwhile.
    async fn is_beside_an_agents_work(&mut self, waiting: &[Inbound]) -> Result<bool, AgentError> {
        if !is_run(&self.conversation) {
            return Ok(false);
        }
        let Some(agent) = self.deps.store().agent_in(&self.conversation).await? else { return Ok(false) };
        let told = agent.id.report_key();
        Ok(agent.state.is_over() || waiting.iter().all(|inbound| inbound.key.as_ref() == Some(&told)))
    }

    /// The path of a turn that agents have to do with: an agent's own, else that of the turn that started those whose ends are
    /// answered.
    async fn path_of_agents(&mut self, waiting: &[Inbound]) -> Result<Option<String>, AgentError> {
        if is_run(&self.conversation)
            && let Some(agent) = self.deps.store().agent_in(&self.conversation).await?
        {
            return Ok(Some(agent.new.path));
        }
        if waiting.iter().any(|inbound| inbound.agent.is_none()) {
            return Ok(None);
        }
        let Some(id) = waiting.last().and_then(|inbound| inbound.agent) else { return Ok(None) };
        let Some(agent) = self.deps.store().agent(id).await? else { return Ok(None) };
        Ok(self.deps.store().turn(&agent.new.turn).await?.map(|turn| turn.path))
    }

    async fn start_turn(&mut self, lease: &Lease, waiting: Vec<Inbound>) -> Result<(), AgentError> {
        if self.next.path.is_none() {
            self.next.path = self.path_of_agents(&waiting).await?;
        }
        match start(&self.deps, lease, &self.listeners, &mut self.next, &waiting).await? {
            Start::Turn(turn) => self.phase = Phase::Turn(turn),
            Start::First(compaction) => self.phase = Phase::Compacting(compaction),
            Start::Nothing => {}
        }
        self.after_step().await
    }

    /// Whether nothing of what waits was said here or is known to belong here, and the conversation's prompts speak of folders that
    /// this process has not: those of an editor, or the workspace where this process works for one. Its calls would reach other
    /// files than they were meant for, so they are left to a process that has the folders, or until somebody speaks here.
    async fn is_for_other_folders(&mut self, waiting: &[Inbound]) -> Result<bool, AgentError> {
        if waiting.iter().any(|inbound| inbound.agent.is_none() || inbound.base != Base::Anywhere) {
            return Ok(false);
        }
        let conversation = self.deps.directory.existing(&self.conversation).await?;
        let here = Folders::of(&self.deps.config().files);
        Ok(PrefixCache::of(&conversation).folders.is_some_and(|folders| folders != here))
    }

    async fn resume(&mut self, turn: TurnId) -> Result<(), AgentError> {
        let Some(lease) = self.lease() else { return Ok(()) };
        let waiting = self.waiting().await?;
        if self.is_for_other_folders(&waiting).await? {
            // What the owner sets is done all the same.
            while let Some(change) = self.changes.pop_front() {
                if let Some(compaction) = settings::make(&self.deps, &lease, change).await {
                    self.unfinished.push_front(turn);
                    self.phase = Phase::Compacting(compaction);
                    return Ok(());
                }
            }
            return self.rest().await;
        }
        if self.is_for_other_folders(&[]).await? {
            let why = "the turn that was cut off began in another folder and does not go on here; say what is still to be done";
            return self.cannot_resume(&turn, &AgentError::Invalid(why.to_owned())).await;
        }
        match resume(&self.deps, &lease, &self.listeners, &turn).await {
            Ok(turn) => {
                self.phase = Phase::Turn(Box::new(turn));
                self.after_step().await
            }
            Err(error) => self.cannot_resume(&turn, &error).await,
        }
    }

    /// A turn that cannot be carried on is over; what it stored stays, and whoever listens hears why.
    pub(super) async fn cannot_resume(&mut self, turn: &TurnId, error: &AgentError) -> Result<(), AgentError> {
        self.phase = Phase::Idle;
        let Some(lease) = self.lease() else { return Ok(()) };
        self.listeners.notice_all(&error.to_string());
        let end = vec![end_of(&failed(error))];
        self.deps.store().commit(&lease, turn, end, self.deps.host().now_ms()).await?;
        Ok(())
    }

    /// Whoever asked is gone, and the next message comes from the same person.
    async fn tell_of_resumed(&mut self, turn: &TurnId) -> Result<(), AgentError> {
        if self.listeners.somebody_waits()
            && let Some(answer) = answer_of(self.deps.store(), &self.conversation, turn).await?
        {
            self.listeners.notice_all(&format!("an answer that was interrupted is there now:\n{answer}"));
        }
        Ok(())
    }

    /// The messages that wait to be answered here, every listener of theirs known. What was said where paths begin in another folder
    /// means other files, so it is left to a process that has that folder.
    async fn waiting(&mut self) -> Result<Vec<Inbound>, AgentError> {
        let handle = Arc::clone(&self.handle);
        let _nobody_accepts = handle.accepting.write().await;
        while let Ok(command) = self.commands.try_recv() {
            self.command(command).await?;
        }
        let here = self.deps.config().files.base_text().into();
        let mut waiting = self.deps.store().waiting(&self.conversation).await?.rows;
        waiting.retain(|inbound| inbound.base.is_at(&here));
        Ok(waiting)
    }

    /// Gives the lease back, and ends unless somebody has said something since.
    async fn rest(&mut self) -> Result<(), AgentError> {
        self.deps.housekeeping.when_idle().await;
        if let Some(lease) = self.lease.take() {
            lease.release().await?;
        }
        self.phase = Phase::Lease { tries: 0 };
        self.tell_of_others().await;
        if self.actors.end(&self.conversation, &self.handle, &self.commands) {
            self.phase = Phase::Over;
            let kept = "another limpid process is answering this message; its answer will be in the conversation";
            self.listeners.finish_all(&TurnEvent::Interrupted(kept.to_owned()));
        }
        Ok(())
    }

    /// Tells those who still listen how the turn of another process ended that took their message.
    async fn tell_of_others(&mut self) {
        for listener in self.listeners.take_later() {
            match end_of_message(self.deps.store(), listener.message()).await {
                Ok(Some(end)) => listener.send(end),
                Ok(None) => self.listeners.add(Some(listener)),
                Err(error) => listener.send(TurnEvent::Interrupted(error.to_string())),
            }
        }
    }

    /// Ends with the work undone; what was accepted is kept.
    pub(super) async fn give_up(&mut self, why: &str) {
        self.phase = Phase::Over;
        if let Some(lease) = self.lease.take() {
            let _ = lease.release().await;
        }
        // Nobody can tell this actor anything while it goes, so no listener is left without an end.
        for command in self.actors.abandon(&self.conversation, &self.handle, &mut self.commands) {
            match command {
                Command::Message { listener, .. } => self.listeners.add(listener),
                Command::Change(change) => self.changes.push_back(change),
                Command::Cancel(_) | Command::Answer { .. } | Command::Wake => {}
            }
        }
        self.changes.drain(..).for_each(|change| change.finish(Err(AgentError::Invalid(why.to_owned()))));
        self.listeners.finish_all(&TurnEvent::Interrupted(why.to_owned()));
    }

    /// The next thing to do, when the turn is over.
    pub(super) async fn after_step(&mut self) -> Result<(), AgentError> {
        let Phase::Turn(turn) = &mut self.phase else { return Ok(()) };
        turn.go_on().await?;
        if !turn.is_over() {
            return Ok(());
        }
        let (room, was_resumed) = (turn.room(), turn.was_resumed());
        self.room = room.or(self.room.take());
        let turn = turn.id().clone();
        self.phase = Phase::Idle;
        if was_resumed {
            return self.tell_of_resumed(&turn).await;
        }
        // What the turn said to other chats.
        self.deps.deliveries.wake_pending().await?;
        self.look_after_window().await
    }

    /// Compacts after an answer when that is due, and saves a snapshot every few turns. A failure costs nothing: what is
    /// not compacted here is fitted before the next request.
    async fn look_after_window(&mut self) -> Result<(), AgentError> {
        let (Some(room), Some(lease)) = (self.room.take(), self.lease()) else { return Ok(()) };
        if let Some(compaction) = Compaction::after_turn(&self.deps, &lease, room).await {
            self.phase = Phase::Compacting(compaction);
        }
        Ok(())
    }

    pub(super) async fn compacted(&mut self, done: CompactionDone) -> Result<(), AgentError> {
        self.phase = Phase::Idle;
        if let CompactionDone::Note(note) = done {
            self.next.note = Some(note);
        }
        Ok(())
    }

    pub(super) fn lease(&self) -> Option<Lease> {
        self.lease.as_ref().map(|held| held.lease().clone())
    }
}
