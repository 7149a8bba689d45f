//! The open chat at a terminal: lines with editing and history, answers as they stream.

use limpid_runtime::{Agent, ConversationChoice};
use reedline::{DefaultPrompt, DefaultPromptSegment, FileBackedHistory, Reedline, Signal};
use tokio_util::sync::CancellationToken;

use super::{Printer, choice, request, turn};
use crate::cli::TalkArgs;
use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Lines that are remembered for the arrow keys.
const HISTORY: usize = 1000;

/// Reads lines and answers them until the input ends. Ctrl-C stops a turn, Ctrl-D leaves.
///
/// # Errors
/// When the terminal cannot be read, or the first turn finds that a conversation or model does not exist.
pub(super) async fn run(context: &Context, agent: &Agent, talk: &TalkArgs, json: bool) -> Result<(), Failure> {
    let mut conversation = choice(talk.conversation.as_deref(), &ConversationChoice::Last);
    let mut printer = Printer::new(&context.environment, json);
    let mut editor = editor(context);
    if let Some(known) = agent.find_conversation(&conversation).await? {
        output::tell(&format!("Going on with “{}”; a new one begins with --conversation new.", known.title));
    }
    output::tell("Ctrl-C stops an answer, Ctrl-D leaves.");
    loop {
        let line;
        (editor, line) = read_line(editor).await?;
        let text = match line {
            Signal::Success(text) => text,
            Signal::CtrlD => return Ok(()),
            _ => continue,
        };
        if text.trim().is_empty() {
            continue;
        }
        let stop = CancellationToken::new();
        let watched = stop.clone();
        let watcher = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                watched.cancel();
            }
        });
        let ended = turn(agent, request(talk, conversation.clone(), text), &mut printer, &stop).await;
        watcher.abort();
        match ended {
            Ok(id) => conversation = ConversationChoice::Id(id),
            Err(failure) if failure.status == ExitStatus::Usage => return Err(failure),
            Err(failure) => {
                output::tell(&failure.to_string());
                // The message was kept; the next line goes on where this one stood.
                conversation = match conversation {
                    ConversationChoice::New => ConversationChoice::Last,
                    other => other,
                };
            }
        }
    }
}

fn editor(context: &Context) -> Reedline {
    let file = context.home.path().join("data").join("terminal-history.txt");
    match FileBackedHistory::with_file(HISTORY, file) {
        Ok(history) => Reedline::create().with_history(Box::new(history)),
        Err(_) => Reedline::create(),
    }
}

/// Waits for a line on a thread of its own, so that nothing else stands still.
async fn read_line(mut editor: Reedline) -> Result<(Reedline, Signal), Failure> {
    let read = tokio::task::spawn_blocking(move || {
        let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
        let signal = editor.read_line(&prompt);
        (editor, signal)
    });
    let (editor, signal) = read.await.map_err(|error| Failure::new(ExitStatus::Failed, error))?;
    Ok((editor, signal?))
}
