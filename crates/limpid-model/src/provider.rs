//! Providers as data, and the way from `provider/model` to a model.
//!
//! Nothing here reads the environment: keys and base URLs come in as [`Settings`], and [`presets`] says which variables
//! they are usually in.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::future::join_all;
use limpid_core::ToolProtocol;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::key::ApiKey;
use crate::key_command::KeyCommand;
use crate::model::{Model, ModelCard, ModelError};
use crate::protocol::{Adapter as _, Dialect, Protocol};
use crate::remote::{Access, Endpoint, RemoteModel, Timeouts, client};
use crate::script::{Script, ScriptError};
use crate::scripted::ScriptedModel;

/// How long a server on this machine may take to answer a probe.
const PROBE: Duration = Duration::from_millis(300);

/// What is known of a provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The name in `provider/model`.
    #[serde(skip)]
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Where the protocol's paths begin; without one every owner has an address of their own.
    pub base_url: Option<String>,
    /// The variable that the key is usually in; none: it needs no key.
    #[serde(rename = "key")]
    pub key_variable: Option<String>,
    /// The variable that another base URL is usually in.
    #[serde(rename = "url")]
    pub base_url_variable: Option<String>,
    /// What is asked when only the key is set: the first that the provider lists.
    #[serde(default)]
    pub models: Vec<String>,
    /// The header that the key goes in, when it is not the protocol's.
    pub key_header: Option<String>,
    /// Headers of every request at the base URL.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether to look for a server at the base URL.
    #[serde(default)]
    pub probe: bool,
    #[serde(deserialize_with = "protocol")]
    protocol: Protocol,
    #[serde(default, deserialize_with = "protocol_elsewhere")]
    protocol_elsewhere: Option<Protocol>,
    tools: Option<String>,
    cache_marks: Option<String>,
    #[serde(default)]
    dialect: Dialect,
}

fn protocol<'de, D: Deserializer<'de>>(from: D) -> Result<Protocol, D::Error> {
    let name = String::deserialize(from)?;
    Protocol::parse(&name).ok_or_else(|| D::Error::custom(format!("unknown protocol `{name}`")))
}

fn protocol_elsewhere<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Protocol>, D::Error> {
    protocol(from).map(Some)
}

/// What the owner has set: keys, addresses, and what is known of models.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Keys by provider.
    pub keys: BTreeMap<String, ApiKey>,
    /// Base URLs by provider. A provider that has no preset but a base URL speaks OpenAI Chat Completions.
    pub base_urls: BTreeMap<String, String>,
    /// How long a server may take.
    pub timeouts: Timeouts,
    /// The commands that print keys, by provider.
    pub key_commands: BTreeMap<String, Arc<KeyCommand>>,
    /// What is spoken, by provider, where that is not what its preset says.
    pub protocols: BTreeMap<String, Protocol>,
    /// What the owner adds to requests, by provider.
    pub access: BTreeMap<String, Access>,
    /// The models that providers list, as far as they were asked.
    pub listed: BTreeMap<String, Vec<String>>,
    /// Models that are known: their windows, prices and abilities. Of others these are unknown.
    pub cards: Vec<ModelCard>,
}

/// Why there is no such model.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The name has no provider.
    #[error("`{0}` names no provider; write provider/model, for example openai/gpt-6-luna or ollama/llama3.2")]
    NoProvider(String),
    /// The provider is not known and has no base URL.
    #[error("`{name}` is no known provider; use one of {known}, or set a base URL for `{name}`")]
    UnknownProvider {
        /// The name.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// The provider has an address for each owner.
    #[error("{title} has another address for every owner; set {variable}")]
    NoAddress {
        /// The provider.
        title: String,
        /// The variable to set.
        variable: String,
    },
    /// The provider needs a key.
    #[error("{title} needs a key; set {variable}")]
    NoKey {
        /// The provider.
        title: String,
        /// The variable to set.
        variable: String,
    },
    /// The settings cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The scripted model's file cannot be used.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// A model server that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider's name, for `provider/model`.
    pub provider: String,
    /// Where it is.
    pub base_url: String,
    /// The models that it lists.
    pub models: Vec<String>,
}

/// Every provider that is known, by name.
pub fn presets() -> &'static BTreeMap<String, Preset> {
    static PRESETS: LazyLock<BTreeMap<String, Preset>> = LazyLock::new(|| {
        // A test reads the file, so an empty list is never seen.
        let mut presets: BTreeMap<String, Preset> = toml::from_str(include_str!("presets.toml")).unwrap_or_default();
        for (name, preset) in &mut presets {
            preset.name.clone_from(name);
        }
        presets
    });
    &PRESETS
}

