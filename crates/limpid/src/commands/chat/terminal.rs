//! The open chat at a terminal: lines with editing and history, answers as they stream.

use std::sync::{Arc, Mutex, PoisonError};

use limpid_runtime::{Agent, ConversationChoice, Slash};
use reedline::{
    ColumnarMenu, DefaultPrompt, DefaultPromptSegment, EditCommand, Emacs, FileBackedHistory, KeyCode, KeyModifiers,
    MenuBuilder, Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use tokio_util::sync::CancellationToken;

use super::completer::SlashCompleter;
use super::{Printer, choice, request, turn};
use crate::cli::TalkArgs;
use crate::commands::context::Context;
use crate::commands::unread;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Lines that are remembered for the arrow keys.
const HISTORY: usize = 1000;

/// The name of the menu of commands.
const MENU: &str = "commands";

/// Reads lines and answers them until the input ends. Ctrl-C stops a turn, Ctrl-D leaves.
///
/// # Errors
/// When the terminal cannot be read, or the first turn finds that a conversation or model does not exist.
pub(super) async fn run(context: &Context, agent: &Agent, talk: &TalkArgs, json: bool) -> Result<(), Failure> {
    let mut conversation = choice(talk.conversation.as_deref(), &ConversationChoice::Last);
    let mut printer = Printer::new(&context.environment, json).hiding_markers(agent.config().chat.hide_markers);
    let shared = Arc::new(Mutex::new(conversation.clone()));
    let mut editor = editor(context, SlashCompleter::new(agent.clone(), Arc::clone(&shared)));
    if let Some(known) = agent.find_conversation(&conversation).await? {
        output::tell(&format!("Going on with “{}”; a new one begins with --conversation new.", known.title));
    }
    if let Ok(tiers) = agent.tiers(&conversation).await {
        output::tell(&tiers.to_string());
    }
    output::tell("/help lists the commands, Ctrl-C stops an answer, Ctrl-D leaves.");
    let mut told = None;
    loop {
        let here = agent.find_conversation(&conversation).await?.map(|known| known.id);
        unread::tell(agent, here.as_ref(), &mut told).await?;
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
        let text = match agent.command(&conversation, &text).await {
            Ok(Slash::Message(text)) => text,
            Ok(Slash::Reply(reply)) => {
                printer.reply(&reply)?;
                if let Some(id) = reply.conversation {
                    conversation = ConversationChoice::Id(id);
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) = conversation.clone();
                }
                continue;
            }
            Err(error) => {
                output::tell(&Failure::from(error).to_string());
                continue;
            }
        };
        let stop = CancellationToken::new();
        let watched = stop.clone();
        let watcher = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                watched.cancel();
            }
        });
        let ended = turn(agent, request(talk, conversation.clone(), text, !json), &mut printer, &stop).await;
        watcher.abort();
        match ended {
            Ok(id) => conversation = ConversationChoice::Id(id),
            Err(failure) if failure.status == ExitStatus::Usage => return Err(failure),
            Err(failure) => {
                output::tell(&format!("{failure}\nYour message is kept; the next line goes on from there."));
                conversation = match conversation {
                    ConversationChoice::New => ConversationChoice::Last,
                    other => other,
                };
            }
        }
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = conversation.clone();
    }
}

/// The editor of lines: history, and a menu of commands that opens with a tab or a slash.
fn editor(context: &Context, completer: SlashCompleter) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let menu = || ReedlineEvent::Menu(MENU.to_owned());
    let tab = ReedlineEvent::UntilFound(vec![menu(), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, tab);
    let slash = ReedlineEvent::Edit(vec![EditCommand::InsertChar('/')]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Char('/'), ReedlineEvent::Multiple(vec![slash, menu()]));
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    let shown = ColumnarMenu::default().with_name(MENU).with_columns(1);
    let editor = Reedline::create()
        .with_completer(Box::new(completer))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(shown)))
        .with_edit_mode(Box::new(Emacs::new(keys)));
    let file = context.home.path().join("data").join("terminal-history.txt");
    match FileBackedHistory::with_file(HISTORY, file) {
        Ok(history) => editor.with_history(Box::new(history)),
        Err(_) => editor,
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
