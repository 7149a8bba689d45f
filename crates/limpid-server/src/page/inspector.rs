//! The screen of what is read: the prompt of the next turn, and of every request that was sent.

use std::sync::Arc;

use axum::Router;

use super::Page;

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
}
