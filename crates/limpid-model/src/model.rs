//! The one way to ask a model, whoever serves it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use limpid_core::{CacheLife, Effort, FailureClass, Money, ToolCall, ToolProtocol, Usage, WindowSize};
use limpid_prompt::Prompt;
use tokio_util::sync::CancellationToken;

use crate::abilities::Abilities;
use crate::remedy::Remedy;

/// A model that can be asked.
///
/// Asking has two steps, so that the request log holds what is sent before it is sent: [`Model::prepare`] is a pure
/// function from a call to the very bytes, [`Model::send`] carries them out.
pub trait Model: Send + Sync {
    /// What is known of the model.
    fn info(&self) -> &ModelCard;

    /// The bytes that this call will send.
    ///
    /// # Errors
    /// When the protocol cannot express the call.
    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError>;

    /// What the model's own chat template puts around the prompt's texts, in order; it is shown with the origin
    /// [`TEMPLATE_ORIGIN`](crate::template::TEMPLATE_ORIGIN). A provider's template is not known.
    ///
    /// # Errors
    /// As [`Model::prepare`].
    fn template(&self, _call: &ModelCall) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }

    /// Sends what was prepared. The stream ends after [`ModelEvent::End`] or an error; when `cancel` is cancelled it
    /// ends with an error of class [`FailureClass::Cancelled`] within a second.
    fn send(&self, prepared: Prepared, cancel: CancellationToken)
    -> BoxStream<'static, Result<ModelEvent, ModelError>>;

    /// What a person is to be told about the tools of a prompt that this model cannot get, a line a tool.
    fn left_out(&self, _prompt: &Prompt) -> Vec<String> {
        Vec::new()
    }

    /// Remembers that a request was refused for something that it can do without, so that later calls of
    /// [`Model::prepare`] leave it out. Returns what a person is to be told, when this is news and changes the request.
    fn learn(&self, _remedy: &Remedy, _refused: &Prepared) -> Option<String> {
        None
    }

    /// The same model with another window, when it has to be told its window; what it learns, both know.
    fn resized(&self, _card: &ModelCard) -> Option<Arc<dyn Model>> {
        None
    }
}

/// What is known of a model before it is asked; by default nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelCard {
    /// The provider's name: `openai`, `anthropic`, `local`, …
    pub provider: String,
    /// The model's name as the provider knows it.
    pub id: String,
    /// Whether it runs in this process.
    pub local: bool,
    /// Its window, when it is known.
    pub window: Option<WindowSize>,
    /// Tokens that may really be used, when they are known.
    pub usable_window: Option<limpid_core::UsableWindow>,
    /// How it is made to call tools.
    pub tools: ToolProtocol,
    /// Whether it reasons before it answers.
    pub thinking: bool,
    /// Whether it reads images.
    pub vision: bool,
    /// What it costs, when that is known.
    pub price: Option<limpid_core::Price>,
    /// Which state of earlier messages it gets back.
    pub state: StateRule,
    /// What it takes and refuses.
    pub abilities: Abilities,
    /// The model (`provider/id`) whose window and abilities it is taken to have, because it is in no table.
    pub assumed: Option<String>,
}

/// Which state of earlier messages a model gets back; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateRule {
    /// The protocol whose state it reads.
    pub protocol: Option<&'static str>,
    /// Whether it reads the state of every model of its provider, and not only its own.
    pub of_provider: bool,
    /// Whether state is refused when anything before it is not what it was. Absent: as is usual in the protocol.
    pub bound: Option<bool>,
    /// Whether a Chat Completions server wants the reasoning of messages with calls back; others refuse it.
    pub in_chat: bool,
}

impl ModelCard {
    /// `provider/id`, as `--model` takes it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// Whether it reasons before an answer when this level is wanted.
    pub fn reasons(&self, wanted: Effort) -> bool {
        match self.abilities.effort_for(wanted) {
            Effort::Default => self.thinking,
            level => level != Effort::Off,
        }
    }

    /// Whether it reads state of this protocol that this model (`provider/id`) made.
    pub fn reads(&self, protocol: &str, model: &str) -> bool {
        let (provider, id) = model.split_once('/').unwrap_or_default();
        self.state.protocol == Some(protocol) && provider == self.provider && (self.state.of_provider || id == self.id)
    }
}

