//! One call as every protocol gets it.

use std::borrow::Cow;

use limpid_core::{CacheLife, Effort};

use super::message::WireMessage;
use super::originals::Originals;
use super::tools::WireTool;
use crate::abilities::EffortForm;
use crate::model::{ModelCard, Reasoning, ReplyForm, Sampling, ToolUse};

/// One call, ready to be written in a protocol's words.
#[derive(Clone, Debug)]
pub(crate) struct WireCall<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: Vec<WireMessage<'a>>,
    /// The tools that are declared to the provider.
    pub(crate) tools: Vec<WireTool<'a>>,
    pub(crate) choice: Cow<'a, ToolUse>,
    pub(crate) reply: Cow<'a, ReplyForm>,
    /// Whether the reply's JSON is to be turned back into calls or an answer.
    pub(crate) json_tools: bool,
    pub(crate) sampling: Sampling,
    pub(crate) conversation: Option<&'a str>,
    /// Tokens that may really be used.
    pub(crate) window: Option<u32>,
    /// Whether what the provider keeps in its cache is charged for, so that only what is marked should be kept.
    pub(crate) pays_for_cache: bool,
    /// How long it is to be kept.
    pub(crate) cache: CacheLife,
    pub(crate) reasoning: WireReasoning,
    /// Whether a Chat Completions server wants the reasoning of messages with calls back.
    pub(crate) reasoning_back: bool,
    /// Whether state goes back with the ids that it came with.
    pub(crate) state_ids: bool,
    /// What the tools and their arguments are called here.
    pub(crate) originals: Originals,
}

/// How much the model is to reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireReasoning {
    /// A level that the model has.
    pub(crate) effort: Effort,
    /// How it is told.
    pub(crate) form: EffortForm,
    /// Whether it reasons in this call.
    pub(crate) reasons: bool,
    /// Whether the reasoning is asked for as text.
    pub(crate) shown: bool,
}

impl WireReasoning {
    pub(super) fn new(card: &ModelCard, asked: Reasoning) -> Self {
        Self {
            effort: card.abilities.effort_for(asked.effort),
            form: card.abilities.effort_form.unwrap_or(EffortForm::Level),
            reasons: card.reasons(asked.effort),
            shown: asked.shown,
        }
    }
}
