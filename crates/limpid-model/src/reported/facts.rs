//! What a row of a provider's list says, whichever words it uses.

use serde_json::{Map, Value, json};

use crate::catalogue::{day, tokens};
use crate::protocol::Protocol;

/// The tokens that a prompt may have, by whoever says so: Gemini; Anthropic and LiteLLM; vLLM; LM Studio of a loaded model;
/// OpenRouter, Together, Moonshot and others; Groq and Vercel; Mistral.
const WINDOW: [&str; 7] = [
    "inputTokenLimit",
    "max_input_tokens",
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
];

/// The tokens that a reply may have.
const OUTPUT: [&str; 3] = ["outputTokenLimit", "max_output_tokens", "max_completion_tokens"];

/// What a row says, under the names of `models.toml`.
pub(super) fn facts(row: &Value, protocol: Protocol) -> Map<String, Value> {
    let first = |names: &[&str], of: &Value| names.iter().find_map(|name| tokens(of.get(*name)));
    let window = tokens(row["meta"].get("n_ctx")).or_else(|| first(&WINDOW, row));
    let own = (protocol == Protocol::Anthropic).then(|| tokens(row.get("max_tokens"))).flatten();
    let output = own.or_else(|| first(&OUTPUT, row)).or_else(|| first(&OUTPUT, &row["top_provider"]));
    let mut facts = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    set("window", window.map(Value::from));
    set("max_output", output.map(Value::from));
    set("inputs", inputs(row).map(Value::from));
    set("tools", tools(row).map(|calls| if calls { json!("native") } else { json!("json") }));
    set("sampling", sampling(row).map(Value::from));
    set("retires", retires(row).map(Value::from));
    set("price", price(row));
    facts
}

fn inputs(row: &Value) -> Option<Vec<&'static str>> {
    let supported = |name: &str| row["capabilities"][name]["supported"].as_bool();
    let flag = |names: [&str; 2]| names.iter().find_map(|name| row[*name].as_bool());
    if let Some(kinds) = row["architecture"]["input_modalities"].as_array() {
        let has = |kind: &str| kinds.iter().any(|known| known == kind);
        let known = [("text", "text"), ("image", "image"), ("file", "pdf"), ("audio", "audio")];
        return Some(known.into_iter().filter(|(theirs, _)| has(theirs)).map(|(_, ours)| ours).collect());
    }
    let image = supported("image_input")
        .or_else(|| row["capabilities"]["vision"].as_bool())
        .or_else(|| flag(["supports_vision", "vision"]))
        .or_else(|| row["type"].as_str().filter(|kind| matches!(*kind, "vlm" | "llm")).map(|kind| kind == "vlm"))?;
    let pdf = supported("pdf_input").unwrap_or(false);
    let kinds = [("text", true), ("image", image), ("pdf", pdf)];
    Some(kinds.into_iter().filter(|(_, has)| *has).map(|(kind, _)| kind).collect())
}

/// Whether it calls tools, where that is said.
fn tools(row: &Value) -> Option<bool> {
    let lists = |list: &Value, words: [&str; 2]| {
        list.as_array().map(|all| all.iter().any(|word| words.iter().any(|w| word == w)))
    };
    row["supports_function_calling"]
        .as_bool()
        .or_else(|| row["capabilities"]["function_calling"].as_bool())
        .or_else(|| lists(&row["supported_parameters"], ["tools", "tool_choice"]))
        .or_else(|| row["chat_template_caps"]["supports_tool_calls"].as_bool())
        // llama.cpp's list says "completion" there, whatever the template is.
        .or_else(|| lists(&row["capabilities"], ["tools", "tool_use"]).filter(|_| row["meta"].is_null()))
}

fn sampling(row: &Value) -> Option<bool> {
    let takes = row["supported_parameters"].as_array()?;
    Some(["temperature", "top_p", "seed"].iter().all(|name| takes.iter().any(|word| word == name)))
}

/// The day from which on it is not served.
fn retires(row: &Value) -> Option<String> {
    let said = ["retires_at", "expiration_date", "deprecation"].into_iter().find_map(|name| day(row.get(name)));
    // Of one that has gone it need not be said when.
    let gone = (row["lifecycle"] == "retired").then(|| day(row.get("deprecated_at")).unwrap_or("2000-01-01"));
    let today_or_later = |said: &str| gone.is_none_or(|gone| said <= gone);
    said.filter(|said| today_or_later(said)).or(gone).map(str::to_owned)
}

/// The price that OpenRouter (and gateways like it) or LiteLLM says, in dollars for a million tokens.
fn price(row: &Value) -> Option<Value> {
    let pricing = &row["pricing"];
    let names = [
        ("input", &pricing["prompt"], "input_cost_per_token"),
        ("output", &pricing["completion"], "output_cost_per_token"),
        ("cached", &pricing["input_cache_read"], "cache_read_input_token_cost"),
        ("cache_written", &pricing["input_cache_write"], "cache_creation_input_token_cost"),
    ];
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse::<f64>().ok());
    let amount = |theirs: &Value, other: &str| {
        let dollars = number(theirs).or_else(|| number(&row[other]))?;
        (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * 1e12).round() / 1e6)
    };
    let amounts: Map<String, Value> = names
        .into_iter()
        .filter_map(|(ours, theirs, other)| Some((ours.to_owned(), json!(amount(theirs, other)?))))
        .collect();
    (amounts.contains_key("input") && amounts.contains_key("output")).then_some(Value::Object(amounts))
}
