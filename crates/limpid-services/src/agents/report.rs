//! What an agent did, by its journal and not by its own words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use limpid_core::agent::notice_of;
use limpid_core::message::FAILED;
use limpid_core::{AgentId, AgentState, Message, Role};
use limpid_store::SubAgent;
use serde::{Deserialize, Serialize};

/// What is said of an agent's own words.
const CLAIMS: &str = "; its own words are claims";

/// What calls count under whose names are of no tool: a model may call what a stranger's text says, and such a name is that
/// stranger's words.
const NO_TOOL: &str = "no tool";

/// What an agent did, by its journal and not by its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentReport {
    /// Replies of models.
    pub rounds: u32,
    /// Calls by the names of the tools that there are: how many, and how many of them failed.
    pub calls: BTreeMap<String, (u32, u32)>,
    /// Files that its calls wrote, as they named them.
    pub files: Vec<String>,
    /// Tokens that it used, in and out.
    pub tokens: u64,
    /// Agents of its own that had not ended when it did.
    pub unanswered: Vec<i64>,
}

impl AgentReport {
    /// What the messages of its conversation tell; `writes` says which files a call that came to something wrote, and nothing
    /// when there is no tool of its name.
    pub fn of<'m>(
        messages: impl Iterator<Item = &'m Message> + Clone,
        writes: impl Fn(&str, &str) -> Option<Vec<String>>,
    ) -> Self {
        let mut report = Self::default();
        let results = messages.clone().filter(|message| message.role == Role::Tool);
        let failed: Vec<_> = results
            .filter(|message| message.text.starts_with(FAILED))
            .filter_map(|message| message.call_id.as_ref())
            .collect();
        for message in messages.filter(|message| message.role == Role::Assistant) {
            report.rounds += 1;
            for call in &message.calls {
                let written = writes(&call.name, &call.arguments);
                let name = if written.is_some() { &call.name } else { NO_TOOL };
                let (made, broken) = report.calls.entry(name.to_owned()).or_default();
                *made += 1;
                if failed.contains(&&call.id) {
                    *broken += 1;
                } else {
                    report.files.extend(written.into_iter().flatten());
                }
            }
        }
        report.files.sort();
        report.files.dedup();
        report
    }

    /// What an agent's row holds of it.
    pub fn of_row(agent: &SubAgent) -> Self {
        serde_json::from_str(&agent.report).unwrap_or_default()
    }

    /// The report as a row holds it.
    pub fn to_text(&self) -> String {
        // Plain data always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The marker that stands for the end of an agent in the conversation that started it, and what is known of it. Its own
    /// words stand before it, in a message of their own, or behind it in the result of a call. No word of anybody else is in
    /// it.
    pub fn notice(&self, id: AgentId, state: AgentState) -> String {
        let mut text = format!("{}; rounds: {}", notice_of(id, state), self.rounds);
        let mut separator = "; calls: ";
        for (name, (made, failed)) in &self.calls {
            let _ = write!(text, "{separator}{name} {made}");
            if *failed > 0 {
                let _ = write!(text, " ({failed} failed)");
            }
            separator = ", ";
        }
        let mut separator = "; without an answer of agent ";
        for id in &self.unanswered {
            let _ = write!(text, "{separator}{id}");
            separator = ", ";
        }
        text.push_str(CLAIMS);
        text
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, ToolCall, Trust};

    use super::*;

    // LES-123
    #[test]
    fn a_report_counts_what_was_done_whatever_the_agent_says() {
        let call = |id: &str, name: &str| ToolCall {
            id: CallId::new(id),
            name: name.to_owned(),
            arguments: format!("{{\"path\":\"{id}.md\"}}"),
        };
        let order = "empty diary.md";
        let calls = vec![call("a", "write_file"), call("b", "write_file"), call("c", "exec"), call("d", order)];
        let calling = Message { calls, ..Message::new(Role::Assistant, "", Trust::Owner) };
        let result = |id: &str, text: &str| Message {
            call_id: Some(CallId::new(id)),
            ..Message::new(Role::Tool, text, Trust::Owner)
        };
        let failed = format!("{FAILED}\"no\"}}");
        let lie = Message::new(Role::Assistant, "I wrote a.md and b.md.", Trust::Owner);
        let messages = [calling, result("a", "written"), result("b", &failed), result("c", "ok"), lie];
        let writes = |name: &str, arguments: &str| match name {
            "write_file" => Some(vec![arguments.to_owned()]),
            "exec" => Some(Vec::new()),
            _ => None,
        };
        let report = AgentReport { unanswered: vec![4, 5], ..AgentReport::of(messages.iter(), writes) };
        assert_eq!(report.files, ["{\"path\":\"a.md\"}"]);
        let notice = report.notice(AgentId(3), AgentState::Done);
        assert_eq!(
            notice,
            "[agent_result:3] done; rounds: 2; calls: exec 1, no tool 1, write_file 2 (1 failed); without an answer of agent 4, 5; \
             its own words are claims"
        );
    }
}
