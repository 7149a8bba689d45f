//! Names over the whole inputs: their fields, and what is derived from them.

use crate::inputs::{
    ChangedInput, DelegateInput, EmailInput, GoalInput, HeartbeatInput, Inputs, MemoryEntry, MemoryInput, ModelInfo,
    NotificationsInput, PlatformInfo, Quoted, SchedulingInput, SessionInput, SmsInput, SummarizeInput,
    ToolProtocolName, Trigger, TrustName, UiMode,
};
use limpid_core::Trust;

use crate::profile::ToolGroup;

use super::data::Scope;
use super::fields::trust_name;
use super::json::json;
use super::pick::pick;
use super::record::{GroupView, Record};
use super::time::time;
use super::view::View;
use super::workspace::{skills, workspace};

impl<'a> Scope<'a> {
    /// The value of a name: a path of fields, outermost first. A name that does not exist is absent.
    pub fn lookup(&self, path: &[String]) -> View<'a> {
        let Some((first, rest)) = path.split_first() else { return View::Absent };
        let inputs = self.inputs();
        let field = rest.first().map_or("", String::as_str);
        match first.as_str() {
            "memory" => memory(&inputs.memory, field),
            "scheduling" => scheduling(&inputs.scheduling, field),
            "heartbeat" => heartbeat(&inputs.heartbeat, field).at(rest.get(1..).unwrap_or_default(), self),
            "email" => email(&inputs.email, field),
            "sms" => sms(&inputs.sms, field),
            "notifications" => notifications(&inputs.notifications, field),
            "skills" => skills(&inputs.skills, field),
            "workspace" => workspace(&inputs.workspace, self.profile().file_order(), field),
            "pick" => pick(inputs.payload.as_ref(), field),
            "session" => session(&inputs.session, field),
            "model" => model(&inputs.model, field),
            "platform" => platform(&inputs.platform, field),
            "time" if rest.is_empty() => View::Bool(inputs.time.is_some()),
            "time" => inputs.time.as_ref().map_or(View::Absent, |info| time(info, field)),
            "summarize" => summarize(&inputs.summarize, field),
            "delegate" => delegate(&inputs.delegate, rest, self),
            "origins" => View::optional_file(inputs.origins.get(field).map(String::as_str)),
            "tool" => View::Bool(self.offers(field)),
            "changed" => changed(&inputs.changed, field).at(rest.get(1..).unwrap_or_default(), self),
            name => self.top(inputs, name).at(rest, self),
        }
    }

    fn groups(&self) -> Vec<GroupView<'a>> {
        let group = |group: &'a ToolGroup| {
            let names = group.names.iter().filter(|name| self.offers(name)).map(String::as_str).collect();
            GroupView { title: &group.title, names }
        };
        self.profile().groups().iter().map(group).filter(|group| !group.names.is_empty()).collect()
    }

    fn top(&self, inputs: &'a Inputs, name: &str) -> View<'a> {
        match name {
            "version" => View::int(inputs.version),
            "agent_name" => View::file(&inputs.agent_name),
            "soul" => View::optional_file(inputs.soul.as_deref()),
            "soul_additions" => View::texts(&inputs.soul_additions, TrustName::File),
            "safety" => View::optional_file(inputs.safety.as_deref()),
            "additional_instructions" => View::file(&inputs.additional_instructions),
            "use_sanity_checks" => View::Bool(inputs.use_sanity_checks),
            "interactive" => View::Bool(inputs.interactive),
            "mode" => View::file(&inputs.mode),
            "tier" => View::int(self.tier().number()),
            "ui_mode" => View::text(ui_mode(inputs.ui_mode)),
            "tools" => View::records(self.listed.iter().copied().map(Record::Tool)),
            "more_tools" => View::texts(&inputs.more_tools, TrustName::File),
            "groups" => View::records(self.groups().into_iter().map(Record::Group)),
            "goal" => goal(self.goal),
            "stored_goal" => goal(self.stored_goal),
            "goal_markers" => View::Bool(inputs.goal_markers),
            "active_context" => View::optional_file(inputs.active_context.as_deref()),
            "summary" => View::quoted(inputs.summary.as_ref()),
            "summary_trust" => trust_of(inputs.summary.as_ref()),
            "pin" => inputs.pin.as_ref().map_or(View::Absent, |pin| View::Record(Record::Quoted(pin))),
            "digests" => View::records(inputs.digests.iter().map(Record::Digest)),
            "digests_or_summary" => digests_or_summary(inputs),
            "history" => View::records(inputs.history.iter().map(Record::Message)),
            "user_message" => View::quoted(inputs.user.as_ref()),
            "user_trust" => trust_of(inputs.user.as_ref()),
            "in_flight" => View::records(inputs.in_flight.iter().map(Record::Message)),
            "payload" => inputs.payload.as_ref().map_or(View::Absent, json),
            "boundary" => View::file(self.boundary()),
            _ => View::Absent,
        }
    }
}

