//! A model that passes for what a card says.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use limpid_prompt::Prompt;
use tokio_util::sync::CancellationToken;

use crate::model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
use crate::remedy::Remedy;

/// A model under another card: one that has a larger window than it may use.
pub struct Held {
    model: Arc<dyn Model>,
    card: ModelCard,
}

impl Held {
    /// The model as the card says it is.
    pub fn new(model: Arc<dyn Model>, card: ModelCard) -> Self {
        Self { model, card }
    }
}

impl Model for Held {
    fn info(&self) -> &ModelCard {
        &self.card
    }

    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        self.model.prepare(call)
    }

    fn template(&self, call: &ModelCall) -> Result<Vec<String>, ModelError> {
        self.model.template(call)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        self.model.send(prepared, cancel)
    }

    fn left_out(&self, prompt: &Prompt) -> Vec<String> {
        self.model.left_out(prompt)
    }

    fn learn(&self, remedy: &Remedy, refused: &Prepared) -> Option<String> {
        self.model.learn(remedy, refused)
    }
}
