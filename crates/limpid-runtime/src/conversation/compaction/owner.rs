//! What a person does with the window of a conversation: look, compact, undo, restore.

use std::fmt;
use std::time::Duration;

use limpid_config::process;
use limpid_core::{MessageId, Tier, WindowView};
use limpid_store::{
    Acquired, Conversation, ConversationChange, Lease, Listed, NewSnapshot, NewWindowEvent, Snapshot, WindowEvent,
};
use limpid_turn::window::ContextSize;

use crate::agent::{Agent, Inner};
use crate::context::{PrefixCache, window_state_of};
use crate::services::directory::ConversationChoice;
use crate::services::error::AgentError;

/// How long a lease is held for one change.
const LEASE_MS: i64 = 120_000;

/// How often, and how many times, a lease that somebody holds is asked for: a turn and a compaction may run.
const WAIT: (Duration, u32) = (Duration::from_millis(100), 1200);

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
            write!(f, "\n- kept moment {}: {}", snapshot.id, snapshot.kept.reason)?;
        }
        Ok(())
    }
}

impl Agent {
    /// What the next request of a conversation is made of.
    ///
    /// # Errors
    /// When there is no such conversation, no model, or the store cannot be read.
    pub async fn context(&self, conversation: &ConversationChoice) -> Result<ContextReport, AgentError> {
        let inner = &self.inner;
        let conversation = self.known(conversation).await?;
        let scene = inner.scene(conversation).await?;
        let shown = scene.past.entries.iter().filter(|entry| scene.past.view.shows(entry.id)).count();
        let id = &scene.conversation.id;
        let attempts = inner.store.window_events(id, LISTED).await?.rows;
        let snapshots = inner.store.kept_snapshots(id).await?.rows;
        Ok(ContextReport {
            model: scene.models[0].info().name(),
            size: scene.size,
            view: scene.past.view,
            shown,
            attempts,
            snapshots,
            conversation: scene.conversation,
        })
    }

    /// Compacts a conversation, however full its window is.
    ///
    /// # Errors
    /// When there is no such conversation, no model, or the store fails. A compaction that fails is reported.
    pub async fn compact(&self, conversation: &ConversationChoice) -> Result<CompactionReport, AgentError> {
        let conversation = self.known(conversation).await?;
        let lease = self.inner.take(&conversation).await?;
        let written = async {
            let scene = self.inner.scene(conversation).await?;
            self.inner.compact(&lease, scene, true).await
        }
        .await;
        self.inner.store.release(&lease.conversation, lease.fence).await?;
        written.map(|written| report(&written))
    }

    /// Shows a conversation as it was before the newest change of its window.
    ///
    /// # Errors
    /// When there is no such conversation, nothing to undo, or the store fails.
    pub async fn undo_compaction(&self, conversation: &ConversationChoice) -> Result<CompactionReport, AgentError> {
        let conversation = self.known(conversation).await?;
        let events = self.inner.store.window_events(&conversation.id, u32::MAX).await?.rows;
        let earlier =
            undone(&events).ok_or_else(|| AgentError::Invalid("there is no compaction to undo".to_owned()))?;
        self.show_again(conversation, "undo", earlier).await
    }

    /// Keeps the present moment of a conversation until the person deletes it.
    ///
    /// # Errors
    /// When there is no such conversation or the store fails.
    pub async fn keep_moment(&self, conversation: &ConversationChoice, reason: &str) -> Result<Snapshot, AgentError> {
        let conversation = self.known(conversation).await?;
        let inner = &self.inner;
        let view = inner.store.window(&conversation.id).await?;
        let newest = inner.store.last_message(&conversation.id).await?.map(|row| row.id);
        let new = NewSnapshot { automatic: false, ..inner.moment(&conversation, reason, newest, view).await? };
        Ok(inner.store.keep_snapshot(&conversation.id, new, inner.host.now_ms()).await?)
    }

    /// The kept moments of a conversation, newest first.
    ///
    /// # Errors
    /// When there is no such conversation or the store cannot be read.
    pub async fn snapshots(&self, conversation: &ConversationChoice) -> Result<Listed<Snapshot>, AgentError> {
        let conversation = self.known(conversation).await?;
        Ok(self.inner.store.kept_snapshots(&conversation.id).await?)
    }

