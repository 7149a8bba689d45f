//! The one place that calls a model: it asks the models of a list until one answers. Every request is handed out to be
//! written down before it leaves, and so is what came of it.

mod limit;
mod recipe;
mod redaction;
mod response;

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use limpid_config::Redactor;
use limpid_context::TokenCalibration;
use limpid_core::{FailureClass, RequestId, RetryPlan, Trust};
use limpid_model::chain::{Chain, ChainEvent, MakeAsk, Pause};
use limpid_model::{BackOffs, ModelCard, ModelError, ModelEvent, Prepared, may_search};
use limpid_prompt::Prompt;
use limpid_prompt::count::Tally;
use limpid_services::host::Host;
use limpid_services::models::Models;
use limpid_store::{NewRequest, RequestEnd};
use limpid_turn::Reply;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) use limit::most_possible;
pub use limit::reply_limit;
pub(crate) use recipe::Rendered;
pub use recipe::{Recipe, sampling};
pub(crate) use response::as_sent;
use response::{Maker, ResponseBuffer, new_request, trust_of};

use crate::deps::ConversationDeps;
use crate::event::TurnEvent;

/// What a call does next. Whoever runs it takes one after the other.
pub(crate) enum ModelStep {
    /// A request. It leaves when the next step is asked for, so it is written down before that.
    Request(Box<OutgoingRequest>),
    /// What came of a request that is given up; another one follows.
    GivenUp(EndedRequest),
    /// Something that people see.
    Seen(TurnEvent),
    /// Nothing follows.
    Over(Box<CallEnd>),
}

/// A request that is about to leave.
pub(crate) struct OutgoingRequest {
    /// The row of the request log, of no turn and no conversation yet.
    pub(crate) row: NewRequest,
    /// The model: `provider/id`.
    pub(crate) service: String,
    /// Who wrote the least trusted text of its prompt.
    pub(crate) trust: Trust,
}

/// A request with what came of it.
pub(crate) type EndedRequest = (RequestId, Box<RequestEnd>);

/// How a call ended.
pub(crate) struct CallEnd {
    /// What was said.
    pub(crate) reply: Reply,
    /// The last request; none when none left.
    pub(crate) request: Option<EndedRequest>,
    /// Why there is no whole reply.
    pub(crate) failure: Option<CallFailure>,
}

/// Why a call has no whole reply.
pub(crate) enum CallFailure {
    /// The reply ended at its limit without a word.
    NothingSaid {
        /// The same as an error.
        error: ModelError,
        /// The model that was asked: `provider/id`.
        service: String,
        /// Whether a longer reply is possible.
        can_be_longer: bool,
    },
    /// No model answered, or the call was stopped.
    Failed(ModelError),
}

impl CallFailure {
    /// Why, as an error.
    fn error(&self) -> &ModelError {
        match self {
            Self::NothingSaid { error, .. } | Self::Failed(error) => error,
        }
    }

    /// The same, on its own.
    pub(crate) fn into_error(self) -> ModelError {
        match self {
            Self::NothingSaid { error, .. } | Self::Failed(error) => error,
        }
    }
}

/// What calls need besides the models.
#[derive(Clone)]
pub(crate) struct CallDeps {
    pub(crate) host: Host,
    pub(crate) redactor: Redactor,
    pub(crate) counts: Arc<TokenCalibration>,
    pub(crate) pause: Arc<dyn Pause>,
    pub(crate) back_offs: Arc<BackOffs>,
}

impl CallDeps {
    /// Those of an agent, with what strikes secrets out of the reply.
    pub(crate) fn of(deps: &ConversationDeps, redactor: Redactor) -> Self {
        Self {
            host: deps.host().clone(),
            redactor,
            counts: Arc::clone(&deps.context.counts),
            pause: Arc::clone(&deps.pause),
            back_offs: Arc::clone(&deps.back_offs),
        }
    }
}

/// A request that was handed out, until its end is.
struct Sent {
    id: RequestId,
    card: ModelCard,
    trust: Trust,
    /// What it is made of, by kind of text.
    tally: Tally,
    /// Tokens that its reply may have, and those that it could have at most.
    limit: Option<u32>,
    possible: Option<u32>,
}

/// Tokens that a prompt is sure to need at a model.
pub(crate) type PromptTokens = dyn Fn(&ModelCard, &Prompt) -> usize + Send + Sync;

/// One call of a model under way. Dropping it stops the request.
pub(crate) struct ModelCall {
    deps: CallDeps,
    models: Models,
    events: BoxStream<'static, Result<ChainEvent, ModelError>>,
    _stop: DropGuard,
    /// The number of the call in its turn, from 1.
    round: u32,
    tokens: Arc<PromptTokens>,
    sent: Option<Sent>,
    response: ResponseBuffer,
    steps: VecDeque<ModelStep>,
}

impl ModelCall {
    /// Begins to ask the models in their order. `make` makes the call for whichever is asked.
    pub(crate) fn start(
        deps: CallDeps,
        models: Models,
        retry: RetryPlan,
        round: u32,
        (make, tokens): (Arc<MakeAsk>, Arc<PromptTokens>),
        cancel: CancellationToken,
    ) -> Self {
        let chain = Chain::new(models.clone(), retry, Arc::clone(&deps.pause)).sharing(Arc::clone(&deps.back_offs));
        Self {
            events: chain.ask(make, cancel.clone()),
            _stop: cancel.drop_guard(),
            response: ResponseBuffer::new(&deps.redactor),
            deps,
            models,
            round,
            tokens,
            sent: None,
            steps: VecDeque::new(),
        }
    }

    /// The next step. It may be given up while it waits and asked for again.
    pub(crate) async fn next(&mut self) -> ModelStep {
        loop {
            if let Some(step) = self.steps.pop_front() {
                return step;
            }
            let event = self.events.next().await;
            self.take(event);
        }
    }

