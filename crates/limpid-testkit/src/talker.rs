//! A model in this process that answers by a function: for simulations of long conversations.

use std::sync::{Arc, Mutex};

use futures_util::stream::{self, BoxStream, StreamExt};
use limpid_core::{CallId, ToolCall, Usage};
use limpid_model::script::Script;
use limpid_model::{FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ScriptedModel};
use limpid_prompt::count::Estimate;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::lock::lock;

/// What a model says to one request.
#[derive(Clone, Debug)]
pub enum Said {
    /// A text.
    Text(String),
    /// Calls: name and arguments.
    Calls(Vec<(String, String)>),
    /// An error.
    Error(ModelError),
    /// A text, once it is let go on.
    Held(Arc<Notify>, String),
    /// Nothing, ever.
    Silence,
}

/// A model that answers by a function.
pub struct Talker {
    body: ScriptedModel,
    answer: Box<dyn Fn(&ModelCall) -> Said + Send + Sync>,
    /// Input tokens that it reports for each of the plain estimate, in hundredths; none: it reports nothing.
    counts: Option<usize>,
    sent: Mutex<Vec<ModelCall>>,
}

impl Talker {
    /// A model of which this is known, and how it answers.
    pub fn new(card: ModelCard, answer: impl Fn(&ModelCall) -> Said + Send + Sync + 'static) -> Self {
        let body = ScriptedModel::with_card(card, Script::default());
        Self { body, answer: Box::new(answer), counts: None, sent: Mutex::default() }
    }

    /// The same, as a provider that counts so many hundredths of what the plain estimate does.
    #[must_use]
    pub fn counting(self, hundredths: usize) -> Self {
        Self { counts: Some(hundredths), ..self }
    }

    /// The prompts that were sent since this was asked last.
    pub fn take_sent(&self) -> Vec<Arc<limpid_prompt::Prompt>> {
        self.take_calls().into_iter().map(|call| call.prompt).collect()
    }

    /// The calls that were made since this was asked last.
    pub fn take_calls(&self) -> Vec<ModelCall> {
        std::mem::take(&mut *lock(&self.sent))
    }

    /// What it reports of a prompt.
    fn usage(&self, call: &ModelCall) -> Option<ModelEvent> {
        let estimate = call.prompt.totals_by(&Estimate::default()).total;
        let input = (estimate * self.counts? / 100) as u64;
        Some(ModelEvent::Usage(Usage { input, ..Usage::default() }))
    }
}

impl Model for Talker {
    fn info(&self) -> &ModelCard {
        self.body.info()
    }

    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        self.body.prepare(call)
    }

    fn send(&self, prepared: Prepared, _: CancellationToken) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let said = (self.answer)(&prepared.call);
        let usage = self.usage(&prepared.call);
        lock(&self.sent).push(prepared.call);
        let events = match said {
            Said::Text(text) => vec![Ok(ModelEvent::Text(text)), Ok(ModelEvent::End(FinishReason::Stop))],
            Said::Calls(calls) => {
                let call = |(n, (name, arguments)): (usize, (String, String))| {
                    Ok(ModelEvent::Call(ToolCall { id: CallId::new(format!("call-{n}")), name, arguments }))
                };
                let end = Ok(ModelEvent::End(FinishReason::Calls));
                calls.into_iter().enumerate().map(call).chain([end]).collect()
            }
            Said::Error(error) => vec![Err(error)],
            Said::Held(go_on, text) => {
                let text = async move {
                    go_on.notified().await;
                    Ok(ModelEvent::Text(text))
                };
                let end = stream::iter([Ok(ModelEvent::End(FinishReason::Stop))]);
                return stream::once(text).chain(end).boxed();
            }
            Said::Silence => return stream::pending().boxed(),
        };
        stream::iter(usage.into_iter().map(Ok).chain(events)).boxed()
    }
}