/// One call of a model.
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// What the model reads, tools included.
    pub prompt: Arc<Prompt>,
    /// How the reply is drawn.
    pub sampling: Sampling,
    /// How much is reasoned before it.
    pub reasoning: Reasoning,
    /// What form the reply must have.
    pub reply: ReplyForm,
    /// Whether tools may be called.
    pub tools: ToolUse,
    /// A name for the conversation: local engines keep its evaluated prefix, providers route to the same cache.
    pub conversation: Option<String>,
    /// How long the provider is asked to keep what it has read.
    pub cache: CacheLife,
}

/// How much is reasoned before a reply; by default as the model does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasoning {
    /// The level that is wanted; the model gets the nearest one that it has.
    pub effort: Effort,
    /// Whether the reasoning is asked for as text, where the provider keeps it to itself otherwise.
    pub shown: bool,
}

/// How a reply is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Randomness, from 0; absent: the provider's own.
    pub temperature: Option<f32>,
    /// Nucleus of the distribution, up to 1; absent: the provider's own.
    pub top_p: Option<f32>,
    /// Seed of the draw, where the provider takes one.
    pub seed: Option<u32>,
    /// Tokens that the reply may have; absent: the provider's own limit.
    pub max_output: Option<u32>,
}

/// What form a reply must have.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ReplyForm {
    /// Any text.
    #[default]
    Text,
    /// A JSON document by this schema.
    Json {
        /// A short name for the schema.
        name: String,
        /// The schema.
        schema: serde_json::Value,
    },
}

/// Whether tools may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolUse {
    /// The model decides.
    #[default]
    Auto,
    /// This tool must be called.
    Must(String),
    /// None may be called, though the prompt may declare some.
    Never,
}

/// A call as it will be sent. Where a secret stands in the request, it is in a header that this type does not show.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Where it goes: a URL without secrets, or `local:<file name>`.
    pub target: String,
    /// The body: JSON text, or for a local model the text that it reads.
    pub body: String,
    /// The protocol's name: `openai-chat`, `anthropic`, …, `local`, `scripted`.
    pub protocol: &'static str,
    /// The call that it was made from.
    pub call: ModelCall,
}

/// What comes back while a model answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelEvent {
    /// More of the answer's text.
    Text(String),
    /// More of the reasoning, which is shown but never sent again as text.
    Reasoning(String),
    /// A whole tool call; a call that was cut off is never reported.
    Call(ToolCall),
    /// A new stretch of the answer's text begins; state that follows may belong to it.
    Stretch,
    /// What the provider wants back with this answer.
    State(ReplyState),
    /// What was counted; may come more than once, the last one holds.
    Usage(Usage),
    /// What the provider says that the answer cost.
    Charged(Money),
    /// The model that answers by its provider's name, where that is another than was asked for.
    Model(String),
    /// The provider has read pages for this answer, so what it says may be a stranger's word. May come more than once.
    Searched,
    /// The answer is over.
    End(FinishReason),
}

/// Something that the provider wants back with an answer, unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyState {
    /// The provider's JSON.
    pub json: String,
    /// What it belongs to.
    pub on: On,
}

/// What state belongs to. Calls are counted from 0 and reported at the end of an answer only, so state names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The whole answer.
    Answer,
    /// The place behind the text so far and so many calls.
    Place(usize),
    /// The text since the last [`ModelEvent::Stretch`], which follows so many calls.
    Stretch(usize),
    /// The call at this position.
    Call(usize),
}

/// Why an answer is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model calls tools.
    Calls,
    /// The reply reached its limit of tokens.
    Length,
    /// The provider withheld the rest.
    Moderated,
    /// Something else, in the provider's word.
    Other(String),
}

/// A call of a model that failed: what, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The class, which decides about another try.
    pub class: FailureClass,
    /// What went wrong, with the provider's own words where there are any, and what to do.
    pub message: String,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// What the request can do without, when that is why it was refused.
    pub remedy: Option<Remedy>,
    /// Whether what came of the reply before counts for nothing, so that another model may be asked all the same.
    pub discards: bool,
}

impl ModelError {
    /// An error without a wish to wait.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), retry_after: None, remedy: None, discards: false }
    }
}
