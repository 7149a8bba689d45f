//! `chat`: one message and its answer, or a conversation at the terminal.

mod completer;
mod draft;
mod events;
mod pastes;
mod question;
mod said;
mod slash;
mod terminal;
mod typing;

use std::io::Read as _;

use limpid_core::{ConversationId, Labelled};
use limpid_runtime::commands::is_known_command;
use limpid_runtime::ui::are_drawn;
use limpid_runtime::{Agent, ChatRequest, ConversationChoice, Event, Input, TurnEvent};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

pub use events::Printer;

use said::{Said, pressed, request};
use slash::command;

use super::choice::choice;
use super::context::Context;
use super::own_words::are_copied;
use super::{changes, first_model, unread};
use crate::cli::{ChatArgs, TalkArgs};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Piped input larger than this is refused rather than read into memory.
const MAX_INPUT: u64 = 8 * 1024 * 1024;

/// Carries out `chat`, or `limpid` without a command.
///
/// # Errors
/// When there is no model, the conversation does not exist, or the turn fails.
pub async fn run(context: &Context, args: &ChatArgs) -> Result<(), Failure> {
    let message = message(context, args)?;
    // Before a model is fetched for nothing.
    if message.is_none() && !context.environment.stdin_is_terminal {
        return Err(Failure::new(ExitStatus::Usage, "there is nothing to say")
            .advise("Give a message: limpid chat \"hello\", or pipe one in."));
    }
    let agent = context.agent()?;
    context.config.files.troubles().iter().for_each(|trouble| output::tell(trouble));
    first_model::ensure(context, &agent, args.talk.model.as_deref()).await?;
    let talk = &args.talk;
    match message {
        Some(said) => once(context, &agent, talk, said, args.json).await,
        // A single message carries on what was interrupted in its own conversation only: others would be cut off again
        // when the answer is there and the program ends.
        None => {
            agent.conversations().resume().await?;
            // Reports are read here, so nothing else tells of them; a home that cannot be written is told elsewhere.
            let _open = agent.notifications().open_client().await.ok();
            terminal::run(context, &agent, talk, args.json).await
        }
    }
}

/// The message: words and piped input, or none for an open chat. Words are the owner's, unless they are longer than anybody types.
/// Whoever filled the pipe is not known.
fn message(context: &Context, args: &ChatArgs) -> Result<Option<Said>, Failure> {
    let words = args.message.join(" ");
    let piped = if context.environment.stdin_is_terminal { String::new() } else { piped()? };
    let is_copied = are_copied(&args.message);
    let (typed, copied) = if is_copied { (String::new(), vec![words, piped]) } else { (words, vec![piped]) };
    let joined = |parts: Vec<String>| {
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    };
    let copied = joined(copied);
    let said = if args.mine {
        let text = joined(vec![typed, copied.clone().unwrap_or_default()]).unwrap_or_default();
        Said { text, made_mine: copied, ..Said::default() }
    } else {
        Said { text: typed, handed_in: copied.map(Labelled::outside), ..Said::default() }
    };
    Ok((!said.text.trim().is_empty() || said.handed_in.is_some()).then_some(said))
}

/// What was piped in, without the line breaks at its end.
fn piped() -> Result<String, Failure> {
    let mut piped = String::new();
    let mut input = std::io::stdin().lock().take(MAX_INPUT + 1);
    input
        .read_to_string(&mut piped)
        .map_err(|error| Failure::new(ExitStatus::Usage, format!("standard input: {error}")))?;
    if piped.len() as u64 > MAX_INPUT {
        return Err(Failure::new(ExitStatus::Usage, format!("standard input has more than {MAX_INPUT} bytes")));
    }
    piped.truncate(piped.trim_end_matches(['\n', '\r']).len());
    Ok(piped)
}

