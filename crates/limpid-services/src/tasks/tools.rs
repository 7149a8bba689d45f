//! The tools that make, list and cancel tasks. A dialect is a name and its arguments; the work is done by [`Tasks`].

mod call;
mod cron;
mod dialects;

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::task::{TaskKind, TaskStatus, Trigger};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_store::Task;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub use call::GROUP;
use call::{NOT_SERVED, TIMES, due, key, local, one_of, requester, told_in};

use crate::tasks::request::{TaskRequest, When};
use crate::tasks::requester::{Requester, zone_of};
use crate::tasks::service::Tasks;
use crate::tools::{Concerned, Named, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// The tools, in the order in which they are declared.
pub fn tools(of: &Tasks) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for [schedule, list, cancel] in
        [["schedule_task", "list_tasks", "cancel_task"], ["schedule_job", "list_jobs", "cancel_job"]]
    {
        tools.push(Arc::new(Schedule { name: schedule, tasks: of.clone() }));
        tools.push(Arc::new(List { name: list, tasks: of.clone() }));
        tools.push(Arc::new(Cancel { name: cancel, tasks: of.clone() }));
    }
    tools.push(Arc::new(cron::Cron::new(of.clone())));
    tools
}

/// Makes a task.
struct Schedule {
    name: &'static str,
    tasks: Tasks,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScheduleArguments {
    description: String,
    prompt: String,
    execute_at: Option<String>,
    cron: Option<String>,
    on_heartbeat: Option<bool>,
    zone: Option<String>,
}

#[async_trait]
impl Tool for Schedule {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        ToolClass::ChangeSelf
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Plan
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<ScheduleArguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        let arguments: ScheduleArguments = read_arguments(arguments.clone())?;
        arguments.request()?.check(&Requester::owner(&self.tasks.host), self.tasks.base()).map(drop).map_err(trouble)
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        let request = read_arguments(arguments.clone()).and_then(ScheduleArguments::request);
        let due = request.ok().and_then(|request| due(&request.when, request.zone.as_deref(), &self.tasks));
        Concerned::found(due, "due at no time that there is")
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        let times = [("cron", "cron_expr"), ("zone", "tz")];
        let said = |text| dialects::as_cron(arguments, "add", &[(text, "message"), times[0], times[1]]);
        ["description", "prompt"].into_iter().flat_map(said).collect()
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let key = key(context, self.name, &arguments);
        let arguments: ScheduleArguments = read_arguments(arguments)?;
        let conversation = told_in(&self.tasks, context).await?;
        let request = TaskRequest { key: Some(key), conversation, ..arguments.request()? };
        let requester = requester(context);
        let task = self.tasks.add_as(&requester, request).await.map_err(trouble)?;
        let shown = made(&self.tasks, &task, &requester).to_string();
        Ok(Labelled::new(shown, context.trust.join(task.new.trust)))
    }
}

impl ScheduleArguments {
    /// What they ask for, of no conversation yet.
    fn request(self) -> Result<TaskRequest, Sentence> {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let times = [
            given(self.execute_at).map(When::At),
            given(self.cron).map(When::Cron),
            self.on_heartbeat.filter(|on| *on).map(|_| When::Heartbeat),
        ];
        let when = one_of(times.into_iter().flatten(), "execute_at, cron, on_heartbeat: true")?;
        if self.description.trim().is_empty() {
            return Err("description is empty; say in a few words what the task is".into());
        }
        Ok(TaskRequest {
            key: None,
            description: self.description,
            prompt: self.prompt,
            kind: TaskKind::Agent,
            when,
            zone: given(self.zone),
            missed: None,
            conversation: None,
        })
    }
}

/// Lists the tasks.
struct List {
    name: &'static str,
    tasks: Tasks,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    status: Option<String>,
}

#[async_trait]
impl Tool for List {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<ListArguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let ListArguments { status } = read_arguments(arguments)?;
        let status = match status.as_deref().map(str::trim).filter(|word| !word.is_empty()) {
            None => None,
            Some(word) => Some(TaskStatus::parse(word).ok_or_else(|| {
                let known = TaskStatus::ALL.map(TaskStatus::as_str).join(", ");
                sentence!("`{}` is no status; use one of {}, or leave it out", echoed(word), echoed(known))
            })?),
        };
        let requester = requester(context);
        let tasks = self.tasks.list_as(&requester, status).await.map_err(trouble)?.rows;
        Ok(listed(&tasks, &requester))
    }
}

/// Takes a task out.
struct Cancel {
    name: &'static str,
    tasks: Tasks,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CancelArguments {
    task_id: String,
}

#[async_trait]
impl Tool for Cancel {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        ToolClass::ChangeSelf
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::ChangeOwned
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<CancelArguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::Words(self.tasks.in_words(arguments["task_id"].as_str().unwrap_or_default()).await)
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        dialects::as_cron(arguments, "remove", &[("task_id", "job_id")])
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        call::named(&self.tasks, arguments, &["task_id", "job_id"]).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let CancelArguments { task_id } = read_arguments(arguments)?;
        let task = self.tasks.cancel_as(&requester(context), &task_id).await.map_err(trouble)?;
        let text = json!({ "task_id": task.id.to_string(), "status": task.standing.status.as_str() });
        Ok(Labelled::new(text.to_string(), context.trust.join(task.new.trust)))
    }
}

/// A task that was made, and when it is due.
fn made(tasks: &Tasks, task: &Task, requester: &Requester) -> Value {
    let mut shown = shown(task);
    let zone = zone_of(&task.new);
    let local = |at: jiff::Timestamp| local(at, &zone);
    let times = || task.new.trigger.times(requester.now, TIMES).into_iter().map(local).collect::<Vec<_>>();
    match task.new.trigger {
        Trigger::Once(at) => shown["scheduled_at"] = local(at).into(),
        Trigger::Every { .. } | Trigger::Cron { .. } => shown["next"] = times().into(),
        Trigger::Heartbeat => {}
    }
    if !tasks.is_served() {
        shown["note"] = NOT_SERVED.into();
    }
    shown
}

fn listed(tasks: &[Task], requester: &Requester) -> Labelled<String> {
    let rows: Vec<Value> = tasks
        .iter()
        .map(|task| {
            let mut shown = shown(task);
            shown["status"] = task.standing.status.as_str().into();
            if let Some(next) = task.standing.next {
                shown["next"] = local(next, &zone_of(&task.new)).into();
            }
            shown
        })
        .collect();
    let trust = tasks.iter().fold(requester.trust, |trust, task| trust.join(task.new.trust));
    let text = if rows.is_empty() { "no tasks".to_owned() } else { Value::from(rows).to_string() };
    Labelled::new(text, trust)
}

fn shown(task: &Task) -> Value {
    let (trigger, detail) = match &task.new.trigger {
        Trigger::Once(_) => ("time", None),
        Trigger::Every { period, .. } => ("interval", Some(("every_seconds", Value::from(period.as_secs())))),
        Trigger::Cron { pattern, .. } => ("cron", Some(("cron", pattern.to_string().into()))),
        Trigger::Heartbeat => ("heartbeat", None),
    };
    let mut shown = json!({
        "task_id": task.id.to_string(), "description": task.new.description, "trigger": trigger, "zone": task.new.zone,
    });
    if let Some((name, value)) = detail {
        shown[name] = value;
    }
    shown
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
