//! Follows a turn and shows what happens in it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use limpid_core::goal::WithoutMarkers;
use limpid_core::{ConversationId, TurnId};
use limpid_runtime::ui::are_drawn;
use limpid_runtime::{
    AgentError, ApprovalAnswer, ConversationChoice, FormQuestion, Outcome, QuestionId, TurnEvent, TurnHandle,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::attached::Words;
use super::growing::GrowingAnswer;
use super::parts;
use super::server_form;
use super::state::Page;
use super::talks::{Of, Talk};
use crate::questions::Question;

/// How long words are gathered before they are shown, for each so many bytes of the block that grows: it is sent anew each time.
const GATHER: Duration = Duration::from_millis(40);
const BLOCK: usize = 16 * 1024;

/// What is said of an answer that is begun elsewhere, or anew after a restart.
const ELSEWHERE: &str = "Answering. It shows here when it is whole.";

/// Who follows a turn.
struct Follower {
    page: Arc<Page>,
    talk: Arc<Talk>,
    /// The name of what is shown of this message and its turn.
    name: String,
    turn: Option<TurnId>,
    /// Whether another follower shows the turn.
    is_elsewhere: bool,
    answer: GrowingAnswer,
    markers: Option<WithoutMarkers>,
    thought: String,
    notes: usize,
    told: UnboundedSender<(QuestionId, ApprovalAnswer)>,
    /// Numbers of what was asked.
    asked: Vec<u64>,
    /// Forms that wait: each says its number and the server when it does not any more.
    forms: FuturesUnordered<BoxFuture<'static, (u64, String)>>,
}

/// Shows a turn until it ends, also when no browser looks on; `said` is the message that it answers.
///
/// # Errors
/// When the conversation cannot be read.
pub(super) async fn follow(page: &Arc<Page>, handle: TurnHandle, said: Words) -> Result<(), AgentError> {
    let draws = are_drawn(&page.agent, &ConversationChoice::Id(handle.conversation().clone())).await?;
    let talk = page.talks.of(handle.conversation());
    talk.begins();
    let page = Arc::clone(page);
    tokio::spawn(async move {
        let name = page.agent.new_secret().split_off(48);
        show(page, Arc::clone(&talk), handle, &name, (&said, draws)).await;
        talk.ended(&name);
    });
    Ok(())
}

/// Says that an answer is under way which nobody here follows, until it is there: one that goes on after a restart, or that another
/// program asked for.
///
/// # Errors
/// When the store cannot be read.
pub(super) async fn watch(page: &Arc<Page>, id: &ConversationId) -> Result<(), AgentError> {
    let conversations = page.agent.conversations();
    let is_open = page.agent.store().unfinished_turns().await?.rows.iter().any(|turn| turn.conversation == *id);
    let talk = page.talks.of(id);
    if !is_open || !conversations.is_at_work(id) || !talk.begins_alone() {
        return Ok(());
    }
    let name = page.agent.new_secret().split_off(48);
    talk.show(Of::Status, &name, "status", ELSEWHERE);
    let (page, id) = (Arc::clone(page), id.clone());
    tokio::spawn(async move {
        page.agent.conversations().wait_idle(&id).await;
        talk.ended(&name);
    });
    Ok(())
}

async fn show(page: Arc<Page>, talk: Arc<Talk>, mut handle: TurnHandle, name: &str, (said, draws): (&Words, bool)) {
    let (told, mut answers): (_, UnboundedReceiver<(QuestionId, ApprovalAnswer)>) = unbounded_channel();
    let markers = page.agent.config().chat.hide_markers.then(WithoutMarkers::default);
    talk.show(Of::Thread, name, format!("mine-{name}"), parts::mine(said, page.clock(page.agent.now_ms())));
    let mut follower = Follower {
        page,
        talk,
        name: name.to_owned(),
        turn: None,
        is_elsewhere: false,
        answer: GrowingAnswer::new(draws),
        markers,
        thought: String::new(),
        notes: 0,
        told,
        asked: Vec::new(),
        forms: FuturesUnordered::new(),
    };
    if follower.talk.is_shown_by_one() {
        follower.status("Waiting");
    }
    loop {
        let (grows, pause) = (follower.answer.has_grown(), Arc::clone(&follower.page.pause));
        let gather =
            GATHER.saturating_mul(1 + u32::try_from(follower.answer.block_len() / BLOCK).unwrap_or(u32::MAX - 1));
        let gathered = async {
            match grows {
                true => pause.pause(gather).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            event = handle.next() => match event {
                Some(event) if event.is_last() => {
                    follower.end(event);
                    break;
                }
                Some(event) => follower.event(event),
                None => break,
            },
            Some((question, answer)) = answers.recv() => {
                handle.answer(&question, answer);
                // A question that was asked anew meanwhile has not been answered, so it goes on to be shown.
                if !follower.talk.is_asked(question.call()) {
                    follower.show(&format!("ask-{}", question.call()), parts::answered(answer));
                }
            }
            Some((number, from)) = follower.forms.next() => follower.form_ends(number, &from),
            () = gathered => follower.flush(),
        }
    }
    follower.talk.forget(&follower.asked);
    follower.talk.end(follower.turn.as_ref());
}

impl Follower {
    fn event(&mut self, event: TurnEvent) {
        match &event {
            TurnEvent::Started { turn, .. } => {
                self.is_elsewhere = !self.talk.begin(turn.as_ref());
                if !self.is_elsewhere {
                    self.turn.clone_from(turn);
                }
            }
            // A turn that another follower shows has taken the message in.
            TurnEvent::Steered { .. } if self.turn.is_none() => self.is_elsewhere = true,
            _ => {}
        }
        if self.is_elsewhere {
            return;
        }
        match event {
            TurnEvent::Started { model, .. } => {
                self.show("head", parts::head(&model, self.page.clock(self.page.agent.now_ms())));
                self.status("Answering");
            }
            TurnEvent::Text(text) => self.text(&text),
            TurnEvent::Reasoning(text) => {
                self.thought.push_str(&text);
                self.show(&format!("thought-{}", self.answer.number()), parts::thought(&self.thought));
            }
            TurnEvent::Retrying { reason, model } => {
                self.part_ends();
                self.note(&format!("{} Asking {model} again.", reason.trim_end()));
            }
            TurnEvent::ToolStarted { id, name, arguments } => {
                self.part_ends();
                self.show(&format!("call-{id}"), parts::call(&name, &arguments, None));
            }
            TurnEvent::ToolRefused { id, name, arguments, result } => {
                self.part_ends();
                self.show(&format!("call-{id}"), parts::call(&name, &arguments, None));
                self.show(&format!("result-{id}"), parts::result(&result));
            }
            TurnEvent::ToolDone { id, result } => self.show(&format!("result-{id}"), parts::result(&result)),
            TurnEvent::ApprovalRequested { parts, can_clean } => {
                self.part_ends();
                for part in parts {
                    let asked = self.talk.ask(Question { part: part.clone(), can_clean, told: self.told.clone() });
                    self.asked.push(asked);
                    self.show(&format!("ask-{}", part.id.call()), parts::ask(&part, asked, can_clean));
                }
                self.status("Waiting for you");
            }
            TurnEvent::FormAsked(form) => self.form(form),
            TurnEvent::Notice(text) => self.note(&text),
            TurnEvent::DraftKept(draft) => self.beside(parts::kept(draft, None)),
            TurnEvent::Accepted { .. }
            | TurnEvent::Steered { .. }
            | TurnEvent::Usage { .. }
            | TurnEvent::Done { .. }
            | TurnEvent::Interrupted(_) => {}
        }
    }

    /// A server asks something. Whatever ends that takes the form away.
    fn form(&mut self, asked: FormQuestion) {
        self.part_ends();
        let (form, ended) = (asked.form().clone(), asked.ended());
        let number = self.talk.ask_form(asked);
        self.asked.push(number);
        self.show(&format!("form-{number}"), server_form::card(&form, number, &self.page.agent.zone()));
        self.forms.push(ended.map(move |()| (number, form.from)).boxed());
        self.status("Waiting for you");
    }

    fn form_ends(&self, number: u64, from: &str) {
        let end = self.talk.end_form(number);
        self.show(&format!("form-{number}"), server_form::ended(from, end));
        if self.forms.is_empty() {
            self.status("Answering");
        }
    }

    fn end(&mut self, event: TurnEvent) {
        if self.is_elsewhere {
            return;
        }
        self.part_ends();
        match event {
            TurnEvent::Done { outcome: Outcome::Failed { message, .. }, .. } => self.talk.fail(Some(message)),
            TurnEvent::Interrupted(why) => self.talk.fail(Some(why)),
            _ => self.talk.fail(None),
        }
        self.status("");
    }

    fn text(&mut self, text: &str) {
        match &mut self.markers {
            Some(markers) => self.answer.push(&markers.push(text)),
            None => self.answer.push(text),
        }
    }

    /// Shows what has been said.
    fn flush(&mut self) {
        for (number, html) in self.answer.blocks() {
            self.show(&format!("block-{number}"), html);
        }
    }

    /// What comes next stands below what was said.
    fn part_ends(&mut self) {
        if let Some(markers) = &mut self.markers {
            self.answer.push(&std::mem::take(markers).finish());
        }
        self.flush();
        self.answer.next_part();
        self.thought.clear();
    }

    fn note(&mut self, text: &str) {
        self.beside(parts::note(text));
    }

    fn beside(&mut self, html: String) {
        self.notes += 1;
        self.show(&format!("note-{}", self.notes), html);
    }

    fn status(&self, words: &str) {
        if !self.is_elsewhere {
            self.talk.show(Of::Status, &self.name, "status", words);
        }
    }

    fn show(&self, key: &str, html: String) {
        self.talk.show(Of::Answer, &self.name, format!("{}-{key}", self.name), html);
    }
}
