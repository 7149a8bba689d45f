//! What somebody asks for, and whether it can be.

use limpid_core::task::{MissedPolicy, Standing, TaskKind, TaskStatus, Trigger, TriggerError};
use limpid_core::{ConversationId, zone};
use limpid_store::{NewTask, Task};

use crate::error::AgentError;
use crate::tasks::display::{count_words, lasting_words};
use crate::tasks::requester::{Requester, zone_name};

/// Characters of what a task is, for people.
const DESCRIPTION: usize = 200;

/// Characters of what a task does.
const PROMPT: usize = 20_000;

/// A task that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRequest {
    /// What makes it the same task when it is asked for again.
    pub key: Option<String>,
    /// What it is, for people; empty: the beginning of what it does.
    pub description: String,
    /// What the model is told, what is sent, or the command.
    pub prompt: String,
    /// What is done.
    pub kind: TaskKind,
    /// When.
    pub when: When,
    /// The IANA zone of its times; absent: that of whoever asks.
    pub zone: Option<String>,
    /// What is done about runs that were missed; absent: what is usual.
    pub missed: Option<MissedPolicy>,
    /// The conversation that its output goes to; absent: that of the heartbeat.
    pub conversation: Option<ConversationId>,
}

/// When a task is due, as somebody says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// At a moment, in ISO 8601.
    At(String),
    /// So many seconds from now.
    In(i64),
    /// Every so many seconds.
    Every(i64),
    /// At the times of a cron pattern.
    Cron(String),
    /// At every heartbeat.
    Heartbeat,
}

/// What is to be different about a task; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskChange {
    /// What it is, for people.
    pub description: Option<String>,
    /// What it does.
    pub prompt: Option<String>,
    /// What is done.
    pub kind: Option<TaskKind>,
    /// When.
    pub when: Option<When>,
    /// The IANA zone of its times.
    pub zone: Option<String>,
    /// What is done about runs that were missed.
    pub missed: Option<MissedPolicy>,
}

impl TaskRequest {
    /// What is to be kept of it; relative paths begin at `base`, the workspace where it is absent.
    pub(crate) fn check(self, requester: &Requester, base: Option<String>) -> Result<NewTask, AgentError> {
        let prompt = said(&self.prompt, "what is to be done", PROMPT)?;
        let description = match self.description.trim() {
            "" => short(&prompt),
            _ => said(&self.description, "the description", DESCRIPTION)?,
        };
        let zone = self.zone.as_deref().unwrap_or_else(|| zone_name(&requester.zone));
        let trigger = self.when.trigger(zone, requester).map_err(|error| refused(&error))?;
        runnable(self.kind, &trigger, base.as_deref())?;
        Ok(NewTask {
            key: self.key,
            description,
            prompt,
            kind: self.kind,
            trigger,
            zone: zone.to_owned(),
            missed: self.missed.unwrap_or_else(|| MissedPolicy::usual(self.kind)),
            conversation: self.conversation,
            base,
            trust: requester.trust,
            typed: requester.typed,
        })
    }
}

impl When {
    /// What whoever is asked about a task is told of its times, in the zone that is asked for or in theirs; none for what is no time,
    /// which is refused without a question.
    pub(crate) fn in_words(&self, zone: Option<&str>, requester: &Requester) -> Option<String> {
        let zone = zone.unwrap_or_else(|| zone_name(&requester.zone));
        Some(match self {
            Self::In(seconds) => format!("once, {} after your yes", count_words(*seconds)),
            other => lasting_words(&other.trigger(zone, requester).ok()?, zone, &requester.zone),
        })
    }

    fn trigger(&self, zone: &str, requester: &Requester) -> Result<Trigger, TriggerError> {
        let found = zone::named(zone).ok_or_else(|| TriggerError::Zone(zone.to_owned()))?;
        match self {
            Self::At(text) => Trigger::at(text, &found, requester.now),
            Self::In(seconds) => Trigger::after_seconds(*seconds, requester.now),
            Self::Every(seconds) => Trigger::every_seconds(*seconds, requester.now),
            Self::Cron(pattern) => Trigger::cron(pattern, zone),
            Self::Heartbeat => Ok(Trigger::Heartbeat),
        }
    }
}

