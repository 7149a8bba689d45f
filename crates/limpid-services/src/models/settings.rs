//! Keys and addresses of providers: what limpid.toml says, else the variables that are usual.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use limpid_config::{Config, Environment};
use limpid_model::provider::{Settings, presets};
use limpid_model::{Access, ApiKey, KeyCommand, Timeouts};

use crate::models::ModelRegistry;

impl ModelRegistry {
    /// Keys and addresses: what the configuration says, else the variables that are usual.
    pub(super) fn settings(&self) -> Settings {
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
