//! Tasks that wait for their time, and what a heartbeat run reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TrustName;

/// Pending tasks, and whether scheduling is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulingInput {
    /// Whether the agent may schedule things.
    pub enabled: bool,
    /// Pending tasks of every trigger.
    pub tasks: Vec<TaskEntry>,
}

/// What makes a task run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// A moment.
    #[default]
    Time,
    /// A pattern of moments.
    Cron,
    /// Every heartbeat.
    Heartbeat,
}

/// One pending task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "TaskEntry::of_file", deny_unknown_fields)]
pub struct TaskEntry {
    /// Its name.
    pub id: String,
    /// What it is, for people.
    pub description: String,
    /// What the agent is told when it runs.
    pub prompt: String,
    /// What makes it run.
    pub trigger: Trigger,
    /// The cron pattern of a cron task.
    pub cron: Option<String>,
    /// The IANA zone in which its times are meant.
    pub zone: Option<String>,
    /// When it runs next, in UTC: `2026-04-11T07:00:00Z`.
    pub scheduled_at: Option<String>,
    /// Who wrote the least trusted text that led to it.
    pub trust: TrustName,
}

impl TaskEntry {
    /// A task with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self {
            id: String::new(),
            description: String::new(),
            prompt: String::new(),
            trigger: Trigger::default(),
            cron: None,
            zone: None,
            scheduled_at: None,
            trust,
        }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// What a heartbeat run reads besides tasks and news.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HeartbeatInput {
    /// The owner's own opening. Absent or empty: the shipped one.
    pub prompt: Option<String>,
    /// HEARTBEAT.md as it stands.
    pub checklist: String,
    /// Reports of earlier heartbeats, oldest first.
    pub previous: Vec<PreviousReport>,
    /// The quiet hours that this run is the first one after, when they held something.
    pub quiet: Option<QuietInput>,
}

/// Hours in which no heartbeat ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QuietInput {
    /// When they began, on the owner's clock: `22:00`.
    pub since: String,
    /// What reached the owner's chats since then and they have not seen, oldest first.
    pub unread: Vec<UnreadEntry>,
}

/// Something that reached a chat while nobody looked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "UnreadEntry::of_file", deny_unknown_fields)]
pub struct UnreadEntry {
    /// What it comes from: `task`, `reminder`, `notice`, `heartbeat`.
    pub origin: String,
    /// What it is about.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Who wrote the least trusted text that it was made from.
    pub trust: TrustName,
}

impl UnreadEntry {
    /// A message with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self { origin: String::new(), title: String::new(), text: String::new(), trust }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}

/// One report of an earlier heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "PreviousReport::of_file", deny_unknown_fields)]
pub struct PreviousReport {
    /// What was reported.
    pub text: String,
    /// Who wrote what it was made from; the least trusted of them.
    pub trust: TrustName,
}

impl PreviousReport {
    /// A report with nothing in it, whose texts somebody wrote.
    pub fn by(trust: TrustName) -> Self {
        Self { text: String::new(), trust }
    }

    fn of_file() -> Self {
        Self::by(TrustName::File)
    }
}
