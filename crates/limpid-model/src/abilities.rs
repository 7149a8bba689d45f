//! What a model takes and refuses, as far as it is known.

use limpid_core::Effort;

use crate::remedy::Field;

/// What a model takes and refuses; absent is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Tokens that a reply may have at most, reasoning included.
    pub max_output: Option<u32>,
    /// Whether temperature, top_p and the like are taken.
    pub sampling: Option<bool>,
    /// When a tool can be forced.
    pub forced_tools: Option<ForcedTools>,
    /// Whether the arguments of tools are held to their schemas on demand (`strict`).
    pub strict_tools: Option<bool>,
    /// Whether it takes tools over Chat Completions only while it does not reason.
    pub tools_unreasoned: Option<bool>,
    /// Whether it takes declarations of tools that it reads only where a result names them.
    pub tool_search: Option<bool>,
    /// The levels of reasoning that it has.
    pub effort: Option<Vec<Effort>>,
    /// How it is told its level. Absent: as is usual in its protocol.
    pub effort_form: Option<EffortForm>,
    /// The level that the owner set for it.
    pub own_effort: Option<Effort>,
    /// The level that it has when none is asked for.
    pub effort_default: Option<Effort>,
    /// Whether reasoning is bounded by a number of tokens, because the model has no levels of its own.
    pub thinking_budget: Option<bool>,
    /// Whether its template writes the tag with which its reasoning begins, so that its text has only the closing one.
    pub opens_reasoning: Option<bool>,
    /// What it reads.
    pub inputs: Option<Vec<Input>>,
    /// Tokens below which the provider caches nothing.
    pub cache_minimum: Option<u32>,
    /// Whether places where the cache is written can be marked in OpenAI's protocols.
    pub cache_breakpoints: Option<bool>,
    /// The day (`2027-05-01`) on which it is switched off.
    pub retires: Option<String>,
    /// Fields of a request that it refuses.
    pub refuses: Option<Vec<Field>>,
}

/// When a model can be made to call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedTools {
    /// In every request.
    Always,
    /// Only while it does not reason.
    WithoutReasoning,
    /// Never: the request is refused.
    Never,
}

impl ForcedTools {
    /// The name, as `models.toml` writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::WithoutReasoning => "without-reasoning",
            Self::Never => "never",
        }
    }

    /// Reads a name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Always, Self::WithoutReasoning, Self::Never].into_iter().find(|when| when.as_str() == word)
    }
}

/// What a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Text.
    Text,
    /// Images.
    Image,
    /// PDF documents.
    Pdf,
    /// Speech and other sound.
    Audio,
}

impl Input {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Text, Self::Image, Self::Pdf, Self::Audio];

    /// The name, as `models.toml` writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Pdf => "pdf",
            Self::Audio => "audio",
        }
    }

    /// Reads a name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|input| input.as_str() == word)
    }
}

/// How a model is told how much to reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortForm {
    /// Anthropic: `thinking` is adaptive or disabled, beside a level.
    Adaptive,
    /// Anthropic: as [`EffortForm::Adaptive`], but the least reasoning is that between tool calls.
    BetweenTools,
    /// A number of tokens.
    Budget,
    /// The level's name.
    Level,
    /// On or off.
    Switch,
    /// Chat Completions: the level's name inside `reasoning`, as OpenRouter takes it.
    Object,
    /// Chat Completions: on or off as a variable of the chat template.
    Template,
}

impl EffortForm {
    const ALL: [Self; 7] =
        [Self::Adaptive, Self::BetweenTools, Self::Budget, Self::Level, Self::Switch, Self::Object, Self::Template];

    /// The name, as `models.toml` writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::BetweenTools => "between-tools",
            Self::Budget => "budget",
            Self::Level => "level",
            Self::Switch => "switch",
            Self::Object => "object",
            Self::Template => "template",
        }
    }

    /// Reads a name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == word)
    }

    /// Whether it tells only on from off.
    pub(crate) const fn is_switch(self) -> bool {
        matches!(self, Self::Switch | Self::Template)
    }
}

impl Abilities {
    /// The level that this model gets when `wanted` is asked for: one that it has. Where reasoning can only be on or off,
    /// every level but off means on.
    pub fn effort_for(&self, wanted: Effort) -> Effort {
        let levels = self.effort.as_deref().unwrap_or_default();
        let is_switch = self.effort_form.is_some_and(EffortForm::is_switch);
        let is_on = wanted > Effort::Off && levels.iter().any(|level| *level > Effort::Off);
        if is_switch && is_on { wanted } else { wanted.among(levels) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-020
    #[test]
    fn where_reasoning_is_only_on_or_off_every_level_means_on() {
        let levels = Some(vec![Effort::Off, Effort::High]);
        let model = Abilities { effort: levels, effort_form: Some(EffortForm::Switch), ..Abilities::default() };
        assert_eq!(Effort::ALL.map(|wanted| model.effort_for(wanted)), Effort::ALL);
        let named = Abilities { effort_form: Some(EffortForm::Level), ..model };
        assert_eq!([Effort::Low, Effort::Max].map(|wanted| named.effort_for(wanted)), [Effort::Off, Effort::High]);
        assert_eq!(Abilities::default().effort_for(Effort::Max), Effort::Default);
    }
}
