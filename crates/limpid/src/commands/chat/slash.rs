//! Slash commands in a chat.

use limpid_runtime::{Agent, ConversationChoice, Event, EventKind, Input};
use tokio::sync::broadcast::Receiver;

use super::events::Printer;
use crate::commands::changes;
use crate::failure::Failure;

/// Carries out a command and prints what it came to, with what changed and the reply does not say. A message is given
/// back.
pub(super) async fn command(
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
