//! What went wrong, as a screen or as words.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use limpid_runtime::AgentError;
use limpid_store::StoreError;

use super::shell::Shell;
use super::state::Page;

/// What went wrong with a request of a script's: a status and a sentence.
pub(super) struct Trouble(StatusCode, String);

#[derive(Template)]
#[template(path = "missing.html")]
struct MissingScreen {
    shell: Shell,
}

impl Trouble {
    /// What was asked for cannot be done.
    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self(StatusCode::UNPROCESSABLE_ENTITY, why.into())
    }
}

impl From<AgentError> for Trouble {
    fn from(error: AgentError) -> Self {
        let status = match &error {
            AgentError::NotFound { .. } | AgentError::Store(StoreError::NotFound { .. }) => StatusCode::NOT_FOUND,
            AgentError::Invalid(_) | AgentError::Store(StoreError::Invalid(_)) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        AgentError::from(error).into()
    }
}

impl From<askama::Error> for Trouble {
    fn from(error: askama::Error) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, format!("the screen cannot be drawn: {error}"))
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// Whatever is not there.
pub(super) async fn missing(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let shell = Shell::new(&page, &headers, "Not found", "").await?;
    Ok((StatusCode::NOT_FOUND, Html(MissingScreen { shell }.render()?)).into_response())
}