fn memory<'a>(memory: &'a MemoryInput, field: &str) -> View<'a> {
    match field {
        "enabled" => View::Bool(memory.enabled),
        "instructions" => View::optional_file(memory.instructions.as_deref()),
        "general" => memories(&memory.general),
        "preference" => memories(&memory.preference),
        "learning" => memories(&memory.learning),
        "error" => memories(&memory.error),
        "pinned" => memories(&memory.pinned),
        "promotions" => memories(&memory.promotions),
        _ => View::Absent,
    }
}

/// What a stranger had the agent keep is found by asking, never put into a prompt.
fn memories(entries: &[MemoryEntry]) -> View<'_> {
    View::records(entries.iter().filter(|entry| !Trust::from(entry.trust).is_foreign()).map(Record::Memory))
}

fn changed<'a>(changed: &'a ChangedInput, field: &str) -> View<'a> {
    match field {
        "goal" => View::Bool(changed.goal),
        "pinned" => memories(&changed.pinned),
        "stored" => changed
            .stored
            .as_ref()
            .map_or(View::Absent, |stored| View::Record(Record::Made(vec![("goal", goal(stored.goal.as_ref()))]))),
        _ => View::Absent,
    }
}

fn goal(goal: Option<&GoalInput>) -> View<'_> {
    goal.map_or(View::Absent, |goal| View::Record(Record::Goal(goal)))
}

fn scheduling<'a>(scheduling: &'a SchedulingInput, field: &str) -> View<'a> {
    let tasks = |heartbeat: bool| {
        let wanted = scheduling.tasks.iter().filter(move |task| (task.trigger == Trigger::Heartbeat) == heartbeat);
        View::records(wanted.map(Record::Task))
    };
    match field {
        "enabled" => View::Bool(scheduling.enabled),
        "tasks" => View::records(scheduling.tasks.iter().map(Record::Task)),
        "timed" => tasks(false),
        "additions" => tasks(true),
        _ => View::Absent,
    }
}

fn heartbeat<'a>(heartbeat: &'a HeartbeatInput, field: &str) -> View<'a> {
    match field {
        "prompt" => View::optional_file(heartbeat.prompt.as_deref()),
        "checklist" => View::file(&heartbeat.checklist),
        "previous" => View::records(heartbeat.previous.iter().map(Record::Report)),
        "quiet" => heartbeat.quiet.as_ref().map_or(View::Absent, |quiet| {
            let unread = View::records(quiet.unread.iter().map(Record::Unread));
            View::Record(Record::Made(vec![("since", View::file(&quiet.since)), ("unread", unread)]))
        }),
        _ => View::Absent,
    }
}

fn email<'a>(email: &'a EmailInput, field: &str) -> View<'a> {
    match field {
        "enabled" => View::Bool(email.enabled),
        "accounts" => View::records(email.accounts.iter().map(Record::Account)),
        "new" => View::records(email.new.iter().map(Record::Email)),
        _ => View::Absent,
    }
}

fn sms<'a>(sms: &'a SmsInput, field: &str) -> View<'a> {
    match field {
        "enabled" => View::Bool(sms.enabled),
        "new" => View::records(sms.new.iter().map(Record::Sms)),
        _ => View::Absent,
    }
}

