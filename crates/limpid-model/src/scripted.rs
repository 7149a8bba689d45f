//! A model that says what a script says: for tests, simulations and demonstrations.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use limpid_core::{ToolCall, UsableWindow, Usage, WindowSize};
use tokio_util::sync::CancellationToken;

use crate::call_ids::CallIds;
use crate::errors::{Fault, Service};
use crate::json_tools::JsonReply;
use crate::model::{FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
use crate::pause::{Pause, RealPause};
use crate::protocol::{Adapter as _, Dialect, Protocol};
use crate::script::{Hang, Player, Reply, Script};
use crate::wire::{SchemaRules, WireCall};

/// A model that says what a script says.
pub struct ScriptedModel {
    card: ModelCard,
    pause: Arc<dyn Pause>,
    player: Mutex<Player>,
    sent: Mutex<Vec<Prepared>>,
}

impl ScriptedModel {
    /// A model with native tools and a window of 128K tokens.
    pub fn new(id: &str, script: Script) -> Self {
        let window = WindowSize(131_072);
        let card = ModelCard {
            provider: "scripted".to_owned(),
            id: id.to_owned(),
            window: Some(window),
            usable_window: Some(UsableWindow::default_for(window)),
            ..ModelCard::default()
        };
        Self::with_card(card, script)
    }

    /// A model of which other things are known.
    pub fn with_card(card: ModelCard, script: Script) -> Self {
        Self { card, pause: Arc::new(RealPause), player: Mutex::new(script.player()), sent: Mutex::default() }
    }

    /// The same model with delays by another clock.
    #[must_use]
    pub fn pausing(self, pause: Arc<dyn Pause>) -> Self {
        Self { pause, ..self }
    }

    /// Every call that was sent so far.
    pub fn sent(&self) -> Vec<Prepared> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelCard {
        &self.card
    }

    /// The body is that of an OpenAI Chat Completions request.
    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        let wire = WireCall::new(&self.card, call, SchemaRules::LOCAL)?;
        Ok(Prepared {
            target: format!("scripted:{}", self.card.id),
            body: Protocol::OpenaiChat.body(&wire, Dialect::default()),
            protocol: "scripted",
            call: call.clone(),
        })
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let reply = self.player.lock().unwrap_or_else(PoisonError::into_inner).next(&prepared.body);
        let ids = CallIds::new(&prepared.call);
        let json = WireCall::new(&self.card, &prepared.call, SchemaRules::LOCAL).is_ok_and(|wire| wire.json_tools);
        let service = Service {
            name: self.card.name(),
            target: prepared.target.clone(),
            key: None,
            key_variable: None,
            listed: Vec::new(),
        };
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(prepared);
        let steps = reply.map_or_else(
            || VecDeque::from([Step::Fail(service.status_error(404, "the script has no reply for this", None))]),
            |reply| steps(&reply, ids.clone(), json.then(|| JsonReply::new(ids)), &service),
        );
        let play = Play { steps, pause: Arc::clone(&self.pause), cancel, service };
        stream::unfold(play, |mut play| async move { play.next().await.map(|event| (event, play)) }).boxed()
    }
}

/// One step of a reply.
enum Step {
    Wait(u64),
    Say(ModelEvent),
    Fail(ModelError),
    Hang,
}

struct Play {
    steps: VecDeque<Step>,
    pause: Arc<dyn Pause>,
    cancel: CancellationToken,
    service: Service,
}

impl Play {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            let step = self.steps.pop_front()?;
            let waited = match step {
                _ if self.cancel.is_cancelled() => false,
                Step::Say(event) => return Some(Ok(event)),
                Step::Fail(error) => {
                    self.steps.clear();
                    return Some(Err(error));
                }
                Step::Wait(milliseconds) => {
                    let wait = self.pause.pause(Duration::from_millis(milliseconds));
                    self.cancel.run_until_cancelled(wait).await.is_some()
                }
                Step::Hang => {
                    self.cancel.cancelled().await;
                    false
                }
            };
            if !waited {
                self.steps.clear();
                return Some(Err(self.service.cancelled()));
            }
        }
    }
}

