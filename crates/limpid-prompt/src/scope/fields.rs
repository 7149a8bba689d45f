//! The fields of each kind of record.

use crate::inputs::{
    ActiveSkill, ArtifactAction, ArtifactType, CategoryName, CheckpointStatus, EmailAccount, GoalInput, GoalStatus,
    HistoryMessage, MemoryEntry, NewEmail, NewNotification, Priority, RoleName, SkillEntry, SkillSource, TaskEntry,
    Trigger, TrustName,
};

use super::{Record, View};

pub(super) fn pair<'a>(first: (&str, &'a str), second: (&str, &'a str), name: &str) -> View<'a> {
    [first, second].into_iter().find(|(field, _)| *field == name).map_or(View::Absent, |(_, text)| View::text(text))
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
        "id" => View::text(&task.id),
        "description" => View::labelled(&task.description, task.trust),
        "prompt" => View::labelled(&task.prompt, task.trust),
        "trust" => View::text(trust_name(task.trust)),
        "trigger" => View::text(trigger(task.trigger)),
        "cron" => View::option(task.cron.as_deref()),
        "zone" => View::option(task.zone.as_deref()),
        "scheduled_at" => View::option(task.scheduled_at.as_deref()),
        _ => View::Absent,
    }
}

pub(super) fn account_field<'a>(account: &'a EmailAccount, name: &str) -> View<'a> {
    match name {
        "address" => View::text(&account.address),
        "unread" => View::int(account.unread),
        "last_sync" => View::option(account.last_sync.as_deref()),
        "last_error" => View::option(account.last_error.as_deref()),
        _ => View::Absent,
    }
}

pub(super) fn email_field<'a>(email: &'a NewEmail, name: &str) -> View<'a> {
    match name {
        "id" => View::text(&email.id),
        "account" => View::text(&email.account),
        "from" => View::outside(&email.from),
        "subject" => View::outside(&email.subject),
        "preview" => View::outside(&email.preview),
        _ => View::Absent,
    }
}

pub(super) fn notification_field<'a>(notification: &'a NewNotification, name: &str) -> View<'a> {
    match name {
        "id" => View::text(&notification.id),
        "app" => View::outside(&notification.app),
        "title" => View::outside(&notification.title),
        "preview" => View::outside(&notification.preview),
        "posted_at" => View::text(&notification.posted_at),
        _ => View::Absent,
    }
}

pub(super) fn skill_field<'a>(skill: &'a SkillEntry, name: &str) -> View<'a> {
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

pub(super) fn active_skill_field<'a>(skill: &'a ActiveSkill, name: &str) -> View<'a> {
    match name {
        "name" => View::text(&skill.name),
        "title" => View::option(skill.title.as_deref()),
        "skill_title" => View::text(skill.title.as_deref().unwrap_or(&skill.name)),
        "body" => View::labelled(&skill.body, skill.trust),
        "files" => View::texts(&skill.files),
        "trust" => View::text(trust_name(skill.trust)),
        "standing" => View::Bool(skill.standing),
        "version" => View::option(skill.version.as_deref()),
        _ => View::Absent,
    }
}

pub(super) fn goal_field<'a>(goal: &'a GoalInput, name: &str) -> View<'a> {
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
