//! The local engine: runs GGUF models inside this process.
//!
//! A [`LocalModel`] reads the header of its file when it is opened, which is enough to show what the model would read.
//! The weights are loaded by the first call, on a thread of their own, and freed when the model is dropped.

use std::path::Path;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use limpid_core::{Effort, FailureClass, Price, ToolProtocol, UsableWindow, WindowSize};
use tokio_util::sync::CancellationToken;

use crate::abilities::{Abilities, EffortForm};
use crate::call_ids::CallIds;
use crate::gguf::Gguf;
use crate::json_tools::JsonReply;
use crate::model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ReplyForm, Sampling};
use crate::template::{ChatMessage, ChatTemplate, Rendered, SpanOrigin};
use crate::wire::{SchemaRules, WireCall, WireMessage};
use engine::{Engine, Events, Setup};
use session::Job;
use thoughts::Thoughts;

mod cache;
mod engine;
pub mod measure;
mod memory;
mod sampler;
mod session;
mod settings;
mod thoughts;
mod tokens;
mod utf8;

pub use memory::{Footprint, TooLarge, available, default_threads};
pub use settings::{LocalError, LocalReason, LocalSettings};

/// The protocol's name in [`Prepared`].
const PROTOCOL: &str = "local";

/// A GGUF model that runs in this process.
#[derive(Debug)]
pub struct LocalModel {
    card: ModelCard,
    target: String,
    template: ChatTemplate,
    footprint: Footprint,
    threads: u32,
    temperature: Option<f32>,
    engine: Engine,
}

impl LocalModel {
    /// Opens a model: reads and checks the file's header, and that the model fits into memory. The weights stay on disk
    /// until the first call.
    ///
    /// # Errors
    /// When the file cannot be used; says why and what to do.
    pub fn open(path: &Path, settings: &LocalSettings) -> Result<Self, LocalError> {
        Self::open_checked(path, settings).map_err(|reason| LocalError { path: path.to_owned(), reason })
    }

    fn open_checked(path: &Path, settings: &LocalSettings) -> Result<Self, LocalReason> {
        check_processor()?;
        let gguf = Gguf::open(path)?;
        let source = settings.template.as_deref().or(gguf.chat_template()).ok_or(LocalReason::NoTemplate)?;
        let token = |token: &Option<String>| token.clone().unwrap_or_default();
        let template = ChatTemplate::new(source, &token(&gguf.bos_token), &token(&gguf.eos_token))?;
        let footprint = Footprint::choose(&gguf, settings.window, settings.memory)?;
        let threads = settings.threads.unwrap_or_else(default_threads).max(1);

        let file_name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let setup = Setup {
            file: path.to_owned(),
            window: footprint.window,
            threads,
            batch: batch_size(footprint.weights),
            parked_bytes: settings.parked_bytes(footprint),
        };
        Ok(Self {
            card: card(&file_name, settings, &template, footprint.window),
            target: format!("local:{file_name}"),
            template,
            footprint,
            threads,
            temperature: settings.temperature,
            engine: Engine::new(setup),
        })
    }

    /// What it takes in memory.
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// The threads that it uses.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// The text that the model reads for a call, and what of it the template added
    /// (origin [`TEMPLATE_ORIGIN`](crate::template::TEMPLATE_ORIGIN)). Message numbers are those of the prompt.
    ///
    /// # Errors
    /// When the template refuses the messages, or the call asks for a tool that the prompt does not offer.
    pub fn render(&self, call: &ModelCall) -> Result<Rendered, ModelError> {
        self.render_wire(&WireCall::new(&self.card, call, SchemaRules::LOCAL)?)
    }

    fn render_wire(&self, wire: &WireCall<'_>) -> Result<Rendered, ModelError> {
        let message = |message: &WireMessage<'_>| ChatMessage { role: message.role, text: message.text.to_string() };
        let messages: Vec<ChatMessage> = wire.messages.iter().map(message).collect();
        let rendered = self.template.render(&messages, wire.reasoning.reasons);
        rendered.map_err(|error| ModelError::new(FailureClass::Malformed, error.to_string()))
    }

    fn work(&self, prepared: &Prepared, cancel: CancellationToken) -> Result<(Work, Shape), ModelError> {
        let call = &prepared.call;
        let wire = WireCall::new(&self.card, call, SchemaRules::LOCAL)?;
        // The body decides; the messages only tell which of its stretches are foreign.
        let rendered = match self.render_wire(&wire)? {
            rendered if rendered.text == prepared.body => rendered,
            _ => Rendered { text: prepared.body.clone(), spans: Vec::new() },
        };
        let shape = Shape {
            thoughts: Thoughts::new(Thoughts::opened_by(&rendered.text)),
            json: wire.json_tools.then(|| JsonReply::new(CallIds::new(call))),
        };
        let work = Work {
            rendered,
            sampling: Sampling { temperature: call.sampling.temperature.or(self.temperature), ..call.sampling },
            reasons: wire.reasoning.reasons,
            reply: wire.reply.into_owned(),
            conversation: call.conversation.clone(),
            cancel,
        };
        Ok((work, shape))
    }

