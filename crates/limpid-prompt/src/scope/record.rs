//! Things with fields, as entries see them.

use serde_json::{Map, Value};

use crate::inputs::{
    ActiveSkill, ArtifactInput, CallInput, CheckpointInput, DailyNote, DecisionInput, Digest, EmailAccount, GoalInput,
    HistoryMessage, MemoryEntry, NewEmail, NewNotification, NewSms, PreviousReport, Quoted, SkillEntry, TaskEntry,
    ToolInput, TrustName, UnreadEntry, WorkspaceFile,
};
use crate::scope::data::Scope;
use crate::scope::view::View;

/// Something with fields: mostly the item of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// A memory.
    Memory(&'a MemoryEntry),
    /// A pending task.
    Task(&'a TaskEntry),
    /// A report of an earlier heartbeat.
    Report(&'a PreviousReport),
    /// Something that reached a chat while nobody looked.
    Unread(&'a UnreadEntry),
    /// A mail account.
    Account(&'a EmailAccount),
    /// A mail.
    Email(&'a NewEmail),
    /// A text message.
    Sms(&'a NewSms),
    /// A notification.
    Notification(&'a NewNotification),
    /// A line of the skill index.
    Skill(&'a SkillEntry),
    /// An active skill.
    ActiveSkill(&'a ActiveSkill),
    /// A goal.
    Goal(&'a GoalInput),
    /// A step of the goal, with the label of the goal.
    Checkpoint(&'a CheckpointInput, TrustName),
    /// A decision of the goal, with the label of the goal.
    Decision(&'a DecisionInput, TrustName),
    /// An artifact of the goal, with the label of the goal.
    Artifact(&'a ArtifactInput, TrustName),
    /// A file of the workspace.
    File(&'a WorkspaceFile),
    /// What a prompt quotes of a file of the workspace.
    Excerpt {
        /// The file's name.
        name: &'a str,
        /// What is quoted.
        content: &'a str,
    },
    /// A line of MEMORY.md, with what stands above it.
    Line(&'a str),
    /// The note of a day.
    Note(&'a DailyNote),
    /// A digest of what compaction took out.
    Digest(&'a Digest),
    /// A quoted text.
    Quoted(&'a Quoted),
    /// A message of the conversation.
    Message(&'a HistoryMessage),
    /// A call of a tool, with the label of the message that made it.
    Call(&'a CallInput, TrustName),
    /// A tool that is offered.
    Tool(&'a ToolInput),
    /// A group of offered tools.
    Group(GroupView<'a>),
    /// An object of an isolated path's payload, or of a tool's schema.
    Json(&'a Map<String, Value>),
    /// Fields that were put together from the inputs.
    Made(Vec<(&'static str, View<'a>)>),
}

/// A group of `[groups]` with the offered tools only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its tools.
    pub names: Vec<&'a str>,
}

impl<'a> Record<'a> {
    /// The place of a step in its whole goal, from 1: it stays the same when others have no room.
    pub(crate) fn step_number(&self, scope: &Scope<'_>) -> Option<usize> {
        let Self::Checkpoint(step, _) = self else { return None };
        let inputs = scope.inputs();
        let stored = inputs.changed.stored.as_ref().and_then(|stored| stored.goal.as_ref());
        [inputs.goal.as_ref(), stored].into_iter().flatten().find_map(|goal| {
            let mut places = (1..).zip(&goal.checkpoints).filter(|(_, other)| other.id == step.id);
            // Steps without ids are counted as they are shown.
            places.next().filter(|_| places.next().is_none()).map(|(place, _)| place)
        })
    }

    /// Who wrote it.
    pub fn trust(&self) -> TrustName {
        match self {
            Self::Memory(memory) => memory.trust,
            Self::Report(report) => report.trust,
            Self::Task(task) => task.trust,
            Self::Unread(unread) => unread.trust,
            Self::Email(_) | Self::Sms(_) | Self::Notification(_) => TrustName::Outside,
            Self::ActiveSkill(skill) => skill.trust,
            Self::Digest(digest) => digest.trust,
            Self::Quoted(quoted) => quoted.trust,
            Self::Made(fields) => {
                fields.iter().filter_map(|(_, value)| value.trust()).reduce(TrustName::join).unwrap_or(TrustName::File)
            }
            Self::Skill(skill) => skill.trust,
            Self::Goal(goal) => goal.trust,
            Self::Checkpoint(_, trust) | Self::Decision(_, trust) | Self::Artifact(_, trust) | Self::Call(_, trust) => {
                *trust
            }
            Self::Message(message) => message.trust,
            Self::File(_)
            | Self::Excerpt { .. }
            | Self::Line(_)
            | Self::Note(_)
            | Self::Account(_)
            | Self::Tool(_)
            | Self::Group(_)
            | Self::Json(_) => TrustName::File,
        }
    }

    /// Where it comes from, when it is a record with a name of its own: `memory:<key>`, `task:<id>`, `skill:<name>`.
    pub fn origin(&self) -> Option<String> {
        let (kind, name) = match self {
            Self::Memory(memory) => ("memory", memory.key.as_str()),
            Self::Task(task) => ("task", task.id.as_str()),
            Self::Account(account) => ("account", account.address.as_str()),
            // A number is one of its account.
            Self::Email(email) => return Some(format!("email:{}/{}", email.account, email.id)),
            Self::Sms(sms) => ("sms", sms.id.as_str()),
            Self::Notification(notification) => ("notification", notification.id.as_str()),
            Self::Skill(skill) => ("skill", skill.name.as_str()),
            Self::ActiveSkill(skill) => ("skill", skill.name.as_str()),
            Self::Goal(goal) => ("goal", goal.id.as_str()),
            Self::File(file) => ("workspace", file.name.as_str()),
            Self::Excerpt { name, .. } => ("workspace", *name),
            Self::Line(_) => ("workspace", "memory/MEMORY.md"),
            Self::Note(note) => ("note", note.date.as_str()),
            Self::Digest(digest) => ("digest", digest.id.as_str()),
            Self::Message(HistoryMessage { id: Some(id), .. }) => return Some(format!("message:{id}")),
            Self::Tool(tool) => ("tool", tool.name.as_str()),
            _ => return None,
        };
        Some(format!("{kind}:{name}"))
    }
}

impl<'a> From<View<'a>> for Record<'a> {
    /// An item of a list; one without fields gets the field `item`.
    fn from(item: View<'a>) -> Self {
        match item {
            View::Record(record) => record,
            plain => Self::Made(vec![("item", plain)]),
        }
    }
}
