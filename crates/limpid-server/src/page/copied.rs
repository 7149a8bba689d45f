//! An answer as it was written, for the clipboard.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use limpid_core::{ConversationId, Role};
use limpid_prompt::shown::shown;

use super::state::Page;
use super::thread::words;
use super::trouble::Trouble;

/// `GET /c/{id}/words/{message}`: all that the answer says that begins with a message. Signs that a screen would not show are
/// written out, so that nobody pastes what they did not see.
pub(super) async fn show(
    State(page): State<Arc<Page>>,
    Path((id, message)): Path<(String, i64)>,
) -> Result<Response, Trouble> {
    let rows = page.agent.store().messages(&ConversationId::new(id), None).await?.rows;
    let mut answer = rows.iter().skip_while(|row| row.id.0 != message).peekable();
    let Some(turn) = answer.peek().filter(|row| row.message.role == Role::Assistant).map(|row| row.turn.clone()) else {
        return Err(Trouble::invalid("This answer is not there any more."));
    };
    let said: Vec<String> = answer
        .take_while(|row| row.turn == turn && row.message.role != Role::User)
        .filter(|row| row.message.role == Role::Assistant)
        .map(|row| words(&page, &row.message.text).trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    Ok(shown(&said.join("\n\n")).into_owned().into_response())
}
