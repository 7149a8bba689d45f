//! The prompt of the next turn, without sending it: its text, the bytes that would leave, and what is different from
//! the last turn.

use std::fmt;
use std::sync::Arc;

use limpid_core::{RequestId, Trust};
use limpid_model::{ExactCounter, ModelCard, Prepared};
use limpid_prompt::Prompt;
use limpid_prompt::diff::{Change, PromptDiff, SectionChange};
use limpid_store::{Conversation, RequestFilter};

use crate::agent::{Agent, Inner};
use crate::context::window_state_of;
use crate::context::{self, Fit, Occasion};
use crate::conversation::model_call::Recipe;
use crate::requests::recorded;
use crate::services::directory::ConversationChoice;
use crate::services::error::AgentError;
use crate::services::models::EffortChoice;
use crate::services::models::ModelRegistry;
use crate::services::models::cache_life::cache_life;

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

/// A prompt that is only looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The prompt.
    pub prompt: Prompt,
    /// What would leave; none when there is no model that it could go to.
    pub payload: Option<Payload>,
    /// What is different from the last request of the conversation on the same path; none when there was none.
    pub since: Option<Since>,
}

/// The very bytes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Where it goes: a URL without secrets, or `local:<file name>`.
    pub target: String,
    /// Its body: JSON text, or for a model on this machine the text that it reads.
    pub body: String,
}

/// What is different from an earlier request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The earlier one.
    pub request: RequestId,
    /// Sections that differ, and how much both share from the start.
    pub diff: PromptDiff,
}

impl fmt::Display for Since {
    /// `Since request r1: context changed (80 to 90 bytes); 2 messages and 510 bytes are shared from the start.`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Since request {}: ", self.request)?;
        for (at, SectionChange { section, change, before, after }) in self.diff.sections.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            match change {
                Change::Changed => write!(f, "{comma}{section} changed ({before} to {after} bytes)")?,
                Change::Appeared => write!(f, "{comma}{section} came ({after} bytes)")?,
                Change::Went => write!(f, "{comma}{section} went ({before} bytes)")?,
            }
        }
        if self.diff.sections.is_empty() {
            f.write_str("no section changed")?;
        }
        let prefix = &self.diff.prefix;
        write!(f, "; {} messages and {} bytes are shared from the start", prefix.messages, prefix.bytes)?;
        match &prefix.broken_by {
            Some(section) => write!(f, ", up to {section}."),
            None => f.write_str("."),
        }
    }
}

impl Agent {
    /// The prompt of the next turn. Nothing is written and nothing is sent.
    ///
    /// # Errors
    /// When conversation, profile, path, mode or model do not exist, a file cannot be read, or what may not be cut does
    /// not fit.
    pub async fn prompt_preview(&self, request: PreviewRequest) -> Result<Prompt, AgentError> {
        Ok(self.preview(request).await?.prompt)
    }

    /// The same, with the bytes that would leave and what is different from the last turn.
    ///
    /// # Errors
    /// As [`Agent::prompt_preview`].
    pub async fn preview(&self, request: PreviewRequest) -> Result<Preview, AgentError> {
        let inner = &self.inner;
        let conversation = inner.directory.find(&request.conversation).await?;
        let own = conversation.as_ref();
        let profile = request.profile.as_deref().or(own.map(|own| own.profile.as_str()));
        let mode = request.mode.as_deref();
        let of_file = match (profile, own.and_then(|own| own.model.clone())) {
            (_, Some(chosen)) => Some(chosen),
            (Some(profile), None) => inner.context.model_of_profile(profile).await,
            (None, None) => inner.context.wanted_model(None).await,
        };
        let wanted = request.model.as_deref().or(of_file.as_deref());
        let model = match inner.models.choose(wanted).await {
            Ok(model) => Some(model),
            // Prompts can be read before there is a model to send them to.
            Err(AgentError::Model(_)) if wanted.is_none() && inner.config.model.is_none() => None,
            Err(error) => return Err(error),
        };
        let card = model.as_ref().map_or_else(no_model, |model| model.info().clone());
        let text = inner.redactor.clean(request.text);
        let path = request.path.as_deref().unwrap_or_default();
        let mode = mode.unwrap_or_else(|| own.map_or_else(|| inner.modes.of_next(path), |own| inner.modes.of(own)));
        let occasion = Occasion {
            conversation: own,
            profile: profile.unwrap_or(&inner.config.agent.profile),
            path: request.path.as_deref(),
            mode,
            card: &card,
            window: &window_state_of(own),
            text: &text,
            trust: Trust::Owner,
            boundary: None,
            unanswered: &[],
            now: inner.host.now(),
            fit: Fit::ToWindow,
        };
        let built = match context::build(&inner.context, occasion).await {
            // What no turn could send is shown whole.
            Err(AgentError::Model(_)) => {
                context::build(&inner.context, Occasion { fit: Fit::AsIs, ..occasion }).await?
            }
            built => built?,
        };
        let effort = EffortChoice::of(&inner.config, own, &built.gathered.path);
        let cache = cache_life(
            &*inner.store,
            &inner.config,
            (&built.gathered.path, own.map(|own| &own.id)),
            inner.host.now_ms(),
        )
        .await?;
        let prompt = built.with_budgets()?;
        let since = match own {
            Some(own) => inner.since_last(own, &prompt).await?,
            None => None,
        };
        let (prompt, payload) = match model {
            Some(model) => {
                let card = &built.card;
                let conversation = own.map(|own| own.id.to_string());
                let recipe = Recipe { cache, conversation, ..Recipe::new(&inner.config, &built, effort) };
                let call = recipe.call(Arc::new(prompt.clone()), card);
                let template = model.template(&call)?;
                let Prepared { target, body, .. } = ModelRegistry::resized(&model, card).prepare(&call)?;
                (prompt.with_template(template), Some(Payload { target, body }))
            }
            None => (prompt, None),
        };
        // What is looked at may take the half second that an exact count costs.
        let prompt = match ExactCounter::of_model(&card.id) {
            Some(counter) => prompt.counted_by(&counter),
            None => prompt,
        };
        Ok(Preview { prompt, payload, since })
    }
}

impl Inner {
    /// What is different in a prompt from the last request of its conversation on the same path.
    async fn since_last(&self, conversation: &Conversation, prompt: &Prompt) -> Result<Option<Since>, AgentError> {
        let filter = RequestFilter {
            conversation: Some(conversation.id.clone()),
            path: Some(prompt.path().to_owned()),
            limit: 1,
            ..RequestFilter::default()
        };
        let Some(last) = self.store.requests(filter).await?.rows.pop() else { return Ok(None) };
        let Some(last) = self.store.request(&last.id).await? else { return Ok(None) };
        let diff = recorded(&last, true).diff(prompt);
        Ok(Some(Since { request: last.summary.id, diff }))
    }
}

/// What is assumed of a model that is not there: a remote one that calls tools.
fn no_model() -> ModelCard {
    ModelCard::default()
}
