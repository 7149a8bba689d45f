//! The interface of a job.

use async_trait::async_trait;
use limpid_services::error::AgentError;

/// A kind of thing that is done when its time has come.
#[async_trait]
pub(crate) trait Job: Send + Sync {
    /// The kind of its timers.
    fn kind(&self) -> &'static str;

    /// Does what was due at `slot_ms`, and says when it is due next; none: never again. After a crash the same slot
    /// comes again, so a job does nothing twice for one name and slot. An error puts it off: the same slot comes again.
    async fn run(&self, name: &str, slot_ms: i64) -> Result<Option<i64>, AgentError>;

    /// Sets its timers at the start of `serve` and after limpid.toml has changed.
    async fn plan(&self) -> Result<(), AgentError> {
        Ok(())
    }

    /// Sets its timers again after the clock was set back.
    async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        Ok(())
    }
}