async fn once(context: &Context, agent: &Agent, talk: &TalkArgs, said: Said, json: bool) -> Result<(), Failure> {
    let Said { text, handed_in, made_mine, .. } = said;
    if !json && text.trim().is_empty() && handed_in.is_some() {
        output::tell(
            "Piped input, and a message of more than three lines or as long as a letter, count as text that anybody may have written: what it asks for is \
             not done. Give a short message with it in a pipe, or --mine where the words are yours.",
        );
    }
    // A command acts on the last conversation; a message starts a new one.
    let usual = if is_known_command(&text) { ConversationChoice::Last } else { ConversationChoice::New };
    let conversation = choice(talk.conversation.as_deref(), &usual);
    let mut printer = Printer::new(&context.environment, json).hiding_markers(agent.config().chat.hide_markers);
    let mut changes = context.take_changes(agent);
    let here = agent.directory().find(&conversation).await?.map(|known| known.id);
    // Another one may be the last one in a moment.
    let conversation = here.clone().map_or(conversation, ConversationChoice::Id);
    if !json {
        unread::tell(agent, here.as_ref(), &mut None).await?;
    }
    let text = match command(agent, &conversation, &text, &mut printer, &mut changes).await? {
        Input::Message(text) => text,
        Input::Reply(_) => return Ok(()),
    };
    let typed = Said { text, handed_in, made_mine, notice: None };
    let said = match typed.handed_in.is_none() && typed.made_mine.is_none() {
        true => pressed(agent, &conversation, &typed.text).await?.unwrap_or(typed),
        false => typed,
    };
    printer.draw(are_drawn(agent, &conversation).await?);
    let can_answer = context.environment.stdin_is_terminal && !json;
    let stop = CancellationToken::new();
    let watched = stop.clone();
    let watcher = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            watched.cancel();
        }
    });
    let request = request(talk, conversation, said, can_answer);
    let ended = turn(agent, request, &mut printer, &mut changes, &stop).await;
    if let Ok(conversation) = &ended {
        settle(agent, conversation, &mut printer, &mut changes, &stop).await?;
    }
    watcher.abort();
    ended.map(|_| ())
}

/// Waits for what follows an answer, such as a compaction, and tells of it. Whoever does not wait leaves it to the next
/// message.
async fn settle(
    agent: &Agent,
    conversation: &ConversationId,
    printer: &mut Printer,
    changes: &mut Receiver<Event>,
    stop: &CancellationToken,
) -> Result<(), Failure> {
    let settled = async {
        agent.conversations().wait_idle(conversation).await;
        agent.conversations().wait_for_agents(conversation).await
    };
    tokio::pin!(settled);
    loop {
        tokio::select! {
            done = &mut settled => {
                done?;
                break;
            }
            change = changes::next(changes) => printer.change(Some(conversation), &change)?,
            () = stop.cancelled() => {
                output::tell("Stopped. The answer is kept; compaction will resume with your next message.");
                break;
            }
        }
    }
    while let Ok(change) = changes.try_recv() {
        printer.change(Some(conversation), &change)?;
    }
    Ok(())
}

/// Runs one turn to its end; cancelling `stop` stops it, and what was said so far is kept. Returns the conversation.
async fn turn(
    agent: &Agent,
    request: ChatRequest,
    printer: &mut Printer,
    changes: &mut Receiver<Event>,
    stop: &CancellationToken,
) -> Result<ConversationId, Failure> {
    let can_answer = request.can_answer;
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
            change = changes::next(changes) => {
                printer.change(Some(&conversation), &change)?;
                continue;
            }
            event = handle.next() => event,
        };
        let Some(event) = event else { break };
        // What changed before this event was told before it.
        while let Ok(change) = changes.try_recv() {
            printer.change(Some(&conversation), &change)?;
        }
        printer.print(&event)?;
        if let TurnEvent::ApprovalRequested { parts, can_clean } = &event
            && can_answer
        {
            match question::answers(agent, parts, *can_clean).await? {
                Some(answers) => handle.answer_all(parts, &answers),
                None => stop.cancel(),
            }
        }
        if let TurnEvent::FormAsked(asked) = &event
            && can_answer
            && !question::form::answer(asked).await?
        {
            stop.cancel();
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
