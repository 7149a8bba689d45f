//! What is done when a task is due. Its end, how the task stands, its next time and what the person is told are one
//! transaction, so that a crash leaves either all of it or a run that comes again.

mod by_hand;
mod command;
mod prompt;

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use limpid_config::{Config, Live, Redactor};
use limpid_context::ContextDeps;
use limpid_conversation::Conversations;
use limpid_core::task::{Due, RunOutcome, Standing, TaskKind, TaskStatus};
use limpid_core::{ConversationId, Labelled, Sentence, TaskId, Trust, sentence};
use limpid_model::chain::Pause;
use limpid_services::deliveries::{Announcement, Deliveries};
use limpid_services::directory::Directory;
use limpid_services::error::AgentError;
use limpid_services::events::{EventBus, EventKind};
use limpid_services::host::Host;
use limpid_services::marked::marked_line;
use limpid_services::models::ModelRegistry;
use limpid_services::modes::Modes;
use limpid_services::spending::Spending;
use limpid_services::tasks::{Tasks, after_clock_moved_back, skip_to_next, time_words, zone_of};
use limpid_services::tools::ToolExecutor;
use limpid_store::{Audience, DeliveryOrigin, NewDelivery, Store, StoreError, TASK_TIMER, Task, TaskRun, TaskRunEnd};

use crate::jobs::deps::JobDeps;
use crate::jobs::job::Job;

/// Runs the tasks that are due.
pub(crate) struct TaskJob {
    tasks: Tasks,
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    pause: Arc<dyn Pause>,
    redactor: Redactor,
    models: Arc<ModelRegistry>,
    modes: Modes,
    spending: Spending,
    executor: ToolExecutor,
    directory: Directory,
    deliveries: Deliveries,
    events: EventBus,
    context: ContextDeps,
    conversations: Conversations,
}

/// What the owner is told of a task that is due in another folder than it was planned in.
const ELSEWHERE: &str =
    "This was planned in an editor's session, where paths mean other files, so it was not carried out:";

/// What is told of a command where others read the reports.
const NOT_SHOWN: &str = "what it printed is not shown, since others read this conversation";

impl TaskJob {
    pub(crate) fn new(deps: &JobDeps) -> Self {
        let context = deps.context.clone();
        Self {
            tasks: deps.tasks.clone(),
            store: Arc::clone(&context.store),
            config: context.config.clone(),
            host: context.host.clone(),
            pause: Arc::clone(&deps.pause),
            redactor: context.redactor.clone(),
            models: Arc::clone(&context.models),
            modes: deps.modes.clone(),
            spending: deps.spending.clone(),
            executor: deps.executor.clone(),
            directory: deps.directory.clone(),
            deliveries: deps.deliveries.clone(),
            events: deps.events.clone(),
            conversations: deps.conversations.clone(),
            context,
        }
    }
}

/// What a run came to.
pub(crate) struct TaskResult {
    outcome: RunOutcome,
    /// What it said, or why it failed.
    text: String,
    trust: Trust,
    /// The conversation that holds what a model read and wrote.
    conversation: Option<ConversationId>,
}

#[async_trait]
impl Job for TaskJob {
    fn kind(&self) -> &'static str {
        TASK_TIMER
    }

    async fn run(&self, name: &str, slot_ms: i64) -> Result<Option<i64>, AgentError> {
        let Some(id) = name.parse().ok().map(TaskId) else { return Ok(None) };
        let Some(task) = self.store.task(id).await? else { return Ok(None) };
        // Somebody set it to another time, or took it out.
        if due_ms(&task) != Some(slot_ms) {
            return Ok(due_ms(&task));
        }
        if !self.config.scheduling.enabled {
            return Err(AgentError::Invalid("[scheduling] enabled is false in limpid.toml, so it waits".to_owned()));
        }
        let run = self.store.begin_task_run(id, slot_ms, self.host.now_ms()).await?;
        if run.end.is_some() {
            skip_to_next(&self.tasks, task).await?;
        } else {
            self.run_one(&task, run).await?;
            self.deliveries.wake_pending().await?;
        }
        Ok(self.store.task(id).await?.as_ref().and_then(due_ms))
    }

    async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        after_clock_moved_back(&self.tasks).await
    }
}

