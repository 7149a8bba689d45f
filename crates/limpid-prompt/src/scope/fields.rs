//! The fields of each kind of record.

use crate::inputs::{
    ActiveSkill, ArtifactAction, ArtifactType, CategoryName, CheckpointStatus, EmailAccount, GoalInput, GoalStatus,
    HistoryMessage, MemoryEntry, NewEmail, NewNotification, Priority, RoleName, SkillEntry, SkillSource, TaskEntry,
    Trigger, TrustName,
};

use super::{Record, View};

/// Two fields of a file.
pub(super) fn pair<'a>(first: (&str, &'a str), second: (&str, &'a str), name: &str) -> View<'a> {
    [first, second].into_iter().find(|(field, _)| *field == name).map_or(View::Absent, |(_, text)| View::file(text))
}

pub(super) fn quoted<'a>(text: &'a str, trust: TrustName, name: &str) -> View<'a> {
    match name {
        "text" => View::labelled(text, trust),
        "trust" => View::text(trust_name(trust)),
        _ => View::Absent,
    }
}

pub(super) fn memory_field<'a>(memory: &'a MemoryEntry, name: &str) -> View<'a> {
    match name {
        "key" => View::labelled(&memory.key, memory.trust),
        "content" => View::labelled(&memory.content, memory.trust),
        "hits" => View::int(memory.hits),
        "category" => View::text(category(memory.category)),
        "trust" => View::text(trust_name(memory.trust)),
        _ => View::Absent,
    }
}

pub(super) fn task_field<'a>(task: &'a TaskEntry, name: &str) -> View<'a> {
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

pub(super) fn account_field<'a>(account: &'a EmailAccount, name: &str) -> View<'a> {
    match name {
        "address" => View::file(&account.address),
        "unread" => View::int(account.unread),
        "last_sync" => View::optional_file(account.last_sync.as_deref()),
        "last_error" => account.last_error.as_ref().map_or(View::Absent, View::outside),
        _ => View::Absent,
    }
}

pub(super) fn email_field<'a>(email: &'a NewEmail, name: &str) -> View<'a> {
    match name {
        "id" => View::labelled(&email.id, TrustName::Outside),
        "account" => View::file(&email.account),
        "from" => View::outside(&email.from),
        "subject" => View::outside(&email.subject),
        "preview" => View::outside(&email.preview),
        _ => View::Absent,
    }
}

pub(super) fn notification_field<'a>(notification: &'a NewNotification, name: &str) -> View<'a> {
    match name {
        "id" => View::labelled(&notification.id, TrustName::Outside),
        "app" => View::outside(&notification.app),
        "title" => View::outside(&notification.title),
        "preview" => View::outside(&notification.preview),
        "posted_at" => View::labelled(&notification.posted_at, TrustName::Outside),
        _ => View::Absent,
    }
}

pub(super) fn skill_field<'a>(skill: &'a SkillEntry, name: &str) -> View<'a> {
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

pub(super) fn active_skill_field<'a>(skill: &'a ActiveSkill, name: &str) -> View<'a> {
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

pub(super) fn goal_field<'a>(goal: &'a GoalInput, name: &str) -> View<'a> {
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

pub(super) fn message_field<'a>(message: &'a HistoryMessage, name: &str) -> View<'a> {
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
