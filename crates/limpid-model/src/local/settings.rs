//! How a local model is run, and why it cannot be.

use std::path::PathBuf;

use limpid_core::{Effort, ToolProtocol, UsableWindow};

use super::memory::{Footprint, TooLarge};
use crate::catalogue::ModelProfile;
use crate::gguf::GgufError;
use crate::template::TemplateError;

/// Parked conversations take at most this much memory unless the settings say otherwise.
const PARKED_BYTES: u64 = 256 << 20;

/// How a local model is run. Everything absent is chosen to fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalSettings {
    /// The model's name without the provider; absent: the file's name.
    pub name: Option<String>,
    /// Tokens of the window; absent: the model's own, up to 16,384, and less when memory is short.
    pub window: Option<u32>,
    /// Tokens that may really be used; absent: 85 % of the window.
    pub usable_window: Option<UsableWindow>,
    /// Threads; absent: [`default_threads`](super::default_threads).
    pub threads: Option<u32>,
    /// Bytes of memory that may be used; absent: no limit is checked. Pass [`available`](super::available) here.
    pub memory: Option<u64>,
    /// Bytes that the evaluated tokens of other conversations may take; absent: 256 MiB, and less when memory
    /// is short.
    pub parked: Option<u64>,
    /// How tools are called; absent: by JSON when the template knows tools, else not at all.
    pub tools: Option<ToolProtocol>,
    /// Randomness of calls that do not set it, from 0; absent: 0.7.
    pub temperature: Option<f32>,
    /// Whether a model that can reason is asked to.
    pub thinking: bool,
    /// The level of reasoning that the owner set for it.
    pub effort: Option<Effort>,
    /// A template in place of the file's own.
    pub template: Option<String>,
}

impl LocalSettings {
    /// What a profile says; the name is the profile's.
    pub fn of(profile: &ModelProfile) -> Self {
        Self {
            name: Some(profile.id.clone()),
            window: profile.window.map(|window| window.0),
            usable_window: profile.usable_window,
            temperature: profile.temperature,
            tools: profile.tools,
            thinking: profile.thinking.unwrap_or(false),
            effort: profile.abilities.own_effort,
            template: profile.template.clone(),
            ..Self::default()
        }
    }

    /// Bytes for the evaluated tokens of other conversations: at most half of what is left beside the model.
    pub(super) fn parked_bytes(&self, footprint: Footprint) -> u64 {
        let left = self.memory.map(|memory| memory.saturating_sub(footprint.bytes()) / 2);
        self.parked.unwrap_or_else(|| left.unwrap_or(PARKED_BYTES).min(PARKED_BYTES))
    }
}

/// A file that cannot be run as a model.
#[derive(Debug, thiserror::Error)]
#[error("the model file {} cannot be used: {reason}", path.display())]
pub struct LocalError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: LocalReason,
}

/// What is wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum LocalReason {
    /// It is missing, damaged, cut off or no GGUF file.
    #[error(transparent)]
    File(#[from] GgufError),
    /// Memory is too small for it.
    #[error(transparent)]
    Memory(#[from] TooLarge),
    /// Its chat template cannot be read.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// It has none: it is no model for conversations.
    #[error("it has no chat template, so it cannot hold a conversation; take a model whose name says Instruct or Chat")]
    NoTemplate,
    /// The processor lacks what the engine was built with.
    #[error(
        "this processor lacks {0}, which the local engine was built with; use a remote model or build on this machine"
    )]
    Processor(&'static str),
}
