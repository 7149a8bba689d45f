//! The fields of each kind of record.

use crate::inputs::{
    ActiveSkill, ArtifactAction, ArtifactType, CategoryName, CheckpointStatus, EmailAccount, GoalInput, GoalStatus,
    HistoryMessage, MemoryEntry, NewEmail, NewNotification, Priority, RoleName, SkillEntry, SkillSource, TaskEntry,
    Trigger, TrustName, schema_in_short,
};

use super::data::Scope;
use super::json::json;
use super::record::Record;
use super::view::View;

impl<'a> View<'a> {
    /// The value of a field, or of a field of a field.
    pub(crate) fn at(self, path: &[String], scope: &Scope<'a>) -> Self {
        path.iter().fold(self, |value, name| match value {
            Self::Record(record) => record.field(name, scope),
            _ => Self::Absent,
        })
    }
}

impl<'a> Record<'a> {
    /// The value of a field.
    pub(crate) fn field(self, name: &str, scope: &Scope<'a>) -> View<'a> {
        match self {
            Self::Memory(memory) => memory_field(memory, name),
            Self::Task(task) => task_field(task, name),
            Self::Report(report) => quoted(&report.text, report.trust, name),
            Self::Unread(unread) => match name {
                "origin" => View::labelled(&unread.origin, unread.trust),
                "title" => View::labelled(&unread.title, unread.trust),
                _ => quoted(&unread.text, unread.trust, name),
            },
            Self::Account(account) => account_field(account, name),
            Self::Email(email) => email_field(email, name),
            Self::Sms(sms) => match name {
                "id" => View::labelled(&sms.id, TrustName::Outside),
                "from" => View::outside(&sms.from),
                "preview" => View::outside(&sms.preview),
                _ => View::Absent,
            },
            Self::Notification(notification) => notification_field(notification, name),
            Self::Skill(skill) => skill_field(skill, name),
            Self::ActiveSkill(skill) => active_skill_field(skill, name),
            Self::Goal(goal) => goal_field(goal, name),
            Self::Checkpoint(step, trust) => match name {
                "id" => View::labelled(&step.id, trust),
                "description" => View::labelled(&step.description, trust),
                "status" => View::text(checkpoint_status(step.status)),
                "completed_at" => View::optional(step.completed_at.as_deref(), trust),
                _ => View::Absent,
            },
            Self::Decision(decision, trust) => match name {
                "id" => View::labelled(&decision.id, trust),
                "description" => View::labelled(&decision.description, trust),
                "rationale" => View::labelled(&decision.rationale, trust),
                "locked" => View::Bool(decision.locked),
                _ => View::Absent,
            },
            Self::Artifact(artifact, trust) => match name {
                "type" => View::text(artifact_type(artifact.kind)),
                "path" => View::labelled(&artifact.path, trust),
                "action" => View::text(artifact_action(artifact.action)),
                _ => View::Absent,
            },
            Self::File(file) => pair(("name", &file.name), ("content", &file.content), name),
            Self::Excerpt { name: file, content } => pair(("name", file), ("content", content), name),
            Self::Line(text) => pair(("text", text), ("text", text), name),
            Self::Note(note) => pair(("date", &note.date), ("content", &note.content), name),
            Self::Digest(digest) if name == "id" => View::labelled(&digest.id, digest.trust),
            Self::Digest(digest) => quoted(&digest.text, digest.trust, name),
            Self::Quoted(text) => quoted(&text.text, text.trust, name),
            Self::Message(message) => message_field(message, name),
            Self::Call(call, trust) => match name {
                "id" => View::labelled(&call.id, trust),
                "name" => View::labelled(&call.name, trust),
                "arguments" => View::labelled(&call.arguments, trust),
                _ => View::Absent,
            },
            Self::Tool(tool) => match name {
                "name" => View::file(&tool.name),
                "group" => View::file(&tool.group),
                "description" => View::file(scope.description(tool)),
                "reach" => View::text(tool.reach.as_str()),
                "arguments" => View::file(schema_in_short(&tool.schema)),
                "schema" => View::Record(Self::Json(&tool.schema)),
                _ => View::Absent,
            },
            Self::Group(group) => match name {
                "title" => View::file(group.title),
                "names" => View::List(group.names.into_iter().map(View::file).collect()),
                _ => View::Absent,
            },
            Self::Json(object) => object.get(name).map_or(View::Absent, json),
            Self::Made(fields) => {
                fields.into_iter().find(|(field, _)| *field == name).map_or(View::Absent, |(_, value)| value)
            }
        }
    }
}

/// Two fields of a file.
fn pair<'a>(first: (&str, &'a str), second: (&str, &'a str), name: &str) -> View<'a> {
    [first, second].into_iter().find(|(field, _)| *field == name).map_or(View::Absent, |(_, text)| View::file(text))
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
        "id" => View::labelled(&task.id, task.trust),
        "description" => View::labelled(&task.description, task.trust),
        "prompt" => View::labelled(&task.prompt, task.trust),
        "trust" => View::text(trust_name(task.trust)),
        "trigger" => View::text(trigger(task.trigger)),
        "cron" => View::optional(task.cron.as_deref(), task.trust),
        "zone" => View::optional(task.zone.as_deref(), task.trust),
        "scheduled_at" => View::optional(task.scheduled_at.as_deref(), task.trust),
        _ => View::Absent,
    }
}

