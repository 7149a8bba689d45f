//! Completion of slash commands while a line is typed.

use std::sync::{Arc, Mutex, PoisonError};

use limpid_runtime::{Agent, ConversationChoice};
use reedline::{Completer, CompletionResult, Span, Suggestion};
use tokio::runtime::Handle;

/// Asks the agent what the last word of a line may become.
pub(super) struct SlashCompleter {
    agent: Agent,
    conversation: Arc<Mutex<ConversationChoice>>,
    /// Lines are read on a thread that may wait; this is where the agent's answers come from.
    runtime: Handle,
}

impl SlashCompleter {
    /// A completer for whichever conversation the terminal is in; called within a runtime.
    pub(super) fn new(agent: Agent, conversation: Arc<Mutex<ConversationChoice>>) -> Self {
        Self { agent, conversation, runtime: Handle::current() }
    }
}

impl Completer for SlashCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        let conversation = self.conversation.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let found = self.runtime.block_on(self.agent.complete(&conversation, before));
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let suggestion = |completion: limpid_runtime::Completion| Suggestion {
            value: completion.word,
            description: (!completion.help.is_empty()).then_some(completion.help),
            span: Span::new(start, before.len()),
            append_whitespace: true,
            ..Suggestion::default()
        };
        CompletionResult::fresh(found.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}
