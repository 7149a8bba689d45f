//! What a person changes in a conversation, and what they look at of it.

use std::collections::BTreeMap;

use limpid_core::mode::Trigger;
use limpid_core::{ConversationId, MessageId, Trust, WindowSize};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_store::{Audience, Conversation, ConversationChange, Listed, Snapshot, StoredMessage};

use super::{Conversations, put_away};
use crate::actors::Command;
use crate::clean::clean;
use crate::compaction::{self, CompactionReport, ContextReport};
use crate::incomplete::incomplete;
use crate::settings::skills::{Chosen, use_skills};
use crate::settings::{Change, ChangeOutcome, ChangeRequest, Changed, Tiers, window};
use crate::turn::title::is_made_of;

/// Letters of a title that a person gives.
const LONGEST_TITLE: usize = 120;

impl Conversations {
    /// Makes a change; returns when it holds, or when it is known to hold after the running turn.
    async fn change(&self, id: &ConversationId, change: Change) -> Result<ChangeOutcome, AgentError> {
        match self.changed(id, change).await? {
            Changed::Outcome(outcome) => Ok(outcome),
            Changed::Shown(_) => Ok(ChangeOutcome::Applied(String::new())),
        }
    }

    /// Shows a conversation in another way; returns when that is done, also behind a running turn.
    async fn show(&self, conversation: &ConversationChoice, change: Change) -> Result<CompactionReport, AgentError> {
        let id = self.known(conversation).await?.id;
        match self.changed(&id, change).await? {
            Changed::Shown(report) => Ok(report),
            Changed::Outcome(_) => Err(lost()),
        }
    }

    async fn changed(&self, id: &ConversationId, change: Change) -> Result<Changed, AgentError> {
        let (request, outcome) = ChangeRequest::answered(change);
        self.command(id, Command::Change(request));
        outcome.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Switches the mode of a conversation by hand. While a reply streams, it is switched when that has ended.
    ///
    /// # Errors
    /// When there is no such mode or conversation, a focus is on, or the new prompt cannot be made; then nothing
    /// changed.
    pub async fn set_mode(&self, id: &ConversationId, to: &str) -> Result<ChangeOutcome, AgentError> {
        let found = self.deps.directory.existing(id).await?;
        self.deps.modes.may_switch(&found, to).await?;
        self.change(id, Change::Mode { to: to.to_owned(), trigger: Trigger::Manual, confidence: None }).await
    }

    /// Chooses the window of a conversation, or (none) the model's own again. It holds from the next message on; while
    /// a reply streams, from the one after it.
    ///
    /// # Errors
    /// When the model has no window of that size, or the prompt does not fit it.
    pub async fn set_window(&self, id: &ConversationId, size: Option<WindowSize>) -> Result<ChangeOutcome, AgentError> {
        window::check(&self.deps, id, size).await?;
        self.change(id, Change::Window(size)).await
    }

    /// Says who reads a conversation. Where others do, no memory, no note and nothing about the owner is in a prompt, and
    /// no tool finds a memory.
    ///
    /// # Errors
    /// When there is no such conversation, or the store cannot be written.
    pub async fn set_audience(&self, id: &ConversationId, audience: Audience) -> Result<ChangeOutcome, AgentError> {
        self.change(id, Change::Audience(audience)).await
    }

    /// Gives a conversation another title, of one line. Its place among the others stays.
    ///
    /// # Errors
    /// When there is no such conversation, the title is empty or too long, or the store cannot be written.
    pub async fn rename(&self, id: &ConversationId, title: &str) -> Result<Conversation, AgentError> {
        let found = self.deps.directory.existing(id).await?;
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        match title.chars().count() {
            0 => return Err(AgentError::Invalid("A title has at least one letter.".to_owned())),
            1..=LONGEST_TITLE => {}
            _ => return Err(AgentError::Invalid(format!("A title has {LONGEST_TITLE} letters at most."))),
        }
        if title == found.title {
            return Ok(found);
        }
        let change = vec![ConversationChange::Title(title)];
        Ok(self.deps.store().change_conversation(&found.id, change, found.updated_ms).await?)
    }

    /// Puts a conversation into the archive, or brings it back. It stays whole, and its place among the others stays. What is said in
    /// it later, by whomever, brings it back.
    ///
    /// # Errors
    /// When there is no such conversation, or the store cannot be written.
    pub async fn archive(&self, id: &ConversationId, is_archived: bool) -> Result<Conversation, AgentError> {
        let found = self.known(&ConversationChoice::Id(id.clone())).await?;
        put_away::archive(self, found, is_archived).await
    }

    /// Deletes a conversation for good, and says what it was. Its messages, the texts of its requests, its drafts and its agents go;
    /// memories, files, tasks and what it cost stay.
    ///
    /// # Errors
    /// When there is no such conversation, it is the one that takes reports, an answer or something else is under way in it, or the store
    /// cannot be written; then nothing changed.
    pub async fn delete(&self, id: &ConversationId) -> Result<Conversation, AgentError> {
        let found = self.known(&ConversationChoice::Id(id.clone())).await?;
        put_away::delete(self, &found).await?;
        Ok(found)
    }

    /// Takes the last turn out of what is sent.
    ///
    /// # Errors
    /// When there is none.
    pub async fn undo_turn(&self, id: &ConversationId) -> Result<ChangeOutcome, AgentError> {
        self.change(id, Change::UndoTurn).await
    }

    /// Takes the turn of a message out of what is sent, and all turns after it; `newest` is the newest message that whoever wants
    /// it has seen. [`Self::redo_turn`] puts them back, one after the other.
    ///
    /// # Errors
    /// When an answer is under way, something was said meanwhile, or a summary stands for the message already; then nothing
    /// changed.
    pub async fn take_out(
        &self,
        id: &ConversationId,
        from: MessageId,
        newest: MessageId,
    ) -> Result<ChangeOutcome, AgentError> {
        self.change(id, Change::TakeOut(from, newest)).await
    }

    /// Puts back the turn that was taken out last.
    ///
    /// # Errors
    /// When there is none.
    pub async fn redo_turn(&self, id: &ConversationId) -> Result<ChangeOutcome, AgentError> {
        self.change(id, Change::RedoTurn).await
    }

    /// Compacts a conversation, however full its window is.
    ///
    /// # Errors
    /// When there is no such conversation, no model, or the store fails. A compaction that fails is reported.
    pub async fn compact(&self, conversation: &ConversationChoice) -> Result<CompactionReport, AgentError> {
        self.show(conversation, Change::Compact).await
    }

    /// Shows a conversation as it was before the newest change of its window.
    ///
    /// # Errors
    /// When there is no such conversation, nothing to undo, or the store fails.
    pub async fn undo_compaction(&self, conversation: &ConversationChoice) -> Result<CompactionReport, AgentError> {
        self.show(conversation, Change::UndoCompaction).await
    }

    /// Goes back to a snapshot: the same messages are shown, the same digests and goals, and mode and tier are the
    /// same. What was said since stays in the store and is not shown; decisions that were locked since stand.
    ///
    /// # Errors
    /// When there is no such conversation or snapshot, its goal does not fit the prompt any more, or the store fails.
    pub async fn restore_snapshot(
        &self,
        conversation: &ConversationChoice,
        snapshot: i64,
    ) -> Result<CompactionReport, AgentError> {
        self.show(conversation, Change::RestoreSnapshot(snapshot)).await
    }

    /// Saves a conversation as it stands until the person deletes the snapshot.
    ///
    /// # Errors
    /// When there is no such conversation or the store fails.
    pub async fn save_snapshot(&self, conversation: &ConversationChoice, reason: &str) -> Result<Snapshot, AgentError> {
        let conversation = self.known(conversation).await?;
        compaction::save_snapshot(&self.deps, &conversation, reason).await
    }

    /// The snapshots of a conversation, newest first.
    ///
    /// # Errors
    /// When there is no such conversation or the store cannot be read.
    pub async fn snapshots(&self, conversation: &ConversationChoice) -> Result<Listed<Snapshot>, AgentError> {
        let conversation = self.known(conversation).await?;
        Ok(self.deps.store().kept_snapshots(&conversation.id).await?)
    }

    /// Whose words the titles of conversations are, in their order: a stranger's where one is made of what began the conversation, and
    /// that was one's.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn trust_of_titles(&self, listed: &[&Conversation]) -> Result<Vec<Trust>, AgentError> {
        let ids: Vec<ConversationId> = listed.iter().map(|own| own.id.clone()).collect();
        let first = self.deps.store().first_messages(&ids).await?;
        let trust = |own: &&Conversation| match first.get(&own.id) {
            // Nobody knows any more who wrote it.
            Some(None) => Trust::Outside,
            Some(Some(row)) if is_made_of(&own.title, row.typed.as_deref().unwrap_or(&row.message.text)) => {
                row.message.trust.of_strangers()
            }
            Some(Some(_)) | None => Trust::Owner,
        };
        Ok(listed.iter().map(trust).collect())
    }

