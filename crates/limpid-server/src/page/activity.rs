//! The screen of what waits for the owner, what runs by itself, and what came in.

use std::sync::Arc;

use axum::Router;

use super::Page;

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
}
