//! Tasks and their runs, as people and programs read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::task::{RunOutcome, TaskStatus, Trigger};
use limpid_core::{ConversationId, Trust};
use limpid_runtime::tasks::{next_times, on_both_clocks, status_words, time_words, when_words, zone_of};
use limpid_runtime::{Agent, MARK, marked_line};
use limpid_store::{Task, TaskRun};
use serde_json::{Value, json};

use crate::commands::listing::{in_zone, tell_broken};
use crate::failure::Failure;
use crate::output;

/// Times of a repeated task that are shown.
const TIMES: usize = 3;

pub(super) async fn one(agent: &Agent, id: &str, json: bool) -> Result<(), Failure> {
    let (task, runs) = agent.tasks().get(id).await?;
    if json {
        let mut value = head(&task);
        value["next"] = next_times(&task, agent.now(), TIMES).into_iter().map(Timestamp::as_millisecond).collect();
        value["runs"] = runs.rows.iter().map(run_head).collect();
        return output::json("task", &value);
    }
    let (now, zone) = (agent.now(), agent.zone());
    let new = &task.new;
    let mut lines = match new.trust.is_foreign() {
        true => vec![MARK.to_owned(), output::behind_margin(&new.description)],
        false => vec![marked_line(&new.description, new.trust)],
    };
    if new.prompt != new.description {
        lines.push(if new.trust.is_foreign() { output::behind_margin(&new.prompt) } else { new.prompt.clone() });
    }
    lines.push(String::new());
    lines.push(format!("{:7} {}", new.kind, when_words(&task, now, &zone)));
    lines.push(format!("status  {}", status_words(&task)));
    for (at, name) in next_times(&task, now, TIMES).into_iter().zip(["next", "then", "then"]) {
        let date = at.to_zoned(zone_of(&task.new)).strftime("%Y-%m-%d %H:%M %Z");
        lines.push(format!("{name:7} {} ({date})", time_words(at, now, &zone)));
    }
    lines.push(format!("zone    {}", new.zone));
    lines.push(format!("to      {}", new.conversation.as_ref().map_or("heartbeat", ConversationId::as_str)));
    lines.push(format!("missed  {}", new.missed));
    lines.extend(runs.rows.iter().map(|run| run_line(&task, run, &agent.zone())));
    output::text(&lines.join("\n"))?;
    tell_broken(&runs.broken);
    Ok(())
}

pub(super) async fn log(agent: &Agent, id: &str, json: bool) -> Result<(), Failure> {
    let (task, runs) = agent.tasks().get(id).await?;
    if json {
        output::json("runs", &runs.rows.iter().map(run_head).collect::<Vec<_>>())?;
    } else if runs.rows.is_empty() {
        output::tell("It has not run yet.");
    } else {
        let lines: Vec<String> = runs.rows.iter().map(|run| run_line(&task, run, &agent.zone())).collect();
        output::text(&lines.join("\n"))?;
    }
    tell_broken(&runs.broken);
    Ok(())
}

pub(super) fn changed(agent: &Agent, task: &Task, json: bool) -> Result<(), Failure> {
    if json {
        return output::json("task", &head(task));
    }
    let next = match (task.standing.status, task.standing.next) {
        (TaskStatus::Pending, Some(next)) => {
            format!(", next {}", on_both_clocks(task, next, agent.now(), &agent.zone()))
        }
        _ => String::new(),
    };
    output::tell(&format!("Task {} is {}{next}: {}", task.id, task.standing.status, called(task)));
    Ok(())
}

pub(super) fn ran(agent: &Agent, task: &Task, run: &TaskRun, json: bool) -> Result<(), Failure> {
    if json {
        return output::json("run", &run_head(run));
    }
    output::tell(&run_line(task, run, &agent.zone()));
    changed(agent, task, false)
}

pub(super) fn table(agent: &Agent, tasks: &[Task]) -> String {
    let (now, own) = (agent.now(), agent.zone());
    let rows: Vec<Vec<String>> = tasks
        .iter()
        .map(|task| {
            let next = match (task.standing.status, task.standing.next) {
                (TaskStatus::Pending, Some(next)) => on_both_clocks(task, next, now, &own),
                (TaskStatus::Pending, None) => String::new(),
                (status, _) => status.to_string(),
            };
            vec![task.id.to_string(), next, when_words(task, now, &own), task.new.kind.to_string(), called(task)]
        })
        .collect();
    output::table(&["task", "next", "when", "kind", "what"], &rows)
}

pub(super) fn heads(tasks: &[Task]) -> Vec<Value> {
    tasks.iter().map(head).collect()
}

fn head(task: &Task) -> Value {
    let new = &task.new;
    let (trigger, detail) = match &new.trigger {
        Trigger::Once(at) => ("time", json!({ "at_ms": at.as_millisecond() })),
        Trigger::Every { first, period } => {
            ("interval", json!({ "first_ms": first.as_millisecond(), "seconds": period.as_secs() }))
        }
        Trigger::Cron { pattern, .. } => ("cron", json!({ "pattern": pattern.to_string() })),
        Trigger::Heartbeat => ("heartbeat", json!({})),
    };
    json!({
        "id": task.id.0, "description": new.description, "text": new.prompt, "kind": new.kind.as_str(),
        "trigger": trigger, "when": detail, "zone": new.zone, "status": task.standing.status.as_str(),
        "next_ms": task.standing.next.map(Timestamp::as_millisecond), "failures": task.standing.failures,
        "missed": new.missed.to_string(), "conversation": new.conversation.as_ref().map(ConversationId::as_str),
        "trust": new.trust.as_str(), "made_ms": task.made_ms,
    })
}

fn run_head(run: &TaskRun) -> Value {
    json!({
        "slot_ms": run.slot_ms, "began_ms": run.began_ms, "ended_ms": run.end.map(|(ended_ms, _)| ended_ms),
        "outcome": run.end.map(|(_, outcome)| outcome.as_str()), "detail": run.detail,
        "conversation": run.conversation.as_ref().map(ConversationId::as_str),
    })
}

/// What a task is called, on one line.
fn called(task: &Task) -> String {
    marked_line(&task.new.description, task.new.trust)
}

fn run_line(task: &Task, run: &TaskRun, zone: &TimeZone) -> String {
    let outcome = run.end.map_or("running", |(_, outcome)| outcome.as_str());
    let transcript = run.conversation.as_ref().map(|id| format!("limpid conversation show {id}")).unwrap_or_default();
    // Why a model's run failed may be a provider's or a page's words; the label of a run is not stored.
    let failed = run.end.is_some_and(|(_, outcome)| outcome == RunOutcome::Failed);
    let trust = if failed && run.conversation.is_some() { Trust::Outside } else { task.new.trust };
    let detail = marked_line(&run.detail, trust);
    format!("{}  {outcome:7} {detail} {transcript}", in_zone(run.slot_ms, zone)).trim_end().to_owned()
}
