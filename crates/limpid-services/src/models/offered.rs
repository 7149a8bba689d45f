//! The models that the owner can choose from: what their providers list, and what is in the models folder.

use std::time::Duration;

use futures_util::future::join_all;
use limpid_model::catalogue::Installed;
use limpid_model::provider::{endpoint, find_local_servers, split_name};
use limpid_model::reported::{NoList, list};

use crate::error::AgentError;
use crate::models::ModelRegistry;
use crate::models::detect::{ProviderSetting, places};

/// How long a server of the owner's may take to say what it has: somebody waits for a screen meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// The same where nobody waits for a screen.
pub(super) const LONG_PATIENCE: Duration = Duration::from_secs(5);

/// What a provider of limpid.toml says when it is asked for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAnswer {
    /// The provider, and where it is.
    pub name: String,
    /// The models that it lists.
    pub models: Result<Vec<String>, NoList>,
}

/// Asks each provider that limpid.toml gives an address for its models, all at once.
pub async fn ask_providers(models: &ModelRegistry) -> Vec<ProviderAnswer> {
    let with_address = models.config.provider.iter().filter(|(_, own)| own.base_url.is_some());
    let names: Vec<String> = with_address.map(|(name, _)| name.clone()).collect();
    join_all(names.iter().map(|name| answer_of(models, name))).await
}

async fn answer_of(models: &ModelRegistry, provider: &str) -> ProviderAnswer {
    let listed = match endpoint(provider, "", &models.settings()) {
        Ok(own) => list(&own, LONG_PATIENCE).await,
        Err(error) => Err(NoList::Unusable(error.to_string())),
    };
    ProviderAnswer { name: models.with_address(provider), models: listed }
}

/// The models that can be chosen, each once: those that are set, what the owner's own servers list, the usual ones of each other
/// provider that has a key, and those that were fetched. Nothing is sent to anybody but the owner's servers.
///
/// # Errors
/// When the owner's `models.toml` cannot be read.
pub async fn offered(models: &ModelRegistry) -> Result<Vec<String>, AgentError> {
    let mut names: Vec<String> = models.config.model.iter().chain(&models.config.fallback).cloned().collect();
    if models.only.is_none() {
        let places = places(&models.config, &models.environment);
        let (of_places, found) =
            tokio::join!(join_all(places.iter().map(|place| of_place(models, place))), find_local_servers());
        names.extend(of_places.into_iter().flatten());
        for server in found {
            names.extend(named(&server.provider, server.models));
        }
    }
    let downloads = models.downloads()?;
    let fetched = downloads.list().into_iter().filter(|model| matches!(model.installed, Installed::Whole { .. }));
    names.extend(fetched.map(|model| format!("local/{}", model.name)));
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}

/// What its provider lists instead of a model; none where it lists that one, or is not known to list anything.
pub async fn others_than(models: &ModelRegistry, name: &str) -> Option<Vec<String>> {
    let (provider, model) = split_name(name).ok()?;
    if models.only.is_some() {
        return None;
    }
    let place = places(&models.config, &models.environment).into_iter().find(|place| place.provider == provider)?;
    let listed = listed(models, &place, PATIENCE).await.unwrap_or_default();
    // A server may list a model with the tag that is taken where none is said.
    let is_it = |listed: &String| listed == model || listed.strip_suffix(":latest") == Some(model);
    (!listed.is_empty() && !listed.iter().any(is_it)).then(|| named(provider, listed).collect())
}

async fn of_place(models: &ModelRegistry, place: &ProviderSetting) -> Vec<String> {
    let listed = listed(models, place, PATIENCE).await.unwrap_or_default();
    let is_owners = place.base_url.is_some() || is_here(models, &place.provider);
    let found = match is_owners || place.models.is_empty() {
        true => listed,
        false => place.models.iter().filter(|model| listed.is_empty() || listed.contains(model)).cloned().collect(),
    };
    let sold = found.into_iter().filter(|model| !has_ended(models, &place.provider, model));
    named(&place.provider, sold).collect()
}

/// The models that a provider lists: a server of the owner's is asked, of another one what it said last is taken.
///
/// # Errors
/// When it cannot be asked, or lists nothing in time.
pub(super) async fn listed(
    models: &ModelRegistry,
    place: &ProviderSetting,
    patience: Duration,
) -> Result<Vec<String>, NoList> {
    let own = endpoint(&place.provider, "", &models.settings());
    let own = own.map_err(|error| NoList::Unusable(error.to_string()))?;
    match place.base_url {
        Some(_) => list(&own, patience).await,
        None => {
            let last = models.reports.of(&place.provider, &own);
            Ok(last.map(|table| table.models_of(&place.provider)).unwrap_or_default())
        }
    }
}

/// Whether a provider's own address is on this machine.
pub(super) fn is_here(models: &ModelRegistry, provider: &str) -> bool {
    endpoint(provider, "", &models.settings()).is_ok_and(|own| own.is_here())
}

/// Whether its provider has taken a model away.
pub(super) fn has_ended(models: &ModelRegistry, provider: &str, model: &str) -> bool {
    let today = models.clock.now().to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d").to_string();
    let retires = models.profile(provider, model).ok().and_then(|known| known.abilities.retires);
    retires.is_some_and(|day| day <= today)
}

fn named(provider: &str, models: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    models.into_iter().map(move |model| format!("{provider}/{model}"))
}
