//! `agent`.

use limpid_core::{AgentId, PlannedId, Role};
use limpid_runtime::{Agent, AgentReport, Planned, Told, marked_line};
use limpid_store::{AgentFilter, StoredMessage, SubAgent};
use serde_json::{Value, json};

use super::listing::{in_zone, tell_broken};
use crate::cli::AgentCommand;
use crate::failure::Failure;
use crate::output;

/// Agents that are listed.
const MOST: u32 = 100;

/// Carries out `agent …`.
///
/// # Errors
/// When there is no such agent, or the store fails.
pub async fn run(agent: &Agent, command: &AgentCommand) -> Result<(), Failure> {
    match command {
        AgentCommand::List { open, json } => list(agent, *open, *json).await,
        AgentCommand::Show { id, json } => show(agent, AgentId(*id), *json).await,
        AgentCommand::Plan { json } => plan(agent, *json).await,
        AgentCommand::Tell { id, message, json } => tell(agent, AgentId(*id), message, *json).await,
        AgentCommand::Cancel { id, json } => cancel(agent, AgentId(*id), *json).await,
    }
}

async fn list(agent: &Agent, open: bool, json: bool) -> Result<(), Failure> {
    let listed = agent.agents().list(AgentFilter { open, limit: MOST, ..AgentFilter::default() }).await?;
    if json {
        let rows: Vec<Value> = listed.rows.iter().map(head).collect();
        output::json("agents", &rows)?;
    } else if listed.rows.is_empty() {
        output::tell("No agents.");
    } else {
        let zone = agent.zone();
        let row = |one: &SubAgent| {
            vec![
                one.id.to_string(),
                one.state.to_string(),
                in_zone(one.new.now_ms, &zone),
                one.parent.map(|parent| parent.to_string()).unwrap_or_default(),
                one.chat.to_string(),
                marked_line(&one.new.label, one.new.trust),
            ]
        };
        let rows: Vec<Vec<String>> = listed.rows.iter().map(row).collect();
        output::line(&output::table(&["agent", "state", "since", "of", "conversation", "task"], &rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

async fn show(agent: &Agent, id: AgentId, json: bool) -> Result<(), Failure> {
    let one = agent.agents().get(id).await?;
    let said = agent.store().messages(&one.works_in(), None).await?.rows;
    if json {
        let message = |row: &StoredMessage| {
            let message = &row.message;
            let calls: Vec<Value> =
                message.calls.iter().map(|call| json!({ "name": call.name, "arguments": call.arguments })).collect();
            json!({
                "role": message.role.as_str(), "text": message.text, "calls": calls,
                "trust": message.trust.as_str(), "at_ms": row.at_ms,
            })
        };
        let mut value = head(&one);
        value["messages"] = said.iter().map(message).collect();
        return output::json("agent", &value);
    }
    let zone = agent.zone();
    let report = AgentReport::of_row(&one);
    let mut fields = vec![
        ("agent", format!("{} ({})", one.id, one.state)),
        ("from", format!("{} ({})", one.new.conversation, in_zone(one.new.now_ms, &zone))),
    ];
    fields.extend(one.ended_ms.map(|ended| ("ended", in_zone(ended, &zone))));
    fields.extend(one.new.skill.clone().map(|skill| ("skill", skill)));
    fields.extend(one.new.tools.as_ref().map(|tools| ("tools", tools.join(", "))));
    fields.push(("trust", one.trust.to_string()));
    fields.extend(one.state.is_over().then(|| ("did", report.notice(one.id, one.state, one.trust))));
    fields.extend((!report.files.is_empty()).then(|| ("wrote", report.files.join(", "))));
    fields.extend((!one.reason.is_empty()).then(|| ("why", one.reason.clone())));
    let mut page = output::fields(&fields);
    for row in &said {
        let who = match row.message.role {
            Role::Assistant => "agent",
            Role::Tool => "tool",
            _ => "task",
        };
        // What an agent says, and what it has read, stands behind a margin, so that it draws no field of this page.
        page.push_str(&format!("\n\n{who}:\n{}", output::behind_margin(&row.message.text)));
        for call in &row.message.calls {
            page.push_str(&format!("\n{}", output::beside("  ", 4, &format!("{} {}", call.name, call.arguments))));
        }
    }
    output::line(&page)
}

async fn plan(agent: &Agent, json: bool) -> Result<(), Failure> {
    let planned = agent.agents().planned(None).await?;
    let numbers = |ids: &[PlannedId]| ids.iter().map(|id| id.0).collect::<Vec<_>>();
    if json {
        let row = |one: &Planned| {
            json!({
                "task_id": one.task.id.0, "name": one.task.name, "state": one.state.as_str(), "task": one.task.task,
                "skill": one.task.skill, "after": numbers(&one.task.needs), "blocked_by": numbers(&one.blocked_by),
                "agent": one.task.agent.map(|(id, _)| id.0), "tries": one.task.tries, "why": one.task.refusal,
                "conversation": one.task.chat.as_str(), "trust": one.task.trust.as_str(),
            })
        };
        return output::json("planned", &planned.iter().map(row).collect::<Vec<_>>());
    }
    if planned.is_empty() {
        output::tell("No planned tasks.");
        return Ok(());
    }
    let words = |ids: &[PlannedId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let row = |one: &Planned| {
        let blocked_by = words(&one.blocked_by);
        let state = match blocked_by.is_empty() {
            // A limit of the message that started it holds it back; `--json` says which.
            true if one.task.is_held => format!("{}, stopped at a limit; start it again", one.state.as_str()),
            true => one.state.as_str().to_owned(),
            false => format!("{} by {blocked_by}", one.state.as_str()),
        };
        vec![
            one.task.id.to_string(),
            state,
            words(&one.task.needs),
            one.task.agent.map(|(id, _)| id.to_string()).unwrap_or_default(),
            one.task.chat.to_string(),
            marked_line(&one.task.name, one.task.trust),
        ]
    };
    let rows: Vec<Vec<String>> = planned.iter().map(row).collect();
    output::line(&output::table(&["task", "state", "after", "agent", "conversation", "name"], &rows))
}

async fn tell(agent: &Agent, id: AgentId, message: &str, json: bool) -> Result<(), Failure> {
    let told = agent.agents().tell(id, message).await?;
    let (now, goes_on) = match told {
        Told::Hears(now) => (now, false),
        Told::GoesOn { now, .. } => (now, true),
    };
    if goes_on {
        // This process runs it.
        let chat = agent.agents().get(now).await?.chat;
        agent.conversations().wait_for_agents(&chat).await?;
    }
    let state = agent.agents().get(now).await?.state;
    if json {
        return output::json("told", &json!({ "agent": now.0, "goes_on": goes_on, "state": state.as_str() }));
    }
    match goes_on {
        true => output::tell(&format!("Agent {now} went on with the work of agent {id} ({state}).")),
        false => output::tell(&format!("Agent {now} hears it when its present step is over.")),
    }
    Ok(())
}

async fn cancel(agent: &Agent, id: AgentId, json: bool) -> Result<(), Failure> {
    let stopped = agent.agents().cancel(id).await?;
    let numbers: Vec<i64> = stopped.iter().map(|id| id.0).collect();
    if json {
        return output::json("cancelled", &numbers);
    }
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [] => output::tell(&format!("Agent {id} has ended already.")),
        [one] => output::tell(&format!("Agent {one} is stopped.")),
        several => output::tell(&format!("Agents {} are stopped.", several.join(", "))),
    }
    Ok(())
}

fn head(one: &SubAgent) -> Value {
    let report = AgentReport::of_row(one);
    json!({
        "id": one.id.0, "state": one.state.as_str(), "label": one.new.label, "task": one.new.task,
        "skill": one.new.skill, "context": one.new.context, "tools": one.new.tools, "path": one.new.path,
        "conversation": one.new.conversation.as_str(), "turn": one.new.turn.as_str(), "chat": one.chat.as_str(),
        "continues": one.new.continues.map(|before| before.0), "planned": one.new.planned.map(|task| task.0),
        "parent": one.parent.map(|parent| parent.0), "depth": one.depth, "trust": one.trust.as_str(),
        "result": one.result, "reason": one.reason, "rounds": report.rounds, "tokens": report.tokens,
        "calls": report.calls, "files": report.files, "made_ms": one.new.now_ms, "began_ms": one.began_ms,
        "ended_ms": one.ended_ms,
    })
}
