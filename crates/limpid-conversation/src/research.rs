//! `research`: a worker that reads the web and nothing else, so that it may fetch what it likes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use limpid_core::message::FAILED;
use limpid_core::policy::Effect;
use limpid_core::{CallId, ConversationId, Labelled, Message, Role, Sentence, ToolClass, Trust, sentence};
use limpid_services::directory::conversation_of_run;
use limpid_services::error::AgentError;
use limpid_services::spending::Spender;
use limpid_services::tools::{Tool, ToolContext, read_arguments, schema_of, trouble};
use limpid_turn::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::background_run::{BackgroundRun, RunReport};
use crate::conversations::{Conversations, WeakConversations};

/// The path that a worker's prompt is made from.
const PATH: &str = "research";

/// The tool by which a worker reads a page; what it names is a source.
const READS: &str = "web_fetch";

/// Time that a worker has.
const TIME: Duration = Duration::from_secs(600);

/// Has a worker look something up. The worker sees its task and the web, and nothing of the owner's; its answer is a
/// stranger's text.
#[derive(Clone, Default)]
pub struct Research(Arc<OnceLock<WeakConversations>>);

/// A worker under way. One that nobody waits for any more is stopped.
struct UnderWay {
    conversations: Conversations,
    id: ConversationId,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.conversations.cancel(&self.id);
    }
}

impl Research {
    /// Connects it to the conversations, which are made after their tools.
    pub fn connect(&self, conversations: WeakConversations) {
        // It is connected once, where the agent is made.
        let _ = self.0.set(conversations);
    }

    async fn send_out(&self, context: &ToolContext, task: String) -> Result<RunReport, AgentError> {
        let conversations = self.0.get().and_then(WeakConversations::upgrade);
        let conversations = conversations.ok_or_else(|| AgentError::Invalid("the agent is stopping".to_owned()))?;
        let parent = conversations.deps().directory.existing(&context.conversation).await?;
        let run = BackgroundRun {
            key: key(context, &task),
            path: PATH.to_owned(),
            mode: conversations.deps().modes.of_runs(PATH).map(str::to_owned),
            spender: Spender::Background,
            profile: Some(parent.profile),
            model: parent.model,
            audience: parent.audience,
            text: task,
            trust: context.trust,
        };
        let under_way = UnderWay { id: conversation_of_run(&run.key), conversations };
        under_way.conversations.run(run).await
    }

    async fn sources(&self, worker: &ConversationId) -> Result<BTreeSet<String>, Sentence> {
        let Some(conversations) = self.0.get().and_then(WeakConversations::upgrade) else { return Ok(BTreeSet::new()) };
        let messages = conversations.deps().store().messages(worker, None).await.map_err(trouble)?.rows;
        Ok(pages_read(messages.iter().map(|row| &row.message)))
    }
}

/// What makes it the same worker when the turn is carried on after a crash.
fn key(context: &ToolContext, task: &str) -> String {
    let hash = Sha256::digest(task);
    let start: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("research-{}-{start}", context.turn)
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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
}

#[async_trait]
impl Tool for Research {
    fn name(&self) -> &'static str {
        "research"
    }

    fn group(&self) -> &'static str {
        "web"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Research
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_public(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIME)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { task } = read_arguments(arguments)?;
        if task.trim().is_empty() {
            return Err(sentence!("`task` is empty; say what to look up, and what the answer is to hold"));
        }
        let report = self.send_out(context, task).await.map_err(trouble)?;
        // What a worker says comes from the web, whether or not it has read any of it.
        let outside = |text: String| Labelled::new(text, report.trust.join(Trust::Outside));
        let Some(mut text) = report.answer else {
            let why = match report.outcome {
                Outcome::Failed { message, .. } => message,
                Outcome::Cancelled => "it was stopped".to_owned(),
                Outcome::Answered { .. } => "it ended without one".to_owned(),
            };
            return Err(sentence!("the research worker has no answer: {}", outside(why)));
        };
        let sources = self.sources(&report.conversation).await?;
        if !sources.is_empty() {
            text.push_str("\n\nPages read:");
            for source in sources {
                let _ = write!(text, "\n- {source}");
            }
        }
        Ok(outside(text))
    }
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
