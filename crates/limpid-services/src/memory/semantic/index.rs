//! Filling the semantic index, a batch at a time.

use limpid_core::FailureClass;
use limpid_core::recall::{Embedding, strangers};
use limpid_model::ModelError;
use limpid_store::{Missing, Seen, Unseen};

use crate::error::AgentError;
use crate::memory::SemanticIndex;

/// Texts that the model is asked about at once.
const BATCH: u32 = 32;

/// What filling the index came to so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// Texts that the index has gained.
    pub kept: u64,
    /// Those of them that the model refused, which are found by words alone.
    pub refused: u64,
}

impl SemanticIndex {
    /// Fills the index while nobody waits for it; what fails is told once and tried again later.
    pub(in crate::memory) async fn fill_quietly(&self, now_ms: i64) {
        if now_ms < self.health().rests_until_ms {
            return;
        }
        if let Err(error) = self.fill(|_| {}).await {
            self.failed(error.to_string(), now_ms);
        }
    }

    /// Fills the index until it has every text, and tells how far it is after each batch.
    pub(in crate::memory) async fn fill(&self, mut tell: impl FnMut(Indexed)) -> Result<Indexed, AgentError> {
        let _alone = self.filling.lock().await;
        let mut indexed = Indexed::default();
        while let Some(batch) = self.fill_some().await? {
            indexed.kept += batch.kept;
            indexed.refused += batch.refused;
            tell(indexed);
        }
        Ok(indexed)
    }

    /// Gives the index one batch, unless somebody is filling it.
    pub(in crate::memory) async fn catch_up(&self) -> Result<(), AgentError> {
        let Ok(_alone) = self.filling.try_lock() else { return Ok(()) };
        self.fill_some().await.map(|_| ())
    }

    /// Gives the index one batch; none when there is nothing to give, or all of it has changed meanwhile.
    async fn fill_some(&self) -> Result<Option<Indexed>, AgentError> {
        let covered = self.health().covered;
        let Missing { texts, newest } = self.store.without_vector(&self.kept_under(), covered, BATCH).await?;
        if texts.is_empty() {
            self.health().covered = newest;
            return Ok(None);
        }
        let seen = self.see(texts).await?;
        let refused = seen.iter().filter(|seen| seen.embedding.is_none()).count() as u64;
        let kept = self.store.keep_vectors(&self.kept_under(), seen).await?;
        self.answered();
        Ok((kept > 0).then_some(Indexed { kept, refused }))
    }

    /// Empties the index, so that it is filled anew.
    pub(in crate::memory) async fn empty(&self) -> Result<u64, AgentError> {
        let _alone = self.filling.lock().await;
        self.health().covered = None;
        Ok(self.store.drop_vectors().await?)
    }

    /// Shows texts to the model. When it refuses them together it gets each alone. One that it still refuses is marked,
    /// unless it takes no other sentence either: then the fault is not the text's.
    async fn see(&self, unseen: Vec<Unseen>) -> Result<Vec<Seen>, ModelError> {
        let shown = |unseen: &Unseen| self.shown(&self.config.text_prefix, &unseen.text);
        let error = match self.embed(unseen.iter().map(shown).collect()).await {
            Ok(embeddings) => return Ok(joined(unseen, embeddings)),
            Err(error) => error,
        };
        if !may_be_the_text(error.class) {
            return Err(error);
        }
        let mut embeddings = Vec::new();
        for text in &unseen {
            embeddings.push(match self.embed(vec![shown(text)]).await {
                Ok(mut one) => one.pop().flatten(),
                Err(error) if may_be_the_text(error.class) => {
                    self.embed(vec![strangers()[0].to_owned()]).await?;
                    None
                }
                Err(error) => return Err(error),
            });
        }
        Ok(joined(unseen, embeddings))
    }
}

/// Whether another text might have been taken. Servers give most statuses to an input that is too long.
fn may_be_the_text(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Malformed
            | FailureClass::TooLarge
            | FailureClass::Overflow
            | FailureClass::Moderated
            | FailureClass::Server
    )
}

fn joined(unseen: Vec<Unseen>, embeddings: Vec<Option<Embedding>>) -> Vec<Seen> {
    unseen.into_iter().zip(embeddings).map(|(unseen, embedding)| Seen { unseen, embedding }).collect()
}
