//! Things with fields, as entries see them.

use limpid_core::Trust;
use serde_json::{Map, Value};

use crate::inputs::{
    ActiveSkill, ArtifactAction, ArtifactInput, ArtifactType, CallInput, CategoryName, CheckpointInput,
    CheckpointStatus, DailyNote, DecisionInput, Digest, EmailAccount, GoalInput, GoalStatus, HistoryMessage,
    MemoryEntry, NewEmail, NewNotification, NewSms, PreviousReport, Priority, Quoted, RoleName, SkillEntry,
    SkillSource, TaskEntry, ToolInput, Trigger, TrustName, WorkspaceFile,
};

use super::{Scope, View};

/// Something with fields: mostly the item of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// A memory.
    Memory(&'a MemoryEntry),
    /// A pending task.
    Task(&'a TaskEntry),
    /// A report of an earlier heartbeat.
    Report(&'a PreviousReport),
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
    /// A step of the goal.
    Checkpoint(&'a CheckpointInput),
    /// A decision of the goal.
    Decision(&'a DecisionInput),
    /// An artifact of the goal.
    Artifact(&'a ArtifactInput),
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
    /// A call of a tool.
    Call(&'a CallInput),
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
    /// Who wrote it.
    pub fn trust(&self) -> TrustName {
        match self {
            Self::Memory(memory) => memory.trust,
            Self::Report(report) => report.trust,
            Self::Email(_) | Self::Sms(_) | Self::Notification(_) => TrustName::Outside,
            Self::ActiveSkill(skill) => skill.trust,
            Self::Digest(digest) => digest.trust,
            Self::Quoted(quoted) => quoted.trust,
            Self::Made(fields) => fields
                .iter()
                .map(|(_, value)| value.trust())
                .max_by_key(|trust| Trust::from(*trust))
                .unwrap_or_default(),
            Self::Message(message) => message.trust,
            Self::File(_) | Self::Excerpt { .. } | Self::Line(_) | Self::Note(_) => TrustName::File,
            _ => TrustName::Owner,
        }
    }

    /// Where it comes from, when it is a record with a name of its own: `memory:<key>`, `task:<id>`, `skill:<name>`.
    pub fn origin(&self) -> Option<String> {
        let (kind, name) = match self {
            Self::Memory(memory) => ("memory", memory.key.as_str()),
            Self::Task(task) => ("task", task.id.as_str()),
            Self::Account(account) => ("account", account.address.as_str()),
            Self::Email(email) => ("email", email.id.as_str()),
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

    /// The value of a field.
    pub(crate) fn field(self, name: &str, scope: &Scope<'a>) -> View<'a> {
        match self {
            Self::Memory(memory) => memory_field(memory, name),
            Self::Task(task) => task_field(task, name),
            Self::Report(report) => quoted(&report.text, report.trust, name),
            Self::Account(account) => account_field(account, name),
            Self::Email(email) => email_field(email, name),
            Self::Sms(sms) => match name {
                "id" => View::text(&sms.id),
                "from" => View::outside(&sms.from),
                "preview" => View::outside(&sms.preview),
                _ => View::Absent,
            },
            Self::Notification(notification) => notification_field(notification, name),
            Self::Skill(skill) => skill_field(skill, name),
            Self::ActiveSkill(skill) => active_skill_field(skill, name),
            Self::Goal(goal) => goal_field(goal, name),
            Self::Checkpoint(step) => match name {
                "id" => View::text(&step.id),
                "description" => View::text(&step.description),
                "status" => View::text(checkpoint_status(step.status)),
                "completed_at" => View::option(step.completed_at.as_deref()),
                _ => View::Absent,
            },
            Self::Decision(decision) => match name {
                "id" => View::text(&decision.id),
                "description" => View::text(&decision.description),
                "rationale" => View::text(&decision.rationale),
                "locked" => View::Bool(decision.locked),
                _ => View::Absent,
            },
            Self::Artifact(artifact) => match name {
                "type" => View::text(artifact_type(artifact.kind)),
                "path" => View::text(&artifact.path),
                "action" => View::text(artifact_action(artifact.action)),
                _ => View::Absent,
            },
            Self::File(file) => pair(("name", &file.name), ("content", &file.content), name),
            Self::Excerpt { name: file, content } => pair(("name", file), ("content", content), name),
            Self::Line(text) => pair(("text", text), ("text", text), name),
            Self::Note(note) => pair(("date", &note.date), ("content", &note.content), name),
            Self::Digest(digest) if name == "id" => View::text(&digest.id),
            Self::Digest(digest) => quoted(&digest.text, digest.trust, name),
            Self::Quoted(text) => quoted(&text.text, text.trust, name),
            Self::Message(message) => message_field(message, name),
            Self::Call(call) => match name {
                "id" => View::text(&call.id),
                "name" => View::text(&call.name),
                "arguments" => View::text(&call.arguments),
                _ => View::Absent,
            },
            Self::Tool(tool) => match name {
                "name" => View::text(&tool.name),
                "group" => View::text(&tool.group),
                "description" => View::text(scope.description(tool)),
                "arguments" => View::Text(schema_in_short(&tool.schema).into()),
                "schema" => View::Record(Self::Json(&tool.schema)),
                _ => View::Absent,
            },
            Self::Group(group) => match name {
                "title" => View::text(group.title),
                "names" => View::List(group.names.into_iter().map(View::text).collect()),
                _ => View::Absent,
            },
            Self::Json(object) => object.get(name).map_or(View::Absent, json),
            Self::Made(fields) => {
                fields.into_iter().find(|(field, _)| *field == name).map_or(View::Absent, |(_, value)| value)
            }
        }
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

/// A JSON value as texts see it.
pub(super) fn json(value: &Value) -> View<'_> {
    match value {
        Value::Null => View::Absent,
        Value::Bool(flag) => View::Bool(*flag),
        Value::Number(number) => number.as_i64().map_or_else(|| View::Text(number.to_string().into()), View::Int),
        Value::String(text) => View::text(text),
        Value::Array(items) => View::List(items.iter().map(json).collect()),
        Value::Object(object) => View::Record(Record::Json(object)),
    }
}

/// A tool's arguments on one line: `key: string, hours?: integer`.
fn schema_in_short(schema: &Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let arguments: Vec<String> = properties
        .map(|(name, property)| {
            format!("{name}{}: {}", if is_required(name) { "" } else { "?" }, type_in_short(property))
        })
        .collect();
    arguments.join(", ")
}

fn type_in_short(property: &Value) -> String {
    let words = |values: &Vec<Value>| {
        let words: Vec<String> =
            values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
        words.join("|")
    };
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        return words(choices);
    }
    match property.get("type") {
        Some(Value::String(name)) if name == "array" => match property.pointer("/items/type").and_then(Value::as_str) {
            Some(item) => format!("{item}[]"),
            None => "array".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => words(names),
        _ => "any".to_owned(),
    }
}

fn pair<'a>(first: (&str, &'a str), second: (&str, &'a str), name: &str) -> View<'a> {
    [first, second].into_iter().find(|(field, _)| *field == name).map_or(View::Absent, |(_, text)| View::text(text))
}

fn quoted<'a>(text: &'a str, trust: TrustName, name: &str) -> View<'a> {
    match name {
        "text" => View::labelled(text, trust),
        "trust" => View::text(trust_name(trust)),
        _ => View::Absent,
    }
}

fn memory_field<'a>(memory: &'a MemoryEntry, name: &str) -> View<'a> {
    match name {
        "key" => View::labelled(&memory.key, memory.trust),
        "content" => View::labelled(&memory.content, memory.trust),
        "hits" => View::int(memory.hits),
        "category" => View::text(category(memory.category)),
        "trust" => View::text(trust_name(memory.trust)),
        _ => View::Absent,
    }
}

fn task_field<'a>(task: &'a TaskEntry, name: &str) -> View<'a> {
    match name {
        "id" => View::text(&task.id),
        "description" => View::text(&task.description),
        "prompt" => View::text(&task.prompt),
        "trigger" => View::text(trigger(task.trigger)),
        "cron" => View::option(task.cron.as_deref()),
        "zone" => View::option(task.zone.as_deref()),
        "scheduled_at" => View::option(task.scheduled_at.as_deref()),
        _ => View::Absent,
    }
}

fn account_field<'a>(account: &'a EmailAccount, name: &str) -> View<'a> {
    match name {
        "address" => View::text(&account.address),
        "unread" => View::int(account.unread),
        "last_sync" => View::option(account.last_sync.as_deref()),
        "last_error" => View::option(account.last_error.as_deref()),
        _ => View::Absent,
    }
}

fn email_field<'a>(email: &'a NewEmail, name: &str) -> View<'a> {
    match name {
        "id" => View::text(&email.id),
        "account" => View::text(&email.account),
        "from" => View::outside(&email.from),
        "subject" => View::outside(&email.subject),
        "preview" => View::outside(&email.preview),
        _ => View::Absent,
    }
}

