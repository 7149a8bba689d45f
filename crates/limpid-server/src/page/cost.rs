//! The screen of what was spent.

use std::sync::Arc;

use axum::Router;

use super::Page;

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
}
