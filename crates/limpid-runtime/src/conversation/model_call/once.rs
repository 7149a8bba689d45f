//! One answer outside of any turn: a summary, a request sent again, a model that is tested.

use std::sync::Arc;

use futures_util::StreamExt;
use limpid_core::{ConversationId, FailureClass, RequestId, RetryPlan, Trust};
use limpid_model::chain::{Chain, ChainEvent, MakeAsk};
use limpid_model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
use limpid_prompt::Prompt;
use limpid_prompt::count::{Estimate, Tally};
use limpid_store::NewRequest;
use limpid_turn::Outcome;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::agent::Inner;
use crate::context::tokens;
use crate::conversation::event::TurnEvent;
use crate::conversation::model_call::{Answer, most_possible, new_request, trust_of};
use crate::services::error::AgentError;

/// A question outside of any turn.
pub(crate) struct Once {
    /// Who is asked, in order; each once.
    pub(crate) models: Vec<Arc<dyn Model>>,
    pub(crate) prompt: Arc<Prompt>,
    /// The call that the prompt makes with a model.
    pub(crate) call: Arc<MakeCall>,
    /// The conversation that it is asked for, if any.
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) cancel: CancellationToken,
}

/// Makes the call of a model, or says why it cannot be asked.
pub(crate) type MakeCall = dyn Fn(&ModelCard) -> Result<ModelCall, ModelError> + Send + Sync;

/// A request that the ledger holds.
struct Sent {
    id: RequestId,
    card: ModelCard,
    trust: Trust,
    tally: Tally,
    /// Tokens that its reply may have, and those that it could have at most.
    limit: Option<u32>,
    possible: Option<u32>,
}

impl Inner {
    /// Asks the models in their order until one answers, with the ledger before and after, and streams what is said. A
    /// reply that ends at its limit without a word is asked for once more, as long as the window allows.
    pub(crate) async fn answer_once(
        &self,
        once: Once,
        events: &UnboundedSender<TurnEvent>,
    ) -> Result<TurnEvent, AgentError> {
        match self.ask_once(&once, false, events).await? {
            Asked::Done(event) => Ok(event),
            Asked::NothingSaid { error, model, can_be_longer: true } => {
                let _ = events.send(TurnEvent::Retrying { reason: error.message, model });
                Ok(self.ask_once(&once, true, events).await?.into_event())
            }
            asked @ Asked::NothingSaid { .. } => Ok(asked.into_event()),
        }
    }

