//! The catalogue of models.dev (`api.json`).

use serde_json::{Map, Value, json};

use super::super::table::Row;
use super::{Facts, is_long_gone, tokens};

/// Its providers that are called otherwise here; the rest of [`SAME`] have the same name.
const RENAMED: [(&str, &str); 7] = [
    ("google", "gemini"),
    ("moonshotai", "moonshot"),
    ("togetherai", "together"),
    ("fireworks-ai", "fireworks"),
    ("github-models", "github"),
    ("amazon-bedrock", "bedrock"),
    ("zhipuai", "zai"),
];
const SAME: [&str; 14] = [
    "openai",
    "anthropic",
    "xai",
    "deepseek",
    "mistral",
    "groq",
    "zai",
    "minimax",
    "alibaba",
    "cerebras",
    "huggingface",
    "vercel",
    "azure",
    "openrouter",
];

pub(super) fn rows(list: &Map<String, Value>, today: &str) -> Vec<Row> {
    let providers = list.iter().filter_map(|(theirs, provider)| {
        let renamed = RENAMED.into_iter().find(|(name, _)| name == theirs).map(|(_, ours)| ours);
        let ours = renamed.or_else(|| SAME.into_iter().find(|name| name == theirs))?;
        Some((ours, provider["models"].as_object()?))
    });
    providers
        .flat_map(|(ours, models)| {
            models.iter().filter_map(move |(id, model)| Some((format!("{ours}/{id}"), facts(model, today)?)))
        })
        .collect()
}

fn facts(model: &Value, today: &str) -> Option<Map<String, Value>> {
    let kinds = |of: &str| model["modalities"][of].as_array();
    let answers = kinds("output").is_none_or(|kinds| kinds.iter().any(|kind| kind == "text"));
    if !model.is_object() || !answers || is_long_gone(model.get("retires"), today) {
        return None;
    }
    let flag = |key: &str| model[key].as_bool();
    let limit = &model["limit"];
    let mut facts = Facts::default();
    facts.set("window", tokens(limit.get("input")).or_else(|| tokens(limit.get("context"))));
    facts.set("max_output", tokens(limit.get("output")));
    let read = kinds("input").map(|kinds| {
        let known = ["text", "image", "pdf", "audio"];
        kinds.iter().filter(|kind| known.iter().any(|known| kind == known)).cloned().collect::<Vec<_>>()
    });
    facts.set("inputs", read.filter(|read| !read.is_empty()));
    facts.set("tools", flag("tool_call").map(|calls| if calls { "native" } else { "json" }));
    facts.set("sampling", flag("temperature"));
    facts.set("price", price(&model["cost"]));
    Some(facts.0)
}

fn price(cost: &Value) -> Option<Value> {
    let mut price = amounts(cost);
    let from = |key: &str| price.get(key).and_then(Value::as_f64).unwrap_or_default();
    if !price.contains_key("input") || from("input") + from("output") == 0.0 {
        return None;
    }
    let long = amounts(&cost["context_over_200k"]);
    if !long.is_empty() {
        let mut tier = long;
        tier.insert("above".to_owned(), json!(200_000));
        price.insert("tiers".to_owned(), json!([tier]));
    }
    Some(Value::Object(price))
}

fn amounts(cost: &Value) -> Map<String, Value> {
    let names = [
        ("input", "input"),
        ("cached", "cache_read"),
        ("cache_written", "cache_write"),
        ("audio", "input_audio"),
        ("output", "output"),
        ("reasoning", "reasoning"),
    ];
    let amount = |(ours, theirs): (&str, &str)| Some((ours.to_owned(), json!(cost[theirs].as_f64()?)));
    names.into_iter().filter_map(amount).collect()
}
