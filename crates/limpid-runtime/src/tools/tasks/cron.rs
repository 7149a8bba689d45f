//! `cron`: the tasks under one name, as picoclaw has them (PICO-089 to PICO-091).

use async_trait::async_trait;
use limpid_core::ToolClass;
use limpid_core::task::TaskKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{GROUP, asking, key, listed, made, one_of};
use crate::tasks::{Asking, TaskBook, TaskChange, TaskRequest, When};
use crate::tools::{Tool, ToolContext, ToolText, read_arguments, schema_of};

/// Makes, lists, changes and removes tasks.
pub(super) struct Cron {
    book: TaskBook,
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
    pub(super) fn new(book: TaskBook) -> Self {
        Self { book }
    }

    async fn add(&self, arguments: Arguments, key: String, context: &ToolContext) -> Result<Value, String> {
        let when = one_of(times(&arguments), TIMES)?;
        let Arguments { message, command, deliver, tz, .. } = arguments;
        let (message, command) = (given(message), given(command));
        let kind = match (&command, deliver) {
            (Some(_), _) => TaskKind::Command,
            (None, Some(false)) => TaskKind::Agent,
            (None, _) => TaskKind::Reminder,
        };
        let Some(prompt) = command.or_else(|| message.clone()) else {
            return Err("message is missing: say what to send, or give a command".to_owned());
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
            conversation: Some(context.conversation.clone()),
        };
        let asking = asking(context);
        let task = self.book.add(request, &asking).await.map_err(|error| error.to_string())?;
        Ok(made(&self.book, &task, &asking))
    }

    async fn update(&self, id: &str, arguments: Arguments, asking: &Asking) -> Result<Value, String> {
        let when = match times(&arguments).count() {
            0 => None,
            _ => Some(one_of(times(&arguments), TIMES)?),
        };
        let kind = self.book.find(id, asking).await.map_err(|error| error.to_string())?.new.kind;
        let (message, command) = (given(arguments.message), given(arguments.command));
        // A command is changed by naming one, and never by a message, which nobody asks the owner about.
        let (description, prompt) = match (kind, command) {
            (TaskKind::Command, command) => (message, command),
            (TaskKind::Agent | TaskKind::Reminder, None) => (None, message),
            (TaskKind::Agent | TaskKind::Reminder, Some(_)) => {
                return Err(format!("job {id} runs no command; remove it and add one that does"));
            }
        };
        let change = TaskChange { description, prompt, when, zone: given(arguments.tz), missed: None };
        if change == TaskChange::default() {
            return Err("nothing is to be different: give a message, a command or a time".to_owned());
        }
        let task = self.book.edit(id, change, asking).await.map_err(|error| error.to_string())?;
        Ok(made(&self.book, &task, asking))
    }
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

    /// A job that runs a command is as good as the command.
    fn class_of(&self, arguments: &Value) -> ToolClass {
        let says = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        match says("action") {
            Some("list" | "get") => ToolClass::Read,
            _ if says("command").is_some() => ToolClass::Execute,
            _ => ToolClass::ChangeSelf,
        }
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String> {
        let key = key(context, self.name(), &arguments);
        let arguments: Arguments = read_arguments(arguments)?;
        let asking = asking(context);
        let id = || given(arguments.job_id.clone()).ok_or("job_id is missing; `list` shows the jobs".to_owned());
        let book = &self.book;
        let told_of = match arguments.action {
            Action::List => {
                return Ok(listed(&book.list(None, &asking).await.map_err(|error| error.to_string())?.rows, &asking));
            }
            Action::Get => {
                let task = book.find(&id()?, &asking).await.map_err(|error| error.to_string())?;
                return Ok(listed(std::slice::from_ref(&task), &asking));
            }
            Action::Add => self.add(arguments, key, context).await?,
            Action::Update => self.update(&id()?, arguments, &asking).await?,
            Action::Remove => {
                let task = book.cancel(&id()?, &asking).await.map_err(|error| error.to_string())?;
                json!({ "task_id": task.id.to_string(), "status": task.standing.status.as_str() })
            }
            Action::Enable | Action::Disable => {
                let on = arguments.action == Action::Enable;
                let task = book.switch(&id()?, on, &asking).await.map_err(|error| error.to_string())?;
                json!({ "task_id": task.id.to_string(), "status": task.standing.status.as_str() })
            }
        };
        Ok(ToolText { text: told_of.to_string(), trust: context.trust })
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
