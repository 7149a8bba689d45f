//! How much models are to reason: what the owner set, and what a model makes of it.

use limpid_config::Config;
use limpid_core::Effort;
use limpid_model::ModelCard;
use limpid_store::Conversation;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How much the models of a turn are to reason. It is taken once and stays the same while the turn runs: a change costs
/// the provider's cache, and some providers refuse it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffortChoice {
    /// What was chosen for the conversation or the path; it goes before what models have of their own.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    chosen: Option<Effort>,
    /// What is set for everything.
    #[serde(serialize_with = "write", deserialize_with = "read")]
    general: Option<Effort>,
}

impl EffortChoice {
    /// What is set for a path of a conversation.
    pub fn of(config: &Config, conversation: Option<&Conversation>, path: &str) -> Self {
        let of_path = config.path.get(path).and_then(|path| path.effort);
        Self { chosen: conversation.and_then(|own| own.effort).or(of_path), general: Some(config.effort) }
    }

    /// What is asked of a model, before it is held against the levels that the model has.
    pub fn of_model(self, card: &ModelCard) -> Effort {
        self.chosen.or(card.abilities.own_effort).or(self.general).unwrap_or_default()
    }
}

/// What to tell when a model has no such level.
pub fn lacking(card: &ModelCard, wanted: Effort) -> Option<String> {
    let used = card.abilities.effort_for(wanted);
    let (name, wanted_word) = (card.name(), wanted.as_str());
    if card.abilities.tools_unreasoned == Some(true) && wanted > Effort::Off {
        return Some(format!(
            "over Chat Completions {name} takes tools only while it does not reason, so `{wanted_word}` is not asked for; \
             `protocol = \"openai-responses\"` in [provider.{}] of limpid.toml lets it do both where the server has \
             Responses",
            card.provider
        ));
    }
    if used == wanted {
        return None;
    }
    Some(match used {
        Effort::Default => format!(
            "which levels of effort {name} has is not known, so `{wanted_word}` is not asked for; `effort = [...]` of the \
             model in models.toml can say"
        ),
        used => format!("{name} has no effort `{wanted_word}`; `{}` is used", used.as_str()),
    })
}

fn write<S: Serializer>(level: &Option<Effort>, to: S) -> Result<S::Ok, S::Error> {
    level.map(Effort::as_str).serialize(to)
}

fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Effort>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.as_deref().and_then(Effort::parse))
}

#[cfg(test)]
mod tests {
    use limpid_model::Abilities;

    use super::*;

    // MOD-020
    #[test]
    fn what_was_chosen_goes_before_the_model_and_that_before_the_rest() {
        let config = Config::parse("effort = \"high\"\n[path.heartbeat]\neffort = \"low\"\n", "limpid.toml").unwrap();
        let own = Abilities { own_effort: Some(Effort::Medium), ..Abilities::default() };
        let own = ModelCard { abilities: own, ..ModelCard::default() };
        let asked = |path, card: &ModelCard| EffortChoice::of(&config, None, path).of_model(card);
        assert_eq!(asked("chat-remote", &ModelCard::default()), Effort::High);
        assert_eq!(asked("chat-remote", &own), Effort::Medium);
        assert_eq!(asked("heartbeat", &own), Effort::Low);
        let choice = EffortChoice::of(&config, None, "heartbeat");
        let again = serde_json::from_str(&serde_json::to_string(&choice).unwrap()).unwrap();
        assert_eq!(choice, again);
    }

    // MOD-020
    #[test]
    fn a_level_that_a_model_lacks_is_named_with_the_one_in_its_place() {
        let has = |levels: Option<Vec<Effort>>| ModelCard {
            provider: "x".to_owned(),
            id: "m".to_owned(),
            abilities: Abilities { effort: levels, ..Abilities::default() },
            ..ModelCard::default()
        };
        let few = has(Some(vec![Effort::Low, Effort::High]));
        assert_eq!(lacking(&few, Effort::High), None);
        assert_eq!(lacking(&few, Effort::Max).as_deref(), Some("x/m has no effort `max`; `high` is used"));
        assert_eq!(lacking(&has(None), Effort::Default), None);
        assert!(lacking(&has(None), Effort::Low).is_some_and(|told| told.contains("models.toml")));
    }
}
