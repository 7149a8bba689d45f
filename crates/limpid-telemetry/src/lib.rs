//! Traces of what the agent does, for a collector of the owner's: a span for each turn, each request to a model and each call of
//! a tool, by OpenTelemetry's conventions for generative AI. A span holds names, numbers and ids, never what anybody wrote.

mod facts;
mod ids;
mod sender;
mod spans;
mod traces;

pub use facts::{RequestFacts, ToolFacts, ToolFailure, TurnEnd, TurnFacts};
pub use traces::{Traces, Trouble};
