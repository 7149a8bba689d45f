//! Calls that wait for the owner.

use async_trait::async_trait;
use limpid_core::{CallId, ConversationId, DraftState, Trust, TurnId};

use crate::{Listed, StoreError};

/// Drafts.
#[async_trait]
pub trait Drafts: Send + Sync {
    /// Keeps a call that waits for the owner; none when there is no room. The same call of the same turn is
    /// one draft, however often it is kept.
    async fn keep_draft(&self, new: NewDraft, room: DraftRoom) -> Result<Option<Draft>, StoreError>;

    /// One draft, or none of that number.
    async fn draft(&self, id: DraftId) -> Result<Option<Draft>, StoreError>;

    /// Drafts in one of these states, oldest first.
    async fn drafts(&self, states: &[DraftState]) -> Result<Listed<Draft>, StoreError>;

    /// Whether the owner has refused a draft of a conversation that calls this tool.
    async fn has_refused_draft(&self, conversation: &ConversationId, tool: &str) -> Result<bool, StoreError>;

    /// Puts other arguments into a draft. Whatever approval it had is void: it is open again.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none; [`StoreError::Invalid`] when it is being carried out or over.
    async fn change_draft(&self, id: DraftId, edit: DraftEdit, now_ms: i64) -> Result<Draft, StoreError>;

    /// Approves a draft as it was when it had this hash; `detail` says who did.
    ///
    /// # Errors
    /// As [`Drafts::move_draft`]; [`StoreError::Invalid`] too when it has another hash since.
    async fn keep_approval(&self, id: DraftId, hash: &str, detail: &str, now_ms: i64) -> Result<Draft, StoreError>;

    /// Moves a draft on; `detail` says why or what came of it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none; [`StoreError::Invalid`] when it does not lead there from where it
    /// stands, so that of two who approve one draft only one carries it out.
    async fn move_draft(&self, id: DraftId, next: DraftState, detail: &str, now_ms: i64) -> Result<Draft, StoreError>;

    /// Moves a draft on if its newest step still is the one that was `seen`; none when there is another since. Who only looks
    /// after drafts goes by what was read a moment ago, and a new approval may look the same but for its step.
    ///
    /// # Errors
    /// As [`Drafts::move_draft`].
    async fn move_draft_as_seen(
        &self,
        seen: &Draft,
        next: DraftState,
        detail: &str,
        now_ms: i64,
    ) -> Result<Option<Draft>, StoreError>;

    /// Says more of a draft where it stands.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none.
    async fn annotate_draft(&self, id: DraftId, detail: &str, now_ms: i64) -> Result<Draft, StoreError>;

    /// What happened to a draft, oldest first.
    async fn draft_events(&self, id: DraftId) -> Result<Listed<DraftEvent>, StoreError>;
}

/// The number of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DraftId(pub i64);

/// A call that is to wait for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDraft {
    /// The conversation.
    pub conversation: ConversationId,
    /// The turn.
    pub turn: TurnId,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The arguments: JSON, as the model wrote them.
    pub arguments: String,
    /// What a number or a key in them stands for, as it stood when the hash was made.
    pub about: Option<String>,
    /// What an approval is bound to: a hash of all of it in the first line, then each part by its own.
    pub hash: String,
    /// The folder that relative paths begin at.
    pub folder: String,
    /// Where it would send or fetch something.
    pub destination: Option<String>,
    /// Why it waits.
    pub why: String,
    /// Which text led to it, in short.
    pub led_by: String,
    /// Who wrote that text.
    pub trust: Trust,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    /// When it is too late to approve it, in milliseconds since 1970.
    pub expires_ms: i64,
}

impl NewDraft {
    /// The hash of everything that an approval is bound to.
    pub fn bound_hash(&self) -> &str {
        self.hash.lines().next().unwrap_or_default()
    }
}

/// How many drafts there may be. Those that a stranger's text led to are counted apart: what there is of one side takes no room from
/// the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftRoom {
    /// That wait or are under way.
    pub open: u32,
    /// That one turn may make.
    pub of_turn: u32,
    /// That wait or are under way for one chat, those of its agents included; none: as many as there are in all.
    pub of_chat: Option<u32>,
    /// That wait or are under way of what nobody typed for, in all and for one conversation. Only such a draft is held to it.
    pub of_background: (u32, u32),
}

/// What a person makes of a draft, or what it is by now. All that a question of it shows is of the call as it is then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftEdit {
    /// The arguments, as JSON.
    pub arguments: String,
    /// What a number or a key in them stands for, as it stood when the hash was made.
    pub about: Option<String>,
    /// What an approval is bound to: a hash of all of it in the first line, then each part by its own.
    pub hash: String,
    /// The folder that relative paths begin at.
    pub folder: String,
    /// Where it would send or fetch something.
    pub destination: Option<String>,
    /// Why it waits.
    pub why: String,
    /// What is written down of the change.
    pub detail: String,
}

/// One draft as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its number.
    pub id: DraftId,
    /// What it is, with the newest edit.
    pub new: NewDraft,
    /// Where it stands.
    pub state: DraftState,
    /// What came of it, or why it stands there; empty when there is nothing to say.
    pub detail: String,
    /// When it came to stand there, in milliseconds since 1970.
    pub changed_ms: i64,
}

/// One step of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftEvent {
    /// Where it came to stand.
    pub state: DraftState,
    /// What came of it, or why.
    pub detail: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}
