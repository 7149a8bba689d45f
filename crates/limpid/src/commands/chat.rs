//! `chat`: one message and its answer, or a conversation at the terminal.

mod completer;
mod events;
mod question;
mod terminal;

use std::io::Read as _;

use limpid_core::ConversationId;
use limpid_runtime::slash::is_command;
use limpid_runtime::{Agent, AgentEvent, ChatRequest, ConversationChoice, Slash};
use tokio_util::sync::CancellationToken;

pub use events::Printer;

use super::context::Context;
use super::{first_model, unread};
use crate::cli::{ChatArgs, TalkArgs};
use crate::failure::{ExitStatus, Failure};

/// Piped input larger than this is refused rather than read into memory.
const MAX_INPUT: u64 = 8 * 1024 * 1024;

/// Carries out `chat`, or `limpid` without a command.
///
/// # Errors
/// When there is no model, the conversation does not exist, or the turn fails.
pub async fn run(context: &Context, args: &ChatArgs) -> Result<(), Failure> {
    let message = message(context, args)?;
    let agent = context.agent()?;
    first_model::ensure(context, &agent, args.talk.model.as_deref()).await?;
    let talk = &args.talk;
    match message {
        Some(text) => once(context, &agent, talk, text, args.json).await,
        // A single message carries on what was interrupted in its own conversation only: others would be cut off again
        // when the answer is there and the program ends.
        None if context.environment.stdin_is_terminal => {
            agent.resume().await?;
            // Reports are read here, so nothing else tells of them; a home that cannot be written is told elsewhere.
            let _open = agent.open_client().ok();
            terminal::run(context, &agent, talk, args.json).await
        }
        None => Err(Failure::new(ExitStatus::Usage, "there is nothing to say")
            .advise("Give a message: limpid chat \"hello\", or pipe one in.")),
    }
}

/// The message: words and piped input, or none for an open chat.
fn message(context: &Context, args: &ChatArgs) -> Result<Option<String>, Failure> {
    let mut text = args.message.join(" ");
    if !context.environment.stdin_is_terminal {
        let mut piped = String::new();
        let mut input = std::io::stdin().lock().take(MAX_INPUT + 1);
        input
            .read_to_string(&mut piped)
            .map_err(|error| Failure::new(ExitStatus::Usage, format!("standard input: {error}")))?;
        if piped.len() as u64 > MAX_INPUT {
            return Err(Failure::new(ExitStatus::Usage, format!("standard input has more than {MAX_INPUT} bytes")));
        }
        let piped = piped.trim_end_matches(['\n', '\r']);
        if !text.is_empty() && !piped.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(piped);
    }
    Ok((!text.trim().is_empty()).then_some(text))
}

async fn once(context: &Context, agent: &Agent, talk: &TalkArgs, text: String, json: bool) -> Result<(), Failure> {
    // A command is about a conversation that is there; a message without a word about it begins one.
    let usual = if is_command(&text) { ConversationChoice::Last } else { ConversationChoice::New };
    let conversation = choice(talk.conversation.as_deref(), &usual);
    let mut printer = Printer::new(&context.environment, json).hiding_markers(agent.config().chat.hide_markers);
    if !json {
        let here = agent.find_conversation(&conversation).await?.map(|known| known.id);
        unread::tell(agent, here.as_ref(), &mut None).await?;
    }
    let text = match agent.command(&conversation, &text).await? {
        Slash::Message(text) => text,
        Slash::Reply(reply) => return printer.reply(&reply),
    };
    let can_answer = context.environment.stdin_is_terminal && !json;
    let stop = CancellationToken::new();
    let watched = stop.clone();
    let watcher = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            watched.cancel();
        }
    });
    let ended = turn(agent, request(talk, conversation, text, can_answer), &mut printer, &stop).await;
    if let Ok(conversation) = &ended {
        // A compaction that the answer called for ends before the program does; whoever does not wait for it leaves it
        // to the next message.
        tokio::select! {
            () = agent.settled(conversation) => {}
            () = stop.cancelled() => {}
        }
    }
    watcher.abort();
    ended.map(|_| ())
}

/// Runs one turn to its end; cancelling `stop` stops it, and what was said so far is kept. Returns the conversation.
async fn turn(
    agent: &Agent,
    request: ChatRequest,
    printer: &mut Printer,
    stop: &CancellationToken,
) -> Result<ConversationId, Failure> {
    let can_answer = request.can_answer;
    let mut changes = agent.subscribe();
    let mut handle = agent.chat(request).await?;
    let conversation = handle.conversation().clone();
    let mut stopped = false;
    loop {
        let event = tokio::select! {
            () = stop.cancelled(), if !stopped => {
                stopped = true;
                handle.cancel();
                continue;
            }
            Ok(change) = changes.recv() => {
                printer.change(&conversation, &change)?;
                continue;
            }
            event = handle.next() => event,
        };
        let Some(event) = event else { break };
        // What changed before this event was told before it.
        while let Ok(change) = changes.try_recv() {
            printer.change(&conversation, &change)?;
        }
        printer.print(&event)?;
        if let AgentEvent::Question { id, .. } = &event
            && can_answer
        {
            match question::answer().await? {
                Some(answer) => handle.answer(id, answer),
                None => stop.cancel(),
            }
        }
        if event.is_last() {
            break;
        }
    }
    printer.end()?;
    if let Some(failure) = printer.failure() {
        return Err(failure);
    }
    if stopped {
        return Err(Failure::new(ExitStatus::Interrupted, "interrupted; what was said so far is kept"));
    }
    Ok(conversation)
}

fn request(talk: &TalkArgs, conversation: ConversationChoice, text: String, can_answer: bool) -> ChatRequest {
    ChatRequest {
        conversation,
        text,
        profile: talk.profile.clone(),
        mode: talk.mode.clone(),
        model: talk.model.clone(),
        can_answer,
        ..ChatRequest::default()
    }
}

/// The conversation that a word of the command line means.
pub(crate) fn choice(word: Option<&str>, default: &ConversationChoice) -> ConversationChoice {
    match word {
        None => default.clone(),
        Some("new") => ConversationChoice::New,
        Some("last") => ConversationChoice::Last,
        Some(id) => ConversationChoice::Id(ConversationId::new(id)),
    }
}
