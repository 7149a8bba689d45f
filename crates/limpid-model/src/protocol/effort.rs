//! How much a model is to reason, in each protocol's words.

use limpid_core::Effort;
use serde::Serialize;

use crate::abilities::EffortForm;
use crate::wire::WireReasoning;

/// The most that every Gemini model takes as a budget.
const GEMINI_BUDGET: u32 = 24_576;

/// The least that Anthropic takes as a budget.
const ANTHROPIC_BUDGET: u32 = 1024;

/// Anthropic's `thinking`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    Enabled {
        budget_tokens: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    BetweenTools,
    Disabled,
}

/// Anthropic's `thinking` and its word for the level, for a reply of so many tokens.
pub(super) fn anthropic(reasoning: WireReasoning, max_tokens: u32) -> (Option<Thinking>, Option<&'static str>) {
    let display = reasoning.shown.then_some("summarized");
    let word = match reasoning.effort {
        Effort::Default | Effort::Off => None,
        Effort::Minimal | Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
        Effort::Xhigh => Some("xhigh"),
        Effort::Max => Some("max"),
    };
    match (reasoning.form, reasoning.effort) {
        (EffortForm::Budget, Effort::Default | Effort::Off) => (None, None),
        (EffortForm::Budget, effort) => {
            // The budget is part of the reply's limit, and the answer needs some of that too.
            let budget_tokens = effort.tokens().min(max_tokens / 4 * 3);
            let thinking = Thinking::Enabled { budget_tokens, display };
            (Some(thinking).filter(|_| budget_tokens >= ANTHROPIC_BUDGET), None)
        }
        (EffortForm::BetweenTools, Effort::Off) => (Some(Thinking::BetweenTools), None),
        (_, Effort::Off) => (Some(Thinking::Disabled), None),
        // Without a word about it nothing is changed, unless the model reasons anyway and would not show it.
        (_, Effort::Default) => {
            let shows = reasoning.reasons && display.is_some();
            (shows.then_some(Thinking::Adaptive { display }), None)
        }
        _ => (Some(Thinking::Adaptive { display }), word),
    }
}

/// `reasoning` of Responses, or of a Chat Completions server that takes such an object.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

/// `reasoning` of Responses.
pub(super) fn responses(reasoning: WireReasoning) -> Option<Reasoning> {
    let summary = (reasoning.reasons && reasoning.shown).then_some("auto");
    let effort = openai_word(reasoning.effort);
    (effort.is_some() || summary.is_some()).then_some(Reasoning { effort, summary })
}

/// What Chat Completions servers take, one of them at most.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Chat {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Switch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateVariables>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Switch {
    Enabled,
    Disabled,
}

#[derive(Debug, PartialEq, Serialize)]
struct TemplateVariables {
    enable_thinking: bool,
}

/// What a Chat Completions server takes.
pub(super) fn chat(reasoning: WireReasoning) -> Chat {
    let Some(word) = openai_word(reasoning.effort) else { return Chat::default() };
    let is_on = reasoning.effort != Effort::Off;
    match reasoning.form {
        EffortForm::Object => {
            Chat { reasoning: Some(Reasoning { effort: Some(word), summary: None }), ..Chat::default() }
        }
        EffortForm::Switch => {
            Chat { thinking: Some(if is_on { Switch::Enabled } else { Switch::Disabled }), ..Chat::default() }
        }
        EffortForm::Template => {
            Chat { chat_template_kwargs: Some(TemplateVariables { enable_thinking: is_on }), ..Chat::default() }
        }
        EffortForm::Level | EffortForm::Adaptive | EffortForm::BetweenTools | EffortForm::Budget => {
            Chat { reasoning_effort: Some(word), ..Chat::default() }
        }
    }
}

/// Gemini's `thinkingConfig`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    include_thoughts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
}

/// Gemini's `thinkingConfig`.
pub(super) fn gemini(reasoning: WireReasoning) -> Option<ThinkingConfig> {
    let is_budget = reasoning.form == EffortForm::Budget;
    let level = match reasoning.effort {
        Effort::Default => None,
        Effort::Off | Effort::Minimal => Some("MINIMAL"),
        Effort::Low => Some("LOW"),
        Effort::Medium => Some("MEDIUM"),
        Effort::High => Some("HIGH"),
        Effort::Xhigh | Effort::Max => Some("XHIGH"),
    };
    let config = ThinkingConfig {
        include_thoughts: (reasoning.reasons && reasoning.shown).then_some(true),
        thinking_level: level.filter(|_| !is_budget),
        thinking_budget: level.filter(|_| is_budget).map(|_| reasoning.effort.tokens().min(GEMINI_BUDGET)),
    };
    let says = config.include_thoughts.is_some() || level.is_some();
    says.then_some(config)
}

/// Ollama's `think`.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Think {
    Switch(bool),
    Level(&'static str),
}

/// Ollama's `think`.
pub(super) fn ollama(reasoning: WireReasoning) -> Option<Think> {
    let word = match reasoning.effort {
        Effort::Default => return None,
        Effort::Off => return Some(Think::Switch(false)),
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Xhigh | Effort::Max => "high",
    };
    Some(if reasoning.form == EffortForm::Level { Think::Level(word) } else { Think::Switch(true) })
}

fn openai_word(effort: Effort) -> Option<&'static str> {
    match effort {
        Effort::Default => None,
        Effort::Off => Some("none"),
        other => Some(other.as_str()),
    }
}
