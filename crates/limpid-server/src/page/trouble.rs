//! What went wrong, as a screen or as words.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use limpid_prompt::shown::shown;
use limpid_runtime::AgentError;
use limpid_store::StoreError;

use super::shell::Shell;
use super::state::Page;

/// What went wrong with a request of a script's: a status and a sentence.
pub(super) struct Trouble(StatusCode, String);

/// A screen that says what went wrong.
#[derive(Template)]
#[template(path = "trouble.html")]
struct TroubleScreen {
    shell: Shell,
    title: &'static str,
    why: String,
    /// Where to go from there: its address and its name.
    back: (&'static str, &'static str),
}

impl Trouble {
    /// What was asked for cannot be done.
    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self(StatusCode::UNPROCESSABLE_ENTITY, why.into())
    }

    /// Its words.
    pub(super) fn words(self) -> String {
        self.1
    }
}

impl From<AgentError> for Trouble {
    fn from(error: AgentError) -> Self {
        let status = match &error {
            AgentError::NotFound { .. } | AgentError::Store(StoreError::NotFound { .. }) => StatusCode::NOT_FOUND,
            AgentError::Invalid(_) | AgentError::Store(StoreError::Invalid(_) | StoreError::ForStrangers { .. }) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
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
    let why = "There is no page at this address.".to_owned();
    screen(&page, &headers, "Not found", Trouble(StatusCode::NOT_FOUND, why)).await
}

/// What went wrong with a form that was sent without a script, as a screen.
pub(super) async fn screen(
    page: &Page,
    headers: &HeaderMap,
    title: &'static str,
    trouble: Trouble,
) -> Result<Response, Trouble> {
    screen_before(page, headers, (title, trouble), ("/", "Go to the chat")).await
}

/// The same with the address and the name of the screen to go on with.
pub(super) async fn screen_before(
    page: &Page,
    headers: &HeaderMap,
    (title, Trouble(status, why)): (&'static str, Trouble),
    back: (&'static str, &'static str),
) -> Result<Response, Trouble> {
    let shell = Shell::new(page, headers, &format!("{title} · Limpid"), "").await?;
    let why = shown(&why).into_owned();
    Ok((status, Html(TroubleScreen { shell, title, why, back }.render()?)).into_response())
}