    /// Stops the call: the text that came is kept, its calls are not. What is left to do ends with [`ModelStep::Over`].
    pub(crate) fn stop(&mut self) -> VecDeque<ModelStep> {
        if self.steps.iter().any(|step| matches!(step, ModelStep::Over(_))) {
            return std::mem::take(&mut self.steps);
        }
        if let Some(ModelStep::Request(_)) = self.steps.back() {
            // It was never written down, so it does not leave.
            self.steps.pop_back();
            self.sent = None;
        }
        self.hear_rest();
        let error = ModelError::new(FailureClass::Cancelled, "stopped by the user");
        self.response.reply.calls.clear();
        self.over(Some(CallFailure::Failed(error)));
        std::mem::take(&mut self.steps)
    }

    fn take(&mut self, event: Option<Result<ChainEvent, ModelError>>) {
        match event {
            Some(Ok(ChainEvent::Request { service, prepared, .. })) => self.request(service, *prepared),
            Some(Ok(ChainEvent::Retry { service, error, wait })) => {
                self.give_up(&error);
                let reason = match wait.as_secs() {
                    0 => error.message,
                    seconds => format!("{} Waiting {seconds} s.", error.message.trim_end()),
                };
                self.see(TurnEvent::Retrying { reason, model: service });
            }
            Some(Ok(ChainEvent::Fallback { service, error })) => {
                self.give_up(&error);
                self.see(TurnEvent::Retrying { reason: error.message, model: service });
            }
            Some(Ok(ChainEvent::LeftAlone { service, wait })) => {
                let seconds = wait.as_secs().max(1);
                let text =
                    format!("{service} has asked another chat to wait. This one waits with it, {seconds} s at most.");
                self.see(TurnEvent::Notice(text));
            }
            Some(Ok(ChainEvent::Remedied { error, notice, .. })) => {
                self.give_up(&error);
                notice.into_iter().for_each(|notice| self.see(TurnEvent::Notice(notice)));
            }
            Some(Ok(ChainEvent::Reply(event))) => {
                let is_over = matches!(event, ModelEvent::End(_));
                let seen = self.response.hear(event, self.deps.host.now_ms());
                seen.into_iter().for_each(|seen| self.see(seen));
                if is_over {
                    self.end_of_reply();
                }
            }
            Some(Err(error)) => self.fail(error),
            None => self.fail(ModelError::new(FailureClass::Garbage, "the answer broke off; ask again")),
        }
    }

    /// Hands out a request; it is sent after that.
    fn request(&mut self, service: String, prepared: Prepared) {
        let Some(card) = self.models.iter().map(|model| model.info()).find(|card| card.name() == service).cloned()
        else {
            let message = format!("the model {service} is not one of those that are asked");
            return self.fail(ModelError::new(FailureClass::Malformed, message));
        };
        let prompt = Arc::clone(&prepared.call.prompt);
        let id = RequestId::new(self.deps.host.new_id("r"));
        let (trust, limit) = (trust_of(&prompt), prepared.call.sampling.max_output);
        let possible = most_possible(&card, (self.tokens)(&card, &prompt));
        self.response = ResponseBuffer::by(&self.deps.redactor, Maker::of(&card, &prompt));
        let row = new_request(&self.deps.host, &id, &card, prepared, self.round);
        // What it says is a stranger's from its first word.
        let trust = if may_search(&card.id, &row.body) { trust.join(Trust::Outside) } else { trust };
        self.sent = Some(Sent { id, card, trust, tally: prompt.tally(), limit, possible });
        self.steps.push_back(ModelStep::Request(Box::new(OutgoingRequest { row, service, trust })));
    }

    fn end_of_reply(&mut self) {
        let Some(error) = self.response.nothing_said() else { return self.over(None) };
        let (service, can_be_longer) = match &self.sent {
            Some(sent) => (sent.card.name(), sent.possible > sent.limit),
            None => (String::new(), false),
        };
        self.over(Some(CallFailure::NothingSaid { error, service, can_be_longer }));
    }

    fn fail(&mut self, error: ModelError) {
        self.hear_rest();
        self.over(Some(CallFailure::Failed(error)));
    }

    fn over(&mut self, failure: Option<CallFailure>) {
        let reply = self.response.reply.clone();
        let request = self.end_of_request(failure.as_ref().map(CallFailure::error));
        self.steps.push_back(ModelStep::Over(Box::new(CallEnd { reply, request, failure })));
    }

    fn give_up(&mut self, error: &ModelError) {
        if let Some(ended) = self.end_of_request(Some(error)) {
            self.steps.push_back(ModelStep::GivenUp(ended));
        }
    }

    /// What came of the last request, if one is out.
    fn end_of_request(&mut self, error: Option<&ModelError>) -> Option<EndedRequest> {
        let response = std::mem::replace(&mut self.response, ResponseBuffer::new(&self.deps.redactor));
        let Sent { id, card, trust, tally, .. } = self.sent.take()?;
        let end = response.into_end(&card, trust, error, self.deps.host.now_ms());
        self.deps.counts.add(&card.id, trust, tally, end.usage);
        if let Some(usage) = end.usage {
            self.see(TurnEvent::Usage { usage, cost: end.cost });
        }
        Some((id, Box::new(end)))
    }

    /// Nothing more comes of this answer.
    fn hear_rest(&mut self) {
        let seen = self.response.hear_rest(self.deps.host.now_ms());
        seen.into_iter().for_each(|seen| self.see(seen));
    }

    fn see(&mut self, event: TurnEvent) {
        self.steps.push_back(ModelStep::Seen(event));
    }
}
