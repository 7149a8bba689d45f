//! Looks for a model that can be asked without having been set: keys and addresses, servers on this machine, fetched files.

use std::sync::PoisonError;

use limpid_config::{Config, Environment};
use limpid_model::catalogue::Installed;
use limpid_model::provider::presets;

use crate::models::ModelRegistry;
use crate::models::offered::{has_ended, is_here, listed};

/// A model that was found without being set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedModel {
    /// Its name: `provider/id`.
    pub model: String,
    /// Where it was found: a variable, an address, a file.
    pub because: String,
}

/// A provider whose key or address is set.
#[derive(Debug)]
pub(super) struct ProviderSetting {
    pub(super) provider: String,
    /// What is asked when nothing else is known, the best first.
    pub(super) models: Vec<String>,
    /// Another address than the provider's own.
    pub(super) base_url: Option<String>,
    because: String,
}

impl ModelRegistry {
    /// Looks for a model, in this order: keys and addresses, servers on this machine, fetched models.
    pub async fn detect(&self) -> Option<DetectedModel> {
        let mut unavailable = Vec::new();
        let found = self.first(&mut unavailable).await.map(|found| match unavailable.as_slice() {
            [] => found,
            servers => DetectedModel { because: format!("{}; {}", found.because, offer_no_model(servers)), ..found },
        });
        *self.unavailable.lock().unwrap_or_else(PoisonError::into_inner) = unavailable;
        found
    }

    /// That a model which was found answers because servers that the owner set offered none when it was looked for.
    pub fn instead(&self, found: &str) -> Option<String> {
        let servers = self.unavailable.lock().unwrap_or_else(PoisonError::into_inner);
        (!servers.is_empty()).then(|| format!("{}, so {found} is used", offer_no_model(&servers)))
    }

    /// The first model that there is; `unavailable` are servers of the owner's before it that offer none.
    async fn first(&self, unavailable: &mut Vec<String>) -> Option<DetectedModel> {
        for place in places(&self.config, &self.environment) {
            let own = self.config.provider.get(&place.provider).and_then(|own| own.base_url.clone());
            let own = own.map(|url| format!("{} at {}", place.provider, without_login(&url)));
            if let Some(found) = self.look(place).await {
                return Some(found);
            }
            unavailable.extend(own);
        }
        for server in limpid_model::find_local_servers().await {
            if let Some(model) = server.models.first() {
                let model = format!("{}/{model}", server.provider);
                return Some(DetectedModel { model, because: format!("a server answers at {}", server.base_url) });
            }
        }
        let fetched = self.downloads().ok()?;
        let whole = fetched.list().into_iter().find(|listed| matches!(listed.installed, Installed::Whole { .. }))?;
        let because = format!("{} is in the models folder", whole.name);
        Some(DetectedModel { because, model: format!("local/{}", whole.name) })
    }

    /// The model to ask at a place: the first of its usual ones that it lists and that has not ended. Elsewhere than at the
    /// provider's own address, where nobody knows what is usual, any other that it lists.
    async fn look(&self, place: ProviderSetting) -> Option<DetectedModel> {
        let listed = listed(self, &place).await;
        let ProviderSetting { provider, models, base_url, because } = place;
        // On this machine the owner says what is served, whatever is usual elsewhere.
        let is_owners = base_url.is_some() || is_here(self, &provider);
        let has_ended = |model: &String| has_ended(self, &provider, model);
        let sold: Vec<String> = models.into_iter().filter(|model| !has_ended(model)).collect();
        let usual = sold.iter().find(|model| listed.contains(model)).cloned();
        let other = || match (is_owners && !listed.is_empty()) || sold.is_empty() {
            true => listed.iter().find(|model| !has_ended(model)).cloned(),
            false => sold.first().cloned(),
        };
        let model = usual.or_else(other)?;
        Some(DetectedModel { model: format!("{provider}/{model}"), because })
    }
}

/// An address without what stands before an `@` in it.
fn without_login(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}

fn offer_no_model(servers: &[String]) -> String {
    let verb = if servers.len() == 1 { "offers" } else { "offer" };
    format!("{} {verb} no model", servers.join(" and "))
}

/// The providers whose key or address is set, in the order in which they are taken: the best-known first, the owner's
/// own last.
pub(super) fn places(config: &Config, environment: &Environment) -> Vec<ProviderSetting> {
    const FIRST: [&str; 4] = ["openai", "anthropic", "gemini", "openrouter"];
    let rest = presets().keys().map(String::as_str).filter(|name| !FIRST.contains(name));
    let own = config.provider.keys().map(String::as_str).filter(|name| !presets().contains_key(*name));
    FIRST.into_iter().chain(rest).chain(own).filter_map(|name| place(name, config, environment)).collect()
}

fn place(name: &str, config: &Config, environment: &Environment) -> Option<ProviderSetting> {
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
    Some(ProviderSetting {
        provider: name.to_owned(),
        models: preset.map(|preset| preset.models.clone()).unwrap_or_default(),
        base_url,
        because,
    })
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
