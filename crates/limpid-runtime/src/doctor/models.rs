//! Whether a model answers, whether the providers of limpid.toml do, and what is known of models.

use std::sync::Arc;

use limpid_config::{Live, Redactor};
use limpid_model::Model;
use limpid_services::memory::probe;
use limpid_services::models::{
    CONNECT_IN_SHORT, ModelRegistry, ModelRegistryParts, ProviderAnswer, ask_providers, fetched_table,
};

use crate::agent::AgentOptions;
use crate::doctor::check::Check;

/// What is there, or what is wrong and what to do about it.
type Found = Result<String, (String, String)>;

/// The model, a line for each provider that limpid.toml gives an address, the semantic index, and a fetched table.
pub(crate) async fn check(options: &AgentOptions) -> Vec<Check> {
    let mut checks = vec![Check::with_advice("model", model(options).await)];
    let answers = ask_providers(&registry(options, None)).await;
    checks.extend(answers.into_iter().map(|answer| Check::with_advice("provider", provider(&answer))));
    checks.push(semantic_index(options).await);
    checks.extend(fetched_models(options));
    checks
}

fn registry(options: &AgentOptions, only: Option<Arc<dyn Model>>) -> ModelRegistry {
    ModelRegistry::new(ModelRegistryParts {
        home: options.home.clone(),
        config: Live::new(options.config.clone()),
        environment: options.environment.clone(),
        only,
        clock: Arc::clone(&options.clock),
        redactor: Redactor::new(&options.environment, &options.config.secret_variables()),
    })
}

async fn model(options: &AgentOptions) -> Found {
    let models = registry(options, options.model.clone());
    let is_set = options.config.model.is_some();
    let found = if is_set { None } else { models.detect().await };
    match models.choose(None).await {
        Ok(model) => {
            let because = found.map(|found| format!(" ({})", found.because)).unwrap_or_default();
            Ok(format!("{}{because}", model.info().name()))
        }
        Err(_) if !is_set && found.is_none() => Err(match models.none_offered() {
            Some(none) => (none.what, none.advice),
            None => ("no model is set and none was found".to_owned(), CONNECT_IN_SHORT.to_owned()),
        }),
        Err(error) => Err((error.to_string(), String::new())),
    }
}

/// Whether a provider answers. One that works may list no models, or refuse to.
fn provider(ProviderAnswer { name, models }: &ProviderAnswer) -> Found {
    match models {
        Ok(listed) => Ok(match listed.len() {
            0 => format!("{name} lists no models"),
            1 => format!("{name} lists 1 model"),
            count => format!("{name} lists {count} models"),
        }),
        Err(why) if why.is_fault() => {
            let advice = "Start that server, or correct its table under [provider] in limpid.toml.";
            Err((format!("{name} {why}"), advice.to_owned()))
        }
        Err(why) => Ok(format!("{name} {why}")),
    }
}

/// Whether what texts mean can be asked. When it cannot, words alone find what is remembered, so it is a fault only of the
/// index.
async fn semantic_index(options: &AgentOptions) -> Check {
    const WHAT: &str = "semantic index";
    let Some(name) = &options.config.memory.semantic.model else {
        let says = "off; `model` under `[memory.semantic]` in limpid.toml switches it on".to_owned();
        return Check { what: WHAT, ok: true, says, advice: None };
    };
    let models = registry(options, None);
    let probed = match models.open_embedder(name) {
        Ok(embedder) => probe(&*embedder).await,
        Err(error) => Err(error.to_string()),
    };
    let advice = "Until then words alone find what is remembered.";
    Check::of(WHAT, probed.map(|numbers| format!("{name}, {numbers} numbers a text")).map_err(|why| (why, advice)))
}

/// The table of models that was fetched; nothing when the shipped one is in use.
fn fetched_models(options: &AgentOptions) -> Option<Check> {
    let fetched = fetched_table(&options.home).map_err(|error| (error.to_string(), "")).transpose()?;
    Some(Check::of("models known", fetched.map(|table| format!("by {} of {}", table.head().source, table.head().date))))
}
