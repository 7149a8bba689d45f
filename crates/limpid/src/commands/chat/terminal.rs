//! The open chat at a terminal: lines with editing and history, answers as they stream, and whatever else reaches the
//! person meanwhile.

mod answer;
mod editor;
pub(super) mod line_feeds;

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use limpid_config::PasteTrust;
use limpid_core::ConversationId;
use limpid_runtime::commands::OTHERS_READ;
use limpid_runtime::{Agent, ConversationChoice, Event, EventKind, Input, ServeEvent};
use limpid_store::Audience;
use reedline::{DefaultPrompt, DefaultPromptSegment, EditCommand, ExternalPrinter, HistoryItem, Reedline, Signal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::completer::SlashCompleter;
use super::draft::{Draft, Typed};
use super::events::Printer;
use super::pastes::Pastes;
use super::said::pressed;
use super::slash::command;
use super::typing::rest_of_paste;
use crate::cli::TalkArgs;
use crate::commands::choice::choice;
use crate::commands::context::Context;
use crate::commands::conversation::title;
use crate::commands::{changes, unread};
use crate::failure::{ExitStatus, Failure};
use crate::output::{self, Edited};
use editor::{INTERRUPT, editor};

/// Lines that may wait to be printed above the editor.
const LINES: usize = 10_000;

/// A chat at a terminal.
struct Chat<'a> {
    agent: &'a Agent,
    talk: &'a TalkArgs,
    json: bool,
    /// Whether rows can be drawn below an answer.
    draws: bool,
    /// Whether standard output is on the screen.
    has_data: bool,
    printer: Printer,
    changes: Receiver<Event>,
    /// What is told of settings that changed: between the lines, so that it parts no answer.
    settings: UnboundedReceiver<String>,
    interrupts: UnboundedReceiver<()>,
    conversation: ConversationChoice,
    /// The same, for the completer.
    shared: Arc<Mutex<ConversationChoice>>,
    editor: Option<Reedline>,
    /// Prints above the editor while it waits.
    above: SyncSender<String>,
    /// What was typed and not sent.
    draft: Draft,
    /// Lines that were entered while an answer streamed and could not be carried out then.
    later: VecDeque<String>,
    /// What was told of unread messages elsewhere.
    told: Option<String>,
}

/// Reads lines and answers them until the input ends or the person leaves.
///
/// # Errors
/// When the terminal cannot be read, or the first turn finds that a conversation or model does not exist.
pub(super) async fn run(context: &Context, agent: &Agent, talk: &TalkArgs, json: bool) -> Result<(), Failure> {
    // It is looked up once: another one may be the last one when a line is typed, and the greeting names this one.
    let found = agent.directory().find(&choice(talk.conversation.as_deref(), &ConversationChoice::Last)).await?;
    let conversation = found.map_or(ConversationChoice::New, |found| ConversationChoice::Id(found.id));
    let shared = Arc::new(Mutex::new(conversation.clone()));
    let above = ExternalPrinter::new(LINES);
    let typed = context.home.path().join("data").join("terminal-typed.txt");
    let pastes = Pastes::new(agent.config().trust.paste == PasteTrust::Mine, &typed);
    let environment = &context.environment;
    let mut chat = Chat {
        agent,
        talk,
        json,
        draws: environment.stderr_is_terminal && environment.variable("TERM") != Some("dumb"),
        has_data: environment.stdout_is_terminal,
        printer: Printer::new(environment, json).hiding_markers(agent.config().chat.hide_markers),
        changes: context.take_changes(agent),
        settings: follow(agent),
        interrupts: interrupts(),
        above: above.sender(),
        editor: Some(editor(context, SlashCompleter::new(agent.clone(), Arc::clone(&shared)), above, pastes.clone())),
        conversation,
        shared,
        draft: Draft::new(pastes),
        later: VecDeque::new(),
        told: None,
    };
    chat.greet().await?;
    agent.mcp().connect_all();
    loop {
        chat.tell_unread().await?;
        let text = match chat.later.pop_front() {
            Some(text) => {
                chat.printer.said(&text)?;
                text
            }
            None => match chat.read().await? {
                Some(text) => text,
                None => return Ok(()),
            },
        };
        if chat.carry_out(text).await? == Next::Leave {
            return Ok(());
        }
    }
}

