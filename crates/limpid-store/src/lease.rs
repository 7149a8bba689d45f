//! Leases: who may write to a conversation.

use limpid_core::ConversationId;

/// The number of one holding of a lease; a later holder's is higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// The right to write to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The conversation.
    pub conversation: ConversationId,
    /// Who has it.
    pub holder: String,
    /// What every write under this lease carries.
    pub fence: Fence,
    /// When it runs out, in milliseconds since 1970.
    pub until_ms: i64,
}

/// What asking for a lease came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// It was free.
    Lease(Lease),
    /// Somebody has it: this is theirs.
    Busy(Lease),
}