    fn start(&self, work: Work) -> Events {
        self.engine.submit(|events| Job {
            text: work.rendered.text,
            foreign: work
                .rendered
                .spans
                .into_iter()
                .filter(|span| span.origin != SpanOrigin::Template)
                .map(|span| span.range)
                .collect(),
            sampling: work.sampling,
            reply: work.reply,
            reasons: work.reasons,
            conversation: work.conversation,
            cancel: work.cancel,
            events,
        })
    }
}

/// What one call needs of the engine.
struct Work {
    rendered: Rendered,
    sampling: Sampling,
    reply: ReplyForm,
    reasons: bool,
    conversation: Option<String>,
    cancel: CancellationToken,
}

impl Model for LocalModel {
    fn info(&self) -> &ModelCard {
        &self.card
    }

    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        let rendered = self.render(call)?;
        Ok(Prepared { target: self.target.clone(), body: rendered.text, protocol: PROTOCOL, call: call.clone() })
    }

    fn template(&self, call: &ModelCall) -> Result<Vec<String>, ModelError> {
        let rendered = self.render(call)?;
        let own = rendered.parts().filter(|(origin, _)| *origin == SpanOrigin::Template);
        Ok(own.map(|(_, text)| text.to_owned()).collect())
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        match self.work(&prepared, cancel.clone()) {
            Ok((work, mut shape)) => {
                follow(self.start(work), cancel).flat_map(move |event| stream::iter(shape.feed(event))).boxed()
            }
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }
}

/// Makes what a model wrote into events: reasoning apart from the answer, calls out of JSON.
struct Shape {
    thoughts: Thoughts,
    json: Option<JsonReply>,
}

impl Shape {
    fn feed(&mut self, event: Result<ModelEvent, ModelError>) -> Vec<Result<ModelEvent, ModelError>> {
        let told = match event {
            Ok(ModelEvent::Text(text)) => self.thoughts.push(&text),
            Ok(other) => self.thoughts.finish().into_iter().chain([other]).collect(),
            Err(error) => return vec![Err(error)],
        };
        match &mut self.json {
            Some(json) => told.into_iter().flat_map(|event| json.feed(event)).map(Ok).collect(),
            None => told.into_iter().map(Ok).collect(),
        }
    }
}

/// The events of a reply; a cancel ends them at once, while the engine finishes its step.
fn follow(events: Events, cancel: CancellationToken) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
    let next = |state: Option<(Events, CancellationToken)>| async move {
        let (mut events, cancel) = state?;
        let event = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(session::cancelled()),
            event = events.recv() => event.unwrap_or_else(|| {
                Err(ModelError::new(FailureClass::Server, "the local engine stopped in the middle of a reply"))
            }),
        };
        let over = matches!(event, Err(_) | Ok(ModelEvent::End(_)));
        Some((event, (!over).then_some((events, cancel))))
    };
    stream::unfold(Some((events, cancel)), next).boxed()
}

fn card(file_name: &str, settings: &LocalSettings, template: &ChatTemplate, window: u32) -> ModelCard {
    let window = WindowSize(window);
    let by_template = if template.knows_tools() { ToolProtocol::Json } else { ToolProtocol::None };
    ModelCard {
        provider: PROTOCOL.into(),
        id: settings.name.clone().unwrap_or_else(|| file_name.trim_end_matches(".gguf").to_owned()),
        local: true,
        window: Some(window),
        usable_window: Some(settings.usable_window.unwrap_or_else(|| UsableWindow::default_for(window))),
        tools: match settings.tools {
            // Each family writes calls in its own way; a schema is kept to by all of them.
            Some(ToolProtocol::Native) => ToolProtocol::Json,
            chosen => chosen.unwrap_or(by_template),
        },
        thinking: settings.thinking,
        abilities: Abilities {
            effort: template.may_think().then(|| vec![Effort::Off, Effort::High]),
            effort_form: Some(EffortForm::Template),
            own_effort: settings.effort,
            ..Abilities::default()
        },
        price: Some(Price::default()),
        ..ModelCard::default()
    }
}

/// Tokens that are evaluated at once. The next call waits until the engine has finished such a step, so a larger model
/// takes smaller ones; half as many cost about a twentieth of the speed.
fn batch_size(weights: u64) -> u32 {
    if weights <= 300_000_000 { 128 } else { 64 }
}

/// The engine is built for processors of the last ten years; on an older one it would be killed.
fn check_processor() -> Result<(), LocalReason> {
    #[cfg(target_arch = "x86_64")]
    {
        let has = [
            ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
            ("FMA", std::arch::is_x86_feature_detected!("fma")),
            ("F16C", std::arch::is_x86_feature_detected!("f16c")),
            ("BMI2", std::arch::is_x86_feature_detected!("bmi2")),
        ];
        if let Some((name, _)) = has.iter().find(|(_, has)| !has) {
            return Err(LocalReason::Processor(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
