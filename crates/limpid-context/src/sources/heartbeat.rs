//! What a heartbeat reads besides tasks and news.

use jiff::Timestamp;
use limpid_core::heartbeat::news::{has_tasks, with_tasks};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{HeartbeatInput, Inputs, PreviousReport, QuietInput, Trigger, UnreadEntry};
use limpid_services::deliveries::visible_text;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{
    DueItems, HEARTBEAT_DECISION, HeartbeatPart, PATH, PREVIOUS, StandingItem, has_new_items, read_settings,
};
use limpid_store::Delivery;

use crate::deps::ContextDeps;
use crate::occasion::Occasion;

/// Unread messages of the quiet hours that a run is shown, the newest ones: so many of those that a stranger's text led to, and as many
/// of the others.
const UNREAD: usize = 10;

/// The owner's list, at the top of the workspace.
const CHECKLIST: &str = "HEARTBEAT.md";

/// Fills in the owner's opening, the checklist when it holds a task, and the last reports; on other paths nothing. A
/// run sees the standing items that are due; whoever only looks at the prompt, and a run by hand, sees all.
pub(crate) async fn fill(
    deps: &ContextDeps,
    inputs: &mut Inputs,
    path: &str,
    occasion: &Occasion<'_>,
) -> Result<(), AgentError> {
    if path != PATH {
        return Ok(());
    }
    let prompt = read_settings(&*deps.store).await?.prompt;
    let list = inputs.workspace.files.iter().find(|file| file.name == CHECKLIST);
    let list = list.map(|file| file.content.clone()).filter(|content| has_tasks(content));
    let mut list = list.unwrap_or_default();
    let by_hand = deps.store.heartbeat().await?.running.is_some_and(|running| running.by_hand);
    if occasion.conversation.is_some() && !by_hand {
        let due = DueItems::at(&*deps.store, deps.config.heartbeat.recheck, &deps.host, occasion.now).await?;
        list = with_tasks(&list, |line| due.has(&StandingItem::line(line)));
        inputs
            .scheduling
            .tasks
            .retain(|task| task.trigger != Trigger::Heartbeat || due.has(&StandingItem::addition(task)));
    }
    let reports = deps.store.heartbeat_reports(PREVIOUS).await?.rows;
    let previous = reports.into_iter().rev().map(|run| PreviousReport {
        text: deps.redactor.clean(run.report.unwrap_or_default()),
        trust: run.trust.into(),
    });
    inputs.heartbeat = HeartbeatInput {
        prompt: (!prompt.is_empty()).then_some(prompt),
        checklist: list,
        previous: previous.collect(),
        quiet: None,
    };
    Ok(())
}

/// Fills in the quiet hours that a heartbeat is the first one after, when something came in.
pub(crate) async fn fill_quiet_hours(
    deps: &ContextDeps,
    inputs: &mut Inputs,
    path: &str,
    now: Timestamp,
) -> Result<(), AgentError> {
    if path != PATH {
        return Ok(());
    }
    let now = now.to_zoned(deps.host.zone());
    let Some(quiet) = read_settings(&*deps.store).await?.quiet_before(&now) else { return Ok(()) };
    let (began_ms, ended_ms) = (quiet.began.timestamp().as_millisecond(), quiet.ended.timestamp().as_millisecond());
    let state = deps.store.heartbeat().await?.state;
    let looked_ms = state.succeeded_ms.or(state.switched_on_ms);
    if looked_ms.is_none_or(|looked_ms| looked_ms >= ended_ms) {
        return Ok(());
    }
    let mut unread = deps.store.unread_deliveries().await?.rows;
    unread.retain(|delivery| delivery.settled_ms.is_some_and(|settled_ms| (began_ms..ended_ms).contains(&settled_ms)));
    if unread.is_empty() && !has_new_items(inputs) {
        return Ok(());
    }
    let since = quiet.began.strftime("%H:%M").to_string();
    let unread = newest_of_each(unread, |delivery| delivery.new.trust.is_foreign());
    let unread = unread.into_iter().map(|delivery| unread_entry(deps, delivery)).collect();
    inputs.heartbeat.quiet = Some(QuietInput { since, unread });
    Ok(())
}

/// The newest of two kinds, [`UNREAD`] of each, in their order: however many there are of one, they push out none of the other.
fn newest_of_each<T>(items: Vec<T>, kind: impl Fn(&T) -> bool) -> Vec<T> {
    let mut left = [UNREAD; 2];
    let mut newest: Vec<T> = items.into_iter().rev().collect();
    newest.retain(|item| {
        let left = &mut left[usize::from(kind(item))];
        let is_shown = *left > 0;
        *left = left.saturating_sub(1);
        is_shown
    });
    newest.reverse();
    newest
}

fn unread_entry(deps: &ContextDeps, delivery: Delivery) -> UnreadEntry {
    UnreadEntry {
        origin: delivery.new.origin.to_string(),
        title: visible_text(&deps.redactor, delivery.new.title),
        text: visible_text(&deps.redactor, delivery.new.text),
        trust: delivery.new.trust.into(),
    }
}

/// Leaves nothing in the inputs of a run but the part of the work that it sees; whoever only looks at the prompt sees all.
pub(crate) async fn keep_part(
    deps: &ContextDeps,
    inputs: &mut Inputs,
    path: &str,
    occasion: &Occasion<'_>,
) -> Result<(), AgentError> {
    if path != PATH || occasion.conversation.is_none() {
        return Ok(());
    }
    let running = deps.store.heartbeat().await?.running;
    if let Some(part) = running.and_then(|running| HeartbeatPart::parse(&running.part)) {
        let due = DueItems::at(&*deps.store, deps.config.heartbeat.recheck, &deps.host, occasion.now).await?;
        part.keep(inputs, |item| due.is_alone(item));
    }
    Ok(())
}

/// Leaves the tool that ends a heartbeat to a heartbeat whose path lists it; elsewhere there is nothing to end.
pub(crate) fn keep_decision(inputs: &mut Inputs, profile: &Profile, path: &str) {
    let lists = |tools: &Vec<String>| tools.iter().any(|tool| tool == HEARTBEAT_DECISION);
    let decides = path == PATH && profile.path(path).is_ok_and(|path| path.tools.as_ref().is_some_and(lists));
    if !decides {
        inputs.tools.retain(|tool| tool.name != HEARTBEAT_DECISION);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn however_many_there_are_of_one_kind_the_other_is_shown() {
        let own = [(0, false)].into_iter();
        let theirs = (1..=30).map(|at| (at, true));
        let kept = newest_of_each(own.chain(theirs).collect(), |(_, is_theirs)| *is_theirs);
        let kept: Vec<i32> = kept.into_iter().map(|(at, _)| at).collect();
        assert_eq!(kept, [0].into_iter().chain(21..=30).collect::<Vec<_>>());
    }
}
