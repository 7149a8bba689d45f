//! The prompt of the next turn, without sending it: its text, the bytes that would leave, and what is different from
//! the last turn.

use std::fmt;
use std::sync::Arc;

use limpid_context::{BuiltContext, ContextDeps, Fit, Occasion, window_state_of};
use limpid_conversation::Recipe;
use limpid_core::{Price, RequestId, Trust};
use limpid_model::{ExactCounter, Model, ModelCard, Prepared};
use limpid_prompt::Prompt;
use limpid_prompt::diff::{Change, PromptDiff, SectionChange};
use limpid_services::directory::{ConversationChoice, Directory};
use limpid_services::error::AgentError;
use limpid_services::models::cache_life::cache_life;
use limpid_services::models::{EffortChoice, ModelRegistry};
use limpid_services::modes::Modes;
use limpid_services::profiles::PromptFile;
use limpid_store::{Conversation, RequestFilter};

use crate::recorded::recorded;

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
    /// What the model costs; none when that is not known.
    pub price: Option<Price>,
    /// What the owner would be told with the turn.
    pub notices: Vec<String>,
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

/// Makes prompts to look at. Nothing is written and nothing is sent.
pub struct Previewer {
    context: ContextDeps,
    directory: Directory,
    modes: Modes,
}

impl Previewer {
    /// One that reads from these.
    pub(crate) fn new(context: ContextDeps, directory: Directory, modes: Modes) -> Self {
        Self { context, directory, modes }
    }

    /// The prompt of the next turn, with the bytes that would leave and what is different from the last turn.
    ///
    /// # Errors
    /// When conversation, profile, path, mode or model do not exist, a file cannot be read, or what may not be cut does
    /// not fit.
    pub async fn preview(&self, request: PreviewRequest) -> Result<Preview, AgentError> {
        let conversation = self.directory.find(&request.conversation).await?;
        let own = conversation.as_ref();
        let model = self.model(&request, own).await?;
        let card = model.as_ref().map_or_else(no_model, |model| model.info().clone());
        let built = self.build(request, own, &card).await?;
        let prompt = built.with_budgets()?;
        let since = match own {
            Some(own) => self.since_last(own, &prompt).await?,
            None => None,
        };
        let (prompt, payload) = match model {
            Some(model) => self.payload(&model, &built, own, prompt).await?,
            None => (prompt, None),
        };
        // What is looked at may take the half second that an exact count costs.
        let prompt = match ExactCounter::of_model(&built.card.id) {
            Some(counter) => prompt.counted_by(&counter),
            None => prompt,
        };
        Ok(Preview { prompt, payload, since, price: built.card.price, notices: built.gathered.notices })
    }

    /// The same with another text for a prompt file, which is not written.
    ///
    /// # Errors
    /// As [`Previewer::preview`].
    pub async fn trying(&self, request: PreviewRequest, file: PromptFile, text: String) -> Result<Preview, AgentError> {
        let profiles = Arc::new(self.context.profiles.trying(file, text));
        let context = ContextDeps { profiles, ..self.context.clone() };
        let (directory, modes) = (self.directory.clone(), self.modes.clone());
        Self { context, directory, modes }.preview(request).await
    }

    /// The model that would answer. Prompts can be read before there is one to send them to.
    async fn model(
        &self,
        request: &PreviewRequest,
        own: Option<&Conversation>,
    ) -> Result<Option<Arc<dyn Model>>, AgentError> {
        let context = &self.context;
        let profile = request.profile.as_deref().or(own.map(|own| own.profile.as_str()));
        let of_file = match (profile, own.and_then(|own| own.model.clone())) {
            (_, Some(chosen)) => Some(chosen),
            (Some(profile), None) => context.model_of_profile(profile).await,
            (None, None) => context.wanted_model(None).await,
        };
        let wanted = request.model.as_deref().or(of_file.as_deref());
        match context.models.choose(wanted).await {
            Ok(model) => Ok(Some(model)),
            Err(AgentError::Model(_)) if wanted.is_none() && context.config.model.is_none() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Builds the prompt as the next turn would.
    async fn build(
        &self,
        request: PreviewRequest,
        own: Option<&Conversation>,
        card: &ModelCard,
    ) -> Result<BuiltContext, AgentError> {
        let context = &self.context;
        let profile = request.profile.as_deref().or(own.map(|own| own.profile.as_str()));
        let path = request.path.as_deref();
        let usual = || own.map_or_else(|| self.modes.of_next(path.unwrap_or_default()), |own| self.modes.of(own));
        let occasion = Occasion {
            conversation: own,
            profile: profile.unwrap_or(&context.config.agent.profile),
            path,
            mode: request.mode.as_deref().unwrap_or_else(usual),
            card,
            window: &window_state_of(own),
            text: &context.redactor.clean(request.text),
            trust: Trust::Owner,
            boundary: None,
            unanswered: &[],
            now: context.host.now(),
            fit: Fit::ToWindow,
        };
        match limpid_context::build(context, occasion).await {
            // What no turn could send is shown whole.
            Err(AgentError::Model(_)) => limpid_context::build(context, Occasion { fit: Fit::AsIs, ..occasion }).await,
            built => built,
        }
    }

    /// What would leave for a model, and the prompt with what the model's own template makes of it.
    async fn payload(
        &self,
        model: &Arc<dyn Model>,
        built: &BuiltContext,
        own: Option<&Conversation>,
        prompt: Prompt,
    ) -> Result<(Prompt, Option<Payload>), AgentError> {
        let ContextDeps { config, store, host, .. } = &self.context;
        let path = &built.gathered.path;
        let effort = EffortChoice::of(config, own, path);
        let cache = cache_life(&**store, config, (path, own.map(|own| &own.id)), host.now_ms()).await?;
        let conversation = own.map(|own| own.id.to_string());
        let recipe = Recipe::new(config, built, effort).of_conversation(conversation, cache);
        let call = recipe.call(Arc::new(prompt.clone()), &built.card);
        let template = model.template(&call)?;
        let Prepared { target, body, .. } = ModelRegistry::resized(model, &built.card).prepare(&call)?;
        Ok((prompt.with_template(template), Some(Payload { target, body })))
    }

    /// What is different in a prompt from the last request of its conversation on the same path.
    async fn since_last(&self, conversation: &Conversation, prompt: &Prompt) -> Result<Option<Since>, AgentError> {
        let filter = RequestFilter {
            conversation: Some(conversation.id.clone()),
            path: Some(prompt.path().to_owned()),
            limit: 1,
            ..RequestFilter::default()
        };
        let store = &self.context.store;
        let Some(last) = store.requests(filter).await?.rows.pop() else { return Ok(None) };
        let Some(last) = store.request(&last.id).await? else { return Ok(None) };
        let diff = recorded(&last, true).diff(prompt);
        Ok(Some(Since { request: last.summary.id, diff }))
    }
}

/// What is assumed of a model that is not there: a remote one that calls tools.
fn no_model() -> ModelCard {
    ModelCard::default()
}
