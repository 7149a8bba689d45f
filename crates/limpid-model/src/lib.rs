//! Models behind one trait: remote protocols, the local engine, a scripted model.

pub mod model;
pub mod script;

pub use model::{
    FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ReplyForm, Sampling, ToolUse,
};
