//! One answer outside of any turn: a request sent again, a model that is tested.

use std::sync::Arc;

use futures_util::StreamExt;
use limpid_core::{ConversationId, Effort, FailureClass, RequestId};
use limpid_model::{Model, ModelCall, ModelError, ModelEvent, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::Prompt;
use limpid_prompt::count::Estimate;
use limpid_store::NewRequest;
use limpid_turn::Outcome;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::{Answer, most_possible, new_request, trust_of};
use crate::agent::Inner;
use crate::counting::tokens;
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::spending::refusal;
use crate::world::hex;

/// A question outside of any turn.
pub(crate) struct Once<'a> {
    pub(crate) model: &'a dyn Model,
    pub(crate) prompt: Prompt,
    pub(crate) sampling: Sampling,
    /// How much it is to reason.
    pub(crate) effort: Effort,
    /// The conversation that it is asked for, if any.
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) cancel: CancellationToken,
}

impl Inner {
    /// Asks a model once, with the ledger before and after, and streams what it says. A reply that ends at its limit
    /// without a word is asked for once more, as long as the window allows.
    pub(crate) async fn answer_once(
        &self,
        once: Once<'_>,
        events: &UnboundedSender<AgentEvent>,
    ) -> Result<AgentEvent, AgentError> {
        let Once { model, prompt, sampling, effort, conversation, cancel } = once;
        let card = model.info();
        let possible = most_possible(card, tokens(&prompt, &Estimate::default()));
        let mut call = ModelCall {
            prompt: Arc::new(prompt),
            sampling,
            reasoning: Reasoning { effort, shown: false },
            reply: ReplyForm::Text,
            tools: ToolUse::Auto,
            conversation: None,
        };
        let asked = self.ask_once(model, &call, conversation.clone(), cancel.clone(), events).await?;
        match asked {
            Asked::Done(event) => Ok(event),
            Asked::NothingSaid(error) if possible > call.sampling.max_output => {
                let retrying = AgentEvent::Retrying { reason: error.message, model: card.name() };
                let _ = events.send(retrying);
                call.sampling.max_output = possible;
                Ok(self.ask_once(model, &call, conversation, cancel, events).await?.into_event())
            }
            asked @ Asked::NothingSaid(_) => Ok(asked.into_event()),
        }
    }

    async fn ask_once(
        &self,
        model: &dyn Model,
        call: &ModelCall,
        conversation: Option<ConversationId>,
        cancel: CancellationToken,
        events: &UnboundedSender<AgentEvent>,
    ) -> Result<Asked, AgentError> {
        let prompt = &call.prompt;
        let spender = self.spender_in(conversation.as_ref(), prompt.path()).await?;
        if let Some(reached) = self.limit_reached(spender, Some(prompt.path()), None).await? {
            return Err(refusal(&reached).into());
        }
        let card = model.info();
        let (trust, tally) = (trust_of(prompt), prompt.tally());
        let prepared = model.prepare(call)?;
        let id = RequestId::new(format!("r{}", hex(&*self.ids)));
        let request = NewRequest { conversation, ..new_request(self, &id, card, prepared.clone(), 1) };
        self.store.record_request(request).await?;
        let started = AgentEvent::Started {
            turn: None,
            model: card.name(),
            profile: call.prompt.profile().to_owned(),
            path: call.prompt.path().to_owned(),
        };
        let _ = events.send(started);

        let mut answer = Answer::new(&self.redactor);
        let mut failure = None;
        let mut stream = model.send(prepared, cancel);
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    let is_over = matches!(event, ModelEvent::End(_));
                    for seen in answer.hear(event, self.now_ms()) {
                        let _ = events.send(seen);
                    }
                    if is_over {
                        break;
                    }
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        for seen in answer.hear_rest(self.now_ms()) {
            let _ = events.send(seen);
        }
        if failure.is_none() && !answer.is_over() {
            failure = Some(ModelError::new(FailureClass::Garbage, "the answer broke off; ask again"));
        }
        let nothing = answer.nothing_said().filter(|_| failure.is_none());
        failure = failure.or_else(|| nothing.clone());
        let (finish, text) = (answer.reply.finish, answer.reply.text.clone());
        let end = answer.into_end(card, trust, failure.as_ref(), self.now_ms());
        self.observed.add(&card.id, tally, end.usage);
        if let Some(usage) = end.usage {
            let _ = events.send(AgentEvent::Usage { usage, cost: end.cost });
        }
        self.store.end_request(&id, end).await?;
        if let Some(error) = nothing {
            return Ok(Asked::NothingSaid(error));
        }
        Ok(Asked::Done(match failure {
            Some(error) => {
                let outcome = Outcome::Failed { class: error.class, message: error.message };
                AgentEvent::Done { outcome, answer: None }
            }
            None => AgentEvent::Done { outcome: Outcome::Answered { finish }, answer: Some(text) },
        }))
    }
}

/// What came of asking once.
enum Asked {
    Done(AgentEvent),
    /// The reply ended at its limit without a word.
    NothingSaid(ModelError),
}

impl Asked {
    fn into_event(self) -> AgentEvent {
        match self {
            Self::Done(event) => event,
            Self::NothingSaid(ModelError { class, message, .. }) => {
                AgentEvent::Done { outcome: Outcome::Failed { class, message }, answer: None }
            }
        }
    }
}
