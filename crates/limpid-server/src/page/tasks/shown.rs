//! Tasks and their runs as they are shown.

use limpid_core::task::{MissedPolicy, RunOutcome, TaskKind, TaskStatus, Trigger};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::tasks::{next_times, on_both_clocks, span_words, when_words};
use limpid_store::{Task, TaskRun};

use super::Wanted;
use crate::page::state::Page;

/// Next times that are shown.
const TIMES: usize = 3;

/// A task as it is shown.
pub(super) struct Row {
    pub(super) id: i64,
    pub(super) name: String,
    /// What its buttons call it: no word of a stranger.
    pub(super) label: String,
    /// What it does, where its name does not say all of it.
    pub(super) text: Option<String>,
    pub(super) is_foreign: bool,
    pub(super) when: String,
    pub(super) next: String,
    pub(super) is_on: bool,
    pub(super) is_over: bool,
    /// Why it does not wait, or that its last run failed.
    pub(super) tag: Option<&'static str>,
    pub(super) can_run: bool,
    pub(super) facts: Vec<String>,
    /// The conversation that its output goes to.
    pub(super) goes_to: Option<String>,
    pub(super) runs: Vec<Run>,
    pub(super) is_open: bool,
    pub(super) form: TaskForm,
}

/// A run of a task.
pub(super) struct Run {
    pub(super) outcome: &'static str,
    pub(super) is_failure: bool,
    pub(super) at: String,
    pub(super) detail: String,
    pub(super) conversation: Option<String>,
}

/// What stands in the form of a task.
#[derive(Default)]
pub(super) struct TaskForm {
    pub(super) description: String,
    pub(super) text: String,
    /// When it is now; none for a new one.
    pub(super) when: Option<String>,
    pub(super) is_heartbeat: bool,
    /// What was chosen and typed before, where that could not be carried out.
    pub(super) kind: String,
    pub(super) due: String,
    pub(super) time: String,
    pub(super) at: String,
    /// Why it could not.
    pub(super) wrong: Option<String>,
}

impl TaskForm {
    /// Keeps what was typed, and says what is wrong with it.
    pub(super) fn keep(&mut self, typed: &Wanted, why: &str) {
        let Wanted { description, text, kind, when, time, at } = typed;
        (self.description, self.text) = (description.clone(), text.clone());
        self.kind = kind.clone().unwrap_or_default();
        (self.due, self.time, self.at) = (when.clone(), time.clone(), at.clone());
        self.wrong = Some(shown(why).into_owned());
    }
}

/// A task as it is shown; `heartbeat` says when the next one is.
pub(super) fn row(page: &Page, task: &Task, runs: &[TaskRun], is_open: bool, heartbeat: Option<&str>) -> Row {
    let (now, zone) = (page.agent.now(), page.agent.zone());
    let new = &task.new;
    let is_foreign = new.trust.is_foreign();
    let is_heartbeat = new.trigger == Trigger::Heartbeat;
    let status = task.standing.status;
    let times = next_times(task, now, TIMES);
    let next = match (status, times.is_empty()) {
        (TaskStatus::Pending, true) => heartbeat.map_or("With the next heartbeat".to_owned(), capital),
        (TaskStatus::Pending, false) => {
            let words: Vec<String> = times.iter().map(|at| on_both_clocks(task, *at, now, &zone)).collect();
            capital(&words.join(", then "))
        }
        (TaskStatus::Disabled, _) => "Switched off".to_owned(),
        _ => String::new(),
    };
    let when = capital(&when_words(task, now, &zone));
    let failures = match task.standing.failures {
        0 => None,
        1 => Some("Failed once".to_owned()),
        failures => Some(format!("Failed {failures} times in a row")),
    };
    let facts = [kind_words(new.kind).to_owned(), missed_words(new.missed)].into_iter();
    Row {
        id: task.id.0,
        name: name(task),
        label: if is_foreign { format!("task {}", task.id) } else { name(task) },
        text: (new.prompt != new.description).then(|| shown(&new.prompt).into_owned()),
        is_foreign,
        is_on: status == TaskStatus::Pending,
        is_over: !matches!(status, TaskStatus::Pending | TaskStatus::Disabled),
        tag: match status {
            TaskStatus::Pending if task.standing.failures > 0 => Some("last run failed"),
            TaskStatus::Pending => None,
            TaskStatus::Disabled => Some("off"),
            TaskStatus::Completed => Some("done"),
            TaskStatus::Failed => Some("failed"),
            TaskStatus::Cancelled => Some("deleted"),
        },
        can_run: !is_heartbeat && matches!(status, TaskStatus::Pending | TaskStatus::Completed | TaskStatus::Failed),
        facts: facts.chain(failures).collect(),
        goes_to: new.conversation.as_ref().map(ToString::to_string),
        runs: runs.iter().map(|run| run_row(page, run)).collect(),
        is_open,
        form: TaskForm {
            description: new.description.clone(),
            text: new.prompt.clone(),
            when: Some(when.clone()),
            is_heartbeat,
            ..TaskForm::default()
        },
        when,
        next,
    }
}

fn run_row(page: &Page, run: &TaskRun) -> Run {
    let outcome = run.end.map(|(_, outcome)| outcome);
    Run {
        outcome: match outcome {
            None => "runs",
            Some(RunOutcome::Done) => "OK",
            Some(RunOutcome::Missed) => "MISSED",
            Some(RunOutcome::Failed | RunOutcome::CutOff) => "FAIL",
        },
        is_failure: matches!(outcome, Some(RunOutcome::Failed | RunOutcome::CutOff | RunOutcome::Missed)),
        at: page.moment(run.slot_ms),
        detail: shown_line(&run.detail),
        conversation: run.conversation.as_ref().map(ToString::to_string),
    }
}

/// What a task is called.
pub(super) fn name(task: &Task) -> String {
    shown_line(&task.new.description)
}

const fn kind_words(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Agent => "Done by Limpid",
        TaskKind::Reminder => "Reminder",
        TaskKind::Command => "Command",
    }
}

fn missed_words(missed: MissedPolicy) -> String {
    match missed {
        MissedPolicy::Skip => "If missed, skipped".to_owned(),
        MissedPolicy::RunOnce => "If missed, runs once later".to_owned(),
        MissedPolicy::RunIfWithin(age) => format!("If missed, runs later, up to {} late", span_words(age.as_secs())),
    }
}

/// The words as the beginning of a line.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