fn notification_field<'a>(notification: &'a NewNotification, name: &str) -> View<'a> {
    match name {
        "id" => View::text(&notification.id),
        "app" => View::outside(&notification.app),
        "title" => View::outside(&notification.title),
        "preview" => View::outside(&notification.preview),
        "posted_at" => View::text(&notification.posted_at),
        _ => View::Absent,
    }
}

fn skill_field<'a>(skill: &'a SkillEntry, name: &str) -> View<'a> {
    match name {
        "name" => View::text(&skill.name),
        "title" => View::option(skill.title.as_deref()),
        "skill_title" => View::text(skill.title.as_deref().unwrap_or(&skill.name)),
        "description" => View::text(&skill.description),
        "location" => View::text(&skill.location),
        "source" => View::text(skill_source(skill.source)),
        _ => View::Absent,
    }
}

fn active_skill_field<'a>(skill: &'a ActiveSkill, name: &str) -> View<'a> {
    match name {
        "name" => View::text(&skill.name),
        "title" => View::option(skill.title.as_deref()),
        "skill_title" => View::text(skill.title.as_deref().unwrap_or(&skill.name)),
        "body" => View::labelled(&skill.body, skill.trust),
        "files" => View::texts(&skill.files),
        "trust" => View::text(trust_name(skill.trust)),
        _ => View::Absent,
    }
}

