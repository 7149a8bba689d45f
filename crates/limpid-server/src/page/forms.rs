//! Forms that are sent without a script: what was typed, and where they lead.

use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Redirect, Response};
use limpid_runtime::AgentError;

use super::state::Page;
use super::trouble::{Trouble, screen};

/// Where the owner says it who says something here, for whoever reads the history of it.
pub(super) const SOURCE: &str = "page";

/// A text as it was typed: browsers send each line break as two letters.
pub(super) fn typed(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Where a form leads, or why nothing came of it.
pub(super) async fn back<T>(
    page: &Page,
    headers: &HeaderMap,
    done: Result<T, AgentError>,
    to: impl FnOnce(T) -> String,
) -> Result<Response, Trouble> {
    match done {
        Ok(done) => Ok(Redirect::to(&to(done)).into_response()),
        Err(error) => screen(page, headers, "Not done", error.into()).await,
    }
}
