//! What is done with the screens of answers: a button is pressed, the screen before comes back.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Form, Json, Router};
use limpid_core::ConversationId;
use limpid_core::pasted::is_long;
use limpid_runtime::ui::{Filled, live};
use serde::Deserialize;
use serde_json::json;

use super::attached::{Words, by_button};
use super::follow::follow;
use super::state::Page;
use super::trouble::Trouble;

/// What is said of a press that nobody waits for.
const OLD: &str = "This form is not active any more. The newest one is at the end of the conversation.";

/// A press.
#[derive(Deserialize)]
struct Press {
    /// The answer that the button stands in.
    message: i64,
    /// Which one it is.
    number: usize,
    /// What was filled in, by name, as JSON.
    #[serde(default)]
    values: String,
    /// The names of what was pasted in more lines than count as typed, as JSON. Where it is not said, all that is as long is that.
    pasted: Option<String>,
}

pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/c/{id}/press", post(press)).route("/c/{id}/back", post(back))
}

/// `POST /c/{id}/press`: the words of the message are made here, from the stored answer.
async fn press(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Form(press): Form<Press>,
) -> Result<Response, Trouble> {
    let values: HashMap<String, Vec<String>> = match press.values.as_str() {
        "" => HashMap::new(),
        values => serde_json::from_str(values).map_err(|_| Trouble::invalid("The values are no lists by name."))?,
    };
    let pasted: Option<Vec<String>> = match &press.pasted {
        Some(names) => {
            Some(serde_json::from_str(names).map_err(|_| Trouble::invalid("The pasted names are no list."))?)
        }
        None => None,
    };
    let id = ConversationId::new(id);
    let live = live(&page.agent, &id).await?.filter(|live| live.message.0 == press.message);
    let live = live.ok_or_else(|| Trouble::invalid(OLD))?;
    let filled = |name: &str| {
        let values = values.get(name)?.clone();
        let is_pasted = match &pasted {
            Some(pasted) => pasted.iter().any(|pasted| pasted == name),
            None => values.iter().any(|value| is_long(value)),
        };
        Some(Filled { values, is_pasted })
    };
    let pressed = live.press(press.number, filled);
    let pressed = pressed.ok_or_else(|| Trouble::invalid("This form has no such button."))?;
    let (said, trust) = (pressed.said.value().clone(), pressed.said.trust());
    let handle = page.agent.chat(pressed.into_request(id)).await?;
    follow(&page, handle, Words { text: said, from: by_button(trust), ..Words::default() }).await?;
    Ok(Json(json!({})).into_response())
}

/// `POST /c/{id}/back`: takes the last exchange out.
async fn back(State(page): State<Arc<Page>>, Path(id): Path<String>) -> Result<Response, Trouble> {
    let own = page.agent.directory().existing(&ConversationId::new(id)).await?;
    page.agent.conversations().undo_turn(&own.id).await?;
    page.talks.of(&own.id).reload();
    Ok(Json(json!({})).into_response())
}
