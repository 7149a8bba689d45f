//! The names of things, each a type of its own, so that one cannot be passed for another.

use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Takes a name as it stands; whoever makes new ones draws them from a source that was passed in.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text_id! {
    /// One conversation, from its first message to the next `/new`.
    ConversationId
    /// One turn: from a message that was accepted to the answer that ended it.
    TurnId
    /// One request that left for a model, as the request log knows it.
    RequestId
    /// One tool call, as the model named it.
    CallId
    /// One goal of a conversation: `g1`, `g2`, …
    GoalId
    /// One step of a goal: `s1`, `s2`, …
    CheckpointId
    /// One decision of a goal: `d1`, `d2`, …
    DecisionId
}

macro_rules! number_id {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

number_id! {
    /// One stored message; later messages have higher numbers.
    MessageId
    /// One stored memory; shown to models as `[id:N]`.
    MemoryId
    /// One task that is to be done later.
    TaskId
    /// One agent that a turn hands work to; shown to models as `[agent_result:N]`.
    AgentId
    /// One task that was planned for agents.
    PlannedId
}
