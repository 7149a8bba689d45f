//! One answer outside of any turn: a summary, a request sent again, a model that is tested.

use std::sync::Arc;

use limpid_context::tokens;
use limpid_core::{ConversationId, Labelled, RetryPlan, Trust};
use limpid_model::chain::{Ask, MakeAsk};
use limpid_model::{ModelCall as Call, ModelCard, ModelError};
use limpid_prompt::Prompt;
use limpid_prompt::count::Estimate;
use limpid_services::error::AgentError;
use limpid_services::models::Models;
use limpid_store::{NewRequest, Store};
use limpid_telemetry::Traces;
use limpid_turn::Outcome;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::deps::ConversationDeps;
use crate::event::TurnEvent;
use crate::model_call::{
    CallDeps, CallEnd, CallFailure, EndedRequest, ModelCall, ModelStep, PromptTokens, most_possible,
};
use crate::sent::SentRequest;

/// A question outside of any turn.
pub struct OneOffRequest {
    /// Who is asked, in order; each once.
    pub models: Models,
    /// What is asked.
    pub prompt: Arc<Prompt>,
    /// The call that the prompt makes with a model.
    pub call: Arc<MakeCall>,
    /// The conversation that it is asked for, if any.
    pub conversation: Option<ConversationId>,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// Makes the call of a model, or says why it cannot be asked.
pub type MakeCall = dyn Fn(&ModelCard) -> Result<Call, ModelError> + Send + Sync;

impl OneOffRequest {
    /// Asks the models in their order until one answers, and streams what is said. A reply that ends at its limit without
    /// a word is asked for once more, as long as the window allows. What is said has the label of all that its model has read,
    /// what the provider found by itself among it.
    ///
    /// # Errors
    /// When the request cannot be written down.
    pub async fn answer(
        &self,
        deps: &ConversationDeps,
        events: &UnboundedSender<TurnEvent>,
    ) -> Result<Labelled<TurnEvent>, AgentError> {
        let (mut end, mut trust) = self.ask(deps, false, events).await?;
        if let Some(CallFailure::NothingSaid { error, service, can_be_longer: true }) = end.failure {
            let _ = events.send(TurnEvent::Retrying { reason: error.message, model: service });
            (end, trust) = self.ask(deps, true, events).await?;
        }
        Ok(Labelled::new(done(end), trust))
    }

    async fn ask(
        &self,
        deps: &ConversationDeps,
        raised: bool,
        events: &UnboundedSender<TurnEvent>,
    ) -> Result<(CallEnd, Trust), AgentError> {
        let path = self.prompt.path();
        let spender = deps.spending.spender_in(self.conversation.as_ref(), path).await?;
        deps.spending.check(spender, Some(path), None).await?;
        let needed = tokens(&self.prompt, &Estimate::default());
        let call = Arc::clone(&self.call);
        let make: Arc<MakeAsk> = Arc::new(move |card: &ModelCard| {
            let mut call = call(card)?;
            if raised {
                call.sampling.max_output = most_possible(card, needed).or(call.sampling.max_output);
            }
            Ok(Ask { call, tokens: 0 })
        });
        let size: Arc<PromptTokens> = Arc::new(move |_, _| needed);
        let retry = RetryPlan { tries: 1, ..*deps.retry };
        let made = (make, size);
        let call_deps = CallDeps::of(deps, deps.redactor().clone());
        let call = ModelCall::start(call_deps, self.models.clone(), retry, 1, made, self.cancel.child_token());
        let (store, traces) = (Arc::clone(&deps.context.store), deps.traces.clone());
        let mut asked = UnderWay { call, store, traces, sent: None };
        loop {
            match asked.call.next().await {
                ModelStep::Request(request) => {
                    let row = NewRequest { conversation: self.conversation.clone(), ..request.row };
                    let sent = SentRequest::of(&deps.traces, &row, None, self.conversation.as_ref());
                    deps.store().record_request(row).await?;
                    asked.sent = sent;
                    let _ = events.send(TurnEvent::Started {
                        turn: None,
                        model: request.service,
                        profile: self.prompt.profile().to_owned(),
                        path: path.to_owned(),
                    });
                }
                ModelStep::GivenUp(ended) => {
                    asked.trace(&ended);
                    end_request(deps, ended).await?;
                }
                ModelStep::Seen(event) => drop(events.send(event)),
                ModelStep::Over(mut end) => {
                    // Without a request nothing was said.
                    let mut trust = Trust::Owner;
                    if let Some(ended) = end.request.take() {
                        trust = ended.1.trust;
                        asked.trace(&ended);
                        end_request(deps, ended).await?;
                    }
                    return Ok((*end, trust));
                }
            }
        }
    }
}

/// A call under way. Whoever stops waiting for it leaves no request without an end in the log.
struct UnderWay {
    call: ModelCall,
    store: Arc<dyn Store>,
    traces: Traces,
    sent: Option<SentRequest>,
}

impl UnderWay {
    fn trace(&mut self, (_, end): &EndedRequest) {
        if let Some(sent) = self.sent.take() {
            sent.end(&self.traces, end);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let ended = self.call.stop().into_iter().find_map(|step| match step {
            ModelStep::Over(end) => end.request,
            ModelStep::Request(_) | ModelStep::GivenUp(_) | ModelStep::Seen(_) => None,
        });
        if let Some((id, end)) = ended {
            if let Some(sent) = self.sent.take() {
                sent.end(&self.traces, &end);
            }
            let store = Arc::clone(&self.store);
            tokio::spawn(async move { store.end_request(&id, *end).await });
        }
    }
}

async fn end_request(deps: &ConversationDeps, (id, end): EndedRequest) -> Result<(), AgentError> {
    Ok(deps.store().end_request(&id, *end).await?)
}

fn done(end: CallEnd) -> TurnEvent {
    match end.failure.map(CallFailure::into_error) {
        Some(ModelError { class, message, .. }) => {
            TurnEvent::Done { outcome: Outcome::Failed { class, message }, answer: None }
        }
        None => {
            TurnEvent::Done { outcome: Outcome::Answered { finish: end.reply.finish }, answer: Some(end.reply.text) }
        }
    }
}
