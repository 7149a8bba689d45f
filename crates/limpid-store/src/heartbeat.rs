//! The heartbeat: what it knows of itself, and every run.

use std::collections::{HashMap, HashSet};
use std::fmt;

use async_trait::async_trait;
use limpid_core::heartbeat::State;
use limpid_core::{ConversationId, Trust};

use crate::{DroppedItems, ItemId, Listed, NewDelivery, StoreError};

/// The heartbeat of an owner.
#[async_trait]
pub trait Heartbeats: Send + Sync {
    /// How it stands.
    async fn heartbeat(&self) -> Result<HeartbeatRow, StoreError>;

    /// Keeps its settings and, when they switch it on, the time.
    async fn set_heartbeat(&self, settings: &str, switched_on: bool, now_ms: i64) -> Result<(), StoreError>;

    /// Says that its interval counts from here on, unless it is known since when it does.
    async fn start_heartbeat(&self, now_ms: i64) -> Result<(), StoreError>;

    /// Writes down why nothing runs and until when, or (none) that nothing stands in the way.
    async fn heartbeat_waits(&self, waits: Option<(&str, Option<i64>)>) -> Result<(), StoreError>;

    /// Ends a pause, as the owner has done something.
    async fn resume_heartbeat(&self) -> Result<(), StoreError>;

    /// Begins a run. False, with nothing changed, when one is under way.
    async fn begin_heartbeat(&self, run: &RunningHeartbeat) -> Result<bool, StoreError>;

    /// Takes a run over from a holder that is gone. False when it is somebody else's by now.
    async fn take_heartbeat(&self, from: &RunningHeartbeat, holder: &str) -> Result<bool, StoreError>;

    /// Ends a run: the log, the new state, the message, the items that it took in and the next time are written all or
    /// none. False, with nothing changed, when a run of this key has ended before. A run that found nothing
    /// new is only counted; of the others the log keeps those of a month, and always the newest that read a stranger's text and the
    /// newest that read none.
    async fn end_heartbeat(&self, end: HeartbeatEnd) -> Result<bool, StoreError>;

    /// The newest runs, newest first.
    async fn heartbeat_runs(&self, limit: u32) -> Result<Listed<HeartbeatRun>, StoreError>;

    /// The newest runs, newest first, at most so many, counted [by side](limpid_core::by_side::by_side).
    async fn heartbeat_log(&self, limit: u32) -> Result<Listed<HeartbeatRun>, StoreError>;

    /// The runs that ended in a span of time, newest first.
    async fn heartbeat_runs_between(&self, since_ms: i64, until_ms: i64) -> Result<Listed<HeartbeatRun>, StoreError>;

    /// The newest reports of runs that had read nothing of strangers, newest first: what a stranger had told once has no say in later runs.
    async fn heartbeat_reports(&self, limit: u32) -> Result<Listed<HeartbeatRun>, StoreError>;

    /// Whether this matter was told since then, by a run whose text had this label or a better one: what a stranger has had told says
    /// nothing of what is told without them.
    async fn heartbeat_told(&self, report_key: &str, trust: Trust, since_ms: i64) -> Result<bool, StoreError>;

    /// Runs since then that asked a model. The parts of a run are one: their keys are its own, a hyphen and the part's name.
    async fn heartbeat_calls(&self, since_ms: i64) -> Result<HeartbeatCalls, StoreError>;

    /// When standing items were asked last, by their marks.
    async fn heartbeat_asked(&self) -> Result<HashMap<String, i64>, StoreError>;

    /// The marks of the standing items that are looked at in a run of their own.
    async fn heartbeat_alone(&self) -> Result<HashSet<String>, StoreError>;

    /// When the owner did anything last: a message, an approval, a setting.
    async fn owner_acted_ms(&self) -> Result<Option<i64>, StoreError>;
}

