//! How the events of a turn are printed: the answer on standard output as it comes, everything else beside it; or
//! every event as one line of JSON.

mod calls;

use limpid_core::goal::WithoutMarkers;
use limpid_core::ui::{Fences, Part, plain};
use limpid_core::{ConversationId, FailureClass, Usage};
use limpid_runtime::drafts::kept_words;
use limpid_runtime::question::form_frame;
use limpid_runtime::{Event, EventKind, Outcome, QuestionPart, SlashReply, TurnEvent};
use serde_json::{Value, json};

use self::calls::Calls;
use crate::commands::changes::words;
use crate::environment::Environment;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Prints the events of one turn.
#[derive(Debug)]
pub struct Printer {
    json: bool,
    colours: bool,
    model: Option<String>,
    open_line: bool,
    reasoning: bool,
    printed: bool,
    /// Takes the lines out by which the model changes the goal, when the owner does not want to see them.
    markers: Option<WithoutMarkers>,
    /// Prints the screens in answers as text, where they are drawn.
    screens: Option<Fences>,
    calls: Calls,
    failure: Option<(ExitStatus, String)>,
}

impl Printer {
    /// A printer for a terminal, a pipe or (`json`) a program.
    pub fn new(environment: &Environment, json: bool) -> Self {
        Self {
            json,
            colours: environment.colours(environment.stderr_is_terminal),
            model: None,
            open_line: false,
            reasoning: false,
            printed: false,
            markers: None,
            screens: None,
            calls: Calls::default(),
            failure: None,
        }
    }

    /// The same printer; `hide` leaves marker lines out of what a person sees.
    #[must_use]
    pub fn hiding_markers(self, hide: bool) -> Self {
        Self { markers: (hide && !self.json).then(WithoutMarkers::default), ..self }
    }

    /// Whether the screens in the next answer are drawn.
    pub fn draw(&mut self, draws: bool) {
        self.screens = (draws && !self.json).then(Fences::default);
    }

    /// Whether it prints JSON, whose readers get every event.
    pub fn is_for_programs(&self) -> bool {
        self.json
    }

