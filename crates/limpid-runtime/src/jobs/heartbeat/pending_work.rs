//! What there is to look at: read from the very inputs that the prompt would be made from.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use limpid_core::Trust;
use limpid_core::heartbeat::News;
use limpid_model::ModelCard;
use limpid_prompt::Prompt;
use limpid_prompt::inputs::{Inputs, TaskEntry, Trigger};

use crate::agent::Inner;
use crate::context::prefix_cache::key_of;
use crate::context::sources::inbox::rendered_items;
use crate::context::window_state::WindowState;
use crate::context::{self, BuiltContext, Fit, Occasion};
use crate::services::error::AgentError;
use crate::services::heartbeat::PATH;
use crate::services::heartbeat::standing::{StandingItem, due_items, standing_items};

/// How long the owner's own check may take.
const CHECK: Duration = Duration::from_secs(30);

/// What a run would look at.
pub(crate) struct Look {
    /// Whether a model is asked.
    pub(crate) news: News,
    /// The standing items that its prompt shows, due or not.
    pub(crate) items: Vec<StandingItem>,
    /// Its prompt, with all of them.
    pub(crate) prompt: Arc<Prompt>,
}

impl Look {
    /// Whether there is anything at all to look at.
    pub(crate) fn is_empty(&self) -> bool {
        !self.news.items && self.items.is_empty() && self.news.standing.is_empty()
    }
}

impl Inner {
    /// What a run with this model and profile would look at.
    pub(crate) async fn heartbeat_look(&self, profile: &str, card: &ModelCard) -> Result<Look, AgentError> {
        let occasion = Occasion {
            conversation: None,
            profile,
            path: Some(PATH),
            mode: self.mode_of_next(PATH),
            card,
            window: &WindowState::default(),
            text: "",
            trust: Trust::Owner,
            boundary: None,
            unanswered: &[],
            now: self.host.now(),
            fit: Fit::AsIs,
        };
        let BuiltContext { gathered, prompt, .. } = context::build(&self.context, occasion).await?;
        // What the prompt does not show is never taken in, so it would be news at each run (a profile may leave mail out).
        let items = has_items(&gathered.inputs) && !rendered_items(&*self.store, &prompt).await?.is_empty();
        let shown = standing_items(&gathered.inputs).into_iter().filter(|item| item.is_shown_by(&prompt));
        let shown: Vec<StandingItem> = shown.collect();
        let due = due_items(&self.context, self.host.now()).await?;
        let asked = shown.iter().any(|item| due.has(item));
        let news = News { items, asked, standing: standing(&gathered.inputs), check: None };
        Ok(Look { news, items: shown, prompt })
    }

    /// What the owner's own checks say.
    pub(crate) async fn heartbeat_check(&self) -> Result<Option<bool>, AgentError> {
        let said = self.ask_program().await?;
        match &self.config.heartbeat.check_url {
            Some(url) if said != Some(false) => {
                let failed = |why| AgentError::Invalid(format!("check_url of [heartbeat]: {why}"));
                limpid_tools::outlet::says_yes(url).await.map(Some).map_err(failed)
            }
            _ => Ok(said),
        }
    }

    async fn ask_program(&self) -> Result<Option<bool>, AgentError> {
        let Some((program, arguments)) = self.config.heartbeat.check.split_first() else { return Ok(None) };
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).current_dir(self.home.path()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let failed = |why: String| AgentError::Invalid(format!("the check of [heartbeat], `{program}`, {why}"));
        match tokio::time::timeout(CHECK, command.status()).await {
            Ok(Ok(status)) => Ok(Some(status.success())),
            Ok(Err(error)) => Err(failed(format!("cannot be run: {error}"))),
            Err(_) => Err(failed(format!("took more than {} seconds", CHECK.as_secs()))),
        }
    }
}

/// Whether anything came in that no run has taken in.
pub(crate) fn has_items(inputs: &Inputs) -> bool {
    let email = inputs.email.enabled && !inputs.email.new.is_empty();
    let sms = inputs.sms.enabled && !inputs.sms.new.is_empty();
    email || sms || (inputs.notifications.enabled && !inputs.notifications.new.is_empty())
}

/// The standing additions of the inputs.
pub(crate) fn additions(inputs: &Inputs) -> impl Iterator<Item = &TaskEntry> {
    inputs.scheduling.tasks.iter().filter(|task| inputs.scheduling.enabled && task.trigger == Trigger::Heartbeat)
}

/// Stands for what is news once: promotion candidates and failing accounts. Unread counts and clocks are not in it.
pub(crate) fn standing(inputs: &Inputs) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for memory in &inputs.memory.promotions {
        texts.extend([memory.key.as_str(), memory.content.as_str()]);
    }
    for account in inputs.email.accounts.iter().filter(|_| inputs.email.enabled) {
        if let Some(error) = &account.last_error {
            texts.extend([account.address.as_str(), error.as_str()]);
        }
    }
    if texts.iter().all(|text| text.is_empty()) { String::new() } else { key_of(texts.into_iter().map(str::as_bytes)) }
}
