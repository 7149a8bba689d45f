//! `cron`: the tasks under one name, as picoclaw has them.

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::task::{TaskKind, Trigger};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, Trust, sentence};
use limpid_store::Task;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tasks::request::{TaskChange, TaskRequest, When};
use crate::tasks::requester::{Requester, zone_of};
use crate::tasks::service::Tasks;
use crate::tasks::tools::call::{self, GROUP, NOT_SERVED, key, local, one_of, requester, told_in};
use crate::tasks::tools::dialects::with_fields;
use crate::tools::{Concerned, Named, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// The tool that runs commands.
const EXEC: &str = "exec";

/// Makes, lists, changes and removes tasks.
pub(crate) struct Cron {
    tasks: Tasks,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    message: Option<String>,
    at_seconds: Option<i64>,
    every_seconds: Option<i64>,
    cron_expr: Option<String>,
    tz: Option<String>,
    command: Option<String>,
    deliver: Option<bool>,
    job_id: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Add,
    List,
    Get,
    Update,
    Remove,
    Enable,
    Disable,
}

impl Cron {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self { tasks }
    }

    async fn add(&self, arguments: Arguments, key: String, context: &ToolContext) -> Result<Labelled<Value>, Sentence> {
        let when = one_of(times(&arguments), TIMES)?;
        let Arguments { message, command, deliver, tz, .. } = arguments;
        let (message, command) = (given(message), given(command));
        let kind = match (&command, deliver) {
            (Some(_), Some(false)) => return Err(SENDS_OUTPUT.into()),
            (Some(_), _) => TaskKind::Command,
            (None, Some(false)) => TaskKind::Agent,
            (None, _) => TaskKind::Reminder,
        };
        let Some(prompt) = command.or_else(|| message.clone()) else {
            return Err("message is missing: say what to send, or give a command".into());
        };
        let description = if kind == TaskKind::Command { message.unwrap_or_default() } else { String::new() };
        let request = TaskRequest {
            key: Some(key),
            description,
            prompt,
            kind,
            when,
            zone: given(tz),
            missed: None,
            conversation: told_in(&self.tasks, context).await?,
        };
        let requester = match kind {
            TaskKind::Command => of_command(context)?,
            _ => requester(context),
        };
        let task = self.tasks.add_as(&requester, request).await.map_err(trouble)?;
        Ok(self.made(&task, &requester))
    }

    /// A job that was made or changed, with the next times that it is due and the label of its words.
    fn made(&self, task: &Task, requester: &Requester) -> Labelled<Value> {
        let mut shown = job(task);
        let zone = zone_of(&task.new);
        let times = task.new.trigger.times(requester.now, call::TIMES).into_iter();
        shown["next"] = times.map(|at| local(at, &zone)).collect::<Vec<_>>().into();
        if !self.tasks.is_served() {
            shown["note"] = NOT_SERVED.into();
        }
        Labelled::new(shown, task.new.trust)
    }

    async fn update(&self, id: &str, arguments: Arguments, context: &ToolContext) -> Result<Labelled<Value>, Sentence> {
        let kind = self.tasks.find_as(&requester(context), id).await.map_err(trouble)?.new.kind;
        let requester = match kind {
            TaskKind::Command => of_command(context)?,
            _ => requester(context),
        };
        let change = change(id, kind, arguments)?;
        let task = self.tasks.change_as(&requester, id, change).await.map_err(trouble)?;
        Ok(self.made(&task, &requester))
    }

    /// What the owner is told of an update.
    async fn update_in_words(&self, id: &str, arguments: Arguments) -> String {
        let kind = self.tasks.find_as(&Requester::owner(&self.tasks.host), id).await.map(|task| task.new.kind);
        match kind.map(|kind| change(id, kind, arguments)) {
            Ok(Ok(change)) => self.tasks.change_in_words(id, &change).await,
            Ok(Err(_)) | Err(_) => format!("changes {}", self.tasks.in_words(id).await),
        }
    }
}

/// What an update asks for, of a job of a kind.
fn change(id: &str, kind: TaskKind, arguments: Arguments) -> Result<TaskChange, Sentence> {
    let when = match times(&arguments).count() {
        0 => None,
        _ => Some(one_of(times(&arguments), TIMES)?),
    };
    let (message, command) = (given(arguments.message), given(arguments.command));
    // A command is changed by naming one, and never by a message, which nobody asks the owner about.
    let (description, prompt) = match (kind, command) {
        (TaskKind::Command, command) => (message, command),
        (TaskKind::Agent | TaskKind::Reminder, None) => (None, message),
        (TaskKind::Agent | TaskKind::Reminder, Some(_)) => {
            return Err(sentence!("job {} runs no command; remove it and add one that does", echoed(id)));
        }
    };
    let kind = match (kind, arguments.deliver) {
        (TaskKind::Command, Some(false)) => return Err(SENDS_OUTPUT.into()),
        (TaskKind::Command, _) | (_, None) => None,
        (_, Some(true)) => Some(TaskKind::Reminder),
        (_, Some(false)) => Some(TaskKind::Agent),
    };
    let change = TaskChange { description, prompt, kind, when, zone: given(arguments.tz), missed: None };
    if change == TaskChange::default() {
        return Err("nothing to change: give a message, a command, deliver, tz or a time".into());
    }
    Ok(change)
}

/// Who plans a command: it is run as any program that a stranger's text led to, in the view that such programs have.
///
/// # Errors
/// When the owner did not say yes to what a stranger's text led to.
fn of_command(context: &ToolContext) -> Result<Requester, Sentence> {
    if context.trust.is_foreign() && !context.approved {
        return Err("a command that strangers' text led to is planned by the owner's yes to it alone".into());
    }
    Ok(requester(context))
}

