//! Which model answers, and how it is had.

pub(crate) mod cache_life;
pub(crate) mod catalogue;
pub(crate) mod effort;
pub(crate) mod reports;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use limpid_config::{Clock, Config, Environment, Home, Live, Redactor, read_text};
use limpid_core::FailureClass;
use limpid_model::catalogue::{Downloads, Installed, ModelProfile, ModelProfiles};
use limpid_model::provider::{Settings, endpoint, find_servers_at, presets, resolve, split_name};
use limpid_model::{
    Access, ApiKey, Embedder, Held, KeyCommand, Model, ModelCard, ModelError, Timeouts, resolve_embedder,
};

use crate::requests::missed;
use crate::services::error::AgentError;
use crate::services::models::catalogue::fetched_table;
use crate::services::models::reports::Reports;

/// The models of a turn: the one that was chosen, then those that stand in for it. Never empty.
pub(crate) type Models = Vec<Arc<dyn Model>>;

/// A model that was found without being set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name: `provider/id`.
    pub model: String,
    /// Where it was found: a variable, an address, a file.
    pub because: String,
}

/// The models that can be had; each is opened once.
pub(crate) struct Shelf {
    home: Home,
    config: Live<Config>,
    environment: Environment,
    /// Answers whichever model is asked for.
    only: Option<Arc<dyn Model>>,
    open: Mutex<HashMap<String, Arc<dyn Model>>>,
    clock: Arc<dyn Clock>,
    redactor: Redactor,
    reports: Reports,
    /// The commands that print keys, by provider: each keeps its key for a while.
    key_commands: Mutex<BTreeMap<String, Arc<KeyCommand>>>,
}

/// What a shelf is made of.
pub(crate) struct ShelfParts {
    pub(crate) home: Home,
    pub(crate) config: Live<Config>,
    pub(crate) environment: Environment,
    /// Answers whichever model is asked for.
    pub(crate) only: Option<Arc<dyn Model>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Learns the keys that commands print.
    pub(crate) redactor: Redactor,
}

impl Shelf {
    pub(crate) fn new(parts: ShelfParts) -> Self {
        let ShelfParts { home, config, environment, only, clock, redactor } = parts;
        let reports = Reports::new(home.clone(), Arc::clone(&clock));
        let (open, key_commands) = (Mutex::default(), Mutex::default());
        Self { home, config, environment, only, open, clock, redactor, reports, key_commands }
    }