    /// Goes back to a kept moment: the same messages are shown, the same digests and goals, and mode and tier are the
    /// same. What was said since stays in the store and is not shown; decisions that were locked since stand.
    ///
    /// # Errors
    /// When there is no such conversation or snapshot, its goal does not fit the prompt any more, or the store fails.
    pub async fn restore_snapshot(
        &self,
        conversation: &ConversationChoice,
        snapshot: i64,
    ) -> Result<CompactionReport, AgentError> {
        let conversation = self.known(conversation).await?;
        let inner = &self.inner;
        let kept = inner.store.kept_snapshots(&conversation.id).await?.rows;
        let kept = kept.into_iter().find(|kept| kept.id == snapshot).ok_or_else(|| AgentError::NotFound {
            what: "snapshot",
            name: snapshot.to_string(),
            advice: "`limpid conversation context` lists them".to_owned(),
        })?;
        let mut view = kept.kept.view;
        let newest = inner.store.last_message(&conversation.id).await?.map(|row| row.id);
        if let Some(newest) = newest.filter(|newest| Some(*newest) > kept.kept.newest) {
            view.hidden.push((MessageId(kept.kept.newest.map_or(0, |id| id.0) + 1), newest));
        }
        if let Some(records) = kept.kept.goals {
            let tier = kept.kept.tier.and_then(Tier::new).or_else(|| window_state_of(Some(&conversation)).tier());
            inner.goals.restore(&conversation.id, records, tier.unwrap_or(Tier::ALL[2])).await?;
        }
        let mut session = PrefixCache::of(&conversation).with_prefix_reset();
        session.frame.go_back(kept.kept.tier.and_then(Tier::new));
        let changes =
            vec![ConversationChange::Mode(kept.kept.mode), ConversationChange::Session(Some(session.to_text()))];
        inner.store.change_conversation(&conversation.id, changes, inner.host.now_ms()).await?;
        self.show_again(conversation, "restore", view).await
    }

    async fn known(&self, conversation: &ConversationChoice) -> Result<Conversation, AgentError> {
        let none = || AgentError::Invalid("there is no conversation yet; begin one with a message".to_owned());
        self.inner.directory.find(conversation).await?.ok_or_else(none)
    }

    /// Shows an earlier view again. Compactions go on counting, so that no digest gets the number of another.
    async fn show_again(
        &self,
        conversation: Conversation,
        kind: &str,
        earlier: WindowView,
    ) -> Result<CompactionReport, AgentError> {
        let inner = &self.inner;
        let lease = inner.take(&conversation).await?;
        let written = async {
            let now = inner.store.window(&conversation.id).await?;
            let before = inner.scene(conversation.clone()).await?.size.conversation();
            let view = WindowView { compactions: now.compactions.max(earlier.compactions), ..earlier };
            let newest = inner.store.last_message(&conversation.id).await?.map(|row| row.id);
            let event = NewWindowEvent {
                kind: kind.to_owned(),
                newest,
                before: before as u64,
                after: before as u64,
                steps: Vec::new(),
                view: Some(view),
                failure: None,
            };
            let mut written = inner.store.write_window(&lease, event, inner.host.now_ms()).await?;
            written.new.after = inner.scene(conversation).await?.size.conversation() as u64;
            Ok::<_, AgentError>(written)
        }
        .await;
        inner.store.release(&lease.conversation, lease.fence).await?;
        written.map(|written| report(&written))
    }
}

impl Inner {
    /// The lease of a conversation, once whoever works on it is done.
    async fn take(&self, conversation: &Conversation) -> Result<Lease, AgentError> {
        let (wait, times) = WAIT;
        for _ in 0..times {
            match self.store.acquire(&conversation.id, self.host.holder(), self.host.now_ms(), LEASE_MS).await? {
                Acquired::Lease(lease) => return Ok(lease),
                Acquired::Busy(other) if process::is_dead(&other.holder) => {
                    self.store.release(&conversation.id, other.fence).await?;
                }
                Acquired::Busy(_) => tokio::time::sleep(wait).await,
            }
        }
        Err(AgentError::Invalid("the conversation is being worked on; try again when its turn is over".to_owned()))
    }
}

/// The view before the newest change that no undo has taken back.
fn undone(events: &[WindowEvent]) -> Option<WindowView> {
    let mut views = events.iter().filter(|event| event.new.view.is_some()).peekable();
    let mut skip = 0;
    while let Some(event) = views.next() {
        if event.new.kind == "undo" {
            skip += 1;
        } else if skip > 0 {
            skip -= 1;
        } else {
            // Walk on to the view that was shown before this one: undone pairs between them cancel out.
            let mut skip = 0;
            for earlier in views {
                match earlier.new.kind.as_str() {
                    "undo" => skip += 1,
                    _ if skip > 0 => skip -= 1,
                    _ => return earlier.new.view.clone(),
                }
            }
            return Some(WindowView::default());
        }
    }
    None
}

fn report(written: &WindowEvent) -> CompactionReport {
    let NewWindowEvent { before, after, steps, failure, .. } = written.new.clone();
    CompactionReport { before, after, steps, failure }
}
