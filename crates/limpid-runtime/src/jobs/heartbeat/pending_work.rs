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
use limpid_services::heartbeat::{
    DueItems, HeartbeatPart, PATH, StandingItem, has_new_items, has_unread, standing_items, standing_mark,
};

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
    /// How many of the items are the owner's own, and whether one of these is due, or something that they missed.
    own: (usize, bool),
    /// Whether there is something besides these that no run has looked at, or that a stranger's text led to and is due.
    others: bool,
}

impl Look {
    /// Whether there is anything at all to look at.
    pub(crate) fn is_empty(&self) -> bool {
        !self.news.items && self.items.is_empty() && self.news.standing.is_empty()
    }

    /// The runs that look at all of it, one after another. `quiet` stands for what stood there at the last quiet run; by hand all is
    /// looked at, due or not.
    pub(crate) fn parts(&self, quiet: Option<&str>, by_hand: bool) -> Vec<HeartbeatPart> {
        let (own, is_due) = self.own;
        let standing = is_due || by_hand && own > 0;
        let known = if by_hand { None } else { quiet };
        let once = !self.news.standing.is_empty() && known != Some(self.news.standing.as_str());
        let news = self.others || once || by_hand && self.items.len() > own;
        let parts = [(HeartbeatPart::Standing, standing), (HeartbeatPart::News, news || !standing)];
        parts.into_iter().filter(|(_, is_there)| *is_there).map(|(part, _)| part).collect()
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
    let mut owners = gathered.inputs.clone();
    HeartbeatPart::Standing.keep(&mut owners);
    let owners = standing_items(&owners);
    let (own, strangers): (Vec<_>, Vec<_>) = shown.iter().partition(|item| owners.contains(item));
    let is_due = |items: &[&StandingItem]| items.iter().any(|item| due.has(item));
    let others = items || has_unread(&gathered.inputs, true) || is_due(&strangers);
    // What was missed in the quiet hours without a stranger is told beside the owner's items, when anything is told.
    let missed = others && has_unread(&gathered.inputs, false);
    let own = (own.len(), is_due(&own) || missed);
    let news = News {
        items,
        asked: shown.iter().any(|item| due.has(item)),
        standing: standing_mark(&gathered.inputs),
        check: None,
    };
    Ok(Look { news, items: shown, prompt, own, others })
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
