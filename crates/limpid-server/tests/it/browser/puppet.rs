//! A model that says what a test tells it, when it is told: an answer stands still in the middle for as long as the test likes.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{BoxStream, StreamExt as _, unfold};
use limpid_core::{FailureClass, Price, Rates, UsableWindow, WindowSize};
use limpid_model::script::Script;
use limpid_model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared, ScriptedModel};
use limpid_prompt::{Prompt, PromptMessage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex as TurnstileMutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

/// What the model does next.
pub(super) type Move = Result<ModelEvent, ModelError>;

/// A model on strings. One request at a time takes what it is told, up to the end of an answer.
pub(super) struct Puppet {
    body: ScriptedModel,
    told: UnboundedSender<Move>,
    moves: Arc<TurnstileMutex<UnboundedReceiver<Move>>>,
    /// The prompt of the last request.
    asked: Mutex<Option<Arc<Prompt>>>,
}

impl Puppet {
    pub(super) fn new() -> Self {
        let window = WindowSize(32_768);
        let card = ModelCard {
            provider: "openai".to_owned(),
            id: "puppet".to_owned(),
            window: Some(window),
            usable_window: Some(UsableWindow::default_for(window)),
            price: Some(Price {
                base: Rates { input: 0.25, cached: 0.025, output: 2.0, ..Rates::default() },
                tiers: Vec::new(),
            }),
            ..ModelCard::default()
        };
        let (told, moves) = unbounded_channel();
        let moves = Arc::new(TurnstileMutex::new(moves));
        Self { body: ScriptedModel::with_card(card, Script::default()), told, moves, asked: Mutex::default() }
    }

    /// Tells it what to do next.
    pub(super) fn tell(&self, next: Move) {
        self.told.send(next).unwrap();
    }

    /// The text of the last request, all messages of it.
    pub(super) fn asked(&self) -> String {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let messages = asked.iter().flat_map(|prompt| prompt.messages());
        messages.map(PromptMessage::text).collect::<Vec<_>>().join("\n")
    }
}

impl Model for Puppet {
    fn info(&self) -> &ModelCard {
        self.body.info()
    }

    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        self.body.prepare(call)
    }

    fn send(&self, prepared: Prepared, cancel: CancellationToken) -> BoxStream<'static, Move> {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared.call.prompt);
        let answer = Answer { moves: Arc::clone(&self.moves), mine: None, cancel, over: false };
        unfold(answer, |mut answer| async move { answer.next().await.map(|next| (next, answer)) }).boxed()
    }
}

/// An answer while it is given.
struct Answer {
    moves: Arc<TurnstileMutex<UnboundedReceiver<Move>>>,
    mine: Option<OwnedMutexGuard<UnboundedReceiver<Move>>>,
    cancel: CancellationToken,
    over: bool,
}

impl Answer {
    async fn next(&mut self) -> Option<Move> {
        if self.over {
            return None;
        }
        let (moves, mine) = (Arc::clone(&self.moves), &mut self.mine);
        let told = self.cancel.run_until_cancelled(async move {
            match mine {
                Some(mine) => mine.recv().await,
                None => mine.insert(moves.lock_owned().await).recv().await,
            }
        });
        let next = match told.await {
            Some(told) => told?,
            None => Err(ModelError::new(FailureClass::Cancelled, "the puppet was stopped")),
        };
        self.over = matches!(next, Err(_) | Ok(ModelEvent::End(_)));
        if self.over {
            // Who reads an answer may hold it for longer than it lasts.
            self.mine = None;
        }
        Some(next)
    }
}