    async fn ask_once(
        &self,
        once: &Once,
        raised: bool,
        events: &UnboundedSender<TurnEvent>,
    ) -> Result<Asked, AgentError> {
        let prompt = &once.prompt;
        let spender = self.spending.spender_in(once.conversation.as_ref(), prompt.path()).await?;
        self.spending.check(spender, Some(prompt.path()), None).await?;
        let chain = Chain::new(once.models.clone(), RetryPlan { tries: 1, ..*self.retry }, Arc::clone(&self.pause));
        let needed = tokens(prompt, &Estimate::default());
        let call = Arc::clone(&once.call);
        let make: Arc<MakeAsk> = Arc::new(move |card: &ModelCard| {
            let mut call = call(card)?;
            if raised {
                call.sampling.max_output = most_possible(card, needed).or(call.sampling.max_output);
            }
            Ok(limpid_model::chain::Ask { call, tokens: 0 })
        });
        let mut stream = chain.ask(make, once.cancel.clone());
        let mut answer = Answer::new(&self.redactor);
        let mut sent: Option<Sent> = None;
        let failure = loop {
            match stream.next().await {
                Some(Ok(ChainEvent::Request { service, prepared, .. })) => {
                    sent = Some(self.record_once(once, &service, *prepared, needed, events).await?);
                    answer = Answer::new(&self.redactor);
                }
                Some(Ok(
                    ChainEvent::Retry { service, error, .. }
                    | ChainEvent::Fallback { service, error }
                    | ChainEvent::Remedied { service, error, .. },
                )) => {
                    self.end_once(sent.take(), std::mem::take(&mut answer), Some(&error), events).await?;
                    let _ = events.send(TurnEvent::Retrying { reason: error.message, model: service });
                }
                Some(Ok(ChainEvent::Reply(event))) => {
                    let is_over = matches!(event, ModelEvent::End(_));
                    for seen in answer.hear(event, self.host.now_ms()) {
                        let _ = events.send(seen);
                    }
                    if is_over {
                        break None;
                    }
                }
                Some(Err(error)) => break Some(error),
                None => break Some(ModelError::new(FailureClass::Garbage, "the answer broke off; ask again")),
            }
        };
        for seen in answer.hear_rest(self.host.now_ms()) {
            let _ = events.send(seen);
        }
        let nothing = answer.nothing_said().filter(|_| failure.is_none());
        let failure = failure.or_else(|| nothing.clone());
        let (finish, text) = (answer.reply.finish, answer.reply.text.clone());
        let (model, can_be_longer) = match &sent {
            Some(sent) => (sent.card.name(), !raised && sent.possible > sent.limit),
            None => (String::new(), false),
        };
        self.end_once(sent, answer, failure.as_ref(), events).await?;
        if let Some(error) = nothing {
            return Ok(Asked::NothingSaid { error, model, can_be_longer });
        }
        Ok(Asked::Done(match failure {
            Some(error) => {
                let outcome = Outcome::Failed { class: error.class, message: error.message };
                TurnEvent::Done { outcome, answer: None }
            }
            None => TurnEvent::Done { outcome: Outcome::Answered { finish }, answer: Some(text) },
        }))
    }

    /// Writes a request into the ledger; it leaves after this.
    async fn record_once(
        &self,
        once: &Once,
        service: &str,
        prepared: Prepared,
        needed: usize,
        events: &UnboundedSender<TurnEvent>,
    ) -> Result<Sent, AgentError> {
        let model = once.models.iter().find(|model| model.info().name() == service);
        let Some(card) = model.map(|model| model.info().clone()) else {
            return Err(AgentError::Invalid(format!("the model {service} is not one of those that are asked")));
        };
        let id = RequestId::new(self.host.new_id("r"));
        let (limit, possible) = (prepared.call.sampling.max_output, most_possible(&card, needed));
        let conversation = once.conversation.clone();
        let request = NewRequest { conversation, ..new_request(self, &id, &card, prepared, 1) };
        self.store.record_request(request).await?;
        let _ = events.send(TurnEvent::Started {
            turn: None,
            model: card.name(),
            profile: once.prompt.profile().to_owned(),
            path: once.prompt.path().to_owned(),
        });
        Ok(Sent { id, card, trust: trust_of(&once.prompt), tally: once.prompt.tally(), limit, possible })
    }

    /// Writes what came of a request.
    async fn end_once(
        &self,
        sent: Option<Sent>,
        answer: Answer,
        failure: Option<&ModelError>,
        events: &UnboundedSender<TurnEvent>,
    ) -> Result<(), AgentError> {
        let Some(Sent { id, card, trust, tally, .. }) = sent else { return Ok(()) };
        let end = answer.into_end(&card, trust, failure, self.host.now_ms());
        self.context.counts.add(&card.id, tally, end.usage);
        if let Some(usage) = end.usage {
            let _ = events.send(TurnEvent::Usage { usage, cost: end.cost });
        }
        Ok(self.store.end_request(&id, end).await?)
    }
}

/// What came of asking once.
enum Asked {
    Done(TurnEvent),
    /// The reply ended at its limit without a word.
    NothingSaid {
        error: ModelError,
        model: String,
        can_be_longer: bool,
    },
}

impl Asked {
    fn into_event(self) -> TurnEvent {
        match self {
            Self::Done(event) => event,
            Self::NothingSaid { error: ModelError { class, message, .. }, .. } => {
                TurnEvent::Done { outcome: Outcome::Failed { class, message }, answer: None }
            }
        }
    }
}
