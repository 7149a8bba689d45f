//! Requests and responses as the request log keeps them.

use limpid_config::Redactor;
use limpid_context::{by_kind, convert, tokens};
use limpid_core::state::Span;
use limpid_core::{FailureClass, Message, Money, ProviderState, RequestId, Trust, Usage};
use limpid_model::{
    FinishReason, ModelCall, ModelCard, ModelError, ModelEvent, On, Prepared, ReplyState, ToolUse, may_search,
};
use limpid_prompt::count::Estimate;
use limpid_prompt::render::prefix;
use limpid_prompt::{Part, Prompt, PromptMessage};
use limpid_services::host::Host;
use limpid_store::{NewRequest, RequestEnd};
use limpid_turn::{Finish, Reply};

use super::limit::nothing_said;
use super::redaction::Cleaned;
use crate::event::TurnEvent;

/// What came back for the request under way.
#[derive(Default)]
pub(crate) struct ResponseBuffer {
    cleaned: Cleaned,
    pub(crate) reply: Reply,
    reasoning: String,
    usage: Option<Usage>,
    /// What the provider says that it cost.
    charged: Option<Money>,
    /// The model that answers, by its provider's name, when it is another than was asked.
    model: Option<String>,
    /// Whether its provider has read pages for it.
    searched: bool,
    finish: Option<String>,
    first_ms: Option<i64>,
    maker: Option<Maker>,
    /// Where the newest stretch of the text begins.
    stretch: usize,
}

/// Who answers, as the state of the answer names it.
pub(crate) struct Maker {
    protocol: &'static str,
    model: String,
    after: Option<String>,
}

impl Maker {
    /// The model that a prompt is sent to; none when it has no use for state.
    pub(crate) fn of(card: &ModelCard, prompt: &Prompt) -> Option<Self> {
        let is_bound = card.state.bound == Some(true);
        let after = is_bound.then(|| prefix(prompt));
        card.state.protocol.map(|protocol| Self { protocol, model: card.name(), after })
    }
}

impl ResponseBuffer {
    /// Nothing yet; known secrets are taken out of what comes.
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self { cleaned: Cleaned::new(redactor), ..Self::default() }
    }

    /// Nothing yet of this model's.
    pub(crate) fn by(redactor: &Redactor, maker: Option<Maker>) -> Self {
        Self { maker, ..Self::new(redactor) }
    }

    /// Takes in what came at a time, and returns what of it may be seen.
    pub(crate) fn hear(&mut self, event: ModelEvent, now_ms: i64) -> Vec<TurnEvent> {
        let events = self.cleaned.take(event);
        self.take_all(events, now_ms)
    }

    /// Takes in what was held back when nothing more comes.
    pub(crate) fn hear_rest(&mut self, now_ms: i64) -> Vec<TurnEvent> {
        let events = self.cleaned.rest();
        self.take_all(events, now_ms)
    }

    fn take_all(&mut self, events: Vec<ModelEvent>, now_ms: i64) -> Vec<TurnEvent> {
        let seen = events.iter().filter_map(TurnEvent::of_model).collect();
        events.into_iter().for_each(|event| self.take(event, now_ms));
        seen
    }

    fn take(&mut self, event: ModelEvent, now_ms: i64) {
        self.first_ms.get_or_insert(now_ms);
        match event {
            ModelEvent::Text(text) => self.reply.text.push_str(&text),
            ModelEvent::Reasoning(text) => self.reasoning.push_str(&text),
            ModelEvent::Call(call) => self.reply.calls.push(call),
            ModelEvent::Stretch => self.stretch = self.reply.text.len(),
            ModelEvent::State(state) => self.take_state(state),
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Charged(cost) => self.charged = Some(cost),
            ModelEvent::Model(name) => {
                self.searched |= may_search(&name, "");
                self.model = Some(name);
            }
            ModelEvent::Searched => self.searched = true,
            ModelEvent::End(reason) => self.end(reason),
        }
    }

    fn take_state(&mut self, state: ReplyState) {
        let Some(maker) = &self.maker else { return };
        let end = self.reply.text.len();
        let span = match state.on {
            On::Answer => Span::default(),
            On::Place(calls) => Span::at(end, calls),
            On::Stretch(calls) => Span { text: self.stretch..end, calls: calls..calls },
            On::Call(call) => Span { text: end..end, calls: call..call + 1 },
        };
        self.reply.state.push(ProviderState {
            protocol: maker.protocol.to_owned(),
            model: maker.model.clone(),
            json: state.json,
            span,
            after: maker.after.clone(),
        });
    }

    /// The error of an answer that ended at its limit without a text or a call.
    pub(crate) fn nothing_said(&self) -> Option<ModelError> {
        let is_empty = self.reply.text.trim().is_empty() && self.reply.calls.is_empty();
        if self.reply.finish != Finish::Length || !is_empty {
            return None;
        }
        let usage = self.usage.unwrap_or_default();
        let reasoned = usage.reasoning > 0 || !self.reasoning.is_empty();
        let output = Some(usage.output).filter(|output| *output > 0);
        Some(ModelError::new(FailureClass::Garbage, nothing_said(output, reasoned)))
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
            trust: if self.searched { trust.join(Trust::Outside) } else { trust },
            finish: self.finish,
            model: self.model,
            usage: self.usage,
            cost: self
                .charged
                .or_else(|| self.usage.and_then(|usage| card.price.as_ref().map(|price| price.of(usage)))),
            failure: error.map(|error| (error.class, error.message.clone())),
            first_ms: self.first_ms,
            ended_ms: now_ms,
        }
    }
}

/// A request as the request log keeps it.
pub(crate) fn new_request(host: &Host, id: &RequestId, card: &ModelCard, prepared: Prepared, round: u32) -> NewRequest {
    let Prepared { target, body, protocol, call } = prepared;
    let ModelCall { prompt, sampling, reasoning, tools, .. } = &call;
    let sampling = serde_json::json!({
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_output": sampling.max_output,
        "effort": reasoning.effort.as_str(),
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
        estimate_by_kind: by_kind(&prompt.tally()),
        holder: Some(host.holder().to_owned()),
        sent_ms: host.now_ms(),
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
