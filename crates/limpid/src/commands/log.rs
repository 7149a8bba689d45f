//! The log of `limpid serve`: lines for people, or a JSON object a line. The objects hold names, numbers and words of this program's
//! own: whoever collects logs gets nothing of what the owner, a model or a stranger wrote.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::task::RunOutcome;
use limpid_runtime::{Event, EventKind, LogForm, ServeEvent};
use limpid_server::DoorNews;
use serde_json::{Map, Value, json};

use super::changes;
use super::listing::in_zone;
use crate::failure::Failure;
use crate::output;

/// Characters of a line for people that tells of a change.
const MOST: usize = 400;

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// A line of the log.
#[derive(Clone, Debug)]
pub(super) struct LogLine {
    level: Level,
    /// For people.
    words: String,
    /// What happened, in a word for programs.
    event: String,
    /// What happened, always in the same words.
    message: &'static str,
    /// What belongs to it: numbers, ids, words of this program's own.
    fields: Map<String, Value>,
    /// Whether a person learns nothing by it that another line does not say.
    for_programs: bool,
}

impl LogLine {
    fn new(event: &str, message: &'static str, words: String, fields: Value) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { level: Level::Info, words, event: event.to_owned(), message, fields, for_programs: false }
    }

    fn for_programs(self) -> Self {
        Self { for_programs: true, ..self }
    }

    fn warning(self) -> Self {
        Self { level: Level::Warn, ..self }
    }

    /// What the end of `limpid serve` says when it failed.
    pub(super) fn failed(failure: &Failure) -> Self {
        let fields = json!({ "exit_code": failure.status.code() });
        let line = Self::new("failed", failure.status.meaning(), failure.to_string(), fields);
        Self { level: Level::Error, ..line }
    }

    /// Where the page is, with a link that logs a browser in.
    pub(super) fn page_shown(link: &str, address: std::net::SocketAddr) -> Self {
        let words = format!("page: open {link} (good once, for an hour)");
        // Logs go far; a link that logs in does not go with them.
        let message = "the page is shown; `limpid serve --link` prints a link that logs in";
        Self::new("page", message, words, json!({ "address": address.to_string() }))
    }

    /// The page is shown, and nobody can log in.
    pub(super) fn page_closed(address: std::net::SocketAddr, why: &str) -> Self {
        let words = format!("page: at http://{address}, but nobody can log in: {why}");
        Self::new("page", "nobody can log in at the page", words, json!({ "address": address.to_string() })).warning()
    }

    /// There is no page.
    pub(super) fn no_page(why: &str) -> Self {
        Self::new("page", "the page is not shown", format!("page: not shown: {why}"), Value::Null).warning()
    }

    /// What changes about where incoming items are taken.
    pub(super) fn door(news: &DoorNews) -> Self {
        match news {
            DoorNews::Opened(address) => {
                let words = format!("inbox: listening on http://{address}");
                Self::new("inbox", "incoming items are taken", words, json!({ "address": address.to_string() }))
            }
            DoorNews::Closed(address) => {
                let words = format!("inbox: stopped listening on http://{address}");
                let message = "incoming items are not taken any more";
                Self::new("inbox", message, words, json!({ "address": address.to_string() }))
            }
            DoorNews::Stuck(why) => {
                let words = format!("inbox: not listening: {why}");
                Self::new("inbox", "incoming items cannot be taken", words, Value::Null).warning()
            }
        }
    }

    /// Traces cannot be sent.
    pub(super) fn no_traces(words: &str) -> Self {
        Self::new("traces", "traces are not sent", words.to_owned(), Value::Null).warning()
    }

    /// What `serve --once` did.
    pub(super) fn did(words: String, done: usize, failed: usize, next_ms: Option<i64>) -> Self {
        let fields = json!({ "done": done, "failed": failed, "next": next_ms.map(time) });
        Self::new("once", "everything that was due is done", words, fields)
    }

    /// What happens while the agent serves.
    pub(super) fn serve(event: &ServeEvent, zone: &TimeZone) -> Self {
        let words = words(event, zone);
        match event {
            ServeEvent::Ready => Self::new("ready", "ready", words, Value::Null),
            ServeEvent::Began { kind, name, slot_ms } => {
                Self::new("began", "a run begins", words, run(kind, name, "due", Some(*slot_ms))).for_programs()
            }
            ServeEvent::Done { kind, name, next_ms } => {
                Self::new("done", "a run is done", words, run(kind, name, "next", *next_ms))
            }
            ServeEvent::Failed { kind, name, again_ms, .. } => {
                let fields = run(kind, name, "again", Some(*again_ms));
                Self::new("run-failed", "a run failed and is tried again", words, fields).warning()
            }
            ServeEvent::Notice { what, .. } => Self::new("notice", what, words, Value::Null),
            ServeEvent::Trouble { what, .. } => Self::new("trouble", what, words, Value::Null).warning(),
            ServeEvent::Stopping => Self::new("stopping", "stopping", words, Value::Null),
        }
    }

    /// What changed in the agent; none when it is of use to programs only.
    pub(super) fn change(event: &Event) -> Option<Self> {
        // Each line of the log has its time; what is long or has lines of its own is whole in the conversation.
        let words = output::one_line(&changes::words(&event.change)?, MOST);
        let (message, mut fields) = plain(&event.change);
        if let (Some(conversation), Value::Object(fields)) = (&event.conversation, &mut fields) {
            fields.insert("conversation".to_owned(), conversation.as_str().into());
        }
        let name = serde_json::to_value(&event.change).ok()?["event"].as_str()?.to_owned();
        let line = Self::new(&name, message, words, fields);
        let fails = matches!(
            event.change,
            EventKind::CompactionFailed { .. }
                | EventKind::SemanticSearchFailed { .. }
                | EventKind::NotificationFailed { .. }
        );
        // The line of its run says that it ended well.
        let is_said =
            matches!(&event.change, EventKind::TaskRan { outcome, .. } if outcome == RunOutcome::Done.as_str());
        Some(match (fails, is_said) {
            (true, _) => line.warning(),
            (false, true) => line.for_programs(),
            (false, false) => line,
        })
    }

