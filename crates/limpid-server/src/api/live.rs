//! What happens in conversations while programs listen. A turn that a program began is followed here, not in its request, so that
//! it may leave and come back: each event has a number, and who says the last one that they have seen is told the rest.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::{ConversationId, TurnId};
use limpid_runtime::{ApprovalAnswer, QuestionId, QuestionPart, TurnEvent, TurnHandle};
use tokio::sync::{mpsc, watch};

use super::live_event::{AnswerWord, LiveEvent, QuestionView, Streams};
use crate::page::Page;
use crate::questions::{Numbers, Question, Questions};

/// Conversations that were followed; beyond it those are forgotten that nothing happens in.
const REMEMBERED: usize = 64;

/// Events of a conversation that are kept, and their bytes.
const EVENTS: usize = 10_000;
const BYTES: usize = 1024 * 1024;

/// The conversations that something happened in.
pub(super) struct Lives {
    known: Mutex<HashMap<ConversationId, Arc<Live>>>,
    /// How many were begun.
    begun: AtomicU64,
    numbers: Numbers,
}

/// Events of one conversation at most, as their numbers go: one that was forgotten and is begun anew goes on above them.
const SPAN: u64 = 1 << 32;

/// What happens in one conversation.
pub(super) struct Live {
    told: Mutex<Told>,
    newest: watch::Sender<u64>,
}

/// An event that was told: its number and its JSON.
pub(super) type Numbered = (u64, String);

struct Told {
    events: VecDeque<Numbered>,
    bytes: usize,
    number: u64,
    /// The newest event that is not kept any more.
    forgotten: u64,
    /// Turns that are followed, by one each.
    turns: Vec<TurnId>,
    questions: Questions,
    followed: usize,
}

impl Told {
    /// Nothing after a number: whoever has seen an older one has missed something.
    fn new(id: &ConversationId, first: u64, numbers: &Numbers) -> Self {
        Self {
            events: VecDeque::new(),
            bytes: 0,
            number: first,
            forgotten: first,
            turns: Vec::new(),
            questions: Questions::new(id, numbers.clone()),
            followed: 0,
        }
    }
}

impl Lives {
    /// None yet; questions get these numbers.
    pub(super) fn new(numbers: &Numbers) -> Self {
        Self { known: Mutex::default(), begun: AtomicU64::default(), numbers: numbers.clone() }
    }

    /// What happens in a conversation.
    pub(super) fn of(&self, id: &ConversationId) -> Arc<Live> {
        let mut lives = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if lives.len() >= REMEMBERED && !lives.contains_key(id) {
            lives.retain(|_, live| Arc::strong_count(live) > 1 || live.lock().followed > 0);
        }
        let new = || {
            let first = self.begun.fetch_add(1, Ordering::Relaxed) * SPAN;
            Arc::new(Live { told: Mutex::new(Told::new(id, first, &self.numbers)), newest: watch::Sender::new(first) })
        };
        Arc::clone(lives.entry(id.clone()).or_insert_with(new))
    }
}

impl Live {
    /// The number of the newest event.
    pub(super) fn number(&self) -> u64 {
        self.lock().number
    }

    /// The events after one, and whether some before them are forgotten.
    pub(super) fn after(&self, seen: u64) -> (bool, Vec<Numbered>) {
        let told = self.lock();
        let events = told.events.iter().filter(|(number, _)| *number > seen).cloned().collect();
        (seen < told.forgotten, events)
    }

    /// Hears of new events.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Answers a question. Says whether it waited and the answer was one that was offered.
    pub(super) fn answer(&self, question: u64, answer: AnswerWord) -> bool {
        self.lock().questions.answer(question, answer.answer())
    }

    fn tell(&self, event: &LiveEvent) {
        let Ok(text) = serde_json::to_string(event) else { return };
        let mut told = self.lock();
        told.number += 1;
        let number = told.number;
        told.bytes += text.len();
        told.events.push_back((number, text));
        while told.events.len() > EVENTS || told.bytes > BYTES {
            let Some((forgotten, text)) = told.events.pop_front() else { break };
            (told.forgotten, told.bytes) = (forgotten, told.bytes - text.len());
        }
        drop(told);
        self.newest.send_replace(number);
    }

    /// Begins to follow a turn; false where another one does already.
    fn begins(&self, turn: Option<&TurnId>) -> bool {
        let Some(turn) = turn else { return true };
        let mut told = self.lock();
        let is_new = !told.turns.contains(turn);
        if is_new {
            told.turns.push(turn.clone());
        }
        is_new
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows a turn until it ends, also when nobody listens.
pub(super) fn follow(page: &Arc<Page>, live: Arc<Live>, mut handle: TurnHandle) {
    live.lock().followed += 1;
    let page = Arc::clone(page);
    tokio::spawn(async move {
        let (sender, mut answers) = mpsc::unbounded_channel::<(QuestionId, ApprovalAnswer)>();
        let mut own: Option<TurnId> = None;
        let mut is_elsewhere = false;
        let mut streams = Streams::default();
        let mut asked = Vec::new();
        loop {
            let event = tokio::select! {
                event = handle.next() => event,
                Some((question, answer)) = answers.recv() => {
                    handle.answer(&question, answer);
                    // A question that was asked anew meanwhile has not been answered.
                    let is_asked = live.lock().questions.is_asked(question.call());
                    if !is_asked {
                        let call = question.call().to_string();
                        live.tell(&LiveEvent::Answered { call, answer: AnswerWord::of(answer) });
                    }
                    continue;
                }
            };
            let Some(event) = event else { break };
            let told = streams.next(&event);
            let (before, told): (Vec<_>, Vec<_>) =
                told.into_iter().partition(|told| matches!(told, LiveEvent::Reasoning { .. } | LiveEvent::Text { .. }));
            for told in before.iter().filter(|_| !is_elsewhere) {
                live.tell(told);
            }
            match &event {
                TurnEvent::Started { turn, .. } => {
                    is_elsewhere = !live.begins(turn.as_ref());
                    if !is_elsewhere {
                        own.clone_from(turn);
                    }
                }
                TurnEvent::Steered { .. } if own.is_none() => is_elsewhere = true,
                TurnEvent::ApprovalRequested { parts, can_clean } if !is_elsewhere => {
                    let ask = |part: &QuestionPart| {
                        let question = Question { part: part.clone(), can_clean: *can_clean, told: sender.clone() };
                        live.lock().questions.ask(question)
                    };
                    let numbers: Vec<u64> = parts.iter().map(ask).collect();
                    let parts = numbers.iter().zip(parts).map(|(number, part)| QuestionView::new(*number, part));
                    live.tell(&LiveEvent::Question { parts: parts.collect(), can_clean: *can_clean });
                    asked.extend(numbers);
                }
                _ => {}
            }
            for told in told.iter().filter(|_| !is_elsewhere) {
                live.tell(told);
            }
            if event.is_last() {
                break;
            }
        }
        let mut told = live.lock();
        told.followed -= 1;
        told.questions.forget(&asked);
        told.turns.retain(|turn| Some(turn) != own.as_ref());
        drop(told);
        // Browsers that look on see it, too.
        page.talks.of(handle.conversation()).reload();
    });
}
