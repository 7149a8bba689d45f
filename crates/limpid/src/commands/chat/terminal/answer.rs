//! An answer at a terminal, with what the person types meanwhile: it is kept at once, steers the turn or is answered
//! after it, and is shown until then.

use std::collections::{HashSet, VecDeque};

use limpid_core::TurnId;
use limpid_runtime::commands::is_command;
use limpid_runtime::ui::are_drawn;
use limpid_runtime::{ConversationChoice, Input, TurnEvent, TurnHandle};

use super::super::draft::Typed;
use super::super::question;
use super::super::said::{Said, request};
use super::super::typing::Typing;
use super::{Chat, Next};
use crate::commands::changes;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Commands that are carried out while an answer streams; the others wait for its end.
const AT_ONCE: [&str; 4] = ["/stop", "/exit", "/quit", "/help"];

/// A message that was sent while an answer streamed.
struct Queued {
    text: String,
    handle: TurnHandle,
    /// Whether it was printed at its place in the conversation.
    is_shown: bool,
}

/// A message whose answer is followed.
struct Followed {
    /// What it says, when it was queued and not shown yet.
    text: Option<String>,
    has_begun: bool,
    /// Whether a turn that was shown already has taken it.
    was_answered: bool,
}

/// What goes on while answers stream.
struct Answering {
    typing: Option<Typing>,
    queued: VecDeque<Queued>,
    /// Turns whose answers were shown.
    turns: HashSet<TurnId>,
    leaves: bool,
}

impl Chat<'_> {
    /// Answers a message, and those that are typed while that goes on.
    pub(super) async fn answer(&mut self, said: Said) -> Result<Next, Failure> {
        self.printer.draw(are_drawn(self.agent, &self.conversation).await?);
        let asked = request(self.talk, self.conversation.clone(), said, !self.json);
        let handle = match self.agent.chat(asked).await.map_err(Failure::from) {
            Ok(handle) => handle,
            Err(failure) if failure.status == ExitStatus::Usage => return Err(failure),
            Err(failure) => {
                output::tell_further_in(&failure.to_string());
                return Ok(Next::Read);
            }
        };
        self.enter(ConversationChoice::Id(handle.conversation().clone()));
        // Interrupts of the time before are over.
        while self.interrupts.try_recv().is_ok() {}
        let typing = Some(Typing::start(self.draws, self.has_data));
        let mut answering = Answering { typing, queued: VecDeque::new(), turns: HashSet::new(), leaves: false };
        let mut next = Some((handle, None));
        while let Some((handle, text)) = next {
            self.follow(handle, text, &mut answering).await?;
            if answering.leaves {
                break;
            }
            next =
                answering.queued.pop_front().map(|queued| (queued.handle, (!queued.is_shown).then_some(queued.text)));
        }
        if let Some(typing) = answering.typing {
            for keys in typing.end() {
                for typed in self.draft.take(&keys) {
                    if let Typed::Text(text) = typed {
                        self.later.push_back(text);
                    }
                }
            }
        }
        self.later.retain(|text| !text.trim().is_empty());
        Ok(if answering.leaves { Next::Leave } else { Next::Read })
    }

    /// Shows the events of one message until they end. `text` is a message that was queued and not shown yet.
    async fn follow(
        &mut self,
        mut handle: TurnHandle,
        text: Option<String>,
        answering: &mut Answering,
    ) -> Result<(), Failure> {
        let mut followed = Followed { text, has_begun: false, was_answered: false };
        let mut is_stopped = false;
        loop {
            answering.redraw(self);
            let stop = tokio::select! {
                event = handle.next() => {
                    let Some(event) = event else { break };
                    while let Ok(change) = self.changes.try_recv() {
                        self.show(change).await?;
                    }
                    for text in answering.taken_up(&event, &mut followed) {
                        self.printer.said(&text)?;
                    }
                    if followed.was_answered {
                        if event.is_last() { return Ok(()) } else { continue }
                    }
                    self.printer.print(&event)?;
                    let mut stop = false;
                    if let (TurnEvent::ApprovalRequested { parts, can_clean }, false) = (&event, self.json) {
                        // The question has the keyboard to itself; what was typed before is no answer to it.
                        self.put_aside(answering, &handle).await?;
                        match question::answers(self.agent, parts, *can_clean).await? {
                            Some(answers) => handle.answer_all(parts, &answers),
                            None => stop = true,
                        }
                        answering.typing = Some(Typing::start(self.draws, self.has_data));
                    }
                    if let (TurnEvent::FormAsked(asked), false) = (&event, self.json) {
                        self.put_aside(answering, &handle).await?;
                        stop = !question::form::answer(asked).await?;
                        answering.typing = Some(Typing::start(self.draws, self.has_data));
                    }
                    if event.is_last() { break }
                    stop
                }
                keys = answering.typed() => {
                    let typed = self.draft.take(&keys);
                    self.take_typed(typed, &handle, answering).await?
                }
                change = changes::next(&mut self.changes) => {
                    self.show(change).await?;
                    false
                }
                Some(()) = self.interrupts.recv() => true,
            };
            if stop {
                handle.cancel();
                if !followed.has_begun || is_stopped {
                    self.printer.end()?;
                    output::tell(if followed.has_begun {
                        "Stopped. Your message is kept."
                    } else {
                        "Stopped. Nothing answers your message any more, unless another process has begun to."
                    });
                    return Ok(());
                }
                is_stopped = true;
            }
            if answering.leaves {
                handle.cancel();
                break;
            }
        }
        self.printer.end()?;
        if let Some(failure) = self.printer.failure() {
            output::tell_further_in(&format!("{failure}\nYour message is kept; the next line continues from there."));
        } else if is_stopped {
            output::tell("Stopped. What was said so far is kept.");
        }
        Ok(())
    }

    /// Ends the typing; what was typed is kept.
    async fn put_aside(&mut self, answering: &mut Answering, handle: &TurnHandle) -> Result<(), Failure> {
        for keys in answering.typing.take().map(Typing::end).unwrap_or_default() {
            let typed = self.draft.take(&keys);
            self.take_typed(typed, handle, answering).await?;
        }
        Ok(())
    }

    /// Does what was typed. Says whether the answer is to stop.
    async fn take_typed(
        &mut self,
        typed: Vec<Typed>,
        handle: &TurnHandle,
        answering: &mut Answering,
    ) -> Result<bool, Failure> {
        let mut stop = false;
        for typed in typed {
            match typed {
                Typed::Stop => stop = true,
                Typed::Text(text) if text.trim().is_empty() => {}
                Typed::Text(text) if AT_ONCE.contains(&text.trim()) => {
                    if let Ok(Input::Reply(reply)) = self.agent.command(&self.conversation, &text).await {
                        self.printer.end()?;
                        self.printer.reply(&reply)?;
                        answering.leaves |= reply.leaves;
                    }
                }
                // What follows a command is to follow it. A number may press what this answer shows, which is whole when it has ended.
                Typed::Text(text) if is_command(&text) || is_number(&text) || !self.later.is_empty() => {
                    self.draft.pastes.entered(&text);
                    self.later.push_back(text);
                }
                Typed::Text(text) => {
                    let conversation = ConversationChoice::Id(handle.conversation().clone());
                    let mut said = self.draft.pastes.split(text.clone());
                    said.notice.into_iter().for_each(output::tell);
                    if said.handed_in.is_none()
                        && let Ok(Input::Message(unquoted)) = self.agent.command(&conversation, &text).await
                    {
                        said.text = unquoted;
                    }
                    let shown = if said.text.is_empty() { text.clone() } else { said.text.clone() };
                    match self.agent.chat(request(self.talk, conversation, said, !self.json)).await {
                        Ok(handle) => answering.queued.push_back(Queued { text: shown, handle, is_shown: false }),
                        Err(error) => {
                            output::tell_further_in(&Failure::from(error).to_string());
                            self.later.push_back(text);
                        }
                    }
                }
            }
        }
        Ok(stop)
    }
}