/// Goes by the owner's settings as they change; returns what is to be told of that.
fn follow(agent: &Agent) -> UnboundedReceiver<String> {
    let (told, telling) = unbounded_channel();
    let log = move |event: &ServeEvent| {
        if let ServeEvent::Notice { text, .. } | ServeEvent::Trouble { text, .. } = event {
            // Who left the chat hears nothing any more.
            let _ = told.send(text.clone());
        }
    };
    let agent = agent.clone();
    tokio::spawn(async move { agent.jobs().follow(log).await });
    telling
}

/// What follows a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Read,
    Leave,
}

impl Chat<'_> {
    async fn greet(&self) -> Result<(), Failure> {
        let usual = &self.agent.config().agent.profile;
        match self.agent.directory().find(&self.conversation).await? {
            Some(known) => {
                let profile = self.talk.profile.as_ref().unwrap_or(&known.profile);
                let others = if profile == usual { String::new() } else { format!(" (new ones: {usual})") };
                let end = format!("” with the profile {profile}{others}. /new begins a new conversation.");
                output::tell(&output::named(&[("Continuing “", &title(self.agent, &known).await?)], &end));
                if known.audience == Audience::Group {
                    output::tell(OTHERS_READ);
                }
            }
            None => {
                let profile = self.talk.profile.as_ref().unwrap_or(usual);
                output::tell(&format!("A new conversation with the profile {profile}."));
            }
        }
        if let Ok(tiers) = self.agent.conversations().tiers(&self.conversation).await {
            output::tell(&tiers.to_string());
        }
        output::tell("/help lists the commands. Ctrl-C stops an answer, Ctrl-D leaves.");
        Ok(())
    }

    async fn here(&self) -> Result<Option<ConversationId>, Failure> {
        Ok(self.agent.directory().find(&self.conversation).await?.map(|known| known.id))
    }

    async fn tell_unread(&mut self) -> Result<(), Failure> {
        let here = self.here().await?;
        unread::tell(self.agent, here.as_ref(), &mut self.told).await
    }

    /// From here on the chat is in this conversation.
    fn enter(&mut self, conversation: ConversationChoice) {
        self.conversation = conversation;
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = self.conversation.clone();
    }

    /// Shows what changed. What was delivered is read by that.
    async fn show(&mut self, change: Event) -> Result<(), Failure> {
        let here = match &self.conversation {
            ConversationChoice::Id(id) => Some(id.clone()),
            _ => self.here().await?,
        };
        self.printer.change(here.as_ref(), &change)?;
        if let EventKind::Delivered { delivery, .. } = change.change {
            self.agent.deliveries().mark_delivery_read(delivery).await?;
        }
        Ok(())
    }

    /// Waits for a line that is not blank; none when the person leaves. What changes meanwhile is shown above it.
    async fn read(&mut self) -> Result<Option<String>, Failure> {
        let mut is_leaving = false;
        loop {
            let Some(mut editor) = self.editor.take() else {
                return Err(Failure::new(ExitStatus::Failed, "the terminal cannot be read any more"));
            };
            let draft = self.draft.sent();
            if !draft.is_empty() {
                editor.run_edit_commands(&[EditCommand::InsertString(draft)]);
            }
            let mut reading = tokio::task::spawn_blocking(move || {
                let prompt = DefaultPrompt::new(DefaultPromptSegment::Empty, DefaultPromptSegment::Empty);
                let signal = editor.read_line(&prompt);
                let is_entered = matches!(signal, Ok(Signal::Success(_) | Signal::ExternalBreak(_)));
                let rest = if is_entered { rest_of_paste() } else { Vec::new() };
                (editor, signal, rest)
            });
            let edited = Edited::begin(self.above.clone(), self.has_data);
            let read = loop {
                tokio::select! {
                    read = &mut reading => break read,
                    change = changes::next(&mut self.changes) => {
                        // The editor holds the terminal: what fails here is told, and the line goes on.
                        if let Err(failure) = self.show(change).await {
                            output::tell_further_in(&failure.to_string());
                        }
                    }
                    Some(told) = self.settings.recv() => output::tell_further_in(&told),
                    // Between two readings Ctrl-C is no key but a signal, and none of them may be lost.
                    Some(()) = self.interrupts.recv() => {
                        if is_leaving {
                            crossterm::terminal::disable_raw_mode()?;
                            output::tell("");
                            return Ok(None);
                        }
                        is_leaving = true;
                        output::tell(LEAVES);
                    }
                }
            };
            drop(edited);
            let (mut editor, signal, rest) = read.map_err(|error| Failure::new(ExitStatus::Failed, error))?;
            let text = match signal? {
                Signal::Success(text) => self.with_rest(text, &rest),
                // Lines that end with a line feed.
                Signal::ExternalBreak(text) => {
                    editor.run_edit_commands(&[EditCommand::Clear]);
                    let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
                    let _ = editor.history_mut().save(HistoryItem::from_command_line(&text));
                    self.with_rest(text, &rest)
                }
                Signal::CtrlD => return Ok(None),
                Signal::HostCommand(command) if command == INTERRUPT => {
                    output::tell("");
                    let draft = editor.current_buffer_contents().to_owned();
                    editor.run_edit_commands(&[EditCommand::Clear]);
                    if draft.is_empty() && is_leaving {
                        return Ok(None);
                    }
                    is_leaving = draft.is_empty();
                    if is_leaving {
                        output::tell(LEAVES);
                    } else {
                        // The arrow key brings it back; where it cannot be kept it is on the screen.
                        self.draft.pastes.entered(&draft);
                        let _ = editor.history_mut().save(HistoryItem::from_command_line(draft));
                    }
                    None
                }
                _ => None,
            };
            self.editor = Some(editor);
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                return Ok(Some(text));
            }
        }
    }

    /// A line with what was pasted behind it. A paste that does not end with Enter waits for one.
    fn with_rest(&mut self, text: String, rest: &[crossterm::event::Event]) -> Option<String> {
        if rest.is_empty() {
            return Some(text);
        }
        if text.starts_with('/') && !text.starts_with("//") {
            // A command is a line of its own; what was pasted behind it comes after it.
            let typed: Vec<String> = self.draft.take(rest).into_iter().filter_map(Typed::text).collect();
            typed.iter().for_each(|line| self.draft.pastes.entered(line));
            self.later.extend(typed);
            return Some(text);
        }
        self.draft.of_burst(&text);
        let whole = self.draft.take(rest).into_iter().find_map(Typed::text);
        for line in whole.iter().flat_map(|whole| whole.lines().skip(1)) {
            output::tell_further_in(&format!("::: {line}"));
        }
        whole
    }

    /// Carries out a command or answers a message.
    async fn carry_out(&mut self, text: String) -> Result<Next, Failure> {
        let said = self.draft.pastes.split(text);
        said.notice.into_iter().for_each(output::tell);
        // A command is typed.
        if said.handed_in.is_some() {
            return self.answer(said).await;
        }
        let text = said.text;
        let done = command(self.agent, &self.conversation, &text, &mut self.printer, &mut self.changes).await;
        match done {
            Ok(Input::Message(text)) => match pressed(self.agent, &self.conversation, &text).await? {
                Some(said) => {
                    let words = said.handed_in.as_ref().map(|said| said.value().clone()).unwrap_or_default();
                    self.printer.said(&words)?;
                    self.answer(said).await
                }
                None => self.answer(text.into()).await,
            },
            Ok(Input::Reply(reply)) => {
                if let Some(id) = reply.conversation {
                    self.enter(ConversationChoice::Id(id));
                }
                Ok(if reply.leaves { Next::Leave } else { Next::Read })
            }
            Err(failure) => {
                output::tell_further_in(&failure.to_string());
                Ok(Next::Read)
            }
        }
    }
}

/// What the first Ctrl-C on an empty line is answered with.
const LEAVES: &str = "Press Ctrl-C again to leave.";

/// Says each time that the program is interrupted.
fn interrupts() -> UnboundedReceiver<()> {
    let (sender, interrupts) = unbounded_channel();
    tokio::spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).is_ok() {} });
    interrupts
}
