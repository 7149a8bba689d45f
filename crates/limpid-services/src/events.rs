//! What happens in an agent besides the turns themselves, for everybody who watches: one stream for the command line,
//! the HTTP interface and the page.
//!
//! An event is sent once a change, after it was committed, and not at all when nothing changed. Whoever
//! listens too slowly loses the oldest events and is told how many.

use limpid_core::ConversationId;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::directory::is_run;

/// Events that a slow listener may be behind.
const KEPT: usize = 1024;

/// Something that changed, and in which conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// The conversation; none when it concerns the whole agent.
    #[serde(serialize_with = "optional_id")]
    pub conversation: Option<ConversationId>,
    /// What changed.
    #[serde(flatten)]
    pub change: EventKind,
}

/// What changed, under the seed's names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// The system prompt has other bytes than before.
    SystemPromptUpdated {
        /// The mode.
        mode: String,
        /// The tier, 1 to 5.
        tier: u8,
        /// Tokens of the system prompt.
        tokens: usize,
        /// The hash of its text.
        hash: String,
        /// Why: `first`, `profile`, `mode`, `tier`, `goal`, `skills`, `tools`, `memory`, or else `files`.
        reason: String,
        /// What budgets cut, a line each.
        trims: Vec<String>,
    },
    /// Another mode.
    ModeChanged {
        /// The mode before.
        from: String,
        /// The mode after.
        to: String,
        /// Who changed it: `auto`, `manual`, `tool` or `explicit`.
        trigger: String,
    },
    /// Other skills are active.
    ActiveSkillsUpdated(Difference),
    /// Other tools are offered.
    ActiveToolsUpdated(Difference),
    /// Other MCP servers are connected.
    ActiveMcpUpdated(Difference),
    /// Another tier.
    PromptTierChanged {
        /// The tier before.
        old: u8,
        /// The tier after.
        new: u8,
        /// Why.
        reason: String,
    },
    /// The goal changed.
    GoalUpdated {
        /// The goal.
        goal: String,
        /// What happened to it.
        what: String,
    },
    /// The window fills up.
    ContextWarning {
        /// Tokens of the conversation.
        used: usize,
        /// Tokens that it may have.
        available: usize,
        /// What the person should know.
        advice: String,
    },
    /// A message that nobody waited for has reached the conversation.
    Delivered {
        /// What it comes from: `heartbeat`, `task`, `reminder`, `notice` or `message`.
        origin: String,
        /// What it is about.
        title: String,
        /// What it says, as it stands in the conversation.
        text: String,
        /// Its number, by which `Deliveries::mark_delivery_read` takes it for read.
        delivery: i64,
    },
    /// Older messages are being summarised; one of the next two events follows.
    CompactionStarted {
        /// Tokens before.
        before: usize,
    },
    /// A compaction was made.
    CompactionFinished {
        /// Tokens before.
        before: usize,
        /// Tokens after.
        after: usize,
        /// What was done, a line each.
        steps: Vec<String>,
    },
    /// A compaction was not made; the conversation is as it was.
    CompactionFailed {
        /// Whether the person was told of the same reason before.
        again: bool,
        /// Why.
        reason: String,
    },
    /// An agent that a turn handed work to has ended.
    AgentEnded {
        /// Its number.
        agent: i64,
        /// Its name for people.
        label: String,
        /// How it ended: `done`, `failed`, `timeout`, `cancelled` or `interrupted`.
        state: String,
    },
    /// A task ran.
    TaskRan {
        /// Its number.
        task: i64,
        /// What came of it: `done`, `failed`, `missed` or `cut-off`.
        outcome: String,
        /// What its log says besides.
        detail: String,
    },
    /// The heartbeat came to a decision.
    HeartbeatDecided {
        /// The run.
        run: String,
        /// Which: `told`, `quiet`, `unchanged`, `repeated`, `remainder`, `cancelled` or `failed`.
        outcome: String,
        /// Why, where there is something to say.
        detail: String,
    },
    /// A draft was kept, or took another step.
    DraftUpdated {
        /// Its number.
        draft: i64,
        /// The tool that it would call.
        tool: String,
        /// What it is now: `open`, `approved`, `sending`, `sent`, `failed`, `refused` or `expired`.
        state: String,
    },
    /// Something came in.
    ItemArrived {
        /// Its source: `mail`, `sms` or `notification`.
        source: String,
        /// Its number.
        id: i64,
    },
    /// What texts mean cannot be asked, so words alone find what is remembered and was said, until it can be again.
    SemanticSearchFailed {
        /// The model of embeddings: `provider/model`.
        model: String,
        /// Why.
        reason: String,
    },
    /// The owner could not be told of something.
    NotificationFailed {
        /// What should have told them: `ntfy`, `command`, `desktop`.
        by: String,
        /// Why it could not.
        reason: String,
    },
}

