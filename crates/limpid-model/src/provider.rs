//! Providers as data, and the way from `provider/model` to a model.
//!
//! Nothing here reads the environment: keys and base URLs come in as [`Settings`], and [`presets`] says which variables
//! they are usually in.

mod address;
mod local_servers;
mod preset;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use limpid_core::ToolProtocol;

use crate::key::ApiKey;
use crate::key_command::KeyCommand;
use crate::model::{Model, ModelCard, ModelError};
use crate::protocol::{Dialect, Protocol};
use crate::remote::{Access, Endpoint, RemoteModel, Timeouts};
use crate::script::{Script, ScriptError};
use crate::scripted::ScriptedModel;

use address::{same_place, with_scheme};

pub use local_servers::{LocalServer, find_local_servers, find_servers_at};
pub use preset::{Preset, presets};

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

#[cfg(test)]
mod tests;