/// Makes the model that `provider/model` names; nothing is sent yet.
///
/// The model's name goes through unchanged: what [`Settings::cards`] does not know may still be served, with its window
/// and price unknown. `scripted/FILE` is a model that says what the script in the file says.
///
/// # Errors
/// When the provider is not known, needs a key that is not set, or its address cannot be used.
pub fn resolve(name: &str, settings: &Settings) -> Result<Arc<dyn Model>, ResolveError> {
    let (provider, model) = split_name(name)?;
    if provider == "scripted" {
        return Ok(Arc::new(ScriptedModel::new(model, Script::load(Path::new(model))?)));
    }
    let endpoint = endpoint(provider, model, settings)?;
    let known = settings.cards.iter().find(|card| card.provider == provider && card.id == model);
    let card = known.cloned().unwrap_or_else(|| unknown_card(provider, model));
    Ok(Arc::new(RemoteModel::new(card, endpoint)?))
}

/// The provider and the model of a name.
///
/// # Errors
/// When it has no provider.
pub fn split_name(name: &str) -> Result<(&str, &str), ResolveError> {
    let parts = name.split_once('/').filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
    parts.ok_or_else(|| ResolveError::NoProvider(name.to_owned()))
}

/// Where a provider is by preset and settings.
///
/// # Errors
/// When the provider is not known, or needs a key that is not set.
pub fn endpoint(provider: &str, model: &str, settings: &Settings) -> Result<Endpoint, ResolveError> {
    let preset = presets().get(provider);
    let own_url = preset.and_then(|preset| preset.base_url.as_deref());
    let own = |url: &&String| own_url.is_some_and(|own| same_place(url, own));
    let elsewhere = settings.base_urls.get(provider).filter(|url| !url.trim().is_empty() && !own(url));
    let key = settings.keys.get(provider).filter(|key| !key.is_empty()).cloned();
    let Some(base_url) = elsewhere.or(preset.and_then(|preset| preset.base_url.as_ref())) else {
        if let Some(preset) = preset {
            let variable = preset.base_url_variable.clone().unwrap_or_default();
            return Err(ResolveError::NoAddress { title: preset.title.clone(), variable });
        }
        let known = presets().keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(ResolveError::UnknownProvider { name: provider.to_owned(), known });
    };
    let key_command = settings.key_commands.get(provider).cloned();
    let mut access = settings.access.get(provider).cloned().unwrap_or_default();
    // A server at another address need not want the provider's key, and some take it in a header of the owner's.
    let has_key = key.is_some() || key_command.is_some() || !access.headers.is_empty();
    if let (Some(preset), false, None) = (preset, has_key, elsewhere)
        && let Some(variable) = &preset.key_variable
    {
        return Err(ResolveError::NoKey { title: preset.title.clone(), variable: variable.clone() });
    }
    let protocol = preset.map_or(Protocol::OpenaiChat, |preset| match (elsewhere, preset.protocol_elsewhere) {
        (Some(_), Some(other)) => other,
        _ => preset.protocol,
    });
    let own_protocol = settings.protocols.get(provider).copied();
    let protocol = own_protocol.unwrap_or(protocol);
    let marked = preset.and_then(|preset| preset.cache_marks.as_deref());
    access.key_header = access.key_header.or_else(|| preset.and_then(|preset| preset.key_header.clone()));
    let dialect = match (preset, elsewhere.is_some() || own_protocol.is_some()) {
        (Some(preset), false) => {
            Dialect { cache_marks: marked.is_some_and(|start| model.starts_with(start)), ..preset.dialect }
        }
        _ => Dialect::default(),
    };
    let own_headers = preset.filter(|_| elsewhere.is_none()).map(|preset| &preset.headers).into_iter().flatten();
    for (name, value) in own_headers {
        // The owner's own word for a header counts.
        if !access.headers.keys().any(|known| known.eq_ignore_ascii_case(name)) {
            access.headers.insert(name.clone(), ApiKey::new(value.as_str()));
        }
    }
    Ok(Endpoint {
        protocol,
        dialect,
        base_url: with_scheme(base_url),
        key,
        key_variable: preset.and_then(|preset| preset.key_variable.clone()),
        key_command,
        access,
        listed: settings.listed.get(provider).cloned().unwrap_or_default(),
        timeouts: settings.timeouts,
    })
}

/// Looks for model servers at the usual addresses on this machine, at most 300 ms.
pub async fn find_local_servers() -> Vec<LocalServer> {
    let usual = presets().values().filter(|preset| preset.probe);
    let places: Vec<(String, String)> =
        usual.filter_map(|preset| Some((preset.name.clone(), preset.base_url.clone()?))).collect();
    find_servers_at(&places).await
}

/// Looks for model servers at these places, each a provider and a base URL, for at most 300 ms.
pub async fn find_servers_at(places: &[(String, String)]) -> Vec<LocalServer> {
    let probes = places.iter().map(|(provider, base_url)| async move {
        let models = tokio::time::timeout(PROBE, list(provider, base_url)).await.ok()??;
        Some(LocalServer { provider: provider.clone(), base_url: base_url.clone(), models })
    });
    join_all(probes).await.into_iter().flatten().collect()
}

