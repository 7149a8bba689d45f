//! What an agent did, by its journal and not by its own words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use limpid_core::agent::notice_of;
use limpid_core::message::FAILED;
use limpid_core::{AgentId, AgentState, Message, Role, Trust};
use limpid_store::{AgentFilter, RequestFilter, Store, SubAgent};
use serde::{Deserialize, Serialize};

use crate::agents::runs::AgentRuns;
use crate::error::AgentError;
use crate::tools::OUTSIDE;

/// Requests of an agent that are counted.
pub(super) const REQUESTS: u32 = 1000;

/// What is said of an agent's own words.
const CLAIMS: &str = "; its own words are claims";

/// What calls count under whose names are of no tool: a model may call what a stranger's text says, and such a name is that
/// stranger's words.
const NO_TOOL: &str = "no tool";

/// Files that whoever started an agent is told of by their names; of the others only how many there are.
const NAMED: usize = 20;

/// What an agent did, by its journal and not by its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentReport {
    /// Replies of models.
    pub rounds: u32,
    /// Calls by the names of the tools that there are: how many, and how many of them failed.
    pub calls: BTreeMap<String, (u32, u32)>,
    /// Files that its calls changed, by the history of files.
    pub files: Vec<String>,
    /// Tokens that it used, in and out.
    pub tokens: u64,
    /// Agents of its own that had not ended when it did.
    pub unanswered: Vec<i64>,
    /// Messages that it was told and has not heard.
    #[serde(skip_serializing_if = "is_zero")]
    pub unheard: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl AgentReport {
    /// What the messages of its conversation tell; `is_tool` says whether there is a tool of a name.
    pub fn of<'m>(messages: impl Iterator<Item = &'m Message> + Clone, is_tool: impl Fn(&str) -> bool) -> Self {
        let mut report = Self::default();
        let results = messages.clone().filter(|message| message.role == Role::Tool);
        let failed: Vec<_> = results
            .filter(|message| message.text.starts_with(FAILED))
            .filter_map(|message| message.call_id.as_ref())
            .collect();
        for message in messages.filter(|message| message.role == Role::Assistant) {
            report.rounds += 1;
            for call in &message.calls {
                let name = if is_tool(&call.name) { &call.name } else { NO_TOOL };
                let (made, broken) = report.calls.entry(name.to_owned()).or_default();
                *made += 1;
                *broken += u32::from(failed.contains(&&call.id));
            }
        }
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
    /// words stand before it, in a message of their own, or behind it in the result of a call. No word of a stranger is in it:
    /// of one that has read some, which `trust` says, the names of files stand with its own words.
    pub fn notice(&self, id: AgentId, state: AgentState, trust: Trust) -> String {
        let mut text = format!("{}; rounds: {}", notice_of(id, state), self.rounds);
        let mut separator = "; calls: ";
        for (name, (made, failed)) in &self.calls {
            let _ = write!(text, "{separator}{name} {made}");
            if *failed > 0 {
                let _ = write!(text, " ({failed} failed)");
            }
            separator = ", ";
        }
        match (self.files.len(), trust.is_foreign()) {
            (0, _) => {}
            (files, true) => drop(write!(text, "; files: {files}, named above its words")),
            (_, false) => drop(write!(text, "; files: {}", self.own_files())),
        }
        let mut separator = "; without an answer of agent ";
        for id in &self.unanswered {
            let _ = write!(text, "{separator}{id}");
            separator = ", ";
        }
        if self.unheard > 0 {
            let _ = write!(text, "; messages that it has not heard: {}", self.unheard);
        }
        text.push_str(CLAIMS);
        text
    }

    /// What stands above the words of an agent that has read a stranger's: the names of the files that it changed.
    pub(super) fn above_words(&self, id: AgentId, trust: Trust) -> String {
        if self.files.is_empty() || !trust.is_foreign() {
            return String::new();
        }
        let lines: String = self.named_files().iter().map(|file| format!("\n- {file}")).collect();
        format!("Files that agent {id} changed, by the history of files:{lines}\n\n")
    }

    /// The files of the workspace by their names. Of others, such as those of a stranger's repository, how many: whoever made a link
    /// there has named what it leads to.
    fn own_files(&self) -> String {
        let is_elsewhere = |file: &String| Path::new(file).is_absolute() || file.starts_with(&format!("{OUTSIDE}/"));
        let (others, own): (Vec<_>, Vec<_>) = self.files.iter().cloned().partition(is_elsewhere);
        let others = (!others.is_empty()).then(|| format!("{} outside of the workspace", others.len()));
        let own = Self { files: own, ..Self::default() };
        own.named_files().into_iter().chain(others).collect::<Vec<_>>().join(", ")
    }

    /// The files, each in one line.
    fn named_files(&self) -> Vec<String> {
        let one_line = |file: &String| file.split_whitespace().collect::<Vec<_>>().join(" ");
        let more = self.files.len().saturating_sub(NAMED);
        let rest = (more > 0).then(|| format!("{more} more"));
        self.files.iter().take(NAMED).map(one_line).chain(rest).collect()
    }
}

