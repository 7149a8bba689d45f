//! What is said of one model, in `models.toml` and in a table.

use limpid_core::{Effort, ToolProtocol};
use serde::{Deserialize, Deserializer};

use crate::abilities::{EffortForm, ForcedTools, Input};
use crate::remedy::Field;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    /// Absent in a table, whose keys are the names.
    #[serde(default)]
    pub(super) names: Vec<String>,
    pub(super) window: Option<u32>,
    pub(super) usable_window: Option<u32>,
    #[serde(default, deserialize_with = "tool_protocol")]
    pub(super) tools: Option<ToolProtocol>,
    pub(super) thinking: Option<bool>,
    pub(super) vision: Option<bool>,
    #[serde(default, deserialize_with = "inputs")]
    pub(super) inputs: Option<Vec<Input>>,
    pub(super) reasoning_bound: Option<bool>,
    pub(super) reasoning_back: Option<bool>,
    pub(super) max_output: Option<u32>,
    pub(super) sampling: Option<bool>,
    #[serde(default, deserialize_with = "forced_tools")]
    pub(super) forced_tools: Option<ForcedTools>,
    pub(super) strict_tools: Option<bool>,
    pub(super) tools_unreasoned: Option<bool>,
    pub(super) tool_search: Option<bool>,
    pub(super) opens_reasoning: Option<bool>,
    #[serde(default, deserialize_with = "effort_levels")]
    pub(super) effort: Option<Vec<Effort>>,
    #[serde(default, deserialize_with = "effort_level")]
    pub(super) effort_default: Option<Effort>,
    #[serde(default, deserialize_with = "effort_form")]
    pub(super) effort_form: Option<EffortForm>,
    #[serde(default, deserialize_with = "effort_level")]
    pub(super) own_effort: Option<Effort>,
    pub(super) thinking_budget: Option<bool>,
    pub(super) cache_minimum: Option<u32>,
    pub(super) cache_breakpoints: Option<bool>,
    pub(super) retires: Option<String>,
    #[serde(default, deserialize_with = "refused_fields")]
    pub(super) refuses: Option<Vec<Field>>,
    pub(super) tokenizer: Option<String>,
    pub(super) temperature: Option<f32>,
    pub(super) template: Option<String>,
    #[serde(default)]
    pub(super) price: PriceEntry,
    pub(super) source: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceEntry {
    pub(super) input: Option<f64>,
    pub(super) cached: Option<f64>,
    pub(super) cache_written: Option<f64>,
    pub(super) cache_written_hour: Option<f64>,
    pub(super) audio: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) reasoning: Option<f64>,
    #[serde(default)]
    pub(super) tiers: Vec<TierEntry>,
    pub(super) as_of: Option<String>,
}

/// What differs above a length of the prompt.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TierEntry {
    pub(super) above: u64,
    pub(super) input: Option<f64>,
    pub(super) cached: Option<f64>,
    pub(super) cache_written: Option<f64>,
    pub(super) cache_written_hour: Option<f64>,
    pub(super) audio: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) reasoning: Option<f64>,
}

impl PriceEntry {
    /// Every amount that is said, for short prompts and for long ones.
    pub(super) fn amounts(&self) -> impl Iterator<Item = f64> {
        let p = self;
        let base = [p.input, p.cached, p.cache_written, p.cache_written_hour, p.audio, p.output, p.reasoning];
        let tiers = p
            .tiers
            .iter()
            .flat_map(|t| [t.input, t.cached, t.cache_written, t.cache_written_hour, t.audio, t.output, t.reasoning]);
        base.into_iter().chain(tiers).flatten()
    }
}

impl ModelEntry {
    /// Of an entry of `models.toml`.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(name) = self.names.iter().find(|name| !name.contains('/')) {
            return Err(format!("`{name}` is no model's name; write `provider/model`"));
        }
        let name = self.names.first().ok_or("a [[model]] has no `names`")?;
        self.check_facts(name)
    }

    /// Of the numbers and days alone.
    pub(super) fn check_facts(&self, name: &str) -> Result<(), String> {
        if self.price.amounts().any(|amount| !amount.is_finite() || amount < 0.0) {
            return Err(format!("the price of `{name}` is no amount of dollars"));
        }
        if let Some(day) = self.retires.as_deref().filter(|day| !is_day(day)) {
            return Err(format!("`{name}` retires on \"{day}\", which is not a day; write it like 2027-05-01"));
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

/// Whether a word is a day such as 2027-05-01; days of this form are ordered as text.
pub(super) fn is_day(word: &str) -> bool {
    let form = |(at, c): (usize, char)| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() };
    word.len() == 10 && word.chars().enumerate().all(form)
}

fn tool_protocol<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ToolProtocol>, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || serde::de::Error::custom(format!("`{word}` is no way to call tools; use native, json or none"));
    ToolProtocol::parse(&word).map(Some).ok_or_else(wrong)
}

fn forced_tools<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ForcedTools>, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || {
        serde::de::Error::custom(format!(
            "`{word}` does not say when a tool can be forced; use always, without-reasoning or never"
        ))
    };
    ForcedTools::parse(&word).map(Some).ok_or_else(wrong)
}

fn level<E: serde::de::Error>(word: &str) -> Result<Effort, E> {
    Effort::parse(word).ok_or_else(|| {
        let known = Effort::ALL.map(Effort::as_str).join(", ");
        E::custom(format!("`{word}` is not a level of effort; use {known}"))
    })
}

fn effort_level<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Effort>, D::Error> {
    level(&String::deserialize(from)?).map(Some)
}

fn effort_levels<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Effort>>, D::Error> {
    Vec::<String>::deserialize(from)?.iter().map(|word| level(word)).collect::<Result<_, _>>().map(Some)
}

fn effort_form<'de, D: Deserializer<'de>>(from: D) -> Result<Option<EffortForm>, D::Error> {
    let word = String::deserialize(from)?;
    let wrong = || {
        serde::de::Error::custom(format!(
            "`{word}` is no way to tell a model its effort; use adaptive, between-tools, budget, level, switch, object or \
             template"
        ))
    };
    EffortForm::parse(&word).map(Some).ok_or_else(wrong)
}

fn inputs<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Input>>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    let wrong = |word: &str| {
        let known = Input::ALL.map(Input::as_str).join(", ");
        serde::de::Error::custom(format!("`{word}` is not a kind of input; use {known}"))
    };
    words.iter().map(|word| Input::parse(word).ok_or_else(|| wrong(word))).collect::<Result<_, _>>().map(Some)
}

fn refused_fields<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Field>>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    let wrong = |word: &str| {
        let known = Field::ALL.map(Field::as_str).join(", ");
        serde::de::Error::custom(format!("`{word}` is not a field that can be left out; use {known}"))
    };
    words.iter().map(|word| Field::parse(word).ok_or_else(|| wrong(word))).collect::<Result<_, _>>().map(Some)
}