    /// Prints one event.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print(&mut self, event: &TurnEvent) -> Result<(), Failure> {
        self.note_end(event);
        if self.json {
            return output::json_line(&to_json(event).to_string());
        }
        if !matches!(event, TurnEvent::Text(_)) {
            self.show_held_back()?;
        }
        if ends_reply(event) {
            self.end_screen()?;
        }
        match event {
            TurnEvent::Started { model, .. } => {
                // The first line says which model answers; a second turn of the same chat need not.
                if self.model.as_ref() != Some(model) {
                    self.beside(&format!("{model}:"));
                    self.model = Some(model.clone());
                }
                Ok(())
            }
            TurnEvent::Text(text) => self.text(text),
            TurnEvent::Reasoning(text) => self.thought(text),
            TurnEvent::Retrying { reason, model } => {
                self.close_line()?;
                self.beside(&format!("{} Asking {model} again.", output::shown_line(reason.trim_end())));
                Ok(())
            }
            TurnEvent::ToolStarted { id, name, arguments } => {
                self.close_line()?;
                let line = self.calls.started(id, name, arguments);
                self.beside(&line);
                Ok(())
            }
            TurnEvent::ToolDone { id, result } => {
                let line = self.calls.done(id, result);
                self.beside(&line);
                Ok(())
            }
            TurnEvent::ToolRefused { name, arguments, result, .. } => {
                self.close_line()?;
                let line = self.calls.refused(name, arguments, result);
                self.beside(&line);
                Ok(())
            }
            // Whoever answers the question shows it.
            TurnEvent::ApprovalRequested { .. } => self.close_line(),
            TurnEvent::FormAsked(question) => {
                self.close_line()?;
                output::tell_as_laid_out(&form_frame(question.form(), output::width()));
                Ok(())
            }
            TurnEvent::Steered { text } => self.said(text),
            TurnEvent::Notice(text) => {
                self.close_line()?;
                self.beside(text);
                Ok(())
            }
            TurnEvent::DraftKept(draft) => {
                self.close_line()?;
                self.beside(kept_words(*draft).text());
                Ok(())
            }
            TurnEvent::Done { answer, .. } => match answer {
                Some(answer) if !self.printed => {
                    self.text(answer)?;
                    self.show_held_back()?;
                    self.end_screen()
                }
                _ => Ok(()),
            },
            TurnEvent::Accepted { .. } | TurnEvent::Usage { .. } | TurnEvent::Interrupted(_) => Ok(()),
        }
    }

    /// Prints what the person has said while an answer was under way, where it stands in the conversation.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn said(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        self.show_held_back()?;
        self.close_line()?;
        self.beside(&format!("» {text}"));
        Ok(())
    }

    /// Prints what changed: in this conversation, or in no special one. What was delivered is shown wherever it went.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn change(&mut self, conversation: Option<&ConversationId>, event: &Event) -> Result<(), Failure> {
        let is_elsewhere = event.conversation.is_some() && event.conversation.as_ref() != conversation;
        if is_elsewhere && !matches!(event.change, EventKind::Delivered { .. } | EventKind::DraftUpdated { .. }) {
            return Ok(());
        }
        if !self.json {
            if let Some(words) = words(&event.change) {
                self.show_held_back()?;
                self.close_line()?;
                self.beside(&words);
            }
            return Ok(());
        }
        let mut shape = json!({"type": "change"});
        if let (Some(shape), Ok(Value::Object(event))) = (shape.as_object_mut(), serde_json::to_value(event)) {
            shape.extend(event);
        }
        output::json_line(&shape.to_string())
    }

    /// Prints what a command came to.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn reply(&self, reply: &SlashReply) -> Result<(), Failure> {
        if !self.json {
            return match reply.command {
                _ if reply.text.is_empty() => Ok(()),
                // Whoever looks at a prompt wants its bytes.
                "prompt" => output::line(&reply.text),
                _ => output::text(&reply.text),
            };
        }
        let conversation = reply.conversation.as_ref().map(ConversationId::as_str);
        let shape = json!({
            "type": "command", "version": output::JSON_VERSION, "command": reply.command, "conversation": conversation,
            "text": reply.text, "changed": reply.changed,
        });
        output::json_line(&shape.to_string())
    }

    /// Ends the line that is open, if one is, and readies the printer for another turn.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn end(&mut self) -> Result<(), Failure> {
        self.printed = false;
        self.calls = Calls::default();
        self.close_line()
    }

    /// How the turn failed, if it did; taken, so that the next turn starts afresh.
    pub fn failure(&mut self) -> Option<Failure> {
        self.failure.take().map(|(status, what)| Failure::new(status, what))
    }

    fn note_end(&mut self, event: &TurnEvent) {
        self.failure = match event {
            TurnEvent::Interrupted(what) => Some((ExitStatus::Failed, what.clone())),
            TurnEvent::Done { outcome: Outcome::Failed { class, message }, .. } => {
                let status = if *class == FailureClass::OwnFile { ExitStatus::Files } else { ExitStatus::Model };
                Some((status, message.clone()))
            }
            _ => return,
        };
    }

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.printed = true;
        match &mut self.markers {
            None => self.say(text),
            Some(markers) => {
                let shown = markers.push(text);
                self.say(&shown)
            }
        }
    }

    /// Prints what may be said or drawn.
    fn say(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.screens {
            None => self.write(text),
            Some(screens) => {
                let parts = screens.push(text);
                self.parts(parts)
            }
        }
    }

    /// Prints a screen that is open: the reply is over.
    fn end_screen(&mut self) -> Result<(), Failure> {
        let parts = self.screens.as_mut().map(Fences::finish).unwrap_or_default();
        self.parts(parts)
    }

    fn parts(&mut self, parts: Vec<Part>) -> Result<(), Failure> {
        for part in parts {
            match part {
                Part::Text(text) => self.write(&text)?,
                Part::Tree(tree) => {
                    self.close_line()?;
                    self.write(&plain(&tree, true))?;
                }
                Part::Broken(inside, _) => {
                    self.close_line()?;
                    self.write(&inside)?;
                }
            }
        }
        Ok(())
    }

    /// Prints what may still have become a marker and did not.
    fn show_held_back(&mut self) -> Result<(), Failure> {
        let Some(markers) = &mut self.markers else { return Ok(()) };
        let rest = std::mem::take(markers).finish();
        self.say(&rest)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        if self.reasoning {
            self.reasoning = false;
            output::tell("");
        }
        output::data(text)?;
        self.open_line = !text.ends_with('\n');
        Ok(())
    }

    fn thought(&mut self, text: &str) -> Result<(), Failure> {
        if self.colours {
            self.reasoning = true;
            output::tell_on_faintly(text);
        }
        Ok(())
    }

    fn close_line(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.open_line) { output::data("\n") } else { Ok(()) }
    }

    fn beside(&self, text: &str) {
        if self.colours { output::tell_faintly(text) } else { output::tell_further_in(text) }
    }
}

