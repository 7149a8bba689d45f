//! What happens in conversations while browsers look on. A turn that was begun at the page is followed here, not in a request, so
//! that a browser may leave, come back and be two. What a turn shows is a list of pieces; one that is shown anew replaces its
//! elder, so the list holds what stands on the screen, and whoever comes late is told the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::{CallId, ConversationId, TurnId};
use limpid_prompt::shown::shown;
use limpid_runtime::form::FormAnswer;
use limpid_runtime::{ApprovalAnswer, FormQuestion};
use serde::Serialize;
use tokio::sync::watch;

use crate::questions::{FormEnd, Numbers, Question, Questions};

/// Conversations that were followed; beyond it one is forgotten that nothing is shown of.
const REMEMBERED: usize = 256;

/// The conversations that something is or was shown of.
pub(crate) struct Talks {
    known: Mutex<HashMap<ConversationId, Arc<Talk>>>,
    numbers: Numbers,
    /// Counts how often the list of conversations became another one.
    lists: Arc<watch::Sender<u64>>,
}

/// One conversation, as browsers see it.
pub(crate) struct Talk {
    shown: Mutex<Shown>,
    /// The number of the newest piece.
    newest: watch::Sender<u64>,
    lists: Arc<watch::Sender<u64>>,
}

/// A part of the screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Piece {
    /// Its number, which grows.
    #[serde(skip)]
    pub(crate) number: u64,
    /// Who shows it; what nobody in particular shows has no name.
    #[serde(skip)]
    owner: String,
    /// Its name; a later piece of that name stands in its place.
    pub(crate) key: String,
    /// Where it belongs.
    pub(crate) of: Of,
    /// What it looks like; empty: it goes away.
    pub(crate) html: String,
}

/// Where a piece belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Of {
    /// The thread of messages.
    Thread,
    /// The answer that is being given.
    Answer,
    /// The line that tells how it stands.
    Status,
    /// Nothing: the thread is to be loaded again.
    Reload,
}

struct Shown {
    pieces: Vec<Piece>,
    /// The number of the newest piece.
    number: u64,
    /// Turns that are under way and shown here.
    turns: Vec<TurnId>,
    /// Calls and forms that wait for an answer.
    questions: Questions,
    /// How many turns are followed.
    followed: usize,
    /// Why the last turn failed.
    failed: Option<String>,
}

/// The number before the first piece. 0 means that nothing was seen.
pub(super) const FIRST: u64 = 1;

impl Shown {
    fn new(id: &ConversationId, numbers: &Numbers) -> Self {
        Self {
            pieces: Vec::new(),
            number: FIRST,
            turns: Vec::new(),
            questions: Questions::new(id, numbers.clone()),
            followed: 0,
            failed: None,
        }
    }
}

/// Where a conversation stood when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The piece after which a browser goes on: what is shown now is newer, and so is what ends it.
    pub(crate) after: u64,
    /// Turns whose messages come as pieces.
    pub(crate) turns: Vec<TurnId>,
}

impl Talks {
    /// None yet; questions get these numbers.
    pub(super) fn new(numbers: &Numbers) -> Self {
        Self { known: Mutex::default(), numbers: numbers.clone(), lists: Arc::default() }
    }

    /// Hears that the list of conversations may be another one.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.lists.subscribe()
    }

    /// The list of conversations may be another one.
    pub(super) fn list_changed(&self) {
        count(&self.lists);
    }

    /// The talk of a conversation.
    pub(crate) fn of(&self, id: &ConversationId) -> Arc<Talk> {
        let mut talks = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if talks.len() >= REMEMBERED && !talks.contains_key(id) {
            talks.retain(|_, talk| Arc::strong_count(talk) > 1 || talk.lock().followed > 0);
        }
        Arc::clone(talks.entry(id.clone()).or_insert_with(|| Arc::new(Talk::new(id, &self.numbers, &self.lists))))
    }
}

impl Talk {
    fn new(id: &ConversationId, numbers: &Numbers, lists: &Arc<watch::Sender<u64>>) -> Self {
        let shown = Mutex::new(Shown::new(id, numbers));
        Self { shown, newest: watch::Sender::new(FIRST), lists: Arc::clone(lists) }
    }

    /// Where it stands now.
    pub(crate) fn position(&self) -> Position {
        let shown = self.lock();
        let reload = shown.pieces.iter().find(|piece| piece.of == Of::Reload).map_or(FIRST, |piece| piece.number);
        let after = match shown.followed {
            0 => shown.number,
            _ => reload,
        };
        Position { after, turns: shown.turns.clone() }
    }

    /// What a browser is told that has seen pieces up to a number.
    pub(crate) fn after(&self, seen: u64) -> Vec<Piece> {
        let shown = self.lock();
        shown.pieces.iter().filter(|piece| piece.number > seen).cloned().collect()
    }

