//! What renders the prompt of a call for whichever model is asked.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use limpid_config::Config;
use limpid_context::{BuiltContext, check_window, convert, render, sure_tokens};
use limpid_core::{CacheLife, FailureClass};
use limpid_model::chain::{Ask, MakeAsk};
use limpid_model::{ModelCall, ModelCard, ModelError, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::{Profile, Prompt};
use limpid_services::models::EffortChoice;
use limpid_turn::window::ContextSize;

use crate::model_call::PromptTokens;
use crate::model_call::limit::{most_possible, reply_limit};

/// A prompt that is rendered and fits.
#[derive(Clone)]
pub(crate) struct Rendered {
    /// The model that it is for.
    pub(crate) model: String,
    pub(crate) prompt: Arc<Prompt>,
    pub(crate) size: ContextSize,
}

/// Everything that renders the prompt of one call for whichever model is asked.
#[derive(Clone)]
pub struct Recipe {
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
    /// Tokens that this prompt is sure to need, once they were counted: every count reads the whole prompt.
    pub(crate) rendered_tokens: OnceLock<usize>,
    pub(crate) conversation: Option<String>,
    pub(crate) hide_reasoning: bool,
    /// How long the provider is asked to keep what it has read.
    pub(crate) cache: CacheLife,
}

impl Recipe {
    /// The recipe of a prompt that is only looked at.
    pub fn new(config: &Config, built: &BuiltContext, effort: EffortChoice) -> Self {
        let BuiltContext { gathered, card, prompt, size, estimate, .. } = built;
        Self {
            profile: Arc::clone(&gathered.profile),
            path: gathered.path.clone(),
            inputs: gathered.inputs.clone(),
            counters: HashMap::from([(card.name(), estimate.clone())]),
            sampling: sampling(config),
            effort,
            raised: false,
            hide_reasoning: config.chat.hide_reasoning,
            tools: ToolUse::Auto,
            reply: ReplyForm::Text,
            rendered: Rendered { model: card.name(), prompt: Arc::clone(prompt), size: *size },
            rendered_tokens: OnceLock::new(),
            conversation: None,
            cache: CacheLife::default(),
        }
    }

    /// The same for a conversation, with the time that the provider is asked to keep what it has read.
    pub fn of_conversation(self, conversation: Option<String>, cache: CacheLife) -> Self {
        Self { conversation, cache, ..self }
    }

    /// What makes the call for whichever model is asked, and what says how many tokens its prompt is sure to need.
    pub(crate) fn into_calls(self) -> (Arc<MakeAsk>, Arc<PromptTokens>) {
        let recipe = Arc::new(self);
        let counts = Arc::clone(&recipe);
        (
            Arc::new(move |card: &ModelCard| recipe.ask(card)),
            Arc::new(move |card: &ModelCard, prompt: &Prompt| counts.tokens(card, prompt)),
        )
    }

    /// Tokens that a prompt of this recipe is sure to need at a model.
    fn tokens(&self, card: &ModelCard, prompt: &Prompt) -> usize {
        let count = || sure_tokens(prompt, &self.counter(card));
        let is_rendered =
            std::ptr::eq(prompt, Arc::as_ptr(&self.rendered.prompt)) && self.rendered.model == card.name();
        if is_rendered { *self.rendered_tokens.get_or_init(count) } else { count() }
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
        let needed = self.tokens(card, &prompt);
        check_window(&prompt, card, &self.counter(card), needed)?;
        Ok(Ask { call: self.call(prompt, card), tokens: u32::try_from(needed).unwrap_or(u32::MAX) })
    }

    /// The call that a prompt of this recipe makes.
    pub fn call(&self, prompt: Arc<Prompt>, card: &ModelCard) -> ModelCall {
        let effort = self.effort.of_model(card);
        let tokens = self.tokens(card, &prompt);
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

/// How replies are drawn.
pub fn sampling(config: &Config) -> Sampling {
    Sampling { max_output: config.limits.output_tokens, ..Sampling::default() }
}
