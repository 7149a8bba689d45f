//! What becomes of a change in a conversation.

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// It holds from the next message on. Says what was there before: the mode, or the message that was taken out.
    Applied(String),
    /// It was so before.
    Unchanged,
    /// A reply is under way; it will hold when that has ended.
    Deferred,
}