/// The models that a server lists; none when it is no model server.
async fn list(provider: &str, base_url: &str) -> Option<Vec<String>> {
    let protocol = presets().get(provider).map_or(Protocol::OpenaiChat, |preset| preset.protocol);
    let url = format!("{}{}", with_scheme(base_url).trim_end_matches('/'), protocol.list_path());
    let url = reqwest::Url::parse(&url).ok()?;
    let client = client(&url, Timeouts::default()).ok()?;
    let reply = client.get(url).send().await.ok()?;
    if reply.content_length().is_some_and(|size| size > 1024 * 1024) {
        return None;
    }
    let listed: Value = reply.json().await.ok()?;
    let rows = listed["data"].as_array().or_else(|| listed["models"].as_array())?;
    let name = |row: &Value| row["id"].as_str().or_else(|| row["name"].as_str()).map(str::to_owned);
    Some(rows.iter().filter_map(name).collect())
}

/// What is assumed of a model that nobody knows: that it calls tools as its provider's models do, and nothing else.
fn unknown_card(provider: &str, model: &str) -> ModelCard {
    let tools = presets().get(provider).and_then(|preset| preset.tools.as_deref());
    ModelCard {
        provider: provider.to_owned(),
        id: model.to_owned(),
        tools: tools.and_then(ToolProtocol::parse).unwrap_or_default(),
        ..ModelCard::default()
    }
}

/// Whether two addresses are one: capitals of the host and a slash at the end make no difference.
fn same_place(one: &str, other: &str) -> bool {
    let read = |url: &str| reqwest::Url::parse(with_scheme(url).trim_end_matches('/')).ok();
    read(one).is_some_and(|one| Some(one) == read(other))
}

/// Ollama's variable is often written without a scheme.
fn with_scheme(url: &str) -> String {
    let url = url.trim();
    if url.contains("://") { url.to_owned() } else { format!("http://{url}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_complete() {
        let rows: Vec<String> = presets()
            .values()
            .map(|preset| {
                let own = ("https://own.test/v1".to_owned(), preset.name.clone());
                let base_urls = preset.base_url.is_none().then_some((own.1, own.0)).into_iter().collect();
                let keys = [(preset.name.clone(), ApiKey::new("k"))].into();
                let settings = Settings { keys, base_urls, ..Settings::default() };
                let model = resolve(&format!("{}/some/model", preset.name), &settings).unwrap();
                let endpoint = endpoint(&preset.name, "some/model", &settings).unwrap();
                let tools = model.info().tools.as_str();
                let key = preset.key_variable.as_deref().unwrap_or("-");
                let url = preset.base_url_variable.as_deref().unwrap_or("-");
                format!(
                    "{:11} {:16} {tools:6} {key:24} {url:22} {} {}",
                    preset.name,
                    endpoint.protocol.as_str(),
                    endpoint.base_url,
                    preset.models.join(" ")
                )
            })
            .collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn openai_elsewhere_speaks_chat_completions_and_needs_no_key() {
        let base_urls = [("openai".to_owned(), "http://127.0.0.1:1/v1".to_owned())].into();
        let settings = Settings { base_urls, ..Settings::default() };
        assert_eq!(endpoint("openai", "m", &settings).unwrap().protocol, Protocol::OpenaiChat);
        let card = resolve("openai/made-up:7b", &settings).unwrap().info().clone();
        assert_eq!((card.name().as_str(), card.window, card.price), ("openai/made-up:7b", None, None));
    }

    #[test]
    fn what_cannot_be_resolved_says_what_to_do() {
        let base_urls = [("ollama".to_owned(), "http://".to_owned())].into();
        let settings = Settings { base_urls, ..Settings::default() };
        let names = ["gpt-5", "/x", "nobody/x", "openai/gpt-5", "ollama/x", "scripted/none.toml"];
        let errors = names.map(|name| format!("{name}: {}", resolve(name, &settings).map(|_| ()).unwrap_err()));
        insta::assert_snapshot!(errors.join("\n"));
    }

    // MOD-053
    #[test]
    fn a_providers_own_address_is_no_other_one_when_it_is_set() {
        for (url, protocol) in [
            ("https://api.openai.com/v1", Protocol::OpenaiResponses),
            (" https://API.openai.com/v1/ ", Protocol::OpenaiResponses),
            ("https://api.openai.com:8443/v1", Protocol::OpenaiChat),
            ("https://openai.example/v1", Protocol::OpenaiChat),
        ] {
            let base_urls = [("openai".to_owned(), url.to_owned())].into();
            let keys = [("openai".to_owned(), ApiKey::new("k"))].into();
            let settings = Settings { base_urls, keys, ..Settings::default() };
            assert_eq!(endpoint("openai", "m", &settings).unwrap().protocol, protocol, "{url}");
        }
    }

    // MOD-054
    #[test]
    fn cache_marks_are_for_the_models_that_take_them() {
        let settings = Settings { keys: [("openrouter".to_owned(), ApiKey::new("k"))].into(), ..Settings::default() };
        let marks = |model| endpoint("openrouter", model, &settings).unwrap().dialect.cache_marks;
        for model in
            ["anthropic/claude-sonnet-4.5", "anthropic/claude-opus-5.5:thinking", "anthropic/claude-fable-5.1:beta"]
        {
            assert!(marks(model), "{model}");
        }
        assert!(!marks("qwen/qwen3"));
    }
}
