//! How a turn that a crash interrupted is carried on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use limpid_core::{Role, TurnId};
use limpid_store::{InboundId, Lease, StoredMessage};
use limpid_turn::{Event, Turn};
use tokio::sync::OnceCell;

use crate::context::FindTools;
use crate::context::History;
use crate::context::PrefixCache;
use crate::context::window_state_of;
use crate::conversation::actor::{Worker, failed};
use crate::conversation::turn::journal::{Entry, entries};
use crate::conversation::turn::running::{Driver, Overflow, end_of, unknown_outcomes};
use crate::conversation::turn::start::start_of;
use crate::services::error::AgentError;
use crate::services::models::ModelRegistry;
use crate::services::modes::is_set;
use crate::services::tools::policy::trust_read_in;

impl Worker {
    /// Carries on the turns of this conversation that a crash interrupted.
    pub(crate) async fn resume_turns(&mut self, lease: &Lease) -> Result<(), AgentError> {
        let unfinished = self.inner.store.unfinished_turns().await?.rows;
        let own: Vec<_> = unfinished.into_iter().filter(|turn| turn.conversation == self.conversation).collect();
        for turn in own {
            if let Err(error) = self.resume_turn(lease, &turn.id).await {
                // A turn that cannot be carried on is over; what it stored stays, and whoever listens hears why.
                let outcome = failed(&error);
                self.listeners.notice_all(&error.to_string());
                self.inner.store.commit(lease, &turn.id, vec![end_of(&outcome)], self.inner.host.now_ms()).await?;
            } else if self.listeners.somebody_waits()
                && let Some(answer) = self.inner.answer_of(&self.conversation, &turn.id).await?
            {
                // Whoever asked is gone, and the next message comes from the same person.
                self.listeners.notice_all(&format!("an answer that was interrupted is there now:\n{answer}"));
            }
        }
        Ok(())
    }

    async fn resume_turn(&mut self, lease: &Lease, id: &TurnId) -> Result<(), AgentError> {
        let inner = Arc::clone(&self.inner);
        let listed = inner.store.turn_events(id).await?;
        let entries = entries(&listed).map_err(|bad| bad.of_turn(id, &self.conversation))?;
        let Some(Entry::Began(began)) = entries.first() else {
            // It had taken nothing yet: its messages wait for the next turn.
            return Err(AgentError::Invalid("the program stopped before the turn began".to_owned()));
        };
        let conversation = inner.directory.existing(&self.conversation).await?;
        let mut past = History::read(&*inner.store, &conversation, &mut Vec::new()).await?;
        let listed = inner.store.messages(&self.conversation, past.view.through).await?.rows;
        let own: Vec<StoredMessage> = listed.into_iter().filter(|row| row.turn == *id).collect();
        past.without(&own);
        let start = start_of(began, &past);
        let events = entries.iter().filter_map(|entry| match entry {
            Entry::Event(event, _) => Some(event.clone()),
            Entry::Began(_) | Entry::Running(_) | Entry::Skills(_) => None,
        });
        let machine = Turn::resume(start, events);
        let asked = own.len().saturating_sub(machine.in_flight().len());
        let waited = own.iter().take(asked.saturating_sub(1));
        past.unanswered = waited.map(|row| limpid_core::Entry { id: row.id, message: row.message.clone() }).collect();

        let loaded = inner.profiles.load(&began.profile)?;
        let mut models = inner.models.for_turn(Some(&began.model)).await?;
        let card = window_state_of(Some(&conversation)).fit(models[0].info(), inner.host.now_ms()).card;
        models[0] = ModelRegistry::resized(&models[0], &card);
        let made = machine.in_flight().iter().flat_map(|message| &message.calls).map(|call| call.name.as_str());
        let profile = loaded.profile(&began.profile)?;
        let profile = inner.profiles.fitting(&loaded, profile, (&began.path, &began.inputs), &mut Vec::new())?;
        let conversation = inner.directory.existing(&self.conversation).await?;
        let mode = &began.inputs.mode;
        let policy = inner.context.policy.for_turn(&profile, &began.path, mode, is_set(Some(&conversation), mode));
        let found = PrefixCache::of(&conversation).tools.found;
        let finder = FindTools::of_turn(&profile, &began.path, &began.inputs, found);
        let tools = Arc::new(inner.executor.for_turn(policy, finder, made));
        let unknown = unknown_outcomes(&machine, &entries, &tools);
        let mut driver = Driver {
            worker: self,
            lease,
            id: id.clone(),
            profile,
            path: began.path.clone(),
            models,
            inputs: began.inputs.clone(),
            past,
            in_flight: own.iter().skip(asked).map(|row| row.id).collect(),
            overflow: Overflow::default(),
            counters: HashMap::new(),
            effort: began.effort,
            cache: began.cache,
            raised: false,
            steering: waiting_to_steer(&entries, &machine, asked, &own),
            machine,
            tools,
            answers: Vec::new(),
            opening: None,
            first: None,
            request: None,
            read: trust_read_in(&*inner.store, id).await?,
            hosts: OnceCell::new(),
        };
        for event in unknown {
            driver.apply(event, None, Vec::new()).await?;
        }
        let effects = driver.machine.pending();
        driver.run(effects).await
    }
}

/// The accepted messages that were given to the machine and stand in no stored batch.
fn waiting_to_steer(entries: &[Entry], machine: &Turn, asked: usize, own: &[StoredMessage]) -> VecDeque<InboundId> {
    let placed = own.iter().skip(asked).filter(|row| row.message.role == Role::User).count();
    debug_assert_eq!(own.len().saturating_sub(asked), machine.in_flight().len());
    let steering = entries.iter().filter_map(|entry| match entry {
        Entry::Event(Event::Steer(_), inbound) => *inbound,
        _ => None,
    });
    steering.skip(placed).collect()
}
