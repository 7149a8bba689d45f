//! Looks for a model that can be asked without having been set: keys and addresses, servers on this machine, fetched files.

use std::sync::PoisonError;

use limpid_config::{Config, Environment, ProviderConfig};
use limpid_model::catalogue::Installed;
use limpid_model::provider::{endpoint, presets};

use crate::models::ModelRegistry;
use crate::models::offered::{LONG_PATIENCE, PATIENCE, has_ended, is_here, listed};

/// A model that was found without being set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedModel {
    /// Its name: `provider/id`.
    pub model: String,
    /// Where it was found: a variable, an address, a file.
    pub because: String,
}

/// That no model was found, because none of the owner's providers offers one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoModel {
    /// Which providers they are and what is wrong with them, without a full stop.
    pub what: String,
    /// What to do.
    pub advice: String,
}

/// A provider that the owner set up in limpid.toml and that offered no model when one was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unavailable {
    provider: String,
    /// What is wrong, as the end of a sentence that begins with the provider's name.
    why: String,
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
    /// Looks for a model, in this order: keys and addresses, servers on this machine, fetched models. These are small, so they do not
    /// stand in for a provider that the owner set up and that offers none.
    pub async fn detect(&self) -> Option<DetectedModel> {
        let mut unavailable = Vec::new();
        let found = self.first(&mut unavailable).await.map(|found| match unavailable.as_slice() {
            [] => found,
            providers => {
                DetectedModel { because: format!("{}; {}", found.because, self.offer_no_model(providers)), ..found }
            }
        });
        *self.unavailable.lock().unwrap_or_else(PoisonError::into_inner) = unavailable;
        found
    }

    /// That a model which was found answers because providers that the owner set up offered none when it was looked for.
    pub fn instead(&self, found: &str) -> Option<String> {
        let providers = self.unavailable.lock().unwrap_or_else(PoisonError::into_inner);
        (!providers.is_empty()).then(|| format!("{}, so {found} is used", self.offer_no_model(&providers)))
    }

    /// Why no model was found when one was looked for; none where the owner set no provider up.
    pub fn none_offered(&self) -> Option<NoModel> {
        let providers = self.unavailable.lock().unwrap_or_else(PoisonError::into_inner);
        let name = &providers.first()?.provider;
        let each = |one: &Unavailable| format!("{} {}", self.with_address(&one.provider), one.why);
        let each: Vec<String> = providers.iter().map(each).collect();
        let advice = format!(
            "Start that server or correct [provider.{name}] in limpid.toml, or name another model at the top of that file: \
             `model = \"{name}/NAME\"`. `limpid model list` shows the models of this machine."
        );
        Some(NoModel { what: format!("no model is set, and {}", each.join("; ")), advice })
    }

    /// A provider, and the address that limpid.toml gives it, without secrets.
    pub(super) fn with_address(&self, provider: &str) -> String {
        let is_given = self.config.provider.get(provider).is_some_and(|own| own.base_url.is_some());
        let address = endpoint(provider, "", &self.settings()).map(|own| own.shown()).unwrap_or_default();
        if is_given && !address.is_empty() { format!("{provider} at {address}") } else { provider.to_owned() }
    }

    fn offer_no_model(&self, providers: &[Unavailable]) -> String {
        let names: Vec<String> = providers.iter().map(|one| self.with_address(&one.provider)).collect();
        let verb = if names.len() == 1 { "offers" } else { "offer" };
        format!("{} {verb} no model", names.join(" and "))
    }

    /// The first model that there is; `unavailable` are providers of the owner's before it that offer none.
    async fn first(&self, unavailable: &mut Vec<Unavailable>) -> Option<DetectedModel> {
        for place in places(&self.config, &self.environment) {
            let provider = place.provider.clone();
            match self.look(place).await {
                Ok(found) => return Some(found),
                Err(why) if self.config.provider.get(&provider).is_some_and(is_set_up) => {
                    unavailable.push(Unavailable { provider, why });
                }
                Err(_) => {}
            }
        }
        for server in limpid_model::find_local_servers().await {
            if let Some(model) = server.models.first() {
                let model = format!("{}/{model}", server.provider);
                return Some(DetectedModel { model, because: format!("a server answers at {}", server.base_url) });
            }
        }
        unavailable.extend(without_key(&self.config, &self.environment));
        if !unavailable.is_empty() {
            return None;
        }
        let fetched = self.downloads().ok()?;
        let whole = fetched.list().into_iter().find(|listed| matches!(listed.installed, Installed::Whole { .. }))?;
        let because = format!("{} is in the models folder", whole.name);
        Some(DetectedModel { because, model: format!("local/{}", whole.name) })
    }

    /// The model to ask at a place: the first of its usual ones that it lists and that has not ended. Elsewhere than at the
    /// provider's own address, where nobody knows what is usual, any other that it lists. Where there is none, the end of a sentence
    /// that says why.
    async fn look(&self, place: ProviderSetting) -> Result<DetectedModel, String> {
        // Nothing answers in the stead of a provider that the owner set up, so it may be slow.
        let is_set_up = self.config.provider.get(&place.provider).is_some_and(is_set_up);
        let patience = if is_set_up { LONG_PATIENCE } else { PATIENCE };
        let (listed, why) = match listed(self, &place, patience).await {
            Ok(listed) => (listed, "lists no model that can be used".to_owned()),
            Err(why) => (Vec::new(), why.to_string()),
        };
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
        let model = usual.or_else(other).ok_or(why)?;
        Ok(DetectedModel { model: format!("{provider}/{model}"), because })
    }
}