impl EventKind {
    /// What changed, in the words of `SlashReply::changed`: a surface that shows a reply need not
    /// show the events that the reply speaks of.
    pub fn topic(&self) -> &'static str {
        match self {
            Self::SystemPromptUpdated { .. } => "prompt",
            Self::ModeChanged { .. } => "mode",
            Self::ActiveSkillsUpdated(_) => "skills",
            Self::ActiveToolsUpdated(_) => "tools",
            Self::ActiveMcpUpdated(_) => "servers",
            Self::PromptTierChanged { .. } => "tier",
            Self::GoalUpdated { .. } => "goal",
            Self::ContextWarning { .. }
            | Self::CompactionStarted { .. }
            | Self::CompactionFinished { .. }
            | Self::CompactionFailed { .. } => "window",
            Self::Delivered { .. } => "delivery",
            Self::AgentEnded { .. } => "agent",
            Self::TaskRan { .. } => "task",
            Self::HeartbeatDecided { .. } => "heartbeat",
            Self::DraftUpdated { .. } => "draft",
            Self::ItemArrived { .. } => "inbox",
            Self::SemanticSearchFailed { .. } => "search",
            Self::NotificationFailed { .. } => "notification",
        }
    }
}

/// Names that came and went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Those that came.
    pub added: Vec<String>,
    /// Those that went.
    pub removed: Vec<String>,
}

impl Difference {
    /// The difference between two lists of names; none when they hold the same names.
    pub fn between(before: &[String], after: &[String]) -> Option<Self> {
        let missing = |from: &[String], names: &[String]| {
            names.iter().filter(|name| !from.contains(name)).cloned().collect::<Vec<_>>()
        };
        let difference = Self { added: missing(before, after), removed: missing(after, before) };
        (!difference.added.is_empty() || !difference.removed.is_empty()).then_some(difference)
    }
}

/// The stream itself.
#[derive(Clone, Debug)]
pub struct EventBus {
    sender: broadcast::Sender<Event>,
}

impl Default for EventBus {
    fn default() -> Self {
        Self { sender: broadcast::channel(KEPT).0 }
    }
}

impl EventBus {
    /// Tells everybody who listens; nobody has to. What changes in the hidden conversation of a run is nobody's news, but for a draft that waits for the owner.
    pub fn send(&self, conversation: Option<&ConversationId>, change: EventKind) {
        if conversation.is_some_and(is_run) && !matches!(change, EventKind::DraftUpdated { .. }) {
            return;
        }
        let _ = self.sender.send(Event { conversation: conversation.cloned(), change });
    }

    /// What is sent from here on.
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }
}

fn optional_id<S: serde::Serializer>(id: &Option<ConversationId>, serializer: S) -> Result<S::Ok, S::Error> {
    id.as_ref().map(ConversationId::as_str).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-107 OLLM-109
    #[test]
    fn an_event_has_the_seeds_name_and_says_what_came_and_went() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let difference = Difference::between(&names(&["a", "b"]), &names(&["b", "c"])).unwrap();
        let event =
            Event { conversation: Some(ConversationId::new("c1")), change: EventKind::ActiveSkillsUpdated(difference) };
        let json = serde_json::to_string(&event).unwrap();
        assert_eq!(json, r#"{"conversation":"c1","event":"active-skills-updated","added":["c"],"removed":["a"]}"#);
        assert_eq!(Difference::between(&names(&["a", "b"]), &names(&["b", "a"])), None);
    }
}
