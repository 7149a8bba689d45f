//! What a section is about.

/// What a section shows. Sizes are booked by it, and it says why a prompt is another one than before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// Instructions, files and settings.
    #[default]
    Instructions,
    /// The goal.
    Goal,
    /// Skills.
    Skills,
    /// Tools.
    Tools,
    /// Memories.
    Memory,
    /// The request that began the work.
    Pin,
    /// What stands for earlier messages.
    Digests,
    /// The newest message.
    Message,
}
