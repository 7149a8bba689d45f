//! Prompts for a session that is opened again first. They keep their order, and a cancel reaches them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PromptRequest, PromptResponse, SessionId};

use crate::prompt;
use crate::sessions::Sessions;

/// The prompts that wait, by their sessions. While some wait for one, all later ones do.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<HashMap<SessionId, WaitingSession>>);

/// A session that is opened again.
#[derive(Default)]
struct WaitingSession {
    prompts: Vec<WaitingPrompt>,
    /// Whether it is closed as soon as it is open.
    is_closed: bool,
}

struct WaitingPrompt {
    request: PromptRequest,
    responder: Responder<PromptResponse>,
    is_stopped: bool,
}

impl WaitingSession {
    fn stop(&mut self) {
        self.prompts.iter_mut().for_each(|prompt| prompt.is_stopped = true);
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, WaitingSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a prompt: from here on a cancel stops it. One for a session that is not held waits until that is open.
pub(crate) fn take(sessions: &Arc<Sessions>, request: PromptRequest, responder: Responder<PromptResponse>) {
    let id = request.session_id.clone();
    let mut waiting = sessions.waiting.lock();
    if !waiting.contains_key(&id)
        && let Some(session) = sessions.held(&id)
    {
        return prompt::begin(session, request.prompt, responder, false);
    }
    let before = &mut waiting.entry(id.clone()).or_default().prompts;
    let is_first = before.is_empty();
    before.push(WaitingPrompt { request, responder, is_stopped: false });
    if is_first {
        let sessions = Arc::clone(sessions);
        tokio::spawn(async move { open(&sessions, &id).await });
    }
}

/// Opens a session again and begins what waits for it, in its order.
async fn open(sessions: &Sessions, id: &SessionId) {
    let opened = sessions.get(id).await;
    // Under the lock, so that no later prompt is begun before these and each cancel reaches either a waiting one or the session.
    let is_closed = {
        let mut waiting = sessions.waiting.lock();
        let WaitingSession { prompts, is_closed } = waiting.remove(id).unwrap_or_default();
        for WaitingPrompt { request, responder, is_stopped } in prompts {
            match &opened {
                Ok(session) => prompt::begin(Arc::clone(session), request.prompt, responder, is_stopped),
                // An editor that is gone gets no answer.
                Err(error) => drop(responder.respond_with_error(error.clone())),
            }
        }
        is_closed
    };
    if is_closed {
        // It may be closed already.
        let _ = sessions.close(id).await;
    }
}

/// Stops what waits for a session that is closed while it is opened again.
pub(crate) fn close(sessions: &Sessions, id: &SessionId) {
    if let Some(waiting) = sessions.waiting.lock().get_mut(id) {
        waiting.stop();
        waiting.is_closed = true;
    }
}

/// Stops every prompt of a session, also those that wait for it.
pub(crate) fn cancel(sessions: &Sessions, id: &SessionId) {
    let mut waiting = sessions.waiting.lock();
    waiting.get_mut(id).into_iter().for_each(WaitingSession::stop);
    if let Some(session) = sessions.held(id) {
        session.cancel();
    }
}