    /// What the next request of a conversation is made of.
    ///
    /// # Errors
    /// When there is no such conversation, no model, or the store cannot be read.
    pub async fn context(&self, conversation: &ConversationChoice) -> Result<ContextReport, AgentError> {
        let conversation = self.known(conversation).await?;
        compaction::context_report(&self.deps, conversation).await
    }

    /// The tiers of a conversation, or of the next new one.
    ///
    /// # Errors
    /// When there is no such conversation, or no model.
    pub async fn tiers(&self, conversation: &ConversationChoice) -> Result<Tiers, AgentError> {
        window::tiers(&self.deps, conversation).await
    }

    /// Chooses the skills that every turn of a conversation has, in this order, in place of those chosen before. One that
    /// was chosen before and exists no longer stays chosen, and is used as soon as it does.
    ///
    /// # Errors
    /// When there is no such conversation, or no such skill; then those chosen before stay.
    pub async fn use_skills(
        &self,
        conversation: &ConversationChoice,
        names: Vec<String>,
    ) -> Result<Chosen, AgentError> {
        use_skills(&self.deps, conversation, names).await
    }

    /// Puts aside what strangers wrote, and everything that was said after it was read, up to the newest message of a
    /// conversation. Returns how many messages that are.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn clean(&self, conversation: &ConversationChoice) -> Result<usize, AgentError> {
        clean(&self.deps, conversation).await
    }

    /// Why the last words of turns that failed or were stopped are not whole, by their message.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn incomplete(&self, messages: &[StoredMessage]) -> Result<BTreeMap<MessageId, String>, AgentError> {
        incomplete(self.deps.store(), messages).await
    }

    async fn known(&self, conversation: &ConversationChoice) -> Result<Conversation, AgentError> {
        let none = || AgentError::Invalid("there is no conversation yet; begin one with a message".to_owned());
        self.deps.directory.find(conversation).await?.ok_or_else(none)
    }
}

/// The actor ended before it made the change.
fn lost() -> AgentError {
    AgentError::Invalid("the conversation cannot be written to; try again".to_owned())
}
