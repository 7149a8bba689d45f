//! What queries mean, when the owner has switched a model of embeddings on. Without one, and whenever it cannot
//! be asked, words alone find and rank.

mod index;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use limpid_config::{Redactor, SemanticConfig, TextKind};
use limpid_core::MessageId;
use limpid_core::recall::{Embedding, Meaning, seen_part, strangers, unlike};
use limpid_model::{Embedder, ModelError};
use limpid_store::{Store, VectorState};

use crate::error::AgentError;
use crate::events::{EventBus, EventKind};
use crate::models::ModelRegistry;

pub use index::Indexed;

/// How long a query waits for its meaning before words alone have to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a model that could not be asked is left alone, in milliseconds.
const REST_MS: i64 = 60 * 1000;

/// The semantic index: the model that fills it, and how it health.
pub struct SemanticIndex {
    store: Arc<dyn Store>,
    models: Arc<ModelRegistry>,
    events: EventBus,
    redactor: Redactor,
    config: SemanticConfig,
    /// Opened when it is first needed.
    embedder: OnceLock<Result<Arc<dyn Embedder>, String>>,
    health: Mutex<EmbedderHealth>,
    /// Held by whoever fills the index.
    filling: tokio::sync::Mutex<()>,
}

/// How the model health in this process.
#[derive(Default)]
struct EmbedderHealth {
    /// How alike it finds texts that have nothing to do with each other, once it was asked.
    unlike: Option<f64>,
    /// Why it could not be asked last time.
    failure: Option<String>,
    /// The same while nobody was told of it in a chat.
    untold: Option<String>,
    /// Until when it is left alone, in milliseconds since 1970.
    rests_until_ms: i64,
    /// No older message is without an embedding.
    covered: Option<MessageId>,
}

/// How far the semantic index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SemanticState {
    /// The model that makes it: `provider/model`.
    pub model: String,
    /// What it covers.
    pub covers: VectorState,
    /// Why the model could not be asked last time in this process, if so.
    pub failure: Option<String>,
}

/// Asks a model for one embedding. Says how many numbers it has, or why there is none.
///
/// # Errors
/// Why it gives none, for a person.
pub async fn probe(embedder: &dyn Embedder) -> Result<usize, String> {
    let asked = tokio::time::timeout(PATIENCE, embedder.embed(vec![strangers()[0].to_owned()])).await;
    let seen = asked.map_err(|_| late())?.map_err(|error| error.to_string())?;
    let first = seen.into_iter().flatten().next();
    first.map(|embedding| embedding.dimensions()).ok_or_else(|| "it gives no embeddings".to_owned())
}

fn late() -> String {
    format!("no answer within {} s", PATIENCE.as_secs())
}

impl SemanticIndex {
    /// The index of a configuration; none when no model is set.
    pub fn new(
        config: &SemanticConfig,
        store: &Arc<dyn Store>,
        models: &Arc<ModelRegistry>,
        (events, redactor): (&EventBus, &Redactor),
    ) -> Option<Self> {
        config.model.as_ref()?;
        Some(Self {
            store: Arc::clone(store),
            models: Arc::clone(models),
            events: events.clone(),
            redactor: redactor.clone(),
            config: config.clone(),
            embedder: OnceLock::new(),
            health: Mutex::default(),
            filling: tokio::sync::Mutex::default(),
        })
    }

    /// What a query means. None while the model cannot be asked: that is told once, until it answers again.
    pub async fn meaning(&self, query: &str, now_ms: i64) -> Option<Meaning> {
        if now_ms < self.health().rests_until_ms {
            return None;
        }
        let asked = tokio::time::timeout(PATIENCE, self.look(query)).await;
        match asked.unwrap_or_else(|_| Err(late())) {
            Ok(meaning) => {
                self.answered();
                // What was said or remembered just now is to be found as well; what fails here is tried again later.
                let _ = tokio::time::timeout(PATIENCE, self.catch_up()).await;
                meaning
            }
            Err(why) => {
                self.failed(why, now_ms);
                None
            }
        }
    }

    /// What whoever reads along is to be told, once a failure: that words alone find what is remembered.
    pub fn take_notice(&self) -> Option<String> {
        let why = self.health().untold.take()?;
        Some(format!("semantic search is unavailable ({}: {why}); keywords were used", self.model()))
    }

    /// How far the index is.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn state(&self) -> Result<SemanticState, AgentError> {
        let covers = self.store.vector_state(&self.kept_under()).await?;
        Ok(SemanticState { model: self.model().to_owned(), covers, failure: self.health().failure.clone() })
    }

    fn model(&self) -> &str {
        self.config.model.as_deref().unwrap_or_default()
    }

    /// The name that embeddings are kept under. What stands before each text is part of what the model sees.
    fn kept_under(&self) -> String {
        let prefix = self.config.text_prefix.trim();
        if prefix.is_empty() { self.model().to_owned() } else { format!("{} {prefix}", self.model()) }
    }

    async fn look(&self, query: &str) -> Result<Option<Meaning>, String> {
        let mut texts = vec![self.shown(&self.config.query_prefix, query)];
        let known = self.health().unlike;
        if known.is_none() {
            texts.extend(strangers().iter().map(|text| self.shown(&self.config.text_prefix, text)));
        }
        let mut seen = self.embed(texts).await.map_err(|error| error.to_string())?.into_iter();
        let query = seen.next().flatten();
        let unlike = known.unwrap_or_else(|| unlike(&seen.flatten().collect::<Vec<Embedding>>()));
        self.health().unlike = Some(unlike);
        Ok(query.map(|embedding| Meaning { model: self.kept_under(), embedding, unlike }))
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Option<Embedding>>, ModelError> {
        let opened =
            self.embedder.get_or_init(|| self.models.open_embedder(self.model()).map_err(|error| error.to_string()));
        match opened {
            Ok(embedder) => embedder.embed(texts).await,
            Err(why) => Err(ModelError::new(limpid_core::FailureClass::UnknownModel, why.clone())),
        }
    }

    /// What the model gets to see of a text: known secrets are no business of it.
    fn shown(&self, prefix: &str, text: &str) -> String {
        format!("{prefix}{}", seen_part(&self.redactor.clean(text.to_owned())))
    }

    fn health(&self) -> MutexGuard<'_, EmbedderHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self) {
        let mut health = self.health();
        (health.failure, health.untold) = (None, None);
    }

    fn failed(&self, why: String, now_ms: i64) {
        let why = self.redactor.clean_as(TextKind::Failure, why);
        let mut health = self.health();
        health.rests_until_ms = now_ms.saturating_add(REST_MS);
        if health.failure.replace(why.clone()).is_none() {
            health.untold = Some(why.clone());
            self.events.send(None, EventKind::SemanticSearchFailed { model: self.model().to_owned(), reason: why });
        }
    }
}
