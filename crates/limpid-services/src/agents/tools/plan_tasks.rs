//! `plan_tasks`: writes down tasks for agents that wait for each other.

use async_trait::async_trait;
use limpid_core::agent::DELEGATION;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_tools::{Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::named_skills::{as_load_skill, in_load_skill, skill_of};
use crate::agents::plan::PlanRequest;
use crate::agents::service::Agents;

/// Writes down tasks for agents that wait for each other.
pub(super) struct PlanTasks(pub(super) Agents);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    tasks: Vec<TaskArguments>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskArguments {
    name: String,
    task: String,
    skill: Option<String>,
    context: Option<String>,
    after: Option<Vec<String>>,
}

#[async_trait]
impl Tool for PlanTasks {
    fn name(&self) -> &'static str {
        "plan_tasks"
    }

    fn group(&self) -> &'static str {
        DELEGATION
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Delegate
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    /// The skills that it names are read by the agents that carry the tasks out.
    fn counts_as(&self, arguments: &Value) -> Option<(Vec<String>, String)> {
        as_load_skill(skills_of(arguments).next())
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        skills_of(arguments).flat_map(in_load_skill).collect()
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { tasks } = read_arguments(arguments)?;
        let request = |task: TaskArguments| {
            let TaskArguments { name, task, skill, context, after } = task;
            PlanRequest { name, task, skill, context, after: after.unwrap_or_default() }
        };
        let planned = self.0.plan(context, tasks.into_iter().map(request).collect()).await?;
        let row = |task: &limpid_store::PlannedTask| {
            let needs: Vec<i64> = task.needs.iter().map(|id| id.0).collect();
            json!({ "task_id": task.id.0, "name": task.name, "after": needs })
        };
        let rows: Vec<Value> = planned.iter().map(row).collect();
        Ok(context.words(json!({ "planned": rows }).to_string()))
    }
}

/// The skills that the tasks of a call name.
fn skills_of(arguments: &Value) -> impl Iterator<Item = &str> {
    arguments["tasks"].as_array().into_iter().flatten().filter_map(|task| skill_of(task))
}
