//! What a model of embeddings makes of a conversation's turns, for the measure of recall.

use std::sync::Arc;

use limpid_core::recall::{Embedding, Meaning, seen_part, strangers, unlike};
use limpid_model::{Embedder, Settings, resolve_embedder};

/// Texts that are sent at once.
const BATCH: usize = 32;

/// The embedder behind an address.
pub(super) fn embedder(url: &str, model: &str) -> Result<Arc<dyn Embedder>, String> {
    let settings = Settings { base_urls: [("house".to_owned(), url.to_owned())].into(), ..Settings::default() };
    resolve_embedder(&format!("house/{model}"), &settings).map_err(|error| error.to_string())
}

/// What a conversation's turns and questions mean.
pub(super) struct Meanings {
    turns: Vec<Vec<u8>>,
    questions: Vec<Option<Meaning>>,
}

impl Meanings {
    /// Shows all texts to the model.
    pub(super) async fn new(embedder: &dyn Embedder, turns: &[&str], questions: &[&str]) -> Result<Self, String> {
        let strangers = embed(embedder, &strangers()).await?;
        let unlike = unlike(&strangers.into_iter().flatten().collect::<Vec<_>>());
        let bytes = |embedding: Option<Embedding>| embedding.map(|embedding| embedding.bytes()).unwrap_or_default();
        let turns = embed(embedder, turns).await?.into_iter().map(bytes).collect();
        let meaning = |embedding| Meaning { model: embedder.name().to_owned(), embedding, unlike };
        let questions = embed(embedder, questions).await?.into_iter().map(|embedding| embedding.map(meaning)).collect();
        Ok(Self { turns, questions })
    }

    /// How alike each turn is to a question.
    pub(super) fn likeness(&self, question: usize) -> Vec<f64> {
        let meaning = self.questions.get(question).and_then(Option::as_ref);
        let likeness = |turn: &Vec<u8>| meaning.map_or(0.0, |meaning| meaning.likeness(turn));
        self.turns.iter().map(likeness).collect()
    }
}

async fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Option<Embedding>>, String> {
    let mut seen = Vec::new();
    for batch in texts.chunks(BATCH) {
        let asked = embedder.embed(batch.iter().map(|text| seen_part(text).to_owned()).collect());
        seen.extend(asked.await.map_err(|error| error.to_string())?);
    }
    Ok(seen)
}
