//! What jobs need of the conversations and of parts that are no services yet.

use std::sync::Arc;
use std::time::Duration;

use crate::agent::Inner;
use crate::conversation::background_run::{BackgroundRun, RunReport};
use crate::services::drafts::time_of;
use crate::services::error::AgentError;

/// Runs turns that nobody waits for.
#[derive(Clone)]
pub(crate) struct BackgroundTurns(Arc<Inner>);

impl BackgroundTurns {
    pub(crate) fn new(inner: &Arc<Inner>) -> Self {
        Self(Arc::clone(inner))
    }

    /// Runs a turn and returns when it is over. The same key is the same run.
    pub(crate) async fn run(&self, run: BackgroundRun) -> Result<RunReport, AgentError> {
        self.0.conversations.run(run).await
    }

    /// The mode of the next run on a path.
    pub(crate) fn mode_of_next(&self, path: &str) -> &str {
        self.0.modes.of_next(path)
    }

    /// How long a call of a tool may take.
    pub(crate) fn tool_time(&self, name: &str) -> Duration {
        time_of(&self.0.tools, &self.0.config, name)
    }

    /// Carries on what a crash interrupted.
    pub(crate) async fn resume(&self) -> Result<(), AgentError> {
        self.0.conversations.resume().await
    }

    /// Delivers what waits to be delivered.
    pub(crate) async fn deliver_waiting(&self) -> Result<(), AgentError> {
        self.0.conversations.deliver_waiting().await
    }
}
