//! Models behind one trait: remote protocols, the local engine, a scripted model.
//!
//! # Layout
//! - [`model`]: the one way to ask a model, whoever serves it.
//! - [`provider`]: presets of providers, `provider/model` to a model, local servers on their usual ports.
//! - [`remote`]: a model behind HTTP; [`protocol`] holds the protocols, each as two pure functions.
//! - [`embed`]: models that say what texts mean.
//! - [`reported`]: what providers say of their models when they are asked.
//! - [`catalogue`]: what is known of models by name, and the local models that can be fetched.
//! - [`gguf`], [`template`]: what a model file says, and how messages become the text that a local model reads.
//! - `local` (feature `local`): runs such a file in this process.
//! - [`chain`]: tries again, and asks the next service.
//! - [`scripted`]: a model that says what a [`script`] says.
//! - [`tokens`]: exact token counts for OpenAI's families.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

mod abilities;
mod back_off;
mod call_ids;
pub mod catalogue;
pub mod chain;
pub mod embed;
mod errors;
pub mod gguf;
mod held;
mod json;
mod json_tools;
mod key;
mod key_command;
mod lessons;
#[cfg(feature = "local")]
pub mod local;
pub mod model;
mod openai_names;
mod pause;
pub mod protocol;
pub mod provider;
mod remedy;
pub mod remote;
pub mod reported;
pub mod script;
pub mod scripted;
mod searches;
pub mod template;
pub mod tokens;
mod wire;

pub use abilities::{Abilities, EffortForm, ForcedTools, Input};
pub use back_off::BackOffs;
pub use chain::{Ask, Chain, ChainEvent};
pub use embed::{Embedder, ScriptedEmbedder, resolve_embedder};
pub use held::Held;
pub use key::ApiKey;
pub use key_command::KeyCommand;
pub use model::{
    FinishReason, Model, ModelCall, ModelCard, ModelError, ModelEvent, On, Prepared, Reasoning, ReplyForm, ReplyState,
    Sampling, StateRule, ToolUse,
};
pub use pause::{Pause, RealPause};
pub use provider::{Settings, find_local_servers, resolve};
pub use remedy::{Field, Remedy, ToolMark};
pub use remote::{Access, Endpoint, RemoteEmbedder, RemoteModel, Timeouts};
pub use scripted::ScriptedModel;
pub use searches::may_search;
pub use tokens::ExactCounter;
