//! The one place that calls a model: the ledger holds a request before it leaves and what came back after (ARC-003).

mod once;

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt;
use limpid_core::{FailureClass, Message, RequestId, Trust, Usage};
use limpid_model::chain::{Ask, Chain, ChainEvent, MakeAsk, RealPause};
use limpid_model::{
    FinishReason, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ReplyForm, Sampling, ToolUse,
};
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::{Part, Profile, Prompt, PromptMessage, RenderRequest};
use limpid_store::{NewRequest, RequestEnd, TurnWrite};
use limpid_turn::{Effect, Event, Finish, Reply};
use tokio_util::sync::CancellationToken;

use crate::agent::Inner;
use crate::convert;
use crate::counting::{check_window, tokens};
use crate::drive::{Driver, in_flight};
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::gather::Gathered;
use crate::worker::Command;
use crate::world::hex;

/// Everything that renders the prompt of one call for whichever model is asked.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) profile: Arc<Profile>,
    pub(crate) path: String,
    pub(crate) inputs: Inputs,
    /// Counters by model name.
    pub(crate) counters: HashMap<String, Estimate>,
    pub(crate) sampling: Sampling,
    pub(crate) tools: ToolUse,
    pub(crate) conversation: Option<String>,
}

impl Recipe {
    /// The recipe for the first prompt of a turn, or for one that is only looked at.
    pub(crate) async fn new(inner: &Inner, gathered: &Gathered, card: &ModelCard) -> Result<Self, AgentError> {
        Ok(Self {
            profile: Arc::clone(&gathered.profile),
            path: gathered.path.clone(),
            inputs: gathered.inputs.clone(),
            counters: HashMap::from([(card.name(), inner.counter(card).await?)]),
            sampling: inner.sampling(),
            tools: ToolUse::Auto,
            conversation: None,
        })
    }

    /// The prompt for a model.
    pub(crate) fn render(&self, card: &ModelCard) -> Result<Prompt, ModelError> {
        let model = convert::model(card);
        let other = (self.inputs.model != model).then(|| Inputs { model, ..self.inputs.clone() });
        let request = RenderRequest {
            path: &self.path,
            inputs: other.as_ref().unwrap_or(&self.inputs),
            counter: &self.counter(card),
            count_tokens: true,
        };
        self.profile.render(request).map_err(|error| ModelError::new(FailureClass::TooLarge, error.to_string()))
    }

    fn counter(&self, card: &ModelCard) -> Estimate {
        self.counters.get(&card.name()).cloned().unwrap_or_default()
    }

    fn ask(&self, card: &ModelCard) -> Result<Ask, ModelError> {
        let prompt = self.render(card)?;
        let counter = self.counter(card);
        check_window(&prompt, card, &counter)?;
        let needed = u32::try_from(tokens(&prompt, &counter)).unwrap_or(u32::MAX);
        let call = ModelCall {
            prompt: Arc::new(prompt),
            sampling: self.sampling,
            reply: ReplyForm::Text,
            tools: self.tools.clone(),
            conversation: self.conversation.clone(),
        };
        Ok(Ask { call, tokens: needed })
    }
}

impl Inner {
    /// How replies are drawn.
    pub(crate) fn sampling(&self) -> Sampling {
        Sampling { max_output: self.config.limits.output_tokens, ..Sampling::default() }
    }
}

/// What came back for the request under way.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    reasoning: String,
    usage: Option<Usage>,
    finish: Option<String>,
    first_ms: Option<i64>,
}

/// A request that the ledger holds.
struct Sent {
    id: RequestId,
    card: ModelCard,
    trust: Trust,
}