impl TaskChange {
    /// Changes a task, or nothing of it.
    pub(crate) fn apply(&self, task: &mut Task, requester: &Requester) -> Result<(), AgentError> {
        let mut new = task.new.clone();
        if let Some(description) = &self.description {
            new.description = said(description, "the description", DESCRIPTION)?;
        }
        if let Some(prompt) = &self.prompt {
            new.prompt = said(prompt, "what is to be done", PROMPT)?;
            // What was taken from the text follows it.
            if self.description.is_none() && new.description == short(&task.new.prompt) {
                new.description = short(&new.prompt);
            }
        }
        // A form brings a text back as it stood, so no change makes one the owner's own words.
        new.typed &= requester.typed || (new.description == task.new.description && new.prompt == task.new.prompt);
        if let Some(zone) = &self.zone {
            zone::named(zone).ok_or_else(|| refused(&TriggerError::Zone(zone.clone())))?;
            zone.clone_into(&mut new.zone);
            // A pattern keeps its hours on the clock of its new zone.
            if let Trigger::Cron { pattern, .. } = &new.trigger {
                new.trigger = Trigger::cron(&pattern.to_string(), zone).map_err(|error| refused(&error))?;
            }
        }
        if let Some(when) = &self.when {
            new.trigger = when.trigger(&new.zone, requester).map_err(|error| refused(&error))?;
        }
        if let Some(kind) = self.kind.filter(|kind| *kind != new.kind) {
            if new.missed == MissedPolicy::usual(new.kind) {
                new.missed = MissedPolicy::usual(kind);
            }
            new.kind = kind;
        }
        runnable(new.kind, &new.trigger, new.base.as_deref())?;
        new.missed = self.missed.unwrap_or(new.missed);
        // Whatever is written anew: a label is not raised by a change.
        new.trust = new.trust.join(requester.trust);
        if new.trigger != task.new.trigger {
            let status = match task.standing.status {
                TaskStatus::Disabled => TaskStatus::Disabled,
                _ => TaskStatus::Pending,
            };
            task.standing = Standing { status, ..Standing::begin(&new.trigger, requester.now) };
        }
        task.new = new;
        Ok(())
    }
}

/// A heartbeat hands its additions to a model, so it runs no command; and it works in the workspace alone.
fn runnable(kind: TaskKind, trigger: &Trigger, base: Option<&str>) -> Result<(), AgentError> {
    if *trigger == Trigger::Heartbeat && base.is_some() {
        return Err(AgentError::Invalid(
            "the heartbeat works in the workspace, and this task is about another folder; give it a time of its own, or plan \
             it in a chat outside of the editor"
                .to_owned(),
        ));
    }
    if kind == TaskKind::Command && *trigger == Trigger::Heartbeat {
        return Err(AgentError::Invalid(
            "a command cannot be added to the heartbeat, which only hands text to a model; give it a time of its own, \
             such as --every 30m"
                .to_owned(),
        ));
    }
    Ok(())
}

/// A text that says something and is not too long.
fn said(text: &str, what: &str, limit: usize) -> Result<String, AgentError> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(AgentError::Invalid(format!("{what} is missing; say it in a few words"))),
        count if count > limit => {
            Err(AgentError::Invalid(format!("{what} has {count} characters, at most {limit} are kept; shorten it")))
        }
        _ => Ok(text.to_owned()),
    }
}

/// The first line of a text, in short.
fn short(text: &str) -> String {
    const SHORT: usize = 60;
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(SHORT) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

fn refused(error: &TriggerError) -> AgentError {
    AgentError::Invalid(error.to_string())
}
