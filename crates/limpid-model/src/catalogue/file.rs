//! The form of `models.toml`.

use limpid_core::{Effort, ToolProtocol};
use serde::Deserialize;

use super::download::Download;
use crate::abilities::{EffortForm, ForcedTools};
use crate::remedy::Field;

/// The shipped file.
const SHIPPED: &str = include_str!("models.toml");

/// A `models.toml` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct CatalogueError {
    /// Which file.
    pub file: String,
    /// What is wrong, with the line where there is one.
    pub reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CatalogueFile {
    #[serde(default, rename = "model")]
    pub(super) models: Vec<ModelEntry>,
    #[serde(default, rename = "download")]
    pub(super) downloads: Vec<Download>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    pub(super) names: Vec<String>,
    pub(super) window: Option<u32>,
    pub(super) usable_window: Option<u32>,
    #[serde(default, deserialize_with = "tool_protocol")]
    pub(super) tools: Option<ToolProtocol>,
    pub(super) thinking: Option<bool>,
    pub(super) vision: Option<bool>,
    pub(super) reasoning_bound: Option<bool>,
    pub(super) reasoning_back: Option<bool>,
    pub(super) max_output: Option<u32>,
    pub(super) sampling: Option<bool>,
    #[serde(default, deserialize_with = "forced_tools")]
    pub(super) forced_tools: Option<ForcedTools>,
    #[serde(default, deserialize_with = "effort_levels")]
    pub(super) effort: Option<Vec<Effort>>,
    #[serde(default, deserialize_with = "effort_form")]
    pub(super) effort_form: Option<EffortForm>,
    #[serde(default, deserialize_with = "own_effort")]
    pub(super) own_effort: Option<Effort>,
    pub(super) cache_minimum: Option<u32>,
    pub(super) retires: Option<String>,
    #[serde(default, deserialize_with = "refused_fields")]
    pub(super) refuses: Option<Vec<Field>>,
    pub(super) tokenizer: Option<String>,
    pub(super) temperature: Option<f32>,
    pub(super) template: Option<String>,
    #[serde(default)]
    pub(super) price: PriceEntry,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceEntry {
    pub(super) input: Option<f64>,
    pub(super) cached: Option<f64>,
    pub(super) cache_written: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) as_of: Option<String>,
}

impl CatalogueFile {
    /// The shipped file, and before it the owner's: its name for errors, and its text.
    pub(super) fn load(owner: Option<(&str, &str)>) -> Result<Vec<Self>, CatalogueError> {
        let mut files = Vec::new();
        if let Some((name, text)) = owner {
            files.push(Self::read(name, text)?);
        }
        files.push(Self::read("the shipped models.toml", SHIPPED)?);
        Ok(files)
    }

    fn read(name: &str, text: &str) -> Result<Self, CatalogueError> {
        let error = |reason: String| CatalogueError { file: name.to_owned(), reason };
        let file: Self = toml::from_str(text).map_err(|wrong| error(wrong.to_string()))?;
        file.models.iter().try_for_each(ModelEntry::check).map_err(error)?;
        file.downloads.iter().try_for_each(Download::check).map_err(error)?;
        Ok(file)
    }
}

impl ModelEntry {
    fn check(&self) -> Result<(), String> {
        if let Some(name) = self.names.iter().find(|name| !name.contains('/')) {
            return Err(format!("`{name}` is no model's name; write `provider/model`"));
        }
        let name = self.names.first().ok_or("a [[model]] has no `names`")?;
        let price = &self.price;
        let amounts = [price.input, price.cached, price.cache_written, price.output];
        if amounts.into_iter().flatten().any(|amount| !amount.is_finite() || amount < 0.0) {
            return Err(format!("the price of `{name}` is no amount of dollars"));
        }
        match (self.window, self.usable_window) {
            (Some(0), _) | (_, Some(0)) => {
                Err(format!("the window of `{name}` is 0 tokens; leave it out when unknown"))
            }
            (Some(window), Some(usable)) if usable > window => {
                Err(format!("the usable window of `{name}` is larger than its window"))
            }
            _ => Ok(()),
        }
    }
}

fn tool_protocol<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<ToolProtocol>, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || serde::de::Error::custom(format!("`{word}` is no way to call tools; use native, json or none"));
    ToolProtocol::parse(&word).map(Some).ok_or_else(wrong)
}

fn forced_tools<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<ForcedTools>, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || {
        serde::de::Error::custom(format!(
            "`{word}` does not say when a tool can be forced; use always, without-reasoning or never"
        ))
    };
    ForcedTools::parse(&word).map(Some).ok_or_else(wrong)
}

fn effort_levels<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<Effort>>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    words.iter().map(|word| level::<D>(word)).collect::<Result<_, _>>().map(Some)
}

fn own_effort<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Effort>, D::Error> {
    level::<D>(&String::deserialize(from)?).map(Some)
}

fn level<'de, D: serde::Deserializer<'de>>(word: &str) -> Result<Effort, D::Error> {
    Effort::parse(word).ok_or_else(|| {
        let known = Effort::ALL.map(Effort::as_str).join(", ");
        serde::de::Error::custom(format!("`{word}` is not a level of effort; use {known}"))
    })
}

fn effort_form<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<EffortForm>, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || {
        serde::de::Error::custom(format!(
            "`{word}` is no way to tell a model its effort; use adaptive, between-tools, budget, level, switch, object or \
             template"
        ))
    };
    EffortForm::parse(&word).map(Some).ok_or_else(wrong)
}

fn refused_fields<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<Field>>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    let wrong = |word: &str| {
        let known = Field::ALL.map(Field::as_str).join(", ");
        serde::de::Error::custom(format!("`{word}` is not a field that can be left out; use {known}"))
    };
    words.iter().map(|word| Field::parse(word).ok_or_else(|| wrong(word))).collect::<Result<_, _>>().map(Some)
}