fn notifications<'a>(notifications: &'a NotificationsInput, field: &str) -> View<'a> {
    match field {
        "enabled" => View::Bool(notifications.enabled),
        "new" => View::records(notifications.new.iter().map(Record::Notification)),
        "newest" => {
            let mut newest: Vec<_> = notifications.new.iter().collect();
            newest.sort_by_cached_key(|new| std::cmp::Reverse(new.posted_at.parse::<jiff::Timestamp>().ok()));
            View::records(newest.into_iter().map(Record::Notification))
        }
        _ => View::Absent,
    }
}

fn session<'a>(session: &'a SessionInput, field: &str) -> View<'a> {
    match field {
        "channel" => View::optional_file(session.channel.as_deref()),
        "chat_id" => View::optional(session.chat_id.as_deref(), session.trust),
        "sender" => View::optional(session.sender.as_deref(), session.trust),
        "group" => View::Bool(session.group),
        "trust" => View::text(trust_name(session.trust)),
        _ => View::Absent,
    }
}

fn model<'a>(model: &'a ModelInfo, field: &str) -> View<'a> {
    match field {
        "id" => View::file(&model.id),
        "provider" => View::file(&model.provider),
        "local" => View::Bool(model.local),
        "window" => model.window.map_or(View::Absent, View::int),
        "usable_window" => model.usable_window.map_or(View::Absent, View::int),
        "tools" => View::Bool(model.tools),
        "tool_search" => View::Bool(model.tool_search),
        "tool_protocol" => View::text(match model.tool_protocol {
            ToolProtocolName::None => "none",
            ToolProtocolName::Native => "native",
            ToolProtocolName::Json => "json",
        }),
        "vision" => View::Bool(model.vision),
        "thinking" => View::Bool(model.thinking),
        _ => View::Absent,
    }
}

fn platform<'a>(platform: &'a PlatformInfo, field: &str) -> View<'a> {
    match field {
        "os" => View::file(&platform.os),
        "arch" => View::file(&platform.arch),
        "name" => View::file(&platform.name),
        "runtime" => View::file(&platform.runtime),
        _ => View::Absent,
    }
}

fn trust_of(quoted: Option<&Quoted>) -> View<'_> {
    quoted.map_or(View::Absent, |quoted| View::text(trust_name(quoted.trust)))
}

fn summarize<'a>(summarize: &'a SummarizeInput, field: &str) -> View<'a> {
    match field {
        "existing" => View::quoted(summarize.existing.as_ref()),
        "messages" => View::records(summarize.messages.iter().map(Record::Message)),
        "first" => View::quoted(summarize.first.as_ref()),
        "second" => View::quoted(summarize.second.as_ref()),
        _ => View::Absent,
    }
}

fn delegate<'a>(delegate: &'a DelegateInput, path: &[String], scope: &Scope<'a>) -> View<'a> {
    let Some((field, rest)) = path.split_first() else { return View::Absent };
    match field.as_str() {
        "task" => View::labelled(&delegate.task, delegate.trust),
        "skill" => delegate
            .skill
            .as_ref()
            .map_or(View::Absent, |skill| View::Record(Record::ActiveSkill(skill)).at(rest, scope)),
        "context" => View::optional(delegate.context.as_deref(), delegate.trust),
        "rounds_left" => delegate.rounds_left.map_or(View::Absent, View::int),
        "seconds_left" => delegate.seconds_left.map_or(View::Absent, View::int),
        "trust" => View::text(trust_name(delegate.trust)),
        _ => View::Absent,
    }
}

fn digests_or_summary(inputs: &Inputs) -> View<'_> {
    if !inputs.digests.is_empty() {
        return View::records(inputs.digests.iter().map(Record::Digest));
    }
    let summary = inputs.summary.as_ref().filter(|summary| !summary.text.trim().is_empty());
    let made = |summary| Record::Made(vec![("text", View::quoted(Some(summary)))]);
    View::records(summary.into_iter().map(made))
}

const fn ui_mode(mode: UiMode) -> &'static str {
    match mode {
        UiMode::None => "none",
        UiMode::Dynamic => "dynamic",
        UiMode::Interactive => "interactive",
    }
}
