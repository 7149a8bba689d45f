//! What goes wrong, as an answer to the editor.

use agent_client_protocol::{Error, ErrorCode};
use limpid_runtime::AgentError;

use crate::texts::error;

/// What the editor asked for cannot be done.
pub(crate) fn refused(why: &str) -> Error {
    error(ErrorCode::INVALID_PARAMS, why)
}

/// The agent failed.
pub(crate) fn failed(why: &str) -> Error {
    error(ErrorCode::INTERNAL_ERROR, why)
}

/// An error of the agent.
pub(crate) fn of_agent(error: &AgentError) -> Error {
    match error {
        AgentError::Invalid(_) | AgentError::NotFound { .. } => refused(&error.to_string()),
        _ => failed(&error.to_string()),
    }
}