    /// The line at a time.
    fn at(&self, now: Timestamp, form: LogForm, zone: &TimeZone) -> String {
        match form {
            LogForm::Text => format!("{} {}", now.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S"), self.words),
            LogForm::Json => {
                let mut fields = Map::new();
                fields.insert("event".to_owned(), self.event.clone().into());
                fields.extend(self.fields.clone());
                let line = json!({
                    "time": time(now.as_millisecond()), "level": self.level.as_str(), "message": self.message,
                    "fields": fields,
                });
                line.to_string()
            }
        }
    }
}

/// A log.
#[derive(Debug)]
pub(super) struct Log {
    form: LogForm,
    zone: TimeZone,
}

impl Log {
    /// A log with times of the owner's zone.
    pub(super) fn new(form: LogForm, zone: TimeZone) -> Self {
        Self { form, zone }
    }

    /// Whether it is for programs.
    pub(super) fn is_json(&self) -> bool {
        self.form == LogForm::Json
    }

    /// Writes a line.
    pub(super) fn write(&self, line: &LogLine) {
        if line.for_programs && !self.is_json() {
            return;
        }
        let text = line.at(Timestamp::now(), self.form, &self.zone);
        match self.form {
            LogForm::Text => output::tell_further_in(&text),
            LogForm::Json => output::tell_json(&text),
        }
    }
}

/// A time in words that programs read.
fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map(|time| format!("{time:.3}")).unwrap_or_default()
}

/// A run by its kind and, where that is a number, its name: the name of a mail account is an address.
fn run(kind: &str, name: &str, when: &str, ms: Option<i64>) -> Value {
    let mut fields = json!({ "kind": kind });
    if let Ok(number) = name.parse::<i64>() {
        fields["number"] = number.into();
    }
    if let Some(ms) = ms {
        fields[when] = time(ms).into();
    }
    fields
}

/// What an event says without anything that somebody wrote.
fn plain(change: &EventKind) -> (&'static str, Value) {
    match change {
        EventKind::SystemPromptUpdated { tier, tokens, .. } => {
            ("the system prompt has changed", json!({ "tier": tier, "tokens": tokens }))
        }
        EventKind::ModeChanged { .. } => ("another mode is on", json!({})),
        EventKind::ActiveSkillsUpdated(names) => ("other skills are active", counted(names)),
        EventKind::ActiveToolsUpdated(names) => ("other tools are offered", counted(names)),
        EventKind::ActiveMcpUpdated(names) => ("other MCP servers are connected", counted(names)),
        EventKind::PromptTierChanged { old, new, .. } => {
            ("the prompt has another tier", json!({ "old": old, "new": new }))
        }
        EventKind::GoalUpdated { .. } => ("the goal has changed", json!({})),
        EventKind::ContextWarning { used, available, .. } => {
            ("the window fills up", json!({ "used": used, "available": available }))
        }
        EventKind::CompactionStarted { before } => ("a conversation is compacted", json!({ "before": before })),
        EventKind::CompactionFinished { before, after, .. } => {
            ("a conversation was compacted", json!({ "before": before, "after": after }))
        }
        EventKind::CompactionFailed { again, .. } => ("a conversation was not compacted", json!({ "again": again })),
        EventKind::Delivered { origin, delivery, .. } => {
            ("a message was delivered", json!({ "origin": origin, "delivery": delivery }))
        }
        EventKind::AgentEnded { agent, state, .. } => ("an agent has ended", json!({ "agent": agent, "state": state })),
        EventKind::TaskRan { task, outcome, .. } => ("a task has run", json!({ "task": task, "outcome": outcome })),
        EventKind::HeartbeatDecided { outcome, .. } => ("the heartbeat has decided", json!({ "outcome": outcome })),
        EventKind::DraftUpdated { draft, state, .. } => {
            ("a draft has changed", json!({ "draft": draft, "state": state }))
        }
        EventKind::ItemArrived { source, id } => ("an item has come in", json!({ "source": source, "item": id })),
        EventKind::SemanticSearchFailed { .. } => ("semantic search is unavailable; keywords were used", json!({})),
        EventKind::NotificationFailed { by, .. } => ("a notification failed", json!({ "by": by })),
    }
}

fn counted(names: &limpid_runtime::events::Difference) -> Value {
    json!({ "added": names.added.len(), "removed": names.removed.len() })
}

/// What a line for people says.
fn words(event: &ServeEvent, zone: &TimeZone) -> String {
    match event {
        ServeEvent::Ready => "ready".to_owned(),
        ServeEvent::Began { kind, name, slot_ms } => format!("{kind} {name} begins (due {})", in_zone(*slot_ms, zone)),
        ServeEvent::Done { kind, name, next_ms: Some(next) } => {
            format!("{kind} {name} has run, next {}", in_zone(*next, zone))
        }
        ServeEvent::Done { kind, name, next_ms: None } => format!("{kind} {name} has run"),
        ServeEvent::Failed { kind, name, why, again_ms } => {
            format!("{kind} {name} failed, again {}: {}", in_zone(*again_ms, zone), output::shown_line(why))
        }
        ServeEvent::Notice { text, .. } | ServeEvent::Trouble { text, .. } => text.clone(),
        ServeEvent::Stopping => "stopping".to_owned(),
    }
}

#[cfg(test)]
mod tests;
