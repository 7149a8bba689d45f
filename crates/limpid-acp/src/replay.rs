//! What was said in a conversation before, told to an editor that opens it.

use std::collections::{HashMap, HashSet};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionUpdate;
use limpid_core::goal::WithoutMarkers;
use limpid_core::quiet::without_quiet;
use limpid_core::{CallId, Role};
use limpid_prompt::boundary::for_readers;
use limpid_runtime::AgentError;
use limpid_runtime::said::{Said, said};
use limpid_store::StoredMessage;

use crate::calls::CallView;
use crate::errors::of_agent;
use crate::session::Session;

/// Tells every message and every call, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub(crate) async fn tell_all(session: &Session) -> Result<(), Error> {
    let stored = session.agent.store().messages(&session.id, None).await;
    let stored = stored.map_err(|error| of_agent(&AgentError::from(error)))?.rows;
    let results: HashMap<&CallId, &str> = stored
        .iter()
        .filter_map(|stored| Some((stored.message.call_id.as_ref()?, stored.message.text.as_str())))
        .collect();
    let typed = session.agent.store().typed(&session.id).await;
    let typed: HashSet<String> = typed.map_err(|error| of_agent(&AgentError::from(error)))?.into_iter().collect();
    for (at, message) in stored.iter().enumerate() {
        if message.message.role != Role::User {
            tell_again(session, message, &results);
            continue;
        }
        match said(&stored, at, &typed) {
            Said::Owner(text) => session.said(text),
            Said::Agent { number, result, words } => {
                session.thought(&format!("Result of agent {number}: {result}\n{words}\n"));
                session.end_texts();
            }
            // What was attached is left out.
            Said::HandedIn(..) | Said::Nothing => {}
        }
    }
    session.agent.deliveries().mark_read(&session.id).await.map_err(|error| of_agent(&error))?;
    Ok(())
}

fn tell_again(session: &Session, stored: &StoredMessage, results: &HashMap<&CallId, &str>) {
    let message = &stored.message;
    match message.role {
        Role::Assistant => {
            let text = answer(session, &message.text);
            // What no model wrote may quote a stranger.
            session.answer(&if stored.request.is_none() { for_readers(&text) } else { text.as_str().into() });
            session.end_texts();
            for call in &message.calls {
                let mut look = CallView::new(session, &call.name, &call.arguments, false);
                if message.trust.is_foreign() {
                    look = look.without_files();
                }
                let result = results.get(&call.id).copied();
                session.send(SessionUpdate::ToolCall(look.ended(&call.id, result)));
            }
        }
        Role::User | Role::Tool | Role::System => {}
    }
}

/// What the owner reads of an answer.
fn answer(session: &Session, text: &str) -> String {
    let text = without_quiet(text);
    if !session.agent.config().chat.hide_markers {
        return text;
    }
    let mut markers = WithoutMarkers::default();
    let shown = markers.push(&text);
    shown + &markers.finish()
}
