//! A command whose time has come: it runs as any call of the tool does, under the owner's rules and in the sandbox.

use limpid_core::{CallId, Labelled, Tier, ToolCall, TurnId, sentence};
use limpid_services::error::AgentError;
use limpid_services::tools::{CallContext, Decision, ShownItems, ToolContext, Written};
use limpid_store::{Task, TaskRun};
use limpid_turn::{Approval, PlannedCall, ToolOutcome};
use serde_json::json;

use crate::jobs::task_runs::{TaskJob, TaskResult};

/// The tool that runs commands.
const EXEC: &str = "exec";

/// Runs the command of a task. One that had begun before may have done anything, so it is not begun again.
pub(super) async fn run_command(job: &TaskJob, task: &Task, run: &TaskRun) -> Result<TaskResult, AgentError> {
    if !run.fresh {
        return Ok(TaskResult::cut_off());
    }
    let name = format!("task-{}-{}", task.id, run.slot_ms);
    let arguments = json!({ "command": task.new.prompt }).to_string();
    let call = ToolCall { id: CallId::new(&name), name: EXEC.to_owned(), arguments };
    let mut planned =
        PlannedCall { call, timeout: job.context.tools.time_limit(EXEC, &job.config.limits), approved: None };
    let tools = job.executor.outside_turns();
    let call_context = CallContext::of(task.new.trust);
    let mut decision = tools.decide(&planned, &call_context, job.host.now_ms()).await;
    if let Decision::Ask(why) = &decision
        && !tools.sends_strangers(&planned.call)
    {
        // Whoever made the task said yes to this very command, but not to what a program could send. What a stranger's text led to has
        // the label and the view of that, and no network.
        planned.approved = Some(Approval { bound_to: why.bound_to.clone(), at_ms: job.host.now_ms() });
        decision = tools.decide(&planned, &call_context, job.host.now_ms()).await;
    }
    let permit = match decision {
        Decision::Run(permit) => permit,
        Decision::Refused(why) => return Ok(TaskResult::failed(why)),
        Decision::Ask(why) => {
            let why = Labelled::new(why.reason, task.new.trust);
            return Ok(TaskResult::failed(sentence!("it needs your approval: {}", why)));
        }
    };
    let context = ToolContext {
        now: job.host.now(),
        zone: job.host.zone(),
        conversation: job.target(task).await?,
        turn: TurnId::new(name),
        call: planned.call.id.clone(),
        trust: task.new.trust,
        tier: Tier::ALL[2],
        read_only: false,
        approved: false,
        snapshot: None,
        bans: limpid_core::policy::Bans::default(),
        unused_skills: Vec::new(),
        private_place: None,
        may_lead_to_key: true,
        drawn: false,
        program: None,
        send_state: None,
        tools_of_agents: None,
        shown: ShownItems::default(),
        written: Written::default(),
        owner: None,
    };
    let did = match tokio::time::timeout(planned.timeout, tools.run(context, permit.unapproved())).await {
        Ok(outcome) => {
            let kind = tools.kind_of_result(&planned.call.name, &outcome);
            let ToolOutcome { said, failed, .. } = outcome;
            let (text, trust) = said.into_parts();
            let text = job.redactor.clean_as(kind, text);
            if failed { TaskResult::failed(Labelled::new(text, trust)) } else { TaskResult::said(text, trust) }
        }
        Err(_) => TaskResult::cut_off(),
    };
    Ok(did)
}