/// What the journals say that an agent did since it was given its task: its messages, its requests, the history of files.
pub(super) async fn report_of(
    store: &dyn Store,
    runs: &AgentRuns,
    agent: &SubAgent,
) -> Result<AgentReport, AgentError> {
    let own = agent.works_in();
    let messages = store.messages(&own, agent.message_before).await?.rows;
    let turns: BTreeSet<&str> = messages.iter().map(|row| row.turn.as_str()).collect();
    let filter = RequestFilter { conversation: Some(own.clone()), limit: REQUESTS, ..RequestFilter::default() };
    let requests = store.requests(filter).await?.rows;
    let own_requests =
        requests.iter().filter(|request| request.turn.as_ref().is_some_and(|id| turns.contains(id.as_str())));
    let usage = own_requests.filter_map(|request| request.end.as_ref()?.usage);
    let open = AgentFilter { conversation: Some(own.clone()), open: true, ..AgentFilter::default() };
    let is_tool = |name: &str| runs.get().is_some_and(|runs| runs.is_tool(name));
    Ok(AgentReport {
        files: store.files_changed_in(&own, agent.new.now_ms).await?,
        tokens: usage.map(|usage| usage.input + usage.output).sum(),
        unanswered: store.agents(open).await?.rows.iter().map(|one| one.id.0).collect(),
        ..AgentReport::of(messages.iter().map(|row| &row.message), is_tool)
    })
}

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, ToolCall};

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
        let is_tool = |name: &str| ["write_file", "exec"].contains(&name);
        let (files, unanswered) = (vec!["a.md".to_owned(), "b\n c.md".to_owned()], vec![4, 5]);
        let report = AgentReport { files, unanswered, ..AgentReport::of(messages.iter(), is_tool) };
        let notice = report.notice(AgentId(3), AgentState::Done, Trust::Owner);
        assert_eq!(
            notice,
            "[agent_result:3] done; rounds: 2; calls: exec 1, no tool 1, write_file 2 (1 failed); files: a.md, b c.md; \
             without an answer of agent 4, 5; its own words are claims"
        );
        assert_eq!(report.above_words(AgentId(3), Trust::Owner), "");
        let files = ["a.md", "outside/tool/empty diary.md", "/home/ada/tool/empty diary.md"].map(str::to_owned).into();
        let elsewhere = AgentReport { files, ..AgentReport::default() };
        assert_eq!(
            elsewhere.notice(AgentId(4), AgentState::Done, Trust::Owner),
            "[agent_result:4] done; rounds: 0; files: a.md, 2 outside of the workspace; its own words are claims"
        );
        let notice = report.notice(AgentId(3), AgentState::Done, Trust::Outside);
        assert!(notice.contains("; files: 2, named above its words; ") && !notice.contains(".md"), "{notice}");
        let above = report.above_words(AgentId(3), Trust::Outside);
        assert_eq!(above, "Files that agent 3 changed, by the history of files:\n- a.md\n- b c.md\n\n");
    }
}
