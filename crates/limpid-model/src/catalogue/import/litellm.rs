//! litellm's price file.

use serde_json::{Map, Value, json};

use super::super::table::Row;
use super::{Facts, is_long_gone, tokens};

/// litellm's providers that are taken, how their names begin there, and how they are called here.
const PROVIDERS: [(&str, &str, &str); 17] = [
    ("openai", "", "openai"),
    ("anthropic", "", "anthropic"),
    ("gemini", "gemini/", "gemini"),
    ("xai", "xai/", "xai"),
    ("deepseek", "deepseek/", "deepseek"),
    ("mistral", "mistral/", "mistral"),
    ("groq", "groq/", "groq"),
    ("moonshot", "moonshot/", "moonshot"),
    ("zai", "zai/", "zai"),
    ("minimax", "minimax/", "minimax"),
    ("dashscope", "dashscope/", "alibaba"),
    ("cerebras", "cerebras/", "cerebras"),
    ("together_ai", "together_ai/", "together"),
    ("fireworks_ai", "fireworks_ai/accounts/", "fireworks/accounts"),
    ("azure", "azure/", "azure"),
    ("bedrock_mantle", "bedrock_mantle/", "bedrock"),
    ("openrouter", "openrouter/", "openrouter"),
];

/// Names of models that answer no chat, though they are listed so.
const NO_CHAT: [&str; 10] =
    ["audio", "tts", "guard", "embed", "fim", "deep-research", "computer-use", "robotics", "ft:", "container"];

pub(super) fn rows(list: &Map<String, Value>, today: &str) -> Vec<Row> {
    list.iter().filter_map(|(name, row)| self::row(name, row, today)).collect()
}

fn row(name: &str, row: &Value, today: &str) -> Option<Row> {
    let provider = row["litellm_provider"].as_str()?;
    let (_, start, here) = PROVIDERS.into_iter().find(|(theirs, ..)| *theirs == provider)?;
    let id = name.strip_prefix(start).filter(|id| !id.is_empty() && *id != "container")?;
    let regional = matches!(here, "azure" | "bedrock") && id.contains('/');
    let answers = matches!(row["mode"].as_str(), Some("chat" | "responses"))
        && row["supported_output_modalities"].as_array().is_none_or(|kinds| kinds.iter().any(|kind| kind == "text"))
        && !NO_CHAT.iter().any(|word| id.contains(word));
    // The gateways that host everything list hundreds of models that nobody gives tools.
    let hosted = matches!(here, "together" | "fireworks/accounts");
    if regional || !answers || is_long_gone(row.get("deprecation_date"), today) || (hosted && !calls_tools(row)) {
        return None;
    }
    let flag = |key: &str| row[key].as_bool();
    let (provider, reasons) = (maker(here, id), flag("supports_reasoning") == Some(true));
    let mut facts = Facts::default();
    facts.set("window", tokens(row.get("max_input_tokens")).or_else(|| tokens(row.get("max_tokens"))));
    facts.set("max_output", tokens(row.get("max_output_tokens")));
    facts.set("inputs", Some(inputs(row)));
    facts.set("tools", flag("supports_function_calling").map(|calls| if calls { "native" } else { "json" }));
    // Claude reasons when it is asked to, but for those that always do.
    facts.set("thinking", Some(reasons && (provider != "anthropic" || flag("thinking_always_on") == Some(true))));
    facts.set("thinking_budget", (reasons && has_budget(provider, id, row)).then_some(true));
    facts.set("effort", efforts(provider, id, row).filter(|_| reasons));
    facts.set("effort_default", row["default_reasoning_effort"].as_str().and_then(level));
    facts.set("sampling", sampling(provider, reasons, row));
    facts.set("forced_tools", forced_tools(provider, id, row));
    facts.set("cache_minimum", tokens(row.get("prompt_cache_min_tokens")));
    facts.set("cache_breakpoints", flag("supports_prompt_cache_breakpoint"));
    facts.day("retires", row.get("deprecation_date"));
    let price = price(row);
    facts.set("source", row["source"].as_str().filter(|_| price.is_some()));
    facts.set("price", price);
    Some((format!("{here}/{id}"), facts.0))
}

fn calls_tools(row: &Value) -> bool {
    row["supports_function_calling"].as_bool() == Some(true)
}

/// Whose rules a model follows: its provider's, behind a host those of who made it.
fn maker<'p>(here: &'p str, id: &str) -> &'p str {
    match here {
        "azure" => "openai",
        "bedrock" if id.starts_with("openai.") => "openai",
        "bedrock" if id.starts_with("anthropic.") => "anthropic",
        other => other,
    }
}

fn inputs(row: &Value) -> Vec<&'static str> {
    let kinds = [("image", "supports_vision"), ("pdf", "supports_pdf_input"), ("audio", "supports_audio_input")];
    let more = kinds.into_iter().filter(|(_, key)| row[key].as_bool() == Some(true)).map(|(kind, _)| kind);
    ["text"].into_iter().chain(more).collect()
}

/// Whether reasoning is bounded by tokens: Claude up to 4.5 and Gemini 2.
fn has_budget(provider: &str, id: &str, row: &Value) -> bool {
    match provider {
        "anthropic" => row["supports_adaptive_thinking"].as_bool() != Some(true),
        "gemini" => id.starts_with("gemini-2"),
        _ => false,
    }
}

