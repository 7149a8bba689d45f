//! What a heartbeat reads besides tasks and news.

use limpid_core::heartbeat::news::has_tasks;
use limpid_prompt::Profile;
use limpid_prompt::inputs::{HeartbeatInput, Inputs, PreviousReport};

use crate::agent::Inner;
use crate::error::AgentError;
use crate::heartbeat::{PATH, PREVIOUS};
use crate::tools::HEARTBEAT_DECISION;

/// The owner's list, at the top of the workspace.
const CHECKLIST: &str = "HEARTBEAT.md";

impl Inner {
    /// Fills in the owner's opening, the checklist when it holds a task, and the last reports; on other paths nothing.
    pub(super) async fn gather_heartbeat(&self, inputs: &mut Inputs, path: &str) -> Result<(), AgentError> {
        if path != PATH {
            return Ok(());
        }
        let prompt = self.heartbeat_settings().await?.prompt;
        let list = inputs.workspace.files.iter().find(|file| file.name == CHECKLIST);
        let list = list.map(|file| file.content.clone()).filter(|content| has_tasks(content));
        let reports = self.store.heartbeat_reports(PREVIOUS).await?.rows;
        let previous = reports.into_iter().rev().map(|run| PreviousReport {
            text: self.redactor.clean(run.report.unwrap_or_default()),
            trust: run.trust.into(),
        });
        inputs.heartbeat = HeartbeatInput {
            prompt: (!prompt.is_empty()).then_some(prompt),
            checklist: list.unwrap_or_default(),
            previous: previous.collect(),
        };
        Ok(())
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