fn goal_field<'a>(goal: &'a GoalInput, name: &str) -> View<'a> {
    match name {
        "id" => View::text(&goal.id),
        "description" => View::text(&goal.description),
        "priority" => View::text(priority(goal.priority)),
        "status" => View::text(goal_status(goal.status)),
        "created_at" => View::text(&goal.created_at),
        "completed_at" => View::option(goal.completed_at.as_deref()),
        "checkpoints" => View::records(goal.checkpoints.iter().map(Record::Checkpoint)),
        "decisions" => View::records(goal.decisions.iter().map(Record::Decision)),
        "artifacts" => View::records(goal.artifacts.iter().map(Record::Artifact)),
        _ => View::Absent,
    }
}

fn message_field<'a>(message: &'a HistoryMessage, name: &str) -> View<'a> {
    match name {
        "role" => View::text(role(message.role)),
        "content" => View::labelled(&message.content, message.trust),
        "trust" => View::text(trust_name(message.trust)),
        "calls" => View::records(message.calls.iter().map(Record::Call)),
        "call_id" => View::option(message.call_id.as_deref()),
        "boundary" => View::option(message.boundary.as_deref()),
        "id" => message.id.map_or(View::Absent, View::Int),
        _ => View::Absent,
    }
}

macro_rules! words {
    ($(fn $name:ident($type:ident) { $($variant:ident => $word:literal),+ $(,)? })+) => {$(
        pub(super) const fn $name(value: $type) -> &'static str {
            match value { $($type::$variant => $word),+ }
        }
    )+};
}

words! {
    fn trust_name(TrustName) { Owner => "owner", File => "file", Guest => "guest", Outside => "outside" }
    fn category(CategoryName) {
        General => "GENERAL", Preference => "PREFERENCE", Learning => "LEARNING", Error => "ERROR",
    }
    fn trigger(Trigger) { Time => "time", Cron => "cron", Heartbeat => "heartbeat" }
    fn skill_source(SkillSource) { Workspace => "workspace", Global => "global", Builtin => "builtin" }
    fn priority(Priority) { High => "high", Medium => "medium", Low => "low" }
    fn goal_status(GoalStatus) { Active => "active", Paused => "paused", Completed => "completed" }
    fn checkpoint_status(CheckpointStatus) {
        Pending => "pending", InProgress => "in-progress", Completed => "completed",
    }
    fn artifact_type(ArtifactType) { File => "file", Test => "test", Documentation => "documentation" }
    fn artifact_action(ArtifactAction) { Created => "created", Modified => "modified", Deleted => "deleted" }
    fn role(RoleName) { System => "system", User => "user", Assistant => "assistant", Tool => "tool" }
}