/// How the heartbeat stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatRow {
    /// Its settings, as whoever set them wrote them.
    pub settings: Option<String>,
    /// What the gate needs to know.
    pub state: State,
    /// Stands for what stood there at the last quiet run.
    pub quiet_mark: Option<String>,
    /// Stands for the items of the last silence that had a remainder.
    pub remainder_mark: Option<String>,
    /// Why nothing runs, as it was seen last, and until when.
    pub waits: Option<(String, Option<i64>)>,
    /// The run that is under way.
    pub running: Option<RunningHeartbeat>,
    /// The looks since the last logged run that found nothing to ask a model about.
    pub idle: IdleLooks,
}

/// Runs that asked a model, by what they were for: whoever writes to the owner can cause many of one kind, and none of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatCalls {
    /// Those that looked at something of the owner's.
    pub of_owner: u32,
    /// Those that looked at nothing but what came in.
    pub of_news: u32,
}

/// Looks that found nothing: they are counted, and the log keeps none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdleLooks {
    /// How many.
    pub count: u64,
    /// When the first of them was, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// When the last one was, in milliseconds since 1970.
    pub last_ms: Option<i64>,
}

/// A run that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningHeartbeat {
    /// What makes it the same run after a crash.
    pub key: String,
    /// The part of what there is to look at that it sees; empty when it sees all.
    pub part: String,
    /// Who runs it.
    pub holder: String,
    /// Whether a person asked for it.
    pub by_hand: bool,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatEnd {
    /// The run.
    pub run: HeartbeatRun,
    /// The state after it.
    pub state: State,
    /// See [`HeartbeatRow::quiet_mark`].
    pub quiet_mark: Option<String>,
    /// See [`HeartbeatRow::remainder_mark`].
    pub remainder_mark: Option<String>,
    /// What the owner is told.
    pub deliveries: Vec<NewDelivery>,
    /// What it took in.
    pub consumed: Vec<ItemId>,
    /// What was too many to wait and is put aside with it: these items are new no more, and the watermarks of their
    /// accounts rise to the highest number among them.
    pub dropped: Vec<DroppedItems>,
    /// Marks of the standing items that it asked.
    pub asked: Vec<String>,
    /// Marks of items, and whether each is to be looked at alone from now on.
    pub alone: Vec<(String, bool)>,
    /// The name of its timer and when it is due next.
    pub timer: Option<(String, i64)>,
}

/// One run, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatRun {
    /// What makes it the same run after a crash.
    pub key: String,
    /// The part of what there is to look at that it saw; empty when it saw all.
    pub part: String,
    /// Whether a person asked for it.
    pub by_hand: bool,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: i64,
    /// What came of it.
    pub outcome: HeartbeatOutcome,
    /// What there is to say about it: the error, the remainder.
    pub detail: String,
    /// What it reported.
    pub report: Option<String>,
    /// The matter that it reported.
    pub report_key: Option<String>,
    /// Who wrote the least trusted text that it read.
    pub trust: Trust,
    /// The hidden conversation with its transcript; none when no model was asked.
    pub conversation: Option<ConversationId>,
    /// Requests that it made.
    pub requests: u64,
    /// Tokens of these requests.
    pub input_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeartbeatOutcome {
    /// Nothing was new, so no model was asked.
    Unchanged,
    /// The model found nothing to report.
    Quiet,
    /// It said nothing, with so much beside it that it may have been a report.
    Remainder,
    /// The owner was told something.
    Told,
    /// The same matter was told within a day, so it was not told again.
    Repeated,
    /// One of the items that it saw led to a stranger's text, so what it said counts for nothing, and each is looked at alone.
    Divided,
    /// It was cut off before its end.
    Cancelled,
    /// It failed.
    Failed,
}

impl HeartbeatOutcome {
    /// Every outcome.
    pub const ALL: [Self; 8] = [
        Self::Unchanged,
        Self::Quiet,
        Self::Remainder,
        Self::Told,
        Self::Repeated,
        Self::Divided,
        Self::Cancelled,
        Self::Failed,
    ];

    /// The outcome's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Quiet => "quiet",
            Self::Remainder => "quiet with remainder",
            Self::Told => "told",
            Self::Repeated => "repeated",
            Self::Divided => "divided",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Reads an outcome's name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

impl fmt::Display for HeartbeatOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