/// A reply as the steps in which it is given.
fn steps(reply: &Reply, ids: CallIds, mut json: Option<JsonReply>, service: &Service) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    if reply.hang == Some(Hang::Start) {
        return [Step::Hang].into();
    }
    if reply.delay_ms > 0 {
        steps.push_back(Step::Wait(reply.delay_ms));
    }
    if let Some(status) = reply.status.filter(|_| reply.is_error()) {
        let wait = reply.retry_after.map(Duration::from_secs);
        steps.push_back(Step::Fail(service.status_error(status, &reply.body, wait)));
        return steps;
    }
    if let Some(raw) = &reply.raw {
        steps.push_back(Step::Fail(service.garbage(raw)));
        return steps;
    }
    let mut said = 0;
    for (at, event) in events(reply, ids).into_iter().enumerate() {
        if at > 0 && reply.between_ms > 0 {
            steps.push_back(Step::Wait(reply.between_ms));
        }
        if reply.hang == Some(Hang::End) && matches!(event, ModelEvent::End(_)) {
            steps.push_back(Step::Hang);
            return steps;
        }
        if let ModelEvent::End(FinishReason::Other(word)) = event {
            steps.push_back(Step::Fail(service.fault(Fault::Ended(word), true)));
            return steps;
        }
        let (event, cut) = cut_at(event, reply.cut.map(|cut| cut - said));
        said += if let Some(ModelEvent::Text(text)) = &event { text.len() } else { 0 };
        if let Some(event) = event {
            match &mut json {
                Some(json) => steps.extend(json.feed(event).into_iter().map(Step::Say)),
                None => steps.push_back(Step::Say(event)),
            }
        }
        if cut {
            steps.push_back(Step::Fail(service.fault(Fault::BrokeOff, true)));
            return steps;
        }
    }
    steps
}

/// What is left of an event when `left` more bytes of text are said, and whether the connection breaks after it.
fn cut_at(event: ModelEvent, left: Option<usize>) -> (Option<ModelEvent>, bool) {
    match (event, left) {
        (event, None) | (event @ ModelEvent::Reasoning(_), _) => (Some(event), false),
        (ModelEvent::Text(text), Some(left)) if text.len() >= left => {
            let said = &text[..text.floor_char_boundary(left)];
            ((!said.is_empty()).then(|| ModelEvent::Text(said.to_owned())), true)
        }
        (ModelEvent::Text(text), Some(_)) => (Some(ModelEvent::Text(text)), false),
        (_, Some(_)) => (None, true),
    }
}

fn events(reply: &Reply, mut ids: CallIds) -> Vec<ModelEvent> {
    let mut events: Vec<ModelEvent> = reply.reasoning.0.iter().cloned().map(ModelEvent::Reasoning).collect();
    events.extend(reply.text_pieces().map(ModelEvent::Text));
    events.extend(reply.calls.iter().map(|call| {
        let id = ids.claim(call.id.as_deref());
        ModelEvent::Call(ToolCall { id, name: call.name.clone(), arguments: call.arguments_text() })
    }));
    events.extend(reply.usage.map(|usage| {
        ModelEvent::Usage(Usage {
            input: usage.input,
            cached: usage.cached,
            cache_written: usage.cache_written,
            reasoning: usage.reasoning,
            output: usage.output,
            ..Usage::default()
        })
    }));
    events.push(ModelEvent::End(match reply.finish_word() {
        "stop" => FinishReason::Stop,
        "calls" => FinishReason::Calls,
        "length" => FinishReason::Length,
        "moderated" => FinishReason::Moderated,
        other => FinishReason::Other(other.to_owned()),
    }));
    events
}
