//! Whether servers of the Model Context Protocol answer.

use futures_util::future::join_all;
use limpid_services::mcp::{ServerRow, ToolState};

use crate::agent::Agent;
use crate::doctor::check::Check;

const WHAT: &str = "MCP server";

/// Connects to every server that is used, all at once: one line each.
pub(crate) async fn check(agent: &Agent) -> Vec<Check> {
    let names: Vec<String> = agent.mcp().list().into_iter().filter(|row| row.enabled).map(|row| row.name).collect();
    let probed = join_all(names.iter().map(|name| agent.mcp().probe(name))).await;
    // What they offer now is in the list by now.
    let rows = agent.mcp().list();
    let row = |name: &String| rows.iter().find(|row| row.name == *name);
    let checks = names.iter().zip(probed).map(|(name, probed)| {
        let finding = match (probed, row(name)) {
            (Err(error), _) => Err((format!("{name}: {error}"), format!("`limpid mcp test {name}` tries again."))),
            (Ok(_), Some(row)) => Ok(format!("{name}: {}", tools(row))),
            (Ok(_), None) => Ok(name.clone()),
        };
        Check::with_advice(WHAT, finding)
    });
    checks.collect()
}

fn tools(row: &ServerRow) -> String {
    let count = |states: &[ToolState]| row.tools.iter().filter(|tool| states.contains(&tool.state)).count();
    let ready = match count(&[ToolState::Ready]) {
        1 => "1 tool ready".to_owned(),
        ready => format!("{ready} tools ready"),
    };
    match count(&[ToolState::New, ToolState::Changed]) {
        0 => ready,
        waiting => format!("{ready}, {waiting} to look at with `limpid mcp enable {}`", row.name),
    }
}
