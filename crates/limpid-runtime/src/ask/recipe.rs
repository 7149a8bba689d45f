//! What renders the prompt of a call for whichever model is asked.

use std::collections::HashMap;
use std::sync::Arc;

use limpid_core::FailureClass;
use limpid_model::chain::Ask;
use limpid_model::{ModelCall, ModelCard, ModelError, ReplyForm, Sampling, ToolUse};
use limpid_prompt::count::{Estimate, WindowEstimate};
use limpid_prompt::inputs::Inputs;
use limpid_prompt::{Profile, Prompt, RenderRequest};
use limpid_turn::window::settings::reserve;

use super::First;
use crate::agent::Inner;
use crate::convert;
use crate::counting::{check_window, sure_tokens};
use crate::error::AgentError;
use crate::gather::Gathered;

/// Everything that renders the prompt of one call for whichever model is asked.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) profile: Arc<Profile>,
    pub(crate) path: String,
    pub(crate) inputs: Inputs,
    /// Counters by model name.
    pub(crate) counters: HashMap<String, WindowEstimate>,
    pub(crate) sampling: Sampling,
    pub(crate) tools: ToolUse,
    pub(crate) reply: ReplyForm,
    /// The prompt for one of the models, when it is there already.
    pub(crate) first: Option<Arc<First>>,
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
            reply: ReplyForm::Text,
            first: None,
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
            counter: &Estimate::default(),
            count_tokens: true,
        };
        let prompt = self.profile.render(request);
        let prompt = prompt.map_err(|error| ModelError::new(FailureClass::TooLarge, error.to_string()))?;
        Ok(prompt.counted_by(&self.counter(card)))
    }

    /// What counts the prompts for a model.
    pub(crate) fn counter(&self, card: &ModelCard) -> WindowEstimate {
        self.counters.get(&card.name()).cloned().unwrap_or_default()
    }

    /// The call for a model, when its prompt fits that model's window.
    pub(super) fn ask(&self, card: &ModelCard) -> Result<Ask, ModelError> {
        let prompt = match &self.first {
            Some(first) if first.model == card.name() => Arc::clone(&first.prompt),
            _ => Arc::new(self.render(card)?),
        };
        let counter = self.counter(card);
        check_window(&prompt, card, &counter)?;
        let needed = u32::try_from(sure_tokens(&prompt, &counter)).unwrap_or(u32::MAX);
        Ok(Ask { call: self.call(prompt, card), tokens: needed })
    }

    /// The call that a prompt of this recipe makes. Its reply may have what the window keeps free for it (OLLM-087).
    pub(crate) fn call(&self, prompt: Arc<Prompt>, card: &ModelCard) -> ModelCall {
        let kept = card.usable_window.and_then(|usable| u32::try_from(reserve(usable)).ok());
        let max_output = kept.into_iter().chain(self.sampling.max_output).min();
        ModelCall {
            prompt,
            sampling: Sampling { max_output, ..self.sampling },
            reply: self.reply.clone(),
            tools: self.tools.clone(),
            conversation: self.conversation.clone(),
        }
    }
}

impl Inner {
    /// How replies are drawn.
    pub(crate) fn sampling(&self) -> Sampling {
        Sampling { max_output: self.config.limits.output_tokens, ..Sampling::default() }
    }
}
