//! A model that says what a script says: for tests, simulations and demonstrations.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use limpid_core::{ToolCall, ToolProtocol, UsableWindow, Usage, WindowSize};
use tokio_util::sync::CancellationToken;

use crate::errors::{Fault, Service};
use crate::json_tools::JsonReply;
use crate::model::{FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
use crate::protocol::{Dialect, Protocol};
use crate::script::{Hang, Player, Reply, Script};
use crate::wire::{CallIds, WireCall};

/// A model that says what a script says.
///
/// Delays are real unless the runtime's time is paused.
#[derive(Debug)]
pub struct ScriptedModel {
    card: ModelCard,
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
            local: false,
            window: Some(window),
            usable_window: Some(UsableWindow::default_for(window)),
            tools: ToolProtocol::Native,
            thinking: false,
            vision: false,
            price: None,
        };
        Self::with_card(card, script)
    }

    /// A model of which other things are known.
    pub fn with_card(card: ModelCard, script: Script) -> Self {
        Self { card, player: Mutex::new(script.player()), sent: Mutex::default() }
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
        let wire = WireCall::new(&self.card, call)?;
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
        let json = WireCall::new(&self.card, &prepared.call).is_ok_and(|wire| wire.json_tools);
        let service =
            Service { name: self.card.name(), target: prepared.target.clone(), key: None, key_variable: None };
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(prepared);
        let steps = reply.map_or_else(
            || VecDeque::from([Step::Fail(service.status_error(404, "the script has no reply for this", None))]),
            |reply| steps(&reply, ids.clone(), json.then(|| JsonReply::new(ids)), &service),
        );
        let play = Play { steps, cancel, service };
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
                    let wait = tokio::time::sleep(Duration::from_millis(milliseconds));
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
        let event = match (event, reply.cut) {
            (ModelEvent::Text(text), Some(cut)) if said + text.len() > cut => {
                ModelEvent::Text(text[..text.floor_char_boundary(cut - said)].to_owned())
            }
            (ModelEvent::End(_), _) if reply.hang == Some(Hang::End) => {
                steps.push_back(Step::Hang);
                return steps;
            }
            (event, _) => event,
        };
        said += if let ModelEvent::Text(text) = &event { text.len() } else { 0 };
        let cut = reply.cut.is_some_and(|cut| said >= cut);
        match &mut json {
            Some(json) => steps.extend(json.feed(event).into_iter().map(Step::Say)),
            None => steps.push_back(Step::Say(event)),
        }
        if cut {
            steps.push_back(Step::Fail(service.fault(Fault::BrokeOff, true)));
            return steps;
        }
    }
    steps
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
            output: usage.output,
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
