//! `chat`: one message and its answer, or a conversation at the terminal.

mod completer;
mod events;
mod pastes;
mod question;
mod terminal;
mod typing;

use std::io::Read as _;

use limpid_core::{ConversationId, Labelled};
use limpid_runtime::commands::is_command;
use limpid_runtime::{Agent, ChatRequest, ConversationChoice, Event, EventKind, Input, TurnEvent};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

pub use events::Printer;

use super::context::Context;
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
    let agent = context.agent()?;
    first_model::ensure(context, &agent, args.talk.model.as_deref()).await?;
    let talk = &args.talk;
    match message {
        Some(said) => once(context, &agent, talk, said, args.json).await,
        // A single message carries on what was interrupted in its own conversation only: others would be cut off again
        // when the answer is there and the program ends.
        None if context.environment.stdin_is_terminal => {
            agent.conversations().resume().await?;
            // Reports are read here, so nothing else tells of them; a home that cannot be written is told elsewhere.
            let _open = agent.notifications().open_client().await.ok();
            terminal::run(context, &agent, talk, args.json).await
        }
        None => Err(Failure::new(ExitStatus::Usage, "there is nothing to say")
            .advise("Give a message: limpid chat \"hello\", or pipe one in.")),
    }
}

/// What is said at once.
#[derive(Default)]
struct Said {
    /// What the owner typed.
    text: String,
    /// What goes with it, and who wrote it.
    handed_in: Option<Labelled<String>>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { text, handed_in: None }
    }
}

/// The message: words and piped input, or none for an open chat. Words are the owner's; whoever filled the pipe is not
/// known.
fn message(context: &Context, args: &ChatArgs) -> Result<Option<Said>, Failure> {
    let mut said = Said::from(args.message.join(" "));
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
        if !args.mine {
            said.handed_in = (!piped.trim().is_empty()).then(|| Labelled::outside(piped.to_owned()));
        } else if !piped.is_empty() {
            said.text.push_str(if said.text.is_empty() { "" } else { "\n\n" });
            said.text.push_str(piped);
        }
    }
    Ok((!said.text.trim().is_empty() || said.handed_in.is_some()).then_some(said))
}

async fn once(context: &Context, agent: &Agent, talk: &TalkArgs, said: Said, json: bool) -> Result<(), Failure> {
    let Said { text, handed_in } = said;
    if !json && text.trim().is_empty() && handed_in.is_some() {
        output::tell("Piped input counts as text that anybody may have written. Give a message with it, or --mine.");
    }
    // A command is about a conversation that is there; a message without a word about it begins one.
    let usual = if is_command(&text) { ConversationChoice::Last } else { ConversationChoice::New };
    let conversation = choice(talk.conversation.as_deref(), &usual);
    let mut printer = Printer::new(&context.environment, json).hiding_markers(agent.config().chat.hide_markers);
    let mut changes = context.take_changes(agent);
    let here = agent.directory().find(&conversation).await?.map(|known| known.id);
    if !json {
        unread::tell(agent, here.as_ref(), &mut None).await?;
    }
    let text = match command(agent, &conversation, &text, &mut printer, &mut changes).await? {
        Input::Message(text) => text,
        Input::Reply(_) => return Ok(()),
    };
    let can_answer = context.environment.stdin_is_terminal && !json;
    let stop = CancellationToken::new();
    let watched = stop.clone();
    let watcher = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            watched.cancel();
        }
    });
    let request = request(talk, conversation, Said { text, handed_in }, can_answer);
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
    let settled = agent.conversations().wait_idle(conversation);
    tokio::pin!(settled);
    loop {
        tokio::select! {
            () = &mut settled => break,
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

/// Carries out a command and prints what it came to, with what changed and the reply does not say. A message is given
/// back.
async fn command(
    agent: &Agent,
    conversation: &ConversationChoice,
    text: &str,
    printer: &mut Printer,
    changes: &mut Receiver<Event>,
) -> Result<Input, Failure> {
    let here = agent.directory().find(conversation).await?.map(|known| known.id);
    let carried_out = agent.command(conversation, text);
    tokio::pin!(carried_out);
    let mut held = Vec::new();
    let slash = loop {
        tokio::select! {
            slash = &mut carried_out => break slash?,
            // What takes its time is told when it begins.
            change = changes::next(changes) => match change.change {
                EventKind::CompactionStarted { .. } => printer.change(here.as_ref(), &change)?,
                _ => held.push(change),
            },
        }
    };
    held.extend(std::iter::from_fn(|| changes.try_recv().ok()));
    let here = match &slash {
        Input::Reply(reply) => reply.conversation.clone().or(here),
        Input::Message(_) => here,
    };
    let said: &[&str] = match &slash {
        Input::Reply(reply) => &reply.changed,
        Input::Message(_) => &[],
    };
    let shows_all = printer.is_for_programs();
    for change in held.iter().filter(|event| shows_all || !said.contains(&event.change.topic())) {
        printer.change(here.as_ref(), change)?;
    }
    if let Input::Reply(reply) = &slash {
        printer.reply(reply)?;
    }
    Ok(slash)
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
        if let TurnEvent::ApprovalRequested { parts } = &event
            && can_answer
        {
            match question::answers(parts).await? {
                Some(answers) => handle.answer_all(parts, &answers),
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

fn request(talk: &TalkArgs, conversation: ConversationChoice, said: Said, can_answer: bool) -> ChatRequest {
    ChatRequest {
        conversation,
        text: said.text,
        handed_in: said.handed_in,
        profile: talk.profile.clone(),
        mode: talk.mode.clone(),
        model: talk.model.clone(),
        effort: talk.effort,
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
