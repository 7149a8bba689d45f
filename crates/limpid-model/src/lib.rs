//! Models behind one trait: remote protocols, the local engine, a scripted model.
//!
//! - [`model`]: the trait and what goes in and out
//! - [`gguf`], [`template`]: what a model file says, and how messages become the text that a local model reads
//! - `local` (feature `local`): runs such a file in this process

pub mod gguf;
#[cfg(feature = "local")]
pub mod local;
pub mod model;
pub mod script;
pub mod template;

pub use model::{
    FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ReplyForm, Sampling, ToolUse,
};
