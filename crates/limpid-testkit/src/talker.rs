//! A model in this process that answers by a function: for simulations of long conversations.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{self, BoxStream, StreamExt};
use limpid_core::{CallId, ToolCall};
use limpid_model::script::Script;
use limpid_model::{FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ScriptedModel};
use tokio_util::sync::CancellationToken;

/// What a model says to one request.
#[derive(Clone, Debug)]
pub enum Said {
    /// A text.
    Text(String),
    /// Calls: name and arguments.
    Calls(Vec<(String, String)>),
    /// An error.
    Error(ModelError),
    /// Nothing, ever.
    Silence,
}

/// A model that answers by a function.
pub struct Talker {
    body: ScriptedModel,
    answer: Box<dyn Fn(&ModelCall) -> Said + Send + Sync>,
    sent: Mutex<Vec<Arc<limpid_prompt::Prompt>>>,
}

impl Talker {
    /// A model of which this is known, and how it answers.
    pub fn new(card: ModelCard, answer: impl Fn(&ModelCall) -> Said + Send + Sync + 'static) -> Self {
        let body = ScriptedModel::with_card(card, Script::default());
        Self { body, answer: Box::new(answer), sent: Mutex::default() }
    }

    /// The prompts that were sent since this was asked last.
    pub fn take_sent(&self) -> Vec<Arc<limpid_prompt::Prompt>> {
        std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner))
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
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(prepared.call.prompt);
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
            Said::Silence => return stream::pending().boxed(),
        };
        stream::iter(events).boxed()
    }
}