fn account_field<'a>(account: &'a EmailAccount, name: &str) -> View<'a> {
    match name {
        "address" => View::file(&account.address),
        "unread" => View::int(account.unread),
        "last_sync" => View::optional_file(account.last_sync.as_deref()),
        "last_error" => account.last_error.as_ref().map_or(View::Absent, View::outside),
        _ => View::Absent,
    }
}

fn email_field<'a>(email: &'a NewEmail, name: &str) -> View<'a> {
    match name {
        "id" => View::labelled(&email.id, TrustName::Outside),
        "account" => View::file(&email.account),
        "from" => View::outside(&email.from),
        "subject" => View::outside(&email.subject),
        "preview" => View::outside(&email.preview),
        _ => View::Absent,
    }
}

fn notification_field<'a>(notification: &'a NewNotification, name: &str) -> View<'a> {
    match name {
        "id" => View::labelled(&notification.id, TrustName::Outside),
        "app" => View::outside(&notification.app),
        "title" => View::outside(&notification.title),
        "preview" => View::outside(&notification.preview),
        "posted_at" => View::labelled(&notification.posted_at, TrustName::Outside),
        _ => View::Absent,
    }
}

fn skill_field<'a>(skill: &'a SkillEntry, name: &str) -> View<'a> {
    match name {
        "name" => View::labelled(&skill.name, skill.trust),
        "title" => View::optional(skill.title.as_deref(), skill.trust),
        "skill_title" => View::labelled(skill.title.as_deref().unwrap_or(&skill.name), skill.trust),
        "description" => View::labelled(&skill.description, skill.trust),
        "location" => View::labelled(&skill.location, skill.trust),
        "source" => View::text(skill_source(skill.source)),
        "trust" => View::text(trust_name(skill.trust)),
        _ => View::Absent,
    }
}

fn active_skill_field<'a>(skill: &'a ActiveSkill, name: &str) -> View<'a> {
    match name {
        "name" => View::labelled(&skill.name, skill.trust),
        "title" => View::optional(skill.title.as_deref(), skill.trust),
        "skill_title" => View::labelled(skill.title.as_deref().unwrap_or(&skill.name), skill.trust),
        "body" => View::labelled(&skill.body, skill.trust),
        "files" => View::texts(&skill.files, skill.trust),
        "trust" => View::text(trust_name(skill.trust)),
        "standing" => View::Bool(skill.standing),
        "version" => View::optional(skill.version.as_deref(), skill.trust),
        _ => View::Absent,
    }
}

fn goal_field<'a>(goal: &'a GoalInput, name: &str) -> View<'a> {
    match name {
        "id" => View::labelled(&goal.id, goal.trust),
        "description" => View::labelled(&goal.description, goal.trust),
        "priority" => View::text(priority(goal.priority)),
        "status" => View::text(goal_status(goal.status)),
        "created_at" => View::labelled(&goal.created_at, goal.trust),
        "completed_at" => View::optional(goal.completed_at.as_deref(), goal.trust),
        "checkpoints" => View::records(goal.checkpoints.iter().map(|part| Record::Checkpoint(part, goal.trust))),
        "decisions" => View::records(goal.decisions.iter().map(|part| Record::Decision(part, goal.trust))),
        "artifacts" => View::records(goal.artifacts.iter().map(|part| Record::Artifact(part, goal.trust))),
        "more" => View::Record(Record::Made(vec![
            ("checkpoints", View::int(goal.more.checkpoints)),
            ("decisions", View::int(goal.more.decisions)),
            ("artifacts", View::int(goal.more.artifacts)),
        ])),
        "trust" => View::text(trust_name(goal.trust)),
        _ => View::Absent,
    }
}

fn message_field<'a>(message: &'a HistoryMessage, name: &str) -> View<'a> {
    match name {
        "role" => View::text(role(message.role)),
        "content" => View::labelled(&message.content, message.trust),
        "trust" => View::text(trust_name(message.trust)),
        "calls" => View::records(message.calls.iter().map(|call| Record::Call(call, message.trust))),
        "call_id" => View::optional(message.call_id.as_deref(), message.trust),
        "boundary" => View::optional(message.boundary.as_deref(), message.trust),
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
