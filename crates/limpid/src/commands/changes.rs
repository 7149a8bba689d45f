//! What changed in the agent, in words for a person: one place for the chat, for the log of `serve` and for every other
//! command.

use limpid_runtime::events::Difference;
use limpid_runtime::{Event, EventKind};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::output::{behind_margin, shown_line};

/// The next event. Waits for ever when there will be none.
pub(super) async fn next(changes: &mut Receiver<Event>) -> Event {
    loop {
        match changes.recv().await {
            Ok(event) => return event,
            // Whoever was too slow goes on with what there is.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// What an event says; none when it is of use to programs only.
pub(super) fn words(change: &EventKind) -> Option<String> {
    let words = match change {
        EventKind::SystemPromptUpdated { .. } | EventKind::ActiveToolsUpdated(_) => return None,
        EventKind::ModeChanged { from, to, trigger } => match trigger.as_str() {
            "manual" | "explicit" => format!("mode: {from} → {to}"),
            _ => format!("mode: {from} → {to}, chosen by the model"),
        },
        EventKind::ActiveSkillsUpdated(difference) => format!("skills: {}", came_and_went(difference)),
        EventKind::ActiveMcpUpdated(difference) => format!("servers: {}", came_and_went(difference)),
        EventKind::PromptTierChanged { old, new, reason } => format!("prompt tier: {old} → {new} ({reason})"),
        EventKind::GoalUpdated { goal, what } => format!("goal {what}: {goal}"),
        EventKind::ContextWarning { used, available, advice } => {
            let percent = used * 100 / (*available).max(1);
            format!("the window is {percent} % full ({used} of {available} tokens); {advice}")
        }
        EventKind::CompactionStarted { .. } => "compacting…".to_owned(),
        EventKind::CompactionFinished { before, after, .. } => format!("compacted: {before} → {after} tokens"),
        EventKind::CompactionFailed { again: true, .. } => "not compacted, for the same reason as before".to_owned(),
        EventKind::CompactionFailed { reason, .. } => format!("not compacted: {reason}"),
        EventKind::Delivered { origin, text, .. } => return Some(delivered(origin, &plain(text))),
        EventKind::AgentEnded { agent, label, state } if label.is_empty() => format!("agent {agent} is {state}"),
        EventKind::AgentEnded { agent, label, state } => format!("agent {agent} is {state}: {label}"),
        EventKind::TaskRan { task, outcome, detail } => with_detail(format!("task {task}: {outcome}"), detail),
        EventKind::HeartbeatDecided { outcome, detail, .. } => with_detail(format!("heartbeat: {outcome}"), detail),
        EventKind::DraftUpdated { draft, tool, state } => format!("draft {draft} ({tool}) is {state}"),
        EventKind::ItemArrived { source, id } => format!("new {source}: item {id}"),
        EventKind::SemanticSearchFailed { model, reason } => {
            format!("semantic search is unavailable ({model}: {reason}); keywords were used")
        }
        EventKind::NotificationFailed { by, reason } => format!("notification through {by} failed: {reason}"),
    };
    // A provider's reason or a task's name with a line break would begin a line that looks like a change of its own.
    Some(shown_line(&words))
}

fn came_and_went(difference: &Difference) -> String {
    let added = difference.added.iter().map(|name| format!("+{name}"));
    let removed = difference.removed.iter().map(|name| format!("-{name}"));
    added.chain(removed).collect::<Vec<_>>().join(" ")
}

fn with_detail(what: String, detail: &str) -> String {
    if detail.is_empty() { what } else { format!("{what} ({detail})") }
}

/// A message below what it comes from, behind a margin, so that nothing in it looks like a message of its own. How many rows a text takes
/// depends on the screen, so a short one stands there too.
pub(super) fn delivered(origin: &str, text: &str) -> String {
    format!("[{origin}]\n{}", behind_margin(text))
}

/// The text without codes that a terminal would follow: nobody may have looked at it before.
fn plain(text: &str) -> String {
    text.trim().chars().filter(|letter| *letter == '\n' || *letter == '\t' || !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // TERM-009 OLLM-110
    #[test]
    fn an_event_reads_as_one_line_and_a_delivery_as_its_text() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let owned = str::to_owned;
        let events = [
            EventKind::ModeChanged { from: owned("assistant"), to: owned("developer"), trigger: owned("manual") },
            EventKind::ModeChanged { from: owned("assistant"), to: owned("developer"), trigger: owned("tool") },
            EventKind::ActiveSkillsUpdated(Difference { added: names(&["tea"]), removed: names(&["cake"]) }),
            EventKind::PromptTierChanged { old: 3, new: 2, reason: owned("window") },
            EventKind::ContextWarning { used: 710, available: 1000, advice: owned("write less") },
            EventKind::CompactionStarted { before: 900 },
            EventKind::CompactionFinished { before: 900, after: 300, steps: Vec::new() },
            EventKind::CompactionFailed { again: false, reason: owned("no model") },
            EventKind::CompactionFailed { again: true, reason: owned("no model") },
            EventKind::Delivered {
                origin: owned("reminder"),
                title: owned("Tea"),
                text: owned("Drink\ntea\u{1b}[2J.\n"),
                delivery: 1,
            },
            EventKind::DraftUpdated { draft: 1, tool: owned("send_mail"), state: owned("open") },
        ];
        let told: Vec<String> = events.iter().filter_map(words).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        mode: assistant → developer
        mode: assistant → developer, chosen by the model
        skills: +tea -cake
        prompt tier: 3 → 2 (window)
        the window is 71 % full (710 of 1000 tokens); write less
        compacting…
        compacted: 900 → 300 tokens
        not compacted: no model
        not compacted, for the same reason as before
        [reminder]
        │ Drink
        │ tea[2J.
        draft 1 (send_mail) is open
        ");
    }

    // SEC-089
    #[test]
    fn what_was_delivered_stands_behind_a_margin_however_short_it_is() {
        assert_eq!(
            delivered("heartbeat", "Tea. limpid: draft 2 was lost"),
            "[heartbeat]\n│ Tea. limpid: draft 2 was lost"
        );
        assert_eq!(delivered("heartbeat", "茶"), "[heartbeat]\n│ 茶");
    }

    // SEC-089
    #[test]
    fn no_reason_of_others_begins_a_line_that_looks_like_a_change() {
        let reason = "it is busy\ndraft 2 was lost".to_owned();
        let told = words(&EventKind::CompactionFailed { again: false, reason }).unwrap();
        assert_eq!(told, "not compacted: it is busy\\ndraft 2 was lost");
    }
}
