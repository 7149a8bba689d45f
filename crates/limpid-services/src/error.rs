//! Why the agent cannot do what was asked.

use std::path::PathBuf;

use limpid_config::{FileError, process::ServeError};
use limpid_core::goal::GoalError;
use limpid_model::ModelError;
use limpid_prompt::RenderError;
use limpid_store::StoreError;

/// An error of the agent: what was wrong, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A change of goals was refused.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A model could not be had, or failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A profile, section or prompt file is wrong.
    #[error("{0}")]
    Prompt(String),
    /// A file of the home folder cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no such thing.
    #[error("there is no {what} `{name}`; {advice}")]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// How to find one that is there.
        advice: String,
    },
    /// What was asked contradicts itself or what is there.
    #[error("{0}")]
    Invalid(String),
}

impl AgentError {
    /// An error of a file.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let error = FileError::io(path);
        move |source| error(source).into()
    }
}

impl From<RenderError> for AgentError {
    fn from(error: RenderError) -> Self {
        Self::Prompt(error.to_string())
    }
}

impl From<ServeError> for AgentError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::File(error) => error.into(),
            served @ ServeError::Served { .. } => Self::Invalid(served.to_string()),
        }
    }
}