/// Whether nothing follows in the reply that was streaming.
const fn ends_reply(event: &TurnEvent) -> bool {
    matches!(
        event,
        TurnEvent::Done { .. }
            | TurnEvent::Interrupted(_)
            | TurnEvent::ToolStarted { .. }
            | TurnEvent::ToolRefused { .. }
            | TurnEvent::Retrying { .. }
            | TurnEvent::Notice(_)
            | TurnEvent::DraftKept(_)
    )
}

fn to_json(event: &TurnEvent) -> Value {
    match event {
        TurnEvent::Accepted { conversation } => {
            json!({"type": "accepted", "version": output::JSON_VERSION, "conversation": conversation.as_str()})
        }
        TurnEvent::Started { turn, model, profile, path } => {
            json!({"type": "started", "turn": turn.as_ref().map(limpid_core::TurnId::as_str), "model": model, "profile": profile, "path": path})
        }
        TurnEvent::Reasoning(text) => json!({"type": "reasoning", "text": text}),
        TurnEvent::Text(text) => json!({"type": "text", "text": text}),
        TurnEvent::Retrying { reason, model } => json!({"type": "retrying", "reason": reason, "model": model}),
        TurnEvent::ToolStarted { id, name, arguments } => {
            json!({"type": "tool-started", "id": id.as_str(), "name": name, "arguments": arguments})
        }
        TurnEvent::ToolRefused { id, name, arguments, result } => {
            json!({"type": "tool-refused", "id": id.as_str(), "name": name, "arguments": arguments, "result": result})
        }
        TurnEvent::ToolDone { id, result } => json!({"type": "tool-done", "id": id.as_str(), "result": result}),
        TurnEvent::ApprovalRequested { parts, can_clean } => {
            let part = |part: &QuestionPart| {
                let QuestionPart { id, name, arguments, about, destination, folder, reason, pattern, whole } = part;
                json!({"id": id.call().as_str(), "name": name, "arguments": arguments, "about": about,
                    "destination": destination, "folder": folder, "reason": reason, "pattern": pattern, "whole": whole})
            };
            json!({"type": "question", "parts": parts.iter().map(part).collect::<Vec<_>>(), "can_clean": can_clean})
        }
        // Programs are no owners: nobody answers, which is a no.
        TurnEvent::FormAsked(question) => json!({"type": "form", "from": question.form().from}),
        TurnEvent::Usage { usage, cost } => {
            json!({"type": "usage", "tokens": tokens(*usage), "cost_micro_usd": cost.map(|cost| cost.0)})
        }
        TurnEvent::Steered { text } => json!({"type": "steered", "text": text}),
        TurnEvent::Notice(text) => json!({"type": "notice", "text": text}),
        TurnEvent::DraftKept(draft) => json!({"type": "notice", "text": kept_words(*draft).text()}),
        TurnEvent::Done { outcome, answer } => {
            let (how, class, message) = match outcome {
                Outcome::Answered { .. } => ("answered", None, None),
                Outcome::Cancelled => ("cancelled", None, None),
                Outcome::Failed { class, message } => ("failed", Some(class.as_str()), Some(message)),
            };
            json!({"type": "done", "outcome": how, "class": class, "message": message, "answer": answer})
        }
        TurnEvent::Interrupted(what) => json!({"type": "broken", "message": what}),
    }
}

fn tokens(usage: Usage) -> Value {
    json!({"input": usage.input, "cached": usage.cached, "cache_written": usage.cache_written, "output": usage.output, "reasoning": usage.reasoning})
}
