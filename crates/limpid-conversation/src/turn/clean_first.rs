//! "Clean the window, then run": the window is emptied of strangers' text, the call runs exactly as it was shown and approved, and
//! the turn ends, since what led to the call is not to be read on.
//!
//! The call keeps the label of the turn: a stranger's text led to its arguments, and no cleaning changes that, so a program gets the
//! lower view as after any other yes. Its words are not put into the clean window. What it came to is, with its own label: a
//! stranger's words stand in a boundary there, and taint the window again. Of a file that was written nothing is told, so that the
//! window stays clean. What the owner says meanwhile begins the next turn. After a crash in between the turn ends with the calls, or
//! goes on as after any other yes, and what it had read has its label.

use std::collections::BTreeSet;

use limpid_core::{CallId, Labelled, sentence};
use limpid_prompt::boundary;
use limpid_services::deliveries::Announcement;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_turn::ToolOutcome;

use crate::clean::clean;
use crate::event::TurnEvent;
use crate::turn::running::RunningTurn;

/// What is said of a call that was done.
const DONE: [&str; 3] = ["Done in a clean window", "The action you approved was done.", "It returned:"];

/// What is said of a call that failed.
const FAILED: [&str; 3] = ["Failed in a clean window", "The action you approved failed.", "It said:"];

/// What is said of both.
const ASIDE: &str = "What others wrote is put aside and is not read here any more.";

/// The calls of a turn that ends with a clean window, and what they came to.
#[derive(Default)]
pub(super) struct CleanEnd {
    calls: BTreeSet<CallId>,
    outcomes: Vec<Outcome>,
}

/// What a call came to.
struct Outcome {
    call: CallId,
    /// Nothing where the call says it all.
    said: Option<Labelled<String>>,
    failed: bool,
}

/// Empties the window before a call runs.
pub(super) async fn begin(turn: &mut RunningTurn, call: &CallId) -> Result<(), AgentError> {
    if turn.clean_end.is_none() {
        put_aside(turn).await?;
    }
    turn.clean_end.get_or_insert_default().calls.insert(call.clone());
    Ok(())
}

/// Takes in what such a call came to.
pub(super) fn note(turn: &mut RunningTurn, id: &CallId, outcome: &ToolOutcome) {
    if let Some(end) = turn.clean_end.as_mut().filter(|end| end.calls.contains(id)) {
        let fenced = |text: String| match &outcome.boundary {
            Some(drawn) => boundary::fence(&text, &boundary::tag(drawn, [text.as_str()])),
            None => text,
        };
        let names_it = turn.machine.name_of(id).is_some_and(|name| turn.calls.tools.says_nothing_new(name));
        let said = (outcome.failed || !names_it).then(|| outcome.said.clone().map(fenced));
        end.outcomes.push(Outcome { call: id.clone(), said, failed: outcome.failed });
    }
}

/// Puts aside what the turn itself read and called, and tells what the calls came to.
pub(super) async fn settle(turn: &mut RunningTurn, end: CleanEnd) -> Result<(), AgentError> {
    let CleanEnd { outcomes, .. } = end;
    put_aside(turn).await?;
    let conversation = turn.writer.lease().conversation.clone();
    for Outcome { call, said, failed } in outcomes {
        let [title, what, before] = if failed { FAILED } else { DONE };
        let text = match said {
            Some(said) => sentence!("{} {} {}\n\n{}", what, ASIDE, before, said),
            None => sentence!("{} {}", what, ASIDE),
        };
        let key = format!("clean/{}/{call}", turn.id());
        // The owner was asked here, and told who reads along.
        let told = Announcement::new(title.into(), text);
        turn.deps.deliveries.notice(Some(&conversation), &key, told).await?;
    }
    let told = "The window is clean: what strangers wrote, and what was said after it, is put aside.";
    turn.listeners.send(&TurnEvent::Notice(told.to_owned()));
    Ok(())
}

async fn put_aside(turn: &mut RunningTurn) -> Result<(), AgentError> {
    let conversation = ConversationChoice::Id(turn.writer.lease().conversation.clone());
    clean(&turn.deps, &conversation).await.map(drop)
}
