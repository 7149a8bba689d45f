//! What renders the prompt of a call for whichever model is asked.

use std::collections::HashMap;
use std::sync::Arc;

use limpid_core::{CacheLife, FailureClass};
use limpid_model::chain::Ask;
use limpid_model::{ModelCall, ModelCard, ModelError, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::{Profile, Prompt};

use crate::agent::Inner;
use crate::context::convert;
use crate::context::{BuiltContext, render};
use crate::context::{check_window, sure_tokens};
use crate::conversation::model_call::Rendered;
use crate::conversation::model_call::limit::{most_possible, reply_limit};
use crate::services::models::EffortChoice;

/// Everything that renders the prompt of one call for whichever model is asked.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) profile: Arc<Profile>,
    pub(crate) path: String,
    pub(crate) inputs: Inputs,
    /// Counters by model name.
    pub(crate) counters: HashMap<String, WindowEstimate>,
    pub(crate) sampling: Sampling,
    /// How much the models are to reason.
    pub(crate) effort: EffortChoice,
    /// Whether the reply may be as long as model and window allow.
    pub(crate) raised: bool,
    pub(crate) tools: ToolUse,
    pub(crate) reply: ReplyForm,
    /// The prompt for the model that is asked first.
    pub(crate) rendered: Rendered,
    pub(crate) conversation: Option<String>,
    pub(crate) hide_reasoning: bool,
    /// How long the provider is asked to keep what it has read.
    pub(crate) cache: CacheLife,
}

impl Recipe {
    /// The recipe of a prompt that is only looked at.
    pub(crate) fn new(inner: &Inner, built: &BuiltContext, effort: EffortChoice) -> Self {
        let BuiltContext { gathered, card, prompt, size, estimate, .. } = built;
        Self {
            profile: Arc::clone(&gathered.profile),
            path: gathered.path.clone(),
            inputs: gathered.inputs.clone(),
            counters: HashMap::from([(card.name(), estimate.clone())]),
            sampling: inner.sampling(),
            effort,
            raised: false,
            hide_reasoning: inner.config.chat.hide_reasoning,
            tools: ToolUse::Auto,
            reply: ReplyForm::Text,
            rendered: Rendered { model: card.name(), prompt: Arc::clone(prompt), size: *size },
            conversation: None,
            cache: CacheLife::default(),
        }
    }

    /// The prompt for a model.
    fn render(&self, card: &ModelCard) -> Result<Prompt, ModelError> {
        let model = convert::model(card);
        let other = (self.inputs.model != model).then(|| Inputs { model, ..self.inputs.clone() });
        let prompt = render(&self.profile, &self.path, other.as_ref().unwrap_or(&self.inputs));
        let prompt = prompt.map_err(|error| ModelError::new(FailureClass::TooLarge, error.to_string()))?;
        Ok(prompt.counted_by(&self.counter(card)))
    }

    /// What counts the prompts for a model.
    fn counter(&self, card: &ModelCard) -> WindowEstimate {
        self.counters.get(&card.name()).cloned().unwrap_or_default()
    }

    /// The call for a model, when its prompt fits that model's window.
    pub(crate) fn ask(&self, card: &ModelCard) -> Result<Ask, ModelError> {
        let prompt = match &self.rendered {
            rendered if rendered.model == card.name() => Arc::clone(&rendered.prompt),
            _ => Arc::new(self.render(card)?),
        };
        let counter = self.counter(card);
        check_window(&prompt, card, &counter)?;
        let needed = u32::try_from(sure_tokens(&prompt, &counter)).unwrap_or(u32::MAX);
        Ok(Ask { call: self.call(prompt, card), tokens: needed })
    }

    /// The call that a prompt of this recipe makes.
    pub(crate) fn call(&self, prompt: Arc<Prompt>, card: &ModelCard) -> ModelCall {
        let effort = self.effort.of_model(card);
        let tokens = sure_tokens(&prompt, &self.counter(card));
        let max_output = match self.raised {
            true => most_possible(card, tokens),
            false => reply_limit(card, effort, tokens, self.sampling.max_output),
        };
        ModelCall {
            prompt,
            sampling: Sampling { max_output, ..self.sampling },
            reasoning: Reasoning { effort, shown: !self.hide_reasoning },
            reply: self.reply.clone(),
            tools: self.tools.clone(),
            conversation: self.conversation.clone(),
            cache: self.cache,
        }
    }
}

impl Inner {
    /// How replies are drawn.
    pub(crate) fn sampling(&self) -> Sampling {
        Sampling { max_output: self.config.limits.output_tokens, ..Sampling::default() }
    }
}
