//! Research workers: agents that read the web and see nothing else, so that they may fetch what they like.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use limpid_core::message::FAILED;
use limpid_core::{CallId, Labelled, Message, Role, Trust};
use limpid_store::{Store, SubAgent};
use serde_json::Value;

use crate::error::AgentError;

/// The tool by which a worker reads a page; what it names is a source.
const READS: &str = "web_fetch";

/// A worker's answer with the pages that it read. What it says comes from the web, whether or not it has read any of it.
pub(super) async fn with_sources(
    store: &dyn Store,
    worker: &SubAgent,
    answer: Labelled<String>,
) -> Result<Labelled<String>, AgentError> {
    let (mut text, trust) = answer.into_parts();
    let messages = store.messages(&worker.works_in(), None).await?.rows;
    let sources = pages_read(messages.iter().map(|row| &row.message));
    if !text.trim().is_empty() && !sources.is_empty() {
        text.push_str("\n\nPages read:");
        for source in sources {
            let _ = write!(text, "\n- {source}");
        }
    }
    Ok(Labelled::new(text, trust.join(Trust::Outside)))
}

/// The addresses of the pages that a worker read: those of its calls that came to something.
fn pages_read<'m>(messages: impl Iterator<Item = &'m Message> + Clone) -> BTreeSet<String> {
    let came_to_something = |message: &&Message| message.role == Role::Tool && !message.text.starts_with(FAILED);
    let read: BTreeSet<&CallId> =
        messages.clone().filter(came_to_something).flat_map(|message| &message.call_id).collect();
    let calls = messages.flat_map(|message| &message.calls);
    let calls = calls.filter(|call| call.name == READS && read.contains(&call.id));
    let address = |arguments: &str| {
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        Some(arguments.get("url")?.as_str()?.to_owned())
    };
    calls.filter_map(|call| address(&call.arguments)).collect()
}

#[cfg(test)]
mod tests {
    use limpid_core::ToolCall;

    use super::*;

    // SEC-101
    #[test]
    fn a_page_that_could_not_be_read_is_no_source() {
        let call = |id: &str, name: &str, url: &str| ToolCall {
            id: CallId::new(id),
            name: name.to_owned(),
            arguments: format!("{{\"url\":\"{url}\"}}"),
        };
        let calls = vec![
            call("a", READS, "u:a"),
            call("b", READS, "u:b"),
            call("c", "web_search", "u:c"),
            call("d", READS, "u:d"),
        ];
        let calling = Message { calls, ..Message::new(Role::Assistant, "", Trust::Outside) };
        let result = |id: &str, text: &str| Message {
            call_id: Some(CallId::new(id)),
            ..Message::new(Role::Tool, text, Trust::Outside)
        };
        let failed = format!("{FAILED}\"404\"}}");
        let messages = [calling, result("a", "tea"), result("b", &failed), result("c", "tea")];
        assert_eq!(pages_read(messages.iter()), BTreeSet::from(["u:a".to_owned()]));
    }
}
