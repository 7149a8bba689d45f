//! What there is to look at: read from the very inputs that the prompt would be made from.

use std::collections::VecDeque;
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

use crate::jobs::heartbeat::failures::LOOKED_AT;
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
    /// The owner's own items that are looked at together and are due; by hand all of them.
    together: Vec<StandingItem>,
    /// Those that are looked at alone and are due; by hand all of them.
    alone: Vec<StandingItem>,
    /// Whether the owner missed something in the quiet hours that is told beside what came in.
    missed: bool,
    /// Whether there is something besides these that no run has looked at, or that a stranger's text led to and is due.
    others: bool,
}

impl Look {
    /// Whether there is anything at all to look at.
    pub(crate) fn is_empty(&self) -> bool {
        !self.news.items && self.items.is_empty() && self.news.standing.is_empty()
    }

    /// The runs that look at all of it, one after another. `quiet` stands for what stood there at the last quiet run; by hand that is
    /// looked at again.
    pub(crate) fn parts(&self, quiet: Option<&str>, by_hand: bool) -> VecDeque<HeartbeatPart> {
        let known = if by_hand { None } else { quiet };
        let once = !self.news.standing.is_empty() && known != Some(self.news.standing.as_str());
        let mut together: VecDeque<_> = self.divided().collect();
        if together.len() > 1 {
            together = VecDeque::from([HeartbeatPart::Standing]);
        }
        let mut parts: VecDeque<_> = together.into_iter().chain(alone(&self.alone)).collect();
        if self.others || once || parts.is_empty() {
            parts.push_back(HeartbeatPart::News);
        }
        parts
    }

    /// The runs that look once more at what a run has seen together, each at one thing.
    pub(crate) fn divided(&self) -> impl Iterator<Item = HeartbeatPart> {
        alone(&self.together).chain(self.missed.then_some(HeartbeatPart::Missed))
    }
}

fn alone(items: &[StandingItem]) -> impl Iterator<Item = HeartbeatPart> {
    items.iter().map(|item| HeartbeatPart::Alone(item.mark.clone()))
}

/// What a run with this model and profile would look at; by hand also at what is not due.
pub(crate) async fn look(
    job: &HeartbeatJob,
    profile: &str,
    card: &ModelCard,
    by_hand: bool,
) -> Result<Look, AgentError> {
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
    HeartbeatPart::Standing.keep(&mut owners, |_| false);
    let owners = standing_items(&owners);
    let wanted = shown.iter().filter(|item| by_hand || due.has(item)).cloned();
    let (own, strangers): (Vec<_>, Vec<_>) = wanted.partition(|item| owners.contains(item));
    let others = items || has_unread(&gathered.inputs, true) || !strangers.is_empty();
    let runs = others || !own.is_empty();
    let (mut alone, together): (Vec<_>, Vec<_>) = own.into_iter().partition(|item| due.is_alone(item));
    // Whatever one of them uses up of a day, each comes first on some day.
    let log = job.store.heartbeat_runs(LOOKED_AT).await?.rows;
    alone.sort_by_key(|item| {
        let part = HeartbeatPart::Alone(item.mark.clone());
        log.iter().find(|run| run.part == part.name()).map(|run| run.ended_ms)
    });
    // What was missed in the quiet hours without a stranger is told beside the owner's items, when anything is told.
    let missed = runs && has_unread(&gathered.inputs, false);
    let news = News {
        items,
        asked: shown.iter().any(|item| due.has(item)),
        standing: standing_mark(&gathered.inputs),
        check: None,
    };
    Ok(Look { news, items: shown, prompt, together, alone, missed, others })
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
