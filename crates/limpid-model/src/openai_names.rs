//! What is known of OpenAI's models by their names, whoever serves them.

use limpid_core::Effort;

use crate::abilities::EffortForm;
use crate::model::ModelCard;

/// Whether a model is one of OpenAI's that reason, whoever serves it: `gpt-5` and later, `o1` and later. They refuse
/// `max_tokens`.
pub(crate) fn is_openai_reasoning(model: &str) -> bool {
    let is_o = || own_name(model).strip_prefix('o').and_then(|rest| number(rest).map(|_| ())).is_some();
    gpt_version(model).is_some_and(|(major, _)| major >= 5) || is_o()
}

/// Whether a model, asked over Chat Completions, takes tools only with `reasoning_effort: "none"`: OpenAI's from `gpt-5.2`
/// on that have this level. Without the field they reason, and refuse the tools.
pub(crate) fn takes_tools_unreasoned(card: &ModelCard) -> bool {
    let is_level = card.abilities.effort_form.is_none_or(|form| form == EffortForm::Level);
    is_level && may_be_unreasoned(card) && gpt_version(&card.id).is_some_and(|version| version >= (5, 2))
}

/// Whether a model has the level without reasoning, as far as its levels are known.
pub(crate) fn may_be_unreasoned(card: &ModelCard) -> bool {
    card.abilities.effort.as_ref().is_none_or(|levels| levels.contains(&Effort::Off))
}

/// The name of a model without those of who serves it, in small letters.
fn own_name(model: &str) -> String {
    model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

/// The number with which a text begins, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

/// Both numbers of `gpt-5.6`.
fn gpt_version(model: &str) -> Option<(u32, u32)> {
    let name = own_name(model);
    let (major, rest) = number(name.strip_prefix("gpt-")?)?;
    let minor = rest.strip_prefix('.').and_then(number).map_or(0, |(minor, _)| minor);
    Some((major, minor))
}
