//! What was said in a conversation before, told to an editor that opens it.

use std::collections::HashMap;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionUpdate;
use limpid_core::agent::is_notice;
use limpid_core::goal::WithoutMarkers;
use limpid_core::quiet::without_quiet;
use limpid_core::{CallId, Role, Trust};
use limpid_runtime::AgentError;
use limpid_store::{DeliveryOrigin, StoredMessage};

use crate::calls::Look;
use crate::session::Session;
use crate::trouble::of_agent;

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
    for message in &stored {
        tell_again(session, message, &results);
    }
    session.agent.deliveries().mark_read(&session.id).await.map_err(|error| of_agent(&error))?;
    Ok(())
}

fn tell_again(session: &Session, stored: &StoredMessage, results: &HashMap<&CallId, &str>) {
    let StoredMessage { message, typed, .. } = stored;
    match message.role {
        // What was delivered stands behind a mark in place of a question.
        Role::User if DeliveryOrigin::of_marker(&message.text).is_some() && typed.as_deref() == Some("") => {}
        Role::User => {
            let text = typed.as_deref().unwrap_or(&message.text);
            match agent_result(text) {
                Some((agent, result)) => session.thought(&format!("Result of agent {agent}: {result}\n")),
                // What was attached is not what the owner said.
                None if message.trust == Trust::Owner => session.said(text),
                None => {}
            }
        }
        Role::Assistant => {
            session.answer(&answer(session, &message.text));
            for call in &message.calls {
                let mut look = Look::new(session, &call.name, &call.arguments, false);
                if message.trust.is_foreign() {
                    look = look.without_files();
                }
                let result = results.get(&call.id).copied();
                session.send(SessionUpdate::ToolCall(look.ended(&call.id, result)));
            }
        }
        Role::Tool | Role::System => {}
    }
}

/// What the owner reads of an answer.
fn answer(session: &Session, text: &str) -> String {
    let text = without_quiet(text);
    if !session.agent.config().chat.hide_markers {
        return text.into();
    }
    let mut markers = WithoutMarkers::default();
    let shown = markers.push(&text);
    shown + &markers.finish()
}

/// The number of an agent and what came of it, where a message tells of its end.
fn agent_result(text: &str) -> Option<(&str, &str)> {
    let (mark, result) = text.split_once("] ").filter(|_| is_notice(text))?;
    Some((mark.split_once(':')?.1, result))
}