fn is_number(text: &str) -> bool {
    text.trim().parse::<u16>().is_ok()
}

impl Answering {
    async fn typed(&mut self) -> Vec<crossterm::event::Event> {
        match &mut self.typing {
            Some(typing) => typing.next().await,
            None => std::future::pending().await,
        }
    }

    /// Notes which messages a turn takes up. Returns those that were not shown yet and belong before its answer.
    fn taken_up(&mut self, event: &TurnEvent, followed: &mut Followed) -> Vec<String> {
        match event {
            TurnEvent::Started { turn, .. } => {
                followed.was_answered = turn.as_ref().is_some_and(|turn| self.turns.contains(turn));
                followed.has_begun = true;
                self.turns.extend(turn.clone());
                let Some(text) = followed.text.take_if(|_| !followed.was_answered) else { return Vec::new() };
                // What waited together is answered together.
                let waiting = self.queued.iter_mut().filter(|queued| !queued.is_shown);
                let waiting = waiting.map(|queued| {
                    queued.is_shown = true;
                    queued.text.clone()
                });
                return std::iter::once(text).chain(waiting).collect();
            }
            TurnEvent::Steered { .. } if !followed.has_begun => followed.was_answered = true,
            TurnEvent::Steered { text } => {
                if let Some(queued) = self.queued.iter_mut().find(|queued| !queued.is_shown && queued.text == *text) {
                    queued.is_shown = true;
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Shows below the answer what waits and what is being typed.
    fn redraw(&self, chat: &Chat<'_>) {
        let Some(typing) = &self.typing else { return };
        let waiting = self.queued.iter().filter(|queued| !queued.is_shown).map(|queued| &queued.text);
        let mut rows: Vec<String> =
            waiting.chain(&chat.later).map(|text| format!("queued » {}", in_one_row(text))).collect();
        if !chat.draft.text.is_empty() {
            rows.push(format!("» {}▏", in_one_row(&chat.draft.text)));
        }
        typing.show(rows);
    }
}

/// A text on one row. What a terminal would follow is written out where rows are shown.
fn in_one_row(text: &str) -> String {
    text.replace('\n', "⏎").replace('\t', " ")
}
