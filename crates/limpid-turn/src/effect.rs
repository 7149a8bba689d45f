//! What a turn asks for.

use std::time::Duration;

use limpid_core::ui::NoTree;
use limpid_core::{FailureClass, Message, ToolCall};

use crate::event::{Finish, Why};

/// Something that is to be done in the world. The effects of one event are carried out in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask the model; the prompt ends with [`Turn::in_flight`](crate::Turn::in_flight).
    CallModel {
        /// The number of this call in the turn, from 1.
        round: u32,
        /// Whether the model may call tools. They stay declared when it may not, so that the prefix stays.
        tools: bool,
    },
    /// Ask the model for nothing but the decision that ends this turn, as a JSON document by the schema of its tool.
    Decide {
        /// The number of this call in the turn, from 1.
        round: u32,
    },
    /// Run these tools at once, each within its time.
    RunTools {
        /// The calls, in the model's order.
        calls: Vec<PlannedCall>,
    },
    /// Ask the owner whether these calls may run.
    AskOwner {
        /// The calls, in the model's order.
        calls: Vec<HeldCall>,
    },
    /// Append these messages to the conversation, all or none: calls come with their results.
    StoreMessages {
        /// The messages in their order.
        batch: Vec<Message>,
    },
    /// Tell the person that an answer cannot be drawn, and that the model is asked for it again.
    TellNotDrawn {
        /// Why it cannot be drawn.
        why: NoTree,
    },
    /// Give the answer to the person.
    Deliver {
        /// The answer.
        text: String,
    },
    /// The turn is over.
    End {
        /// How it ended.
        outcome: Outcome,
        /// Messages that arrived too late to steer it; they begin the next turn.
        unanswered: Vec<Message>,
    },
}

/// One tool call that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCall {
    /// The call; its arguments are a JSON object.
    pub call: ToolCall,
    /// How long it may take.
    pub timeout: Duration,
    /// What the owner approved of it.
    pub approved: Option<Approval>,
}

/// A yes of the owner's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// What it is bound to, as the question said.
    pub bound_to: String,
    /// When it was given, in milliseconds since 1970.
    pub at_ms: i64,
}

/// One tool call that waits for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCall {
    /// The call; its arguments are a JSON object.
    pub call: ToolCall,
    /// Why it waits, and what the answer is bound to.
    pub why: Why,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer.
    Answered {
        /// Why the answer ended.
        finish: Finish,
    },
    /// The person stopped it.
    Cancelled,
    /// The model failed.
    Failed {
        /// The class of the failure.
        class: FailureClass,
        /// What went wrong and what to do, for a person.
        message: String,
    },
}