/// Whether the owner says in limpid.toml where a provider is or where its key is. What else a table may hold, such as fields of
/// the body, is no sign that they want to use it now.
fn is_set_up(own: &ProviderConfig) -> bool {
    own.base_url.is_some() || own.api_key_env.is_some() || !own.api_key_command.is_empty()
}

/// The providers whose key limpid.toml expects in a variable that is not set, and of which nothing else is set.
fn without_key(config: &Config, environment: &Environment) -> Vec<Unavailable> {
    let tables = config.provider.iter().filter(|(name, _)| place(name, config, environment).is_none());
    let unset = tables.filter_map(|(name, own)| Some((name, own.api_key_env.as_deref()?)));
    unset
        .map(|(name, variable)| Unavailable {
            provider: name.clone(),
            why: format!("has no key: the environment variable {variable} is not set"),
        })
        .collect()
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

    // SUR-001
    #[test]
    fn a_provider_is_set_up_by_an_address_or_a_key_and_a_key_that_is_missing_is_named() {
        let read = |table: &str| Config::parse(&format!("[provider.openai]\n{table}\n"), "limpid.toml").unwrap();
        let is_set = |table: &str| read(table).provider.get("openai").is_some_and(is_set_up);
        assert!(is_set("base_url = \"http://127.0.0.1:1/v1\"") && is_set("api_key_command = [\"print-token\"]"));
        assert!(is_set("api_key_env = \"WORK_KEY\"") && !is_set("extra = { service_tier = \"flex\" }"));
        let missing = |table: &str, variables: &[&str]| -> Vec<String> {
            let variables = variables.iter().map(|name| ((*name).to_owned(), "k".to_owned()));
            let missing = without_key(&read(table), &Environment::new(variables));
            missing.into_iter().map(|one| format!("{} {}", one.provider, one.why)).collect()
        };
        let own = "api_key_env = \"WORK_KEY\"";
        assert_eq!(missing(own, &[]), ["openai has no key: the environment variable WORK_KEY is not set"]);
        assert_eq!(missing(own, &["WORK_KEY"]), [""; 0]);
        assert_eq!(missing("extra = { service_tier = \"flex\" }", &[]), [""; 0]);
    }
}
