//! What a heartbeat reads besides tasks and news.

use jiff::Timestamp;
use limpid_core::heartbeat::news::{has_tasks, with_tasks};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{HeartbeatInput, Inputs, PreviousReport, QuietInput, Trigger, UnreadEntry};
use limpid_store::Delivery;

use super::Occasion;
use crate::agent::Inner;
use crate::error::AgentError;
use crate::heartbeat::{PATH, PREVIOUS, StandingItem, has_items};
use crate::tools::HEARTBEAT_DECISION;

/// Unread messages of the quiet hours that a run is shown, the newest ones.
const UNREAD: usize = 10;

/// The owner's list, at the top of the workspace.
const CHECKLIST: &str = "HEARTBEAT.md";

impl Inner {
    /// Fills in the owner's opening, the checklist when it holds a task, and the last reports; on other paths nothing. A
    /// run sees the standing items that are due; whoever only looks at the prompt, and a run by hand, sees all.
    pub(super) async fn gather_heartbeat(
        &self,
        inputs: &mut Inputs,
        path: &str,
        occasion: &Occasion<'_>,
    ) -> Result<(), AgentError> {
        if path != PATH {
            return Ok(());
        }
        let prompt = self.heartbeat_settings().await?.prompt;
        let list = inputs.workspace.files.iter().find(|file| file.name == CHECKLIST);
        let list = list.map(|file| file.content.clone()).filter(|content| has_tasks(content));
        let mut list = list.unwrap_or_default();
        let by_hand = self.store.heartbeat().await?.running.is_some_and(|running| running.by_hand);
        if occasion.conversation.is_some() && !by_hand {
            let due = self.due_items(occasion.now).await?;
            list = with_tasks(&list, |line| due.has(&StandingItem::line(line)));
            inputs
                .scheduling
                .tasks
                .retain(|task| task.trigger != Trigger::Heartbeat || due.has(&StandingItem::addition(task)));
        }
        let reports = self.store.heartbeat_reports(PREVIOUS).await?.rows;
        let previous = reports.into_iter().rev().map(|run| PreviousReport {
            text: self.redactor.clean(run.report.unwrap_or_default()),
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
    pub(super) async fn gather_quiet_hours(
        &self,
        inputs: &mut Inputs,
        path: &str,
        now: Timestamp,
    ) -> Result<(), AgentError> {
        if path != PATH {
            return Ok(());
        }
        let now = now.to_zoned(self.zone());
        let Some(quiet) = self.heartbeat_settings().await?.quiet_before(&now) else { return Ok(()) };
        let state = self.store.heartbeat().await?.state;
        let looked_ms = state.succeeded_ms.or(state.switched_on_ms);
        if looked_ms.is_none_or(|looked_ms| looked_ms >= quiet.ended.timestamp().as_millisecond()) {
            return Ok(());
        }
        let began_ms = quiet.began.timestamp().as_millisecond();
        let mut unread = self.store.unread_deliveries().await?.rows;
        unread.retain(|delivery| delivery.settled_ms.is_some_and(|settled_ms| settled_ms >= began_ms));
        if unread.is_empty() && !has_items(inputs) {
            return Ok(());
        }
        let since = quiet.began.strftime("%H:%M").to_string();
        let unread = unread.into_iter().rev().take(UNREAD).rev().map(|delivery| self.unread_entry(delivery));
        inputs.heartbeat.quiet = Some(QuietInput { since, unread: unread.collect() });
        Ok(())
    }

    fn unread_entry(&self, delivery: Delivery) -> UnreadEntry {
        UnreadEntry {
            origin: delivery.new.origin.to_string(),
            title: self.as_told(delivery.new.title),
            text: self.as_told(delivery.new.text),
            trust: delivery.new.trust.into(),
        }
    }
}

/// Leaves the tool that ends a heartbeat to a heartbeat whose path lists it; elsewhere there is nothing to end.
pub(super) fn keep_decision(inputs: &mut Inputs, profile: &Profile, path: &str) {
    let lists = |tools: &Vec<String>| tools.iter().any(|tool| tool == HEARTBEAT_DECISION);
    let decides = path == PATH && profile.path(path).is_ok_and(|path| path.tools.as_ref().is_some_and(lists));
    if !decides {
        inputs.tools.retain(|tool| tool.name != HEARTBEAT_DECISION);
    }
}