impl TaskJob {
    async fn run_one(&self, task: &Task, run: TaskRun) -> Result<(), AgentError> {
        let slot = moment(run.slot_ms);
        // A second look at a run that was cut off asks what was due when it began.
        let due = Due::look(&task.new.trigger, task.new.missed, slot, moment(run.began_ms));
        let did = match (due.runs, task.new.kind) {
            (false, _) => TaskResult::missed(),
            (true, TaskKind::Reminder) => TaskResult::said(task.new.prompt.clone(), task.new.trust),
            // Its relative paths meant other files, so its owner is told of it.
            (true, _) if task.new.base != self.config.files.base_text() => {
                TaskResult::said(format!("{ELSEWHERE}\n\n{}", task.new.prompt), task.new.trust)
            }
            (true, TaskKind::Command) => command::run_command(self, task, &run).await?,
            (true, TaskKind::Agent) => prompt::run_agent(self, task, &run).await?,
        };
        let now = self.host.now();
        let standing = task.standing.after(&task.new.trigger, did.outcome, now);
        let shown = if self.is_private(task, &did).await? { NOT_SHOWN } else { did.text.as_str() };
        let delivery = match tell(task, (did.outcome, shown), standing, slot) {
            Some((origin, text)) => Some(NewDelivery {
                key: format!("task/{}/{}", task.id, run.slot_ms),
                conversation: self.target(task).await?,
                origin,
                title: task.new.description.clone(),
                text,
                trust: did.trust.join(task.new.trust),
                draft: None,
                now_ms: now.as_millisecond(),
            }),
            None => None,
        };
        let (detail, trust) = (detail(&did, due.missed), did.trust.join(task.new.trust));
        let end = TaskRunEnd {
            run,
            outcome: did.outcome,
            detail,
            conversation: did.conversation,
            standing,
            delivery,
            now_ms: now.as_millisecond(),
        };
        self.end_run(task, end, trust).await
    }