impl Driver<'_> {
    /// Asks the models in their order until one answers, and gives the machine what came of it.
    pub(crate) async fn ask(&mut self, round: u32, tools: bool) -> Result<Vec<Effect>, AgentError> {
        let recipe = self.recipe(tools).await?;
        let chain = Chain::new(self.models.clone(), self.worker.inner.retry, Arc::new(RealPause));
        let make: Arc<MakeAsk> = Arc::new(move |card: &ModelCard| recipe.ask(card));
        let cancel = CancellationToken::new();
        // Whatever ends this call stops the request.
        let _stop = cancel.clone().drop_guard();
        let mut events = chain.ask(make, cancel.clone());
        let mut sent: Option<Sent> = None;
        let mut answer = Answer::default();
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                Some(command) = self.worker.commands.recv() => {
                    match command {
                        Command::Cancel => return self.cancel(sent, answer).await,
                        Command::Message { inbound, sender, .. } => {
                            self.worker.listeners.add(sender);
                            self.steer(inbound).await?;
                        }
                        Command::Wake => {}
                    }
                    continue;
                }
            };
            match event {
                Some(Ok(ChainEvent::Request { service, prepared, .. })) => {
                    answer = Answer::default();
                    sent = Some(self.record(&service, *prepared, round).await?);
                }
                Some(Ok(ChainEvent::Retry { service, error, .. } | ChainEvent::Fallback { service, error })) => {
                    self.close(&mut sent, std::mem::take(&mut answer), Some(&error)).await?;
                    let reason = error.message;
                    self.worker.listeners.send(&AgentEvent::Retrying { reason, model: service });
                }
                Some(Ok(ChainEvent::Reply(event))) => {
                    let is_over = matches!(event, ModelEvent::End(_));
                    self.hear(event, &mut answer);
                    if is_over {
                        return self.answered(sent, answer).await;
                    }
                }
                Some(Err(error)) => return self.failed(sent, answer, error).await,
                None => {
                    let error = ModelError::new(FailureClass::Garbage, "the answer broke off; ask again");
                    return self.failed(sent, answer, error).await;
                }
            }
        }
    }

    /// What renders the prompt of the next call.
    async fn recipe(&self, tools: bool) -> Result<Recipe, AgentError> {
        let inner = &self.worker.inner;
        let mut counters = HashMap::new();
        for model in &self.models {
            counters.insert(model.info().name(), inner.counter(model.info()).await?);
        }
        Ok(Recipe {
            profile: Arc::clone(&self.profile),
            path: self.path.clone(),
            inputs: Inputs { in_flight: in_flight(&self.machine), ..self.inputs.clone() },
            counters,
            sampling: inner.sampling(),
            tools: if tools { ToolUse::Auto } else { ToolUse::Never },
            conversation: Some(self.worker.conversation.to_string()),
        })
    }

    /// Writes a request into the ledger; it leaves after this.
    async fn record(&self, service: &str, prepared: Prepared, round: u32) -> Result<Sent, AgentError> {
        let model = self.models.iter().find(|model| model.info().name() == service);
        let Some(card) = model.map(|model| model.info().clone()) else {
            return Err(AgentError::Invalid(format!("the model {service} is not one of this turn's")));
        };
        let id = RequestId::new(format!("r{}", hex(&*self.worker.inner.ids)));
        let trust = trust_of(&prepared.call.prompt);
        let request = new_request(&self.worker.inner, &id, &card, prepared, round);
        self.commit(vec![TurnWrite::Request(Box::new(request))]).await?;
        Ok(Sent { id, card, trust })
    }

    fn hear(&self, event: ModelEvent, answer: &mut Answer) {
        if let Some(seen) = AgentEvent::of_model(&event) {
            self.worker.listeners.send(&seen);
        }
        answer.take(event, self.worker.inner.now_ms());
    }

    async fn answered(&mut self, sent: Option<Sent>, answer: Answer) -> Result<Vec<Effect>, AgentError> {
        let reply = answer.reply.clone();
        let end = self.end_of_request(sent, answer, None);
        self.apply(Event::Reply(reply), None, end).await
    }

    async fn failed(
        &mut self,
        sent: Option<Sent>,
        answer: Answer,
        error: ModelError,
    ) -> Result<Vec<Effect>, AgentError> {
        let end = self.end_of_request(sent, answer, Some(&error));
        self.apply(Event::ModelFailed { class: error.class, message: error.message }, None, end).await
    }

    /// Stops the call: the text that came is kept, its calls are not (LES-141).
    async fn cancel(&mut self, sent: Option<Sent>, answer: Answer) -> Result<Vec<Effect>, AgentError> {
        let text = answer.reply.text.clone();
        let error = ModelError::new(FailureClass::Cancelled, "stopped by the user");
        let answer = Answer { reply: Reply { calls: Vec::new(), ..answer.reply }, ..answer };
        let end = self.end_of_request(sent, answer, Some(&error));
        self.apply(Event::Chunk { text }, None, end).await?;
        self.apply(Event::Cancel, None, Vec::new()).await
    }

    /// Writes what came of a request that is given up.
    async fn close(
        &mut self,
        sent: &mut Option<Sent>,
        answer: Answer,
        error: Option<&ModelError>,
    ) -> Result<(), AgentError> {
        let end = self.end_of_request(sent.take(), answer, error);
        if end.is_empty() { Ok(()) } else { self.commit(end).await }
    }

    /// The end of a request for the ledger; it is the one whose reply the next messages are.
    fn end_of_request(&mut self, sent: Option<Sent>, answer: Answer, error: Option<&ModelError>) -> Vec<TurnWrite> {
        let Some(Sent { id, card, trust }) = sent else { return Vec::new() };
        let end = answer.into_end(&card, trust, error, self.worker.inner.now_ms());
        if let Some(usage) = end.usage {
            self.worker.listeners.send(&AgentEvent::Usage { usage, cost: end.cost });
        }
        self.request = Some(id.clone());
        vec![TurnWrite::RequestEnd(id, Box::new(end))]
    }
}

