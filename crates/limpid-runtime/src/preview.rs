//! The prompt of the next turn, without sending it (PRO-050).

use std::sync::Arc;

use limpid_core::{ToolProtocol, Trust};
use limpid_model::{ExactCounter, ModelCard};
use limpid_prompt::Prompt;
use limpid_prompt::count::TokenCounter;

use crate::agent::Agent;
use crate::ask::Recipe;
use crate::chat::ConversationChoice;
use crate::error::AgentError;
use crate::gather::Occasion;
use crate::sizing::frame_of;

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

impl Agent {
    /// The prompt of the next turn. Nothing is written and nothing is sent.
    ///
    /// # Errors
    /// When conversation, profile, path, mode or model do not exist, a file cannot be read, or what may not be cut does
    /// not fit.
    pub async fn prompt_preview(&self, request: PreviewRequest) -> Result<Prompt, AgentError> {
        let inner = &self.inner;
        let conversation = inner.find_conversation(&request.conversation).await?;
        let own = conversation.as_ref();
        let profile = request.profile.as_deref().or(own.map(|own| own.profile.as_str()));
        let mode = request.mode.as_deref();
        let wanted = request.model.as_deref().or(own.and_then(|own| own.model.as_deref()));
        let model = match inner.shelf.choose(wanted).await {
            Ok(model) => Some(model),
            // Prompts can be read before there is a model to send them to.
            Err(AgentError::Model(_)) if wanted.is_none() && inner.config.model.is_none() => None,
            Err(error) => return Err(error),
        };
        let card = model.as_ref().map_or_else(no_model, |model| model.info().clone());
        let text = inner.redactor.clean(request.text);
        let mut frame = frame_of(own);
        let card = frame.fit(&card, inner.now_ms()).card;
        let mode = mode.unwrap_or_else(|| own.map_or(inner.config.agent.mode.as_str(), |own| inner.mode_of(own)));
        let occasion = Occasion {
            conversation: own,
            profile: profile.unwrap_or(&inner.config.agent.profile),
            path: request.path.as_deref(),
            mode,
            card: &card,
            frame: &frame,
            text: &text,
            trust: Trust::Owner,
            now: inner.clock.now(),
        };
        let mut gathered = inner.gather(occasion).await?;
        let counter = inner.counter(&card).await?;
        gathered.past.show(&mut gathered.inputs, &|text| counter.count(text));
        let recipe = Recipe::new(inner, &gathered, &card).await?;
        let prompt = recipe.render(&card)?;
        let prompt = match model {
            Some(model) => {
                let template = model.template(&recipe.call(Arc::new(prompt.clone()), &card))?;
                prompt.with_template(template)
            }
            None => prompt,
        };
        // What is looked at may take the half second that an exact count costs.
        Ok(match ExactCounter::of_model(&card.id) {
            Some(counter) => prompt.counted_by(&counter),
            None => prompt,
        })
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
