//! What is done when a conversation has nothing left to do.

use async_trait::async_trait;

/// Keeps the data of an agent small and searchable. The jobs implement it; conversations only say when they are idle.
#[async_trait]
pub trait Housekeeping: Send + Sync {
    /// Does what is due. A failure costs nothing but room, so it is not reported; the next call tries again.
    async fn when_idle(&self);
}