fn level(word: &str) -> Option<&'static str> {
    let words = ["minimal", "low", "medium", "high", "xhigh", "max"];
    if word == "none" { Some("off") } else { words.into_iter().find(|known| *known == word) }
}

/// The levels of reasoning, where they are listed or the provider's rule is known.
fn efforts(provider: &str, id: &str, row: &Value) -> Option<Vec<&'static str>> {
    if let Some(listed) = row["reasoning_effort_levels"].as_array() {
        return Some(listed.iter().filter_map(|word| level(word.as_str()?)).collect());
    }
    let flag = |key: &str| row[format!("supports_{key}_reasoning_effort")].as_bool();
    let all = |off: bool, minimal: bool| {
        let has = [
            ("off", off),
            ("minimal", minimal),
            ("low", flag("low") != Some(false)),
            ("medium", true),
            ("high", true),
            ("xhigh", flag("xhigh") == Some(true)),
            ("max", flag("max") == Some(true)),
        ];
        Some(has.into_iter().filter(|(_, has)| *has).map(|(level, _)| level).collect())
    };
    match provider {
        "openai" => all(flag("none") == Some(true), flag("minimal") == Some(true)),
        "anthropic" => all(row["thinking_always_on"].as_bool() != Some(true), false),
        // 2.5 Pro cannot be kept from reasoning; from 3 on there are levels, of which only Flash has the lowest.
        "gemini" if id.starts_with("gemini-2") => all(!id.contains("pro"), id.contains("pro")),
        "gemini" if id.starts_with("gemini-") => all(false, id.contains("flash") && flag("minimal") != Some(false)),
        "deepseek" | "zai" => Some(vec!["off", "high"]),
        _ => None,
    }
}

/// Whether sampling parameters are taken, where that is known.
fn sampling(provider: &str, reasons: bool, row: &Value) -> Option<bool> {
    row["supports_sampling_params"].as_bool().or(match provider {
        "openai" => Some(!reasons),
        "anthropic" | "gemini" => Some(true),
        _ => None,
    })
}

/// When a tool can be forced, where that is known.
fn forced_tools(provider: &str, id: &str, row: &Value) -> Option<&'static str> {
    match (row["supports_forced_tool_use"].as_bool(), row["supports_tool_choice"].as_bool()) {
        (Some(false), _) | (None, Some(false)) => Some("never"),
        (Some(true), _) => Some("always"),
        _ if provider == "anthropic" && has_budget(provider, id, row) => Some("without-reasoning"),
        _ if matches!(provider, "openai" | "anthropic" | "gemini" | "mistral" | "groq" | "xai") => Some("always"),
        _ => None,
    }
}

/// What the kinds of tokens are called here and there. A `*` is where the length of the prompt is put.
const AMOUNTS: [(&str, &str); 7] = [
    ("input", "input_cost_per_token*"),
    ("cached", "cache_read_input_token_cost*"),
    ("cache_written", "cache_creation_input_token_cost*"),
    ("cache_written_hour", "cache_creation_input_token_cost_above_1hr*"),
    ("audio", "input_cost_per_audio_token*"),
    ("output", "output_cost_per_token*"),
    ("reasoning", "output_cost_per_reasoning_token*"),
];

/// The price in dollars for a million tokens. One of nothing at all is taken to be unknown.
fn price(row: &Value) -> Option<Value> {
    let steps = row["tiered_pricing"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut price = amounts(steps.first().unwrap_or(row), "");
    let from = |key: &str| price.get(key).and_then(Value::as_f64).unwrap_or_default();
    if !price.contains_key("input") || from("input") + from("output") == 0.0 {
        return None;
    }
    let lengths = row.as_object()?.keys().filter_map(|key| key.strip_prefix("input_cost_per_token_above_"));
    let mut lengths: Vec<u64> =
        lengths.filter_map(|rest| rest.strip_suffix("k_tokens")?.parse().ok()).filter(|k| *k < 10_000).collect();
    lengths.sort_unstable();
    let listed = lengths.into_iter().map(|k| (k * 1000, amounts(row, &format!("_above_{k}k_tokens"))));
    let stepped = steps.iter().skip(1).filter_map(|step| {
        let above = tokens(step["range"].get(0))?;
        Some((u64::from(above), amounts(step, "")))
    });
    let tiers: Vec<Value> = listed
        .chain(stepped)
        .map(|(above, mut rates)| {
            rates.insert("above".to_owned(), json!(above));
            Value::Object(rates)
        })
        .collect();
    if !tiers.is_empty() {
        price.insert("tiers".to_owned(), Value::Array(tiers));
    }
    Some(Value::Object(price))
}

fn amounts(row: &Value, above: &str) -> Map<String, Value> {
    let amount = |(ours, theirs): (&str, &str)| {
        // Written to the cache for nothing is how some lists say that nothing is counted.
        let free = ours.starts_with("cache_written");
        let dollars = row[theirs.replace('*', above)].as_f64().filter(|dollars| *dollars > 0.0 || !free)?;
        let millionth = (dollars * 1e12).round() / 1e6;
        Some((ours.to_owned(), json!(millionth)))
    };
    let mut found: Map<String, Value> = AMOUNTS.into_iter().filter_map(amount).collect();
    for (kind, as_other) in [("audio", "input"), ("reasoning", "output")] {
        if found.get(kind).is_some_and(|amount| found.get(as_other) == Some(amount)) {
            found.remove(kind);
        }
    }
    found
}
