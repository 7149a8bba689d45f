//! The models that can be had, by name.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use limpid_config::{Clock, Config, Environment, Home, Live, Redactor, read_text};
use limpid_core::{FailureClass, Price};
use limpid_model::catalogue::{Downloads, ModelProfile, ModelProfiles};
use limpid_model::provider::{endpoint, resolve, split_name};
use limpid_model::{Embedder, Held, KeyCommand, Model, ModelCard, ModelError, resolve_embedder};

use crate::error::AgentError;
use crate::models::catalogue::{self, ModelUpdate, fetched_table};
use crate::models::detect::Unavailable;
use crate::models::reports::Reports;
use crate::models::{CONNECT_A_MODEL, Models};

/// Tokens below which no provider caches, where the catalogue does not say.
const USUAL_CACHE_MINIMUM: u64 = 1024;

/// The models that can be had; each is opened once.
pub struct ModelRegistry {
    home: Home,
    pub(super) config: Live<Config>,
    pub(super) environment: Environment,
    /// Answers whichever model is asked for.
    pub(super) only: Option<Arc<dyn Model>>,
    open: Mutex<HashMap<String, Arc<dyn Model>>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) redactor: Redactor,
    pub(super) reports: Reports,
    /// The commands that print keys, by provider: each keeps its key for a while.
    pub(super) key_commands: Mutex<BTreeMap<String, Arc<KeyCommand>>>,
    /// Providers of the owner's that offered no model when one was looked for.
    pub(super) unavailable: Mutex<Vec<Unavailable>>,
}

/// What a registry is made of.
pub struct ModelRegistryParts {
    /// The folder with the owner's `models.toml`, the fetched table and local models.
    pub home: Home,
    /// What the owner has set.
    pub config: Live<Config>,
    /// Where keys and addresses of providers may be.
    pub environment: Environment,
    /// Answers whichever model is asked for.
    pub only: Option<Arc<dyn Model>>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Learns the keys that commands print.
    pub redactor: Redactor,
}

impl ModelRegistry {
    /// The models that a home and its settings give.
    pub fn new(parts: ModelRegistryParts) -> Self {
        let ModelRegistryParts { home, config, environment, only, clock, redactor } = parts;
        let reports = Reports::new(home.clone(), Arc::clone(&clock));
        let (open, key_commands, unavailable) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { home, config, environment, only, open, clock, redactor, reports, key_commands, unavailable }
    }

