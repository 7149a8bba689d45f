//! What a conversation's next request is made of, and what a change of its window came to.

use std::fmt;

use limpid_core::WindowView;
use limpid_prompt::shown::shown_line;
use limpid_services::error::AgentError;
use limpid_store::{Conversation, NewWindowEvent, Snapshot, WindowEvent};
use limpid_turn::window::ContextSize;

use crate::compaction::scene::scene;
use crate::deps::ConversationDeps;

/// Attempts that are listed.
const LISTED: u32 = 20;

/// What a change of the window came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionReport {
    /// Tokens of the conversation before.
    pub before: u64,
    /// Tokens of the conversation after.
    pub after: u64,
    /// What was done, a line each.
    pub steps: Vec<String>,
    /// Why nothing came of it; absent: it was done.
    pub failure: Option<String>,
}

impl fmt::Display for CompactionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            Some(reason) => write!(f, "Nothing was changed: {}.", shown_line(reason)),
            None => {
                write!(f, "The conversation had {} tokens and has {}.", self.before, self.after)?;
                self.steps.iter().try_for_each(|step| write!(f, "\n- {step}"))
            }
        }
    }
}

/// What a conversation's next request is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextReport {
    /// The conversation.
    pub conversation: Conversation,
    /// The model: `provider/id`.
    pub model: String,
    /// Every size.
    pub size: ContextSize,
    /// What is shown.
    pub view: WindowView,
    /// Messages that are shown as such.
    pub shown: usize,
    /// What was tried, newest first.
    pub attempts: Vec<WindowEvent>,
    /// Moments that can be gone back to, newest first.
    pub snapshots: Vec<Snapshot>,
}

impl fmt::Display for ContextReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, view, shown, snapshots, .. } = self;
        let parts = size.parts().map(|(name, tokens)| format!("{name} {tokens}")).join(", ");
        let (percent, available) = (size.percent(), size.available());
        write!(f, "Tokens: {parts}. The conversation has {percent} % of the {available} that it may have.")?;
        write!(f, "\n{shown} messages are shown as they are.")?;
        for digest in &view.digests {
            let (first, last, tokens) = (digest.first, digest.last, digest.tokens);
            write!(f, "\n- messages {first} to {last} are a digest of {tokens} tokens (level {})", digest.level)?;
        }
        if let Some(pin) = &view.pin {
            write!(f, "\n- message {} is pinned: it began the work", pin.message)?;
        }
        for snapshot in snapshots {
            write!(f, "\n- kept moment {}: {}", snapshot.id, shown_line(&snapshot.kept.reason))?;
        }
        Ok(())
    }
}

impl CompactionReport {
    /// What was written down.
    pub(crate) fn of(written: &WindowEvent) -> Self {
        let NewWindowEvent { before, after, steps, failure, .. } = written.new.clone();
        Self { before, after, steps, failure }
    }
}

/// What the next request of a conversation is made of.
pub(crate) async fn context_report(
    deps: &ConversationDeps,
    conversation: Conversation,
) -> Result<ContextReport, AgentError> {
    let scene = scene(deps, conversation).await?;
    let shown = scene.history.entries.iter().filter(|entry| scene.history.view.shows(entry.id)).count();
    let id = &scene.conversation.id;
    let attempts = deps.store().window_events(id, LISTED).await?.rows;
    let snapshots = deps.store().kept_snapshots(id).await?.rows;
    Ok(ContextReport {
        model: scene.models[0].info().name(),
        size: scene.size,
        view: scene.history.view,
        shown,
        attempts,
        snapshots,
        conversation: scene.conversation,
    })
}
