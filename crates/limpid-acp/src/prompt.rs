//! One prompt, from its text to its end.

use std::pin::pin;
use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{ContentBlock, PromptResponse, StopReason};
use limpid_runtime::{ChatRequest, ConversationChoice, Input};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::choices::is_elsewhere;
use crate::errors::{of_agent, refused};
use crate::prompt_text::PromptText;
use crate::servers;
use crate::session::Session;
use crate::turn::follow;

/// Begins to answer a prompt, which may have been stopped before. From here on a cancel stops it.
pub(crate) fn begin(
    session: Arc<Session>,
    blocks: Vec<ContentBlock>,
    responder: Responder<PromptResponse>,
    is_stopped: bool,
) {
    let stop = session.start();
    if is_stopped {
        stop.cancel();
    }
    let place = session.queue();
    let tasks = session.tasks.clone();
    tasks.spawn(async move {
        let cancelled = responder.cancellation();
        let mut answer = pin!(answer(&session, blocks, place, &stop));
        let ended = loop {
            tokio::select! {
                ended = &mut answer => break ended,
                () = cancelled.cancelled(), if !stop.is_cancelled() => stop.cancel(),
            }
        };
        // It is over, so nothing is left to stop.
        stop.cancel();
        let _ = responder.respond_with_result(ended.map(PromptResponse::new));
    });
}

/// A place in the order of prompts.
type Place = (Option<oneshot::Receiver<()>>, oneshot::Sender<()>);

/// Waits until the prompts before have reached the agent. What is returned is dropped when this one has; none when it was cancelled.
async fn turn_of(session: &Session, (before, done): Place, stop: &CancellationToken) -> Option<oneshot::Sender<()>> {
    let Some(mut before) = before else { return Some(done) };
    tokio::select! {
        _ = &mut before => Some(done),
        () = stop.cancelled() => {
            // The prompts behind this one still wait for those before it.
            session.tasks.spawn(async move {
                let _ = before.await;
                drop(done);
            });
            None
        }
    }
}

async fn answer(
    session: &Arc<Session>,
    blocks: Vec<ContentBlock>,
    place: Place,
    stop: &CancellationToken,
) -> Result<StopReason, Error> {
    let Some(place) = turn_of(session, place, stop).await else { return Ok(StopReason::Cancelled) };
    let PromptText { text, typed, attached } = PromptText::read(blocks).map_err(|why| refused(&why))?;
    if text.trim().is_empty() {
        return Err(refused("The message is empty."));
    }
    if stop.is_cancelled() {
        return Ok(StopReason::Cancelled);
    }
    let conversation = session.conversation().await?;
    // What is typed may be a command, whatever is attached: one that is sent as a message would be lost without a word.
    let Some(unquoted) = command(session, &conversation, &typed, attached.is_some(), stop).await? else {
        return Ok(if stop.is_cancelled() { StopReason::Cancelled } else { StopReason::EndTurn });
    };
    let text = match &attached {
        // A slash that was doubled, so that the line is no command, is taken away beside marks too.
        Some(_) if unquoted != typed => text.replacen("//", "/", 1),
        Some(_) => text,
        None => unquoted,
    };
    servers::review(session, stop).await;
    if stop.is_cancelled() {
        return Ok(StopReason::Cancelled);
    }
    let request = ChatRequest { conversation, text, handed_in: attached, can_answer: true, ..ChatRequest::default() };
    let handle = session.agent.chat(request).await.map_err(|error| of_agent(&error))?;
    drop(place);
    let ended = follow(session, handle, stop).await;
    // An answer stands, whatever cannot be told beside it.
    let _ = session.tell_title().await;
    ended
}

/// Carries out a slash command and tells what it came to; a message is given back. What is attached to a command has no part in it.
async fn command(
    session: &Session,
    conversation: &ConversationChoice,
    text: &str,
    is_attached: bool,
    stop: &CancellationToken,
) -> Result<Option<String>, Error> {
    if is_elsewhere(text) {
        session.answer("Begin or close a session in the editor; each is a conversation of its own.\n");
        return Ok(None);
    }
    let carried_out = tokio::select! {
        carried_out = session.agent.command(conversation, text) => carried_out.map_err(|error| of_agent(&error))?,
        () = stop.cancelled() => {
            session.agent.conversations().cancel(&session.id);
            return Ok(None);
        }
    };
    match carried_out {
        Input::Message(text) => Ok(Some(text)),
        Input::Reply(reply) => {
            let unused = if is_attached { "\nWhat was attached was not used." } else { "" };
            session.answer(&format!("{}{unused}\n", reply.text));
            if !reply.changed.is_empty() {
                session.tell_options().await;
            }
            Ok(None)
        }
    }
}
