//! What there is to look at: read from the very inputs that the prompt would be made from.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use limpid_context::{BuiltContext, Fit, Occasion};
use limpid_context::{WindowState, rendered_items};
use limpid_core::Sentence;
use limpid_core::Trust;
use limpid_core::heartbeat::News;
use limpid_model::ModelCard;
use limpid_prompt::Prompt;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{DueItems, PATH, StandingItem, has_new_items, standing_items, standing_mark};

use crate::jobs::heartbeat::job::HeartbeatJob;

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

/// What a run with this model and profile would look at.
pub(crate) async fn look(job: &HeartbeatJob, profile: &str, card: &ModelCard) -> Result<Look, AgentError> {
    let occasion = Occasion {
        conversation: None,
        profile,
        path: Some(PATH),
        mode: job.modes.of_next(PATH),
        card,
        window: &WindowState::default(),
        text: "",
        trust: Trust::Owner,
        boundary: None,
        unanswered: &[],
        now: job.host.now(),
        fit: Fit::AsIs,
    };
    let BuiltContext { gathered, prompt, .. } = limpid_context::build(&job.context, occasion).await?;
    // What the prompt does not show is never taken in, so it would be news at each run (a profile may leave mail out).
    let items = has_new_items(&gathered.inputs) && !rendered_items(&*job.store, &prompt).await?.is_empty();
    let shown = standing_items(&gathered.inputs).into_iter().filter(|item| item.is_shown_by(&prompt));
    let shown: Vec<StandingItem> = shown.collect();
    let due = DueItems::now(&*job.store, job.config.heartbeat.recheck, &job.host).await?;
    let asked = shown.iter().any(|item| due.has(item));
    let news = News { items, asked, standing: standing_mark(&gathered.inputs), check: None };
    Ok(Look { news, items: shown, prompt })
}

/// What the owner's own checks say.
pub(crate) async fn check(job: &HeartbeatJob) -> Result<Option<bool>, AgentError> {
    let said = ask_program(job).await?;
    match &job.config.heartbeat.check_url {
        Some(url) if said != Some(false) => {
            let failed = |why: Sentence| AgentError::Invalid(format!("check_url of [heartbeat]: {}", why.text()));
            limpid_tools::outlet::says_yes(url).await.map(Some).map_err(failed)
        }
        _ => Ok(said),
    }
}

async fn ask_program(job: &HeartbeatJob) -> Result<Option<bool>, AgentError> {
    let Some((program, arguments)) = job.config.heartbeat.check.split_first() else { return Ok(None) };
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).current_dir(job.home.path()).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |why: String| AgentError::Invalid(format!("the check of [heartbeat], `{program}`, {why}"));
    match tokio::time::timeout(CHECK, command.status()).await {
        Ok(Ok(status)) => Ok(Some(status.success())),
        Ok(Err(error)) => Err(failed(format!("cannot be run: {error}"))),
        Err(_) => Err(failed(format!("took more than {} seconds", CHECK.as_secs()))),
    }
}
