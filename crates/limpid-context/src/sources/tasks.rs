//! The tasks that wait, as prompts show them.

use jiff::Timestamp;
use limpid_core::task::{TaskStatus, Trigger as TaskTrigger};
use limpid_prompt::inputs::{Inputs, TaskEntry, Trigger};
use limpid_services::error::AgentError;
use limpid_services::tasks::SCHEDULING_TOOLS;
use limpid_store::Task;

use crate::deps::ContextDeps;

/// Fills in the tasks that wait; with scheduling switched off there are none, and no tools for them.
pub(crate) async fn fill(deps: &ContextDeps, inputs: &mut Inputs) -> Result<(), AgentError> {
    inputs.scheduling.enabled = deps.config.scheduling.enabled;
    if !inputs.scheduling.enabled {
        inputs.tools.retain(|tool| tool.group != SCHEDULING_TOOLS);
        return Ok(());
    }
    let waiting = deps.store.tasks(Some(TaskStatus::Pending)).await?.rows;
    // Heartbeats work in the workspace, so what was planned for another folder is none of theirs.
    let is_elsewhere = |task: &Task| task.new.trigger == TaskTrigger::Heartbeat && task.new.base.is_some();
    inputs.scheduling.tasks = waiting.iter().filter(|task| !is_elsewhere(task)).map(entry).collect();
    Ok(())
}

fn entry(task: &Task) -> TaskEntry {
    let (trigger, cron) = match &task.new.trigger {
        TaskTrigger::Once(_) | TaskTrigger::Every { .. } => (Trigger::Time, None),
        TaskTrigger::Cron { pattern, .. } => (Trigger::Cron, Some(pattern.to_string())),
        TaskTrigger::Heartbeat => (Trigger::Heartbeat, None),
    };
    let utc = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    TaskEntry {
        id: task.id.to_string(),
        description: task.new.description.clone(),
        prompt: task.new.prompt.clone(),
        trigger,
        cron,
        zone: Some(task.new.zone.clone()),
        scheduled_at: task.standing.next.map(utc),
        trust: task.new.trust.into(),
    }
}