    /// Has models opened again by the settings of now. Those in this process stay: what they are opened with needs a
    /// restart.
    pub(crate) fn forget(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|name, _| name.starts_with("local/"));
    }

    /// The models of a turn.
    pub(crate) async fn for_turn(&self, wanted: Option<&str>) -> Result<Models, AgentError> {
        match wanted.or(self.config.model.as_deref()) {
            Some(name) => self.learn(name).await,
            // Which of its models is taken may depend on those that it lists.
            None if self.only.is_none() => {
                if let Some(found) = self.find().await {
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
    pub(crate) async fn choose(&self, wanted: Option<&str>) -> Result<Arc<dyn Model>, AgentError> {
        if let Some(model) = &self.only {
            return Ok(Arc::clone(model));
        }
        match wanted.or(self.config.model.as_deref()) {
            Some(name) => self.open(name),
            None => match self.find().await {
                Some(found) => self.open(&found.model),
                None => Err(ModelError::new(
                    FailureClass::UnknownModel,
                    "no model is set and none was found: set a provider's key (for example OPENAI_API_KEY), start a \
                     local server, fetch a model with `limpid model pull`, or name one with --model",
                )
                .into()),
            },
        }
    }

    /// A model by name.
    pub(crate) fn open(&self, name: &str) -> Result<Arc<dyn Model>, AgentError> {
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
    pub(crate) fn open_embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, AgentError> {
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
    pub(crate) fn sized(model: &Arc<dyn Model>, card: &ModelCard) -> Arc<dyn Model> {
        if model.info() == card {
            return Arc::clone(model);
        }
        model.resized(card).unwrap_or_else(|| Arc::new(Held::new(Arc::clone(model), card.clone())))
    }

    /// Looks for a model, in this order: keys and addresses, servers on this machine, fetched models.
    pub(crate) async fn find(&self) -> Option<Found> {
        for place in places(&self.config, &self.environment) {
            if let Some(found) = self.look(place).await {
                return Some(found);
            }
        }
        for server in limpid_model::find_local_servers().await {
            if let Some(model) = server.models.first() {
                let model = format!("{}/{model}", server.provider);
                return Some(Found { model, because: format!("a server answers at {}", server.base_url) });
            }
        }
        let fetched = self.downloads().ok()?;
        let whole = fetched.list().into_iter().find(|listed| matches!(listed.installed, Installed::Whole { .. }))?;
        let because = format!("{} is in the models folder", whole.name);
        Some(Found { because, model: format!("local/{}", whole.name) })
    }

    /// The models that can be fetched and those that were.
    pub(crate) fn downloads(&self) -> Result<Downloads, AgentError> {
        let own = self.own_models()?;
        let owner = own.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        Downloads::load(owner, self.home.models()).map_err(|error| AgentError::Invalid(error.to_string()))
    }

    /// What is known of a model by its name.
    fn profile(&self, provider: &str, id: &str) -> Result<ModelProfile, AgentError> {
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

    /// From how many tokens on a model's provider caches what it reads; none when it does not, or nothing is known.
    /// What a model costs; none when that is not known.
    pub(crate) fn price(&self, provider: &str, id: &str) -> Option<limpid_core::Price> {
        self.profile(provider, id).ok()?.price
    }

    pub(crate) fn cached_from(&self, provider: &str, id: &str) -> Option<u64> {
        missed::cached_from(&self.profile(provider, id).ok()?)
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

/// Bytes of memory that a local model may use, when the system says.
pub fn memory_available() -> Option<u64> {
    #[cfg(feature = "local")]
    return limpid_model::local::available();
    #[cfg(not(feature = "local"))]
    None
}

fn unknown(error: &limpid_model::provider::ResolveError) -> AgentError {
    ModelError::new(FailureClass::UnknownModel, error.to_string()).into()
}

/// A provider whose key or address is set.
#[derive(Debug)]
struct Place {
    provider: String,
    /// What is asked when nothing else is known, the best first.
    models: Vec<String>,
    /// Another address than the provider's own.
    base_url: Option<String>,
    because: String,
}

impl Shelf {
    /// The model to ask at a place: the first of its usual ones that it lists and that has not ended. Elsewhere than at the
    /// provider's own address, where nobody knows what is usual, any other that it lists.
    async fn look(&self, place: Place) -> Option<Found> {
        let Place { provider, models, base_url, because } = place;
        // On this machine the owner says what is served, whatever is usual elsewhere.
        let mut is_owners = base_url.is_some();
        let listed = match &base_url {
            None => {
                let own = endpoint(&provider, "", &self.settings()).ok()?;
                is_owners = own.is_here();
                self.reports.of(&provider, &own).map(|table| table.models_of(&provider)).unwrap_or_default()
            }
            Some(base_url) => {
                let servers = find_servers_at(&[(provider.clone(), base_url.clone())]).await;
                servers.into_iter().flat_map(|server| server.models).collect()
            }
        };
        let today = self.clock.now().to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d").to_string();
        let has_ended = |model: &String| {
            let retires = self.profile(&provider, model).ok().and_then(|known| known.abilities.retires);
            retires.is_some_and(|day| day <= today)
        };
        let sold: Vec<String> = models.into_iter().filter(|model| !has_ended(model)).collect();
        let usual = sold.iter().find(|model| listed.contains(model)).cloned();
        let other = || match (is_owners && !listed.is_empty()) || sold.is_empty() {
            true => listed.iter().find(|model| !has_ended(model)).cloned(),
            false => sold.first().cloned(),
        };
        let model = usual.or_else(other)?;
        Some(Found { model: format!("{provider}/{model}"), because })
    }

    /// Keys and addresses: what the configuration says, else the variables that are usual.
    fn settings(&self) -> Settings {
        let mut settings = settings(&self.config, &self.environment);
        let mut commands = self.key_commands.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, own) in self.config.provider.iter().filter(|(_, own)| !own.api_key_command.is_empty()) {
            let known = commands.get(name).filter(|command| command.words() == own.api_key_command).cloned();
            let command = known.unwrap_or_else(|| {
                let (redactor, secret) = (self.redactor.clone(), format!("key of {name}"));
                Arc::new(KeyCommand::new(own.api_key_command.clone(), move |key| redactor.learn(&secret, key)))
            });
            commands.insert(name.clone(), Arc::clone(&command));
            settings.key_commands.insert(name.clone(), command);
        }
        settings
    }
}

/// The providers whose key or address is set, in the order in which they are taken: the best-known first, the owner's
/// own last.
fn places(config: &Config, environment: &Environment) -> Vec<Place> {
    const FIRST: [&str; 4] = ["openai", "anthropic", "gemini", "openrouter"];
    let rest = presets().keys().map(String::as_str).filter(|name| !FIRST.contains(name));
    let own = config.provider.keys().map(String::as_str).filter(|name| !presets().contains_key(*name));
    FIRST.into_iter().chain(rest).chain(own).filter_map(|name| place(name, config, environment)).collect()
}

fn place(name: &str, config: &Config, environment: &Environment) -> Option<Place> {
    let (preset, own) = (presets().get(name), config.provider.get(name));
    let key = own.and_then(|own| own.api_key_env.as_deref()).or(preset.and_then(|p| p.key_variable.as_deref()));
    let key = key.filter(|variable| environment.get(variable).is_some());
    let (base_url, place) = match own.and_then(|own| own.base_url.clone()) {
        Some(url) => (Some(url), Some(format!("provider.{name}.base_url is set in limpid.toml"))),
        None => {
            let variable = preset.and_then(|preset| preset.base_url_variable.as_deref());
            let set = variable.and_then(|variable| Some((variable, environment.get(variable)?)));
            (set.map(|(_, url)| url.to_owned()), set.map(|(variable, _)| format!("{variable} is set")))
        }
    };
    let command = own.filter(|own| !own.api_key_command.is_empty());
    let command = command.map(|_| format!("provider.{name}.api_key_command is set in limpid.toml"));
    let because = key.map(|variable| format!("{variable} is set")).or(place).or(command)?;
    Some(Place {
        provider: name.to_owned(),
        models: preset.map(|preset| preset.models.clone()).unwrap_or_default(),
        base_url,
        because,
    })
}

/// Keys and addresses: what the configuration says, else the variables that are usual.
fn settings(config: &Config, environment: &Environment) -> Settings {
    let idle = Duration::from_secs(config.limits.silence_seconds.max(1));
    let timeouts = Timeouts { idle, ..Timeouts::default() };
    let mut settings = Settings { timeouts, ..Settings::default() };
    let names = presets().keys().chain(config.provider.keys());
    for name in names {
        let preset = presets().get(name);
        let own = config.provider.get(name);
        let key = own.and_then(|own| own.api_key_env.as_deref()).or(preset.and_then(|p| p.key_variable.as_deref()));
        if let Some(key) = key.and_then(|variable| environment.get(variable)) {
            settings.keys.insert(name.clone(), ApiKey::new(key));
        }
        let url = preset.and_then(|preset| preset.base_url_variable.as_deref());
        let url = own.and_then(|own| own.base_url.as_deref()).or(url.and_then(|variable| environment.get(variable)));
        if let Some(url) = url {
            settings.base_urls.insert(name.clone(), url.to_owned());
        }
        if let Some(own) = own {
            if let Some(protocol) = own.protocol {
                settings.protocols.insert(name.clone(), protocol);
            }
            let secrets = own.headers.iter().map(|(name, value)| (name.clone(), ApiKey::new(value)));
            let access = Access {
                key_header: own.key_header.clone(),
                headers: secrets.collect(),
                query: own.query.clone(),
                extra: own.extra.clone(),
            };
            settings.access.insert(name.clone(), access);
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-002
    #[test]
    fn keys_are_looked_for_in_a_fixed_order_and_under_the_owners_names() {
        let found = |config: &str, variables: &[&str]| {
            let variables = variables.iter().map(|name| ((*name).to_owned(), "k".to_owned()));
            let config = Config::parse(config, "limpid.toml").unwrap();
            let first = places(&config, &Environment::new(variables)).into_iter().next();
            first.map(|place| {
                format!("{}/{} {}", place.provider, place.models.first().cloned().unwrap_or_default(), place.because)
            })
        };
        let all = ["MISTRAL_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"];
        let order: Vec<_> = (1..=all.len()).rev().map(|count| found("", &all[..count])).collect();
        insta::assert_debug_snapshot!(order);
        assert_eq!(found("", &["PATH"]), None);
        let own = "[provider.anthropic]\napi_key_env = \"WORK_KEY\"\n";
        assert_eq!(found(own, &["ANTHROPIC_API_KEY"]), None);
        assert!(found(own, &["WORK_KEY"]).is_some_and(|found| found.ends_with("WORK_KEY is set")));
        // An address without a key is enough: the server there need not want one.
        assert!(found("", &["OPENAI_BASE_URL"]).is_some_and(|found| found.ends_with("OPENAI_BASE_URL is set")));
        let house = "[provider.house]\nbase_url = \"http://192.168.0.7:8000/v1\"\n";
        assert!(found(house, &[]).is_some_and(|found| found.starts_with("house/ ")));
    }
}
