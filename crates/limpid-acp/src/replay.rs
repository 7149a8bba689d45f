//! What was said in a conversation before, told to an editor that opens it.

use std::collections::{HashMap, HashSet};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionUpdate;
use limpid_core::agent::is_notice;
use limpid_core::goal::WithoutMarkers;
use limpid_core::quiet::without_quiet;
use limpid_core::{CallId, Role, Trust};
use limpid_runtime::AgentError;
use limpid_store::{DeliveryOrigin, StoredMessage};

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
        if message.message.role == Role::User {
            let is_typed = |text: &str| typed.contains(text);
            said_before(session, at.checked_sub(1).map(|at| &stored[at]), message, stored.get(at + 1), is_typed);
        } else {
            tell_again(session, message, &results);
        }
    }
    session.agent.deliveries().mark_read(&session.id).await.map_err(|error| of_agent(&error))?;
    Ok(())
}

/// Tells a message that stands where the owner's do: theirs as theirs, the end of an agent with its words, which come before it, as a
/// thought. What was attached is left out.
fn said_before(
    session: &Session,
    before: Option<&StoredMessage>,
    stored: &StoredMessage,
    after: Option<&StoredMessage>,
    is_typed: impl Fn(&str) -> bool,
) {
    let text = raw(stored);
    // What was delivered stands behind a mark in place of a question.
    if DeliveryOrigin::of_marker(&stored.message.text).is_some() && text.is_empty() {
        return;
    }
    let is_result = |text: &str| agent_result(text).is_some() && !is_typed(text);
    let is_words = |stored: &StoredMessage| stored.message.role == Role::User && !is_typed(raw(stored));
    if let Some((agent, result)) = agent_result(text).filter(|_| !is_typed(text)) {
        let words = before.filter(|before| is_words(before) && !is_result(raw(before))).map_or("", raw);
        session.thought(&format!("Result of agent {agent}: {result}\n{words}\n"));
    } else if stored.message.trust == Trust::Owner
        && (is_typed(text) || !after.is_some_and(|after| is_result(raw(after))))
    {
        session.said(text);
    }
}

/// The text of a message without what was put around it for the model.
fn raw(stored: &StoredMessage) -> &str {
    stored.typed.as_deref().unwrap_or(&stored.message.text)
}

fn tell_again(session: &Session, stored: &StoredMessage, results: &HashMap<&CallId, &str>) {
    let message = &stored.message;
    match message.role {
        Role::Assistant => {
            session.answer(&answer(session, &message.text));
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

/// The number of an agent and what came of it, where a message tells of its end.
fn agent_result(text: &str) -> Option<(&str, &str)> {
    let (mark, result) = text.split_once("] ").filter(|_| is_notice(text))?;
    Some((mark.split_once(':')?.1, result))
}
