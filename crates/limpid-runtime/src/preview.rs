//! The prompt of the next turn, without sending it (PRO-050).

use limpid_core::{ToolProtocol, Trust};
use limpid_model::{ModelCall, ModelCard, Prepared, ReplyForm, ToolUse};
use limpid_prompt::count::TokenCounter;
use limpid_prompt::{Inputs, Prompt, RenderRequest};

use crate::agent::Agent;
use crate::ask::Recipe;
use crate::chat::ConversationChoice;
use crate::error::AgentError;
use crate::gather::Occasion;

/// Which prompt to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewRequest {
    /// The conversation whose next turn it is.
    pub conversation: ConversationChoice,
    /// The message that would be sent.
    pub text: String,
    /// The profile; absent: the conversation's, else the configured one.
    pub profile: Option<String>,
    /// The mode; absent: the conversation's, else the configured one.
    pub mode: Option<String>,
    /// The model as `provider/id`; absent: the one that would answer.
    pub model: Option<String>,
    /// The path; absent: that of the model's kind.
    pub path: Option<String>,
}

/// A prompt that was not sent.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The prompt.
    pub prompt: Prompt,
    /// What it was made from, the history included.
    pub inputs: Inputs,
    /// The model that would read it; none when none is set or found.
    pub model: Option<ModelCard>,
    /// The body that would be sent; none without a model.
    pub body: Option<String>,
    /// What the person would be told.
    pub notices: Vec<String>,
}

impl Agent {
    /// The prompt of the next turn. Nothing is written and nothing is sent.
    ///
    /// # Errors
    /// When conversation, profile, path, mode or model do not exist, a file cannot be read, or what may not be cut does
    /// not fit.
    pub async fn prompt_preview(&self, request: PreviewRequest) -> Result<Preview, AgentError> {
        let inner = &self.inner;
        let conversation = inner.find_conversation(&request.conversation).await?;
        let own = conversation.as_ref();
        let profile = request.profile.as_deref().or(own.map(|own| own.profile.as_str()));
        let mode = request.mode.as_deref().or(own.and_then(|own| own.mode.as_deref()));
        let wanted = request.model.as_deref().or(own.and_then(|own| own.model.as_deref()));
        let model = match inner.model(wanted).await {
            Ok(model) => Some(model),
            // Prompts can be read before there is a model to send them to.
            Err(AgentError::Model(_)) if wanted.is_none() && inner.config.model.is_none() => None,
            Err(error) => return Err(error),
        };
        let card = model.as_ref().map_or_else(no_model, |model| model.info().clone());
        let text = inner.redactor.clean(request.text);
        let occasion = Occasion {
            conversation: own,
            profile: profile.unwrap_or(&inner.config.agent.profile),
            path: request.path.as_deref(),
            mode: mode.unwrap_or(&inner.config.agent.mode),
            card: &card,
            text: &text,
            trust: Trust::Owner,
            now: inner.clock.now(),
        };
        let mut gathered = inner.gather(occasion).await?;
        if let Some(conversation) = own {
            gathered.inputs.history = inner.history(conversation, &mut gathered.notices).await?;
        }
        let recipe = Recipe::new(inner, &gathered, &card).await?;
        let prompt = recipe.render(&card)?;
        let body = match &model {
            None => None,
            Some(model) => {
                let call = ModelCall {
                    prompt: prompt.clone().into(),
                    sampling: inner.sampling(),
                    reply: ReplyForm::Text,
                    tools: ToolUse::Auto,
                    conversation: own.map(|own| own.id.to_string()),
                };
                let Prepared { body, .. } = model.prepare(&call)?;
                Some(body)
            }
        };
        let model = model.map(|_| card);
        Ok(Preview { prompt, inputs: gathered.inputs, model, body, notices: gathered.notices })
    }

    /// Renders inputs that were handed over, in a profile as its files stand now. Tokens are counted when `counter` is
    /// given; budgets count by the estimate otherwise.
    ///
    /// # Errors
    /// When profile, path or mode do not exist, or what may not be cut does not fit.
    pub fn render(
        &self,
        profile: &str,
        path: &str,
        inputs: &Inputs,
        counter: Option<&dyn TokenCounter>,
    ) -> Result<Prompt, AgentError> {
        let profile = self.inner.prompts.load()?.profile(profile)?;
        let estimate = limpid_prompt::Estimate::default();
        let count_tokens = counter.is_some();
        let request = RenderRequest { path, inputs, counter: counter.unwrap_or(&estimate), count_tokens };
        profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))
    }

    /// The profiles as the files stand now, with what is wrong with them.
    ///
    /// # Errors
    /// When the owner's files cannot be read.
    pub fn profiles(&self) -> Result<std::sync::Arc<limpid_prompt::Profiles>, AgentError> {
        Ok(self.inner.prompts.load()?.profiles)
    }

    /// The model that would answer, found or set, without asking it anything.
    ///
    /// # Errors
    /// When it does not exist, or none is set and none was found.
    pub async fn model(&self, wanted: Option<&str>) -> Result<std::sync::Arc<dyn limpid_model::Model>, AgentError> {
        self.inner.model(wanted).await
    }
}

/// What is assumed of a model that is not there: a remote one that calls tools.
fn no_model() -> ModelCard {
    ModelCard {
        provider: String::new(),
        id: String::new(),
        local: false,
        window: None,
        usable_window: None,
        tools: ToolProtocol::Native,
        thinking: false,
        vision: false,
        price: None,
    }
}
