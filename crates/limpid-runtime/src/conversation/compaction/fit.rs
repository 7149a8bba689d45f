//! What a request that is fitted needs of the conversation: a model's note of what leaves, and the view written down.

use std::sync::Arc;

use limpid_core::UsableWindow;
use limpid_store::{Lease, NewWindowEvent};

use crate::agent::Inner;
use crate::context::Headroom;
use crate::context::Measure;
use crate::context::place_found;
use crate::context::{Fitting, NoteRequest, Running, SmallerView, as_it_stands, fit_to_window};
use crate::conversation::compaction::summary::Asking;
use crate::conversation::event::TurnEvent;
use crate::conversation::model_call::Rendered;
use crate::conversation::turn::running::Driver;
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::models::Models;

/// Times that a smaller request follows one that a provider found too large.
const OVERFLOWS: u32 = 2;

impl Inner {
    /// What a model writes as the note of a rollover; none when it writes none, or when one was asked for a summary since the
    /// newest answer: nobody waits longer than for one compaction.
    pub(crate) async fn note_of_rollover(
        &self,
        lease: &Lease,
        models: &Models,
        measure: &Measure,
        request: &NoteRequest,
    ) -> Result<Option<String>, AgentError> {
        if self.was_tried(lease, &request.whole.0).await? {
            return Ok(None);
        }
        let asking = Asking { models, conversation: &lease.conversation, sizes: measure };
        Ok(self.note(&asking, &request.ask, request.source).await)
    }

    /// Keeps the moment, then shows less from here on.
    pub(crate) async fn shrink(&self, lease: &Lease, smaller: SmallerView) -> Result<(), AgentError> {
        let SmallerView { view, is_rollover, before, after, steps, newest, was: (earlier, stored) } = smaller;
        self.keep_automatic(lease, stored, earlier, "before shortening").await?;
        let event = NewWindowEvent {
            kind: if is_rollover { "rollover" } else { "emergency" }.to_owned(),
            newest,
            before: before as u64,
            after: after as u64,
            steps: steps.clone(),
            view: Some(view),
            failure: None,
        };
        self.store.write_window(lease, event, self.host.now_ms()).await?;
        self.bus.send(Some(&lease.conversation), EventKind::CompactionFinished { before, after, steps });
        Ok(())
    }
}

impl Driver<'_> {
    /// Makes the next request, within the window of the model that is asked first.
    pub(crate) async fn next_request(&mut self) -> Result<Rendered, AgentError> {
        let inner = Arc::clone(&self.worker.inner);
        if let Some(finder) = self.tools.finder() {
            place_found(&mut self.inputs.tools, &finder.found());
        }
        let Some(model) = self.models.first().map(Arc::clone) else {
            return Err(AgentError::Invalid("there is no model to ask".to_owned()));
        };
        let card = model.info();
        let counter = match self.counters.get(&card.name()) {
            Some(counter) => counter.clone(),
            None => inner.context.counts.estimate(card).await?,
        };
        let mut measure = Measure::new(&self.profile, &self.path, &self.inputs, &self.past, counter.clone(), card);
        if let Some(believed) = self.overflow.usable {
            measure.usable = UsableWindow(believed.min(measure.usable.0));
        }
        let now = Running { messages: self.machine.in_flight(), ids: &self.in_flight };
        let fitting = Fitting {
            measure: &measure,
            now,
            is_known: card.usable_window.is_some() || self.overflow.usable.is_some(),
            may_shrink: inner.config.window.is_on(),
            note: None,
        };
        let measured = as_it_stands(&measure, now, &self.past, &mut self.inputs)?;
        let mut fitted = fit_to_window(fitting, &mut self.past, &mut self.inputs, measured)?;
        if let Some(request) = fitted.wants_note.take()
            && let Some(note) = inner.note_of_rollover(self.lease, &self.models, &measure, &request).await?
            && let Some(with_note) = request.answered(fitting, &note)
        {
            (fitted, self.past, self.inputs) = with_note;
        }
        if let Some(smaller) = fitted.smaller {
            inner.shrink(self.lease, smaller).await?;
        }
        for notice in fitted.notices {
            self.worker.listeners.send(&TurnEvent::Notice(notice));
        }
        let size = fitted.measured.size;
        self.worker.room = Some(Headroom::new(&size, &self.profile, &self.past, now.messages.len()));
        let prompt = Arc::new(fitted.measured.prompt.counted_by(&counter));
        Ok(Rendered { model: card.name(), prompt, size })
    }

    /// Takes in that a provider found a request of this size too large. Says whether to try a smaller one.
    pub(crate) fn overflowed(&mut self, total: usize) -> bool {
        self.overflow.times += 1;
        self.overflow.usable = u32::try_from(total * 9 / 10).ok();
        self.overflow.times <= OVERFLOWS
    }
}