impl Answer {
    /// Takes in what came at a time.
    pub(crate) fn take(&mut self, event: ModelEvent, now_ms: i64) {
        self.first_ms.get_or_insert(now_ms);
        match event {
            ModelEvent::Text(text) => self.reply.text.push_str(&text),
            ModelEvent::Reasoning(text) => self.reasoning.push_str(&text),
            ModelEvent::Call(call) => self.reply.calls.push(call),
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::End(reason) => self.end(reason),
        }
    }

    /// Whether the model said that it was done.
    pub(crate) fn is_over(&self) -> bool {
        self.finish.is_some()
    }

    fn end(&mut self, reason: FinishReason) {
        self.reply.finish = match reason {
            FinishReason::Length => Finish::Length,
            FinishReason::Moderated => Finish::Moderated,
            FinishReason::Stop | FinishReason::Calls | FinishReason::Other(_) => Finish::Stop,
        };
        self.finish = Some(match reason {
            FinishReason::Stop => "stop".to_owned(),
            FinishReason::Calls => "calls".to_owned(),
            FinishReason::Length => "length".to_owned(),
            FinishReason::Moderated => "moderated".to_owned(),
            FinishReason::Other(word) => word,
        });
    }

    pub(crate) fn into_end(
        self,
        card: &ModelCard,
        trust: Trust,
        error: Option<&ModelError>,
        now_ms: i64,
    ) -> RequestEnd {
        RequestEnd {
            text: self.reply.text,
            reasoning: self.reasoning,
            calls: self.reply.calls,
            trust,
            finish: self.finish,
            usage: self.usage,
            cost: self.usage.and_then(|usage| card.price.map(|price| price.of(usage))),
            failure: error.map(|error| (error.class, error.message.clone())),
            first_ms: self.first_ms,
            ended_ms: now_ms,
        }
    }
}

/// A request as the ledger keeps it.
pub(crate) fn new_request(
    inner: &Inner,
    id: &RequestId,
    card: &ModelCard,
    prepared: Prepared,
    round: u32,
) -> NewRequest {
    let Prepared { target, body, protocol, call } = prepared;
    let ModelCall { prompt, sampling, tools, .. } = &call;
    let sampling = serde_json::json!({
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_output": sampling.max_output,
        "tools": match tools { ToolUse::Auto => "auto", ToolUse::Must(name) => name, ToolUse::Never => "never" },
    });
    NewRequest {
        id: id.clone(),
        conversation: None,
        turn: None,
        round,
        provider: card.provider.clone(),
        model: card.id.clone(),
        protocol: protocol.to_owned(),
        target,
        profile: prompt.profile().to_owned(),
        path: prompt.path().to_owned(),
        revision: prompt.revision().to_owned(),
        sampling: sampling.to_string(),
        tools: convert::offered_tools(prompt),
        body,
        messages: convert::request_messages(prompt),
        estimate: Some(tokens(prompt, &Estimate::default()) as u64),
        sent_ms: inner.now_ms(),
    }
}

/// Who wrote the least trusted text of a prompt.
pub(crate) fn trust_of(prompt: &Prompt) -> Trust {
    let parts = prompt.messages().iter().flat_map(PromptMessage::parts);
    parts.map(Part::trust).fold(Trust::Owner, Trust::join)
}

/// What is stored of the newest message: its text as it was sent.
pub(crate) fn as_sent(prompt: &Prompt, typed: &Message) -> Message {
    let sent = prompt.messages().iter().rfind(|message| message.role() == typed.role);
    Message { text: sent.map_or_else(|| typed.text.clone(), |sent| sent.text().to_owned()), ..typed.clone() }
}