    /// Ends a run, whose detail has this label. When what it says cannot reach its conversation, the run has failed and the
    /// owner is told where reports go.
    async fn end_run(&self, task: &Task, end: TaskRunEnd, trust: Trust) -> Result<(), AgentError> {
        match self.store.end_task_run(end.clone()).await {
            Ok(ended) => self.announce_run(task, (&end, trust), ended),
            Err(error @ (StoreError::NotFound { what: "conversation", .. } | StoreError::ForStrangers { .. })) => {
                let why = error.to_string();
                let failed = TaskRunEnd { outcome: RunOutcome::Failed, detail: why.clone(), delivery: None, ..end };
                let key = format!("undelivered/task/{}/{}", task.id, failed.run.slot_ms);
                let ended = self.store.end_task_run(failed.clone()).await?;
                self.announce_run(task, (&failed, task.new.trust), ended);
                let own = |text: String| Labelled::new(text, task.new.trust);
                let (why, called) = (own(why), own(task.new.description.clone()));
                // What a task is called may be private where it was made.
                let for_all = sentence!("Task {} could not be delivered: {}.", task.id.0, why);
                let for_owner = sentence!("“{}” could not be delivered: {}.", called, why);
                let title = || Sentence::from("Not delivered");
                let told = Announcement::new(title(), for_all).for_owner_alone(title(), for_owner);
                self.deliveries.notice(None, &key, told).await?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Tells everybody who watches that a task ran, when it is `news`.
    fn announce_run(&self, task: &Task, (end, trust): (&TaskRunEnd, Trust), news: bool) {
        if !news {
            return;
        }
        let detail = marked_line(&end.detail, trust);
        let change = EventKind::TaskRan { task: task.id.0, outcome: end.outcome.to_string(), detail };
        self.events.send(task.new.conversation.as_ref(), change);
    }

    /// Where the output of a task goes: the conversation that made it, else the one of the heartbeat. A command may print anything of the
    /// owner's, so that never goes to a conversation that others read.
    async fn target(&self, task: &Task) -> Result<ConversationId, AgentError> {
        match &task.new.conversation {
            Some(own) if task.new.kind != TaskKind::Command || !self.is_group(own).await? => Ok(own.clone()),
            _ => self.directory.reports().await,
        }
    }

    /// Whether a run came to what a command printed, and others read the reports too.
    async fn is_private(&self, task: &Task, did: &TaskResult) -> Result<bool, AgentError> {
        let printed = matches!(did.outcome, RunOutcome::Done | RunOutcome::Failed) && !did.text.trim().is_empty();
        Ok(printed && task.new.kind == TaskKind::Command && self.is_group(&self.target(task).await?).await?)
    }

    async fn is_group(&self, conversation: &ConversationId) -> Result<bool, AgentError> {
        let found = self.store.conversation(conversation).await?;
        Ok(found.is_some_and(|found| found.audience == Audience::Group))
    }
}

impl TaskResult {
    fn said(text: String, trust: Trust) -> Self {
        Self { outcome: RunOutcome::Done, text, trust, conversation: None }
    }

    fn failed(why: impl Into<Labelled<String>>) -> Self {
        let (text, trust) = why.into().into_parts();
        Self { outcome: RunOutcome::Failed, text, trust, conversation: None }
    }

    fn missed() -> Self {
        let text = "nobody could run it in time".to_owned();
        Self { outcome: RunOutcome::Missed, text, trust: Trust::Owner, conversation: None }
    }

    fn cut_off() -> Self {
        let text = "it was cut off, and its outcome is unknown".to_owned();
        Self { outcome: RunOutcome::CutOff, text, trust: Trust::Owner, conversation: None }
    }
}

/// What the person is told of a run that came to this, if anything.
fn tell(
    task: &Task,
    (outcome, text): (RunOutcome, &str),
    standing: Standing,
    slot: Timestamp,
) -> Option<(DeliveryOrigin, String)> {
    let description = task.new.description.trim();
    let titled = |text: &str| format!("**{description}**\n\n{text}");
    let is_over = standing.status == TaskStatus::Failed;
    match (outcome, task.new.kind) {
        (RunOutcome::Done, _) if text.trim().is_empty() => None,
        (RunOutcome::Done, TaskKind::Reminder) => Some((DeliveryOrigin::Reminder, text.to_owned())),
        (RunOutcome::Done, _) => Some((DeliveryOrigin::Task, titled(text))),
        (RunOutcome::Missed, _) if is_over => {
            let due = slot.to_zoned(zone_of(&task.new)).strftime("%Y-%m-%d %H:%M").to_string();
            Some((DeliveryOrigin::Notice, titled(&format!("This was due at {due}, when Limpid was not running."))))
        }
        (RunOutcome::Missed, _) => None,
        (RunOutcome::CutOff, _) => {
            let cut_off = "This was cut off while it ran, and its outcome is unknown. Look before you run it again.";
            Some((DeliveryOrigin::Notice, titled(cut_off)))
        }
        (RunOutcome::Failed, _) if is_over => {
            let tries = standing.failures.max(1);
            let times = if tries == 1 { "once".to_owned() } else { format!("{tries} times") };
            Some((DeliveryOrigin::Notice, titled(&format!("This failed {times} and is given up: {text}"))))
        }
        // What repeats tells of the first failure in a row, not of each.
        (RunOutcome::Failed, _) if task.new.trigger.repeats() && task.standing.failures == 0 => {
            let next = standing.next.map(|next| time_words(next, slot, &zone_of(&task.new)));
            let next = next.map(|next| format!(" It is tried again {next}.")).unwrap_or_default();
            Some((DeliveryOrigin::Notice, titled(&format!("This failed: {}.{next}", text.trim_end_matches('.')))))
        }
        (RunOutcome::Failed, _) => None,
    }
}

/// What the log of runs says.
fn detail(did: &TaskResult, missed: usize) -> String {
    let missed = match missed {
        0 => String::new(),
        1 => "missed once".to_owned(),
        count => format!("missed {count} times"),
    };
    let text = if did.outcome == RunOutcome::Done { "" } else { did.text.as_str() };
    [missed.as_str(), text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

fn due_ms(task: &Task) -> Option<i64> {
    let waits = task.standing.status == TaskStatus::Pending;
    task.standing.next.filter(|_| waits).map(Timestamp::as_millisecond)
}

fn moment(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or_default()
}