    /// Has models opened again by the settings of now. Those in this process stay: what they are opened with needs a
    /// restart.
    pub fn forget(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|name, _| name.starts_with("local/"));
    }

    /// The models of a turn.
    ///
    /// # Errors
    /// When one of them is unknown, or none is set and none was found.
    pub async fn for_turn(&self, wanted: Option<&str>) -> Result<Models, AgentError> {
        match wanted.or(self.config.model.as_deref()) {
            Some(name) => self.learn(name).await,
            // Which of its models is taken may depend on those that it lists.
            None if self.only.is_none() => {
                if let Some(found) = self.detect().await {
                    self.learn(&found.model).await;
                }
            }
            None => {}
        }
        let mut models = vec![self.choose(wanted).await?];
        for name in &self.config.fallback {
            let model = self.open(name)?;
            if !models.iter().any(|known| known.info().name() == model.info().name()) {
                models.push(model);
            }
        }
        Ok(models)
    }

    /// Asks a provider what it knows of its models, before one of them is called, unless that is kept.
    async fn learn(&self, name: &str) {
        let Ok((provider, model)) = split_name(name) else { return };
        if self.only.is_some() || matches!(provider, "local" | "scripted") {
            return;
        }
        // A provider that cannot be asked is told where its model is opened.
        let Ok(endpoint) = endpoint(provider, model, &self.settings()) else { return };
        if self.reports.renew(provider, model, &endpoint).await {
            self.forget();
        }
    }

    /// The model that is wanted, else the configured one, else one that is found.
    ///
    /// # Errors
    /// When it is unknown, or none is set and none was found.
    pub async fn choose(&self, wanted: Option<&str>) -> Result<Arc<dyn Model>, AgentError> {
        if let Some(model) = &self.only {
            return Ok(Arc::clone(model));
        }
        match wanted.or(self.config.model.as_deref()) {
            Some(name) => self.open(name),
            None => match self.detect().await {
                Some(found) => self.open(&found.model),
                None => {
                    let why = self.none_offered().map(|none| format!("{}. {}", none.what, none.advice));
                    let why = why.unwrap_or_else(|| format!("no model is connected yet. {CONNECT_A_MODEL}"));
                    Err(ModelError::new(FailureClass::UnknownModel, why).into())
                }
            },
        }
    }

    /// A model by name.
    ///
    /// # Errors
    /// When there is no such model, or it cannot be opened.
    pub fn open(&self, name: &str) -> Result<Arc<dyn Model>, AgentError> {
        if let Some(model) = &self.only {
            return Ok(Arc::clone(model));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = open.get(name) {
            return Ok(Arc::clone(model));
        }
        let model = match name.strip_prefix("local/") {
            Some(local) => self.open_local(local)?,
            None => self.open_remote(name)?,
        };
        open.insert(name.to_owned(), Arc::clone(&model));
        Ok(model)
    }

    /// A model that says what texts mean, by name.
    ///
    /// # Errors
    /// When there is no such model, or it cannot do that.
    pub fn open_embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, AgentError> {
        if name.starts_with("local/") {
            let message = format!(
                "{name} cannot say what texts mean in this process yet; let a server on this machine run it, for example \
                 ollama/nomic-embed-text"
            );
            return Err(ModelError::new(FailureClass::UnknownModel, message).into());
        }
        resolve_embedder(name, &self.settings()).map_err(|error| unknown(&error))
    }

    /// The same model held to another window: its provider is told that one, and every limit follows it.
    pub fn resized(model: &Arc<dyn Model>, card: &ModelCard) -> Arc<dyn Model> {
        if model.info() == card {
            return Arc::clone(model);
        }
        model.resized(card).unwrap_or_else(|| Arc::new(Held::new(Arc::clone(model), card.clone())))
    }

    /// The models that can be fetched and those that were.
    ///
    /// # Errors
    /// When the owner's `models.toml` cannot be read.
    pub fn downloads(&self) -> Result<Downloads, AgentError> {
        let own = self.own_models()?;
        let owner = own.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        Downloads::load(owner, self.home.models()).map_err(|error| AgentError::Invalid(error.to_string()))
    }

    /// What is known of a model by its name.
    pub(super) fn profile(&self, provider: &str, id: &str) -> Result<ModelProfile, AgentError> {
        let own = self.own_models()?;
        let owner = own.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let profiles = ModelProfiles::load(owner).map_err(|error| AgentError::Invalid(error.to_string()))?;
        // A table that cannot be read is told by `limpid doctor`; it must not keep anybody from a model.
        let profiles = match fetched_table(&self.home) {
            Ok(Some(table)) => profiles.with_fetched(table),
            Ok(None) | Err(_) => profiles,
        };
        let place = endpoint(provider, id, &self.settings()).ok();
        let profiles = match place.and_then(|place| self.reports.of(provider, &place)) {
            Some(table) => profiles.with_reported(table),
            None => profiles,
        };
        Ok(profiles.get(provider, id))
    }

    /// What a model costs; none when that is not known.
    pub fn price(&self, provider: &str, id: &str) -> Option<Price> {
        self.profile(provider, id).ok()?.price
    }

    /// From how many tokens on a model's provider caches what it reads; none when it does not, or nothing is known.
    pub fn cached_from(&self, provider: &str, id: &str) -> Option<u64> {
        let known = self.profile(provider, id).ok()?;
        // Who caches reads it for less.
        let caches = known.price.as_ref().is_some_and(|price| price.base.cached < price.base.input);
        caches.then(|| known.abilities.cache_minimum.map_or(USUAL_CACHE_MINIMUM, u64::from))
    }

    /// Replaces the table of models by a public list: models.dev's, or one in a file, which may also be litellm's.
    ///
    /// # Errors
    /// When the list cannot be had or is not one, or the home cannot be written; the old table stays in use.
    pub async fn update(&self, from: Option<&Path>) -> Result<ModelUpdate, AgentError> {
        let updated = catalogue::update(&self.home, &self.config.catalogue.url, from, self.clock.now()).await?;
        self.forget();
        Ok(updated)
    }

    /// The day of the table that was fetched; none when the shipped one is in use.
    pub fn fetched_on(&self) -> Option<Timestamp> {
        let table = fetched_table(&self.home).ok()??;
        format!("{}T00:00:00Z", table.head().date).parse().ok()
    }

    /// The owner's `models.toml`: its name for errors, and its text.
    fn own_models(&self) -> Result<Option<(String, String)>, AgentError> {
        let path = self.home.model_profiles();
        Ok(read_text(&path)?.map(|text| (path.display().to_string(), text)))
    }

    /// A model behind a provider, with what is known of it. A name that nothing is known of goes through unchanged.
    fn open_remote(&self, name: &str) -> Result<Arc<dyn Model>, AgentError> {
        let mut settings = self.settings();
        if let Ok((provider, model)) = split_name(name)
            && let Ok(place) = endpoint(provider, model, &settings)
            && let Some(table) = self.reports.of(provider, &place)
        {
            settings.listed.insert(provider.to_owned(), table.models_of(provider));
        }
        let plain = resolve(name, &settings).map_err(|error| unknown(&error))?;
        let assumed = plain.info();
        let profile = self.profile(&assumed.provider, &assumed.id)?;
        let card = ModelCard { tools: profile.tools.unwrap_or(assumed.tools), ..profile.card() };
        if card == *assumed {
            return Ok(plain);
        }
        settings.cards = vec![card];
        resolve(name, &settings).map_err(|error| unknown(&error))
    }

    #[cfg(feature = "local")]
    fn open_local(&self, name: &str) -> Result<Arc<dyn Model>, AgentError> {
        use limpid_model::local::{LocalModel, LocalSettings, available};
        let failed = |message: String| AgentError::from(ModelError::new(FailureClass::UnknownModel, message));
        let path = self.downloads()?.locate(name).ok_or_else(|| {
            failed(format!("there is no model local/{name} on this machine; see `limpid model list`, fetch one with `limpid model pull`"))
        })?;
        let profile = LocalSettings::of(&self.profile("local", name)?);
        let settings = LocalSettings {
            window: self.config.local.window.or(profile.window),
            threads: self.config.local.threads,
            memory: available(),
            ..profile
        };
        let model = LocalModel::open(&path, &settings).map_err(|error| failed(error.to_string()))?;
        Ok(Arc::new(model))
    }

    #[cfg(not(feature = "local"))]
    #[expect(clippy::unused_self, reason = "with the local engine it is used")]
    fn open_local(&self, name: &str) -> Result<Arc<dyn Model>, AgentError> {
        let message =
            format!("this program was built without the local engine, so it cannot run {name}; choose another model");
        Err(ModelError::new(FailureClass::UnknownModel, message).into())
    }
}

fn unknown(error: &limpid_model::provider::ResolveError) -> AgentError {
    ModelError::new(FailureClass::UnknownModel, error.to_string()).into()
}
