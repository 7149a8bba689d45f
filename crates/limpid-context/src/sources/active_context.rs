//! What a chat is in the middle of: the agents and planned tasks that something is still to come of.

use limpid_core::Trust;
use limpid_core::agent::plan::PlannedState;
use limpid_core::by_side::by_side;
use limpid_prompt::Profile;
use limpid_prompt::inputs::Inputs;
use limpid_services::agents::{Planned, planned};
use limpid_services::error::AgentError;
use limpid_store::{AgentFilter, Conversation};

use crate::deps::ContextDeps;

/// Agents and planned tasks that are named, of the owner's at most.
const MOST: usize = 20;

/// Fills in what is under way, where the path shows it; nothing when nothing is.
pub(crate) async fn fill(
    deps: &ContextDeps,
    conversation: Option<&Conversation>,
    (profile, path): (&Profile, &str),
    inputs: &mut Inputs,
) -> Result<(), AgentError> {
    let Some(conversation) = conversation else { return Ok(()) };
    if !profile.path(path).is_ok_and(|path| profile.quotes(path, "active_context")) {
        return Ok(());
    }
    let open = AgentFilter { chat: Some(conversation.id.clone()), open: true, ..AgentFilter::default() };
    let mut agents = deps.store.agents(open).await?.rows;
    agents.reverse();
    let planned = planned(&*deps.store, Some(&conversation.id)).await?;
    let works = agents.iter().map(|agent| {
        let begins = format!("agent {} {}", agent.id, agent.state);
        (agent.new.by_strangers, with_words(&begins, &agent.new.label, agent.new.trust))
    });
    let is_shown = |one: &&Planned| {
        one.state.is_under_way() && one.state != PlannedState::Running
            || one.state == PlannedState::Blocked && one.task.tries > 0
    };
    let waits = planned.iter().filter(is_shown).map(|one| {
        let mut begins = format!("task {} {}", one.task.id, one.state.as_str());
        let (word, others) = match one.state {
            PlannedState::Blocked => (" by task ", &one.blocked_by),
            _ => (" for task ", &one.task.needs),
        };
        for (at, other) in others.iter().enumerate() {
            begins.push_str(if at == 0 { word } else { ", " });
            begins.push_str(&other.to_string());
        }
        if one.task.is_held {
            begins.push_str(", stopped at a limit until it is started again");
        }
        (one.task.by_strangers, with_words(&begins, &one.task.name, one.task.trust))
    });
    inputs.active_context = listed(works.chain(waits));
    Ok(())
}

/// The first of these lines, each with whether a stranger's text led to what it names: that takes no room of the owner's.
fn listed(lines: impl Iterator<Item = (bool, String)>) -> Option<String> {
    let lines = by_side(lines, MOST, |(is_strangers, _)| *is_strangers);
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A line with the name that a task was given, where a stranger had no part in it: this text is the agent's own.
fn with_words(begins: &str, name: &str, trust: Trust) -> String {
    match trust.is_foreign() {
        true => format!("- {begins}"),
        false => format!("- {begins}: {}", name.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-102
    #[test]
    fn what_strangers_had_started_takes_no_room_of_the_owners() {
        let theirs = (1..=40).map(|n| (true, format!("- agent {n} running")));
        let ours = (1..=20).map(|n| (false, format!("- task {n} waiting: water")));
        let text = listed(theirs.chain(ours)).unwrap();
        assert_eq!(text.lines().filter(|line| line.ends_with("water")).count(), 20, "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with("running")).count(), 2, "{text}");
        assert_eq!(listed(std::iter::empty()), None);
    }
}
