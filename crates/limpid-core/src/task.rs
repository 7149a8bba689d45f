//! What is to be done later: when it is due, and what becomes of it after a run.
//!
//! # Layout
//! - [`cron`]: patterns of times.
//! - [`trigger`]: what makes a task run, and its times.
//! - [`missed`]: runs that nobody could make, and what is done about them.

pub mod cron;
pub mod missed;
pub mod trigger;

use std::fmt;

use jiff::Timestamp;

use crate::background_wait;

pub use cron::{CronError, CronPattern};
pub use missed::{Due, MissedPolicy};
pub use trigger::{Trigger, TriggerError};

/// Times that a task of one moment is tried.
pub const TRIES: u32 = 10;

/// What is done when a task is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskKind {
    /// A model carries out its text.
    Agent,
    /// Its text is sent as it stands, without a model.
    Reminder,
    /// Its text is a command that is run.
    Command,
}

impl TaskKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Reminder, Self::Command];

    /// The kind's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Reminder => "reminder",
            Self::Command => "command",
        }
    }

    /// Reads a kind's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// It waits for its time.
    Pending,
    /// It waits for somebody to switch it on again.
    Disabled,
    /// It is done.
    Completed,
    /// It was tried often enough.
    Failed,
    /// Somebody took it out.
    Cancelled,
}

impl TaskStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Disabled, Self::Completed, Self::Failed, Self::Cancelled];

    /// The status's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Disabled => "disabled",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a status's name, in any case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a run of a task came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunOutcome {
    /// It was carried out.
    Done,
    /// It failed.
    Failed,
    /// Nobody could run it in time, and it was left out.
    Missed,
    /// It was cut off, and nobody knows what it did before.
    CutOff,
}

impl RunOutcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Done, Self::Failed, Self::Missed, Self::CutOff];

    /// The outcome's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Missed => "missed",
            Self::CutOff => "cut-off",
        }
    }

    /// Reads an outcome's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a task stands and when it is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How it stands.
    pub status: TaskStatus,
    /// When it is due; none when it never is again by itself.
    pub next: Option<Timestamp>,
    /// How often it failed in a row.
    pub failures: u32,
}

impl Standing {
    /// How a task stands that was made or switched on at a moment.
    pub fn begin(trigger: &Trigger, now: Timestamp) -> Self {
        Self { status: TaskStatus::Pending, next: trigger.first(now), failures: 0 }
    }

    /// How it stands after a run for a slot that ended at a moment.
    #[must_use]
    pub fn after(self, trigger: &Trigger, outcome: RunOutcome, now: Timestamp) -> Self {
        let failures = match outcome {
            RunOutcome::Failed | RunOutcome::CutOff => self.failures.saturating_add(1),
            RunOutcome::Done | RunOutcome::Missed => 0,
        };
        if let Some(next) = trigger.next_after(now) {
            return Self { status: TaskStatus::Pending, next: Some(next), failures };
        }
        let ended = |status| Self { status, next: None, failures };
        match (trigger, outcome) {
            (Trigger::Heartbeat, _) => Self { failures, ..self },
            (_, RunOutcome::Failed) if failures < TRIES => {
                let wait = jiff::SignedDuration::try_from(background_wait(failures)).unwrap_or_default();
                let next = now.checked_add(wait).unwrap_or(now);
                Self { status: TaskStatus::Pending, next: Some(next), failures }
            }
            // What was cut off may have been done, so it is not tried again.
            (_, RunOutcome::Failed | RunOutcome::Missed | RunOutcome::CutOff) => ended(TaskStatus::Failed),
            (_, RunOutcome::Done) => ended(TaskStatus::Completed),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2026-11-21T{time}Z").parse().unwrap()
    }

    // KAI-083 KAI-136
    #[test]
    fn a_task_of_one_moment_is_tried_ten_times_with_longer_and_longer_waits() {
        let once = Trigger::Once(at("09:00:00"));
        let mut standing = Standing::begin(&once, at("08:00:00"));
        assert_eq!(standing.next, Some(at("09:00:00")));
        let mut waits = Vec::new();
        while let Some(due) = standing.next {
            standing = standing.after(&once, RunOutcome::Failed, due);
            waits.extend(standing.next.map(|next| next.duration_since(due).as_mins()));
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(standing, Standing { status: TaskStatus::Failed, next: None, failures: 10 });
        let done = Standing::begin(&once, at("08:00:00")).after(&once, RunOutcome::Done, at("09:00:05"));
        assert_eq!(done, Standing { status: TaskStatus::Completed, next: None, failures: 0 });
    }

    // KAI-083
    #[test]
    fn a_repeated_task_moves_on_also_after_a_failure() {
        let daily = Trigger::cron("0 9 * * *", "Europe/Berlin").unwrap();
        let standing = Standing::begin(&daily, at("07:00:00"));
        assert_eq!(standing.next, Some(at("08:00:00")));
        let failed = standing.after(&daily, RunOutcome::Failed, at("08:00:20"));
        assert_eq!(failed.status, TaskStatus::Pending);
        assert_eq!(failed.next.unwrap().to_string(), "2026-11-22T08:00:00Z");
        assert_eq!((failed.failures, failed.after(&daily, RunOutcome::Done, failed.next.unwrap()).failures), (1, 0));
    }

    // KAI-076
    #[test]
    fn a_heartbeat_task_is_never_due_and_never_done() {
        let standing = Standing::begin(&Trigger::Heartbeat, at("09:00:00"));
        assert_eq!(standing, Standing { status: TaskStatus::Pending, next: None, failures: 0 });
        assert_eq!(standing.after(&Trigger::Heartbeat, RunOutcome::Done, at("10:00:00")), standing);
    }
}