    /// Hears of new pieces.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Answers a call that waits. Says whether it waited and the answer was one that was offered.
    pub(crate) fn answer(&self, asked: u64, answer: ApprovalAnswer) -> bool {
        self.lock().questions.answer(asked, answer)
    }

    /// Whether a question about this call waits.
    pub(super) fn is_asked(&self, call: &CallId) -> bool {
        self.lock().questions.is_asked(call)
    }

    /// Shows a piece.
    pub(super) fn show(&self, of: Of, owner: &str, key: impl Into<String>, html: impl Into<String>) {
        let (owner, key, html) = (owner.to_owned(), key.into(), html.into());
        let mut shown = self.lock();
        shown.number += 1;
        let number = shown.number;
        shown.pieces.retain(|piece| piece.key != key || piece.of != of);
        shown.pieces.push(Piece { number, owner, key, of, html });
        drop(shown);
        self.newest.send_replace(number);
    }

    /// Has browsers load the thread again. What is shown becomes newer than that, so that whoever loads the thread now is told
    /// all of it.
    pub(crate) fn reload(&self) {
        let mut shown = self.lock();
        let pieces = std::mem::take(&mut shown.pieces);
        let reload =
            Piece { number: 0, owner: String::new(), key: "thread".to_owned(), of: Of::Reload, html: String::new() };
        for piece in std::iter::once(reload).chain(pieces.into_iter().filter(|piece| piece.of != Of::Reload)) {
            shown.number += 1;
            let number = shown.number;
            shown.pieces.push(Piece { number, ..piece });
        }
        let number = shown.number;
        drop(shown);
        self.newest.send_replace(number);
    }

    /// A call waits; the number by which it is answered.
    pub(super) fn ask(&self, question: Question) -> u64 {
        self.lock().questions.ask(question)
    }

    /// A form waits; the number by which it is answered.
    pub(super) fn ask_form(&self, form: FormQuestion) -> u64 {
        self.lock().questions.ask_form(form)
    }

    /// The form of a number, if it still waits.
    pub(super) fn form(&self, number: u64) -> Option<FormQuestion> {
        self.lock().questions.form(number)
    }

    /// Answers a form. Says whether the answer was still waited for.
    pub(super) fn answer_form(&self, number: u64, answer: FormAnswer) -> bool {
        self.lock().questions.answer_form(number, answer)
    }

    /// Forgets a form, and says what came of it.
    pub(super) fn end_form(&self, number: u64) -> FormEnd {
        self.lock().questions.end_form(number)
    }

    /// These are no questions any more.
    pub(super) fn forget(&self, numbers: &[u64]) {
        self.lock().questions.forget(numbers);
    }

    /// Begins to show a turn; false when it is shown already.
    pub(super) fn begin(&self, turn: Option<&TurnId>) -> bool {
        let Some(turn) = turn else { return true };
        let mut shown = self.lock();
        let is_new = !shown.turns.contains(turn);
        if is_new {
            shown.turns.push(turn.clone());
        }
        drop(shown);
        // It has a title now, and its place in the list.
        if is_new {
            count(&self.lists);
        }
        is_new
    }

    /// Why the last turn failed that was shown here.
    pub(crate) fn failed(&self) -> Option<String> {
        self.lock().failed.as_deref().map(|why| shown(why).into_owned())
    }

    pub(super) fn fail(&self, why: Option<String>) {
        self.lock().failed = why;
    }

    /// A turn has ended: its messages are in the store.
    pub(super) fn end(&self, turn: Option<&TurnId>) {
        self.lock().turns.retain(|shown| Some(shown) != turn);
    }

    /// Somebody begins to show a turn.
    pub(super) fn begins(&self) {
        self.lock().followed += 1;
    }

    /// Somebody begins to show what nobody does; false when somebody shows something already.
    pub(super) fn begins_alone(&self) -> bool {
        let mut shown = self.lock();
        let is_alone = shown.followed == 0;
        shown.followed += usize::from(is_alone);
        is_alone
    }

    /// Whether one alone shows something.
    pub(super) fn is_shown_by_one(&self) -> bool {
        self.lock().followed == 1
    }

    /// A follower has ended: what it has shown stands in the store.
    pub(super) fn ended(&self, owner: &str) {
        let mut shown = self.lock();
        shown.followed -= 1;
        shown.pieces.retain(|piece| piece.owner != owner);
        if shown.followed == 0 {
            shown.questions.clear();
            shown.pieces.clear();
        }
        drop(shown);
        self.reload();
        count(&self.lists);
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(times: &watch::Sender<u64>) {
    times.send_modify(|times| *times = times.wrapping_add(1));
}