/// Said where a command is to be handed to a model.
const SENDS_OUTPUT: &str =
    "the output of a command is sent as it is; leave out deliver, or give a message and no command";

/// A job under the names that the arguments have, all of it.
fn job(task: &Task) -> Value {
    let new = &task.new;
    let zone = zone_of(new);
    let mut shown = json!({ "job_id": task.id.to_string() });
    match new.kind {
        TaskKind::Command => {
            shown["message"] = new.description.as_str().into();
            shown["command"] = new.prompt.as_str().into();
        }
        TaskKind::Agent | TaskKind::Reminder => {
            shown["message"] = new.prompt.as_str().into();
            shown["deliver"] = (new.kind == TaskKind::Reminder).into();
        }
    }
    match &new.trigger {
        Trigger::Once(at) => shown["at"] = local(*at, &zone).into(),
        Trigger::Every { period, .. } => shown["every_seconds"] = period.as_secs().into(),
        Trigger::Cron { pattern, .. } => shown["cron_expr"] = pattern.to_string().into(),
        Trigger::Heartbeat => shown["on_heartbeat"] = true.into(),
    }
    shown["tz"] = new.zone.as_str().into();
    shown["status"] = task.standing.status.as_str().into();
    if let Some(next) = task.standing.next {
        shown["next"] = local(next, &zone).into();
    }
    shown
}

/// How a job stands after a change.
fn stands(task: &Task) -> Labelled<Value> {
    let shown = json!({ "job_id": task.id.to_string(), "status": task.standing.status.as_str() });
    Labelled::new(shown, task.new.trust)
}

fn trust_of(tasks: &[Task], requester: &Requester) -> Trust {
    tasks.iter().fold(requester.trust, |trust, task| trust.join(task.new.trust))
}

/// The names of the times, for errors.
const TIMES: &str = "at_seconds, every_seconds, cron_expr";

#[async_trait]
impl Tool for Cron {
    fn name(&self) -> &'static str {
        "cron"
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, arguments: &Value) -> Effect {
        let says = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        match says("action") {
            Some("list" | "get") => Effect::Look,
            // A job that runs a command is as good as the command.
            _ if says("command").is_some() => Effect::Run,
            Some("add") => Effect::Plan,
            _ => Effect::ChangeOwned,
        }
    }

    fn plans(&self, arguments: &Value) -> Option<(&'static str, Value)> {
        let command = arguments.get("command")?.as_str().filter(|command| !command.trim().is_empty())?;
        Some((EXEC, json!({ "command": command })))
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        let pairs: &[_] = match arguments["action"].as_str() {
            Some("add") => &[
                ("message", "description"),
                ("message", "prompt"),
                ("command", "prompt"),
                ("cron_expr", "cron"),
                ("tz", "zone"),
            ],
            Some("remove") => &[("job_id", "task_id")],
            _ => return Vec::new(),
        };
        vec![with_fields(arguments, pairs)]
    }

    async fn named(&self, arguments: &Value, _: Option<&ConversationId>) -> Option<Named> {
        call::named(&self.tasks, arguments, &["job_id", "task_id"]).await
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        // What cannot be read is refused by its own error.
        let Ok(arguments) = read_arguments::<Arguments>(arguments.clone()) else { return Concerned::InArguments };
        let id = given(arguments.job_id.clone()).unwrap_or_default();
        let job = async || self.tasks.in_words(&id).await;
        Concerned::Words(match arguments.action {
            Action::List => return Concerned::InArguments,
            Action::Get => job().await,
            Action::Add => {
                let when = one_of(times(&arguments), TIMES).ok();
                let due = when.and_then(|when| call::due(&when, given(arguments.tz).as_deref(), &self.tasks));
                return Concerned::found(due, "due at no time that there is");
            }
            Action::Update => self.update_in_words(&id, arguments).await,
            Action::Remove => format!("removes {}", job().await),
            Action::Enable => format!("switches on {}", job().await),
            Action::Disable => format!("switches off {}", job().await),
        })
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let key = key(context, self.name(), &arguments);
        let arguments: Arguments = read_arguments(arguments)?;
        let requester = requester(context);
        let id = || given(arguments.job_id.clone()).ok_or("job_id is missing; `list` shows the jobs");
        let told_of = match arguments.action {
            Action::List => {
                let tasks = self.tasks.list_as(&requester, None).await.map_err(trouble)?.rows;
                let rows: Vec<Value> = tasks.iter().map(job).collect();
                let text = if rows.is_empty() { "no jobs".to_owned() } else { Value::from(rows).to_string() };
                return Ok(Labelled::new(text, trust_of(&tasks, &requester)));
            }
            Action::Get => {
                let task = self.tasks.find_as(&requester, &id()?).await.map_err(trouble)?;
                let trust = trust_of(std::slice::from_ref(&task), &requester);
                return Ok(Labelled::new(job(&task).to_string(), trust));
            }
            Action::Add => self.add(arguments, key, context).await?,
            Action::Update => self.update(&id()?, arguments, context).await?,
            Action::Remove => {
                let task = self.tasks.cancel_as(&requester, &id()?).await.map_err(trouble)?;
                stands(&task)
            }
            Action::Enable | Action::Disable => {
                let on = arguments.action == Action::Enable;
                let task = self.tasks.set_enabled_as(&requester, &id()?, on).await.map_err(trouble)?;
                stands(&task)
            }
        };
        Ok(told_of.map(|value| value.to_string()).join(context.trust))
    }
}

fn times(arguments: &Arguments) -> impl Iterator<Item = When> {
    let times = [
        arguments.at_seconds.map(When::In),
        arguments.every_seconds.map(When::Every),
        given(arguments.cron_expr.clone()).map(When::Cron),
    ];
    times.into_iter().flatten()
}

fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
