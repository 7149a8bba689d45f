//! What is known of models that are sold today, and tables from public lists.

use limpid_core::{Effort, Usage};
use limpid_model::catalogue::{Head, ModelProfile, ModelProfiles, Table};
use limpid_model::protocol::Protocol;
use limpid_model::provider::presets;
use limpid_model::{
    Endpoint, FinishReason, ForcedTools, Input, Model as _, ModelEvent, RemoteModel, Sampling, ToolUse,
};
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, Rules, fields};
use serde_json::json;

use crate::support::{ask, call, endpoint, inputs, prompt};

fn known(name: &str) -> ModelProfile {
    let (provider, id) = name.split_once('/').unwrap();
    ModelProfiles::load(None).unwrap().get(provider, id)
}

fn head() -> Head {
    Head { date: "2026-11-23".to_owned(), source: "a list".to_owned() }
}

/// A day so many days after another.
fn later(day: &str, days: i64) -> String {
    use jiff::ToSpan as _;
    (day.parse::<jiff::civil::Date>().unwrap() + days.days()).to_string()
}

/// The defaults of presets that end before two more months are over.
fn ending(profiles: &ModelProfiles, released: &str) -> Vec<String> {
    let soon = later(released, 60);
    let defaults = presets().values().flat_map(|preset| preset.models.iter().map(|model| (&preset.name, model)));
    let retires = |(provider, model): &(&String, &String)| profiles.get(provider, model).abilities.retires;
    let ending = defaults.filter(|default| retires(default).is_some_and(|day| day <= soon));
    ending.map(|(provider, model)| format!("{provider}/{model}")).collect()
}

// MOD-122
#[test]
fn the_defaults_of_presets_are_sold_for_two_more_months() {
    let released = Table::shipped().head().date.clone();
    let profiles = ModelProfiles::load(None).unwrap();
    assert_eq!(ending(&profiles, &released), [""; 0], "name others in presets.toml");
    // The same on other days: one that has ended, one that ends too soon, one that is sold long enough.
    for (day, found) in [(-1, true), (0, true), (60, true), (61, false)] {
        let day = later(&released, day);
        let owner = format!("[[model]]\nnames = [\"openai/gpt-6-luna\"]\nretires = \"{day}\"\n");
        let profiles = ModelProfiles::load(Some(("models.toml", &owner))).unwrap();
        assert_eq!(ending(&profiles, &released).contains(&"openai/gpt-6-luna".to_owned()), found, "{day}");
    }
}

// MOD-122 MOD-126
#[test]
fn every_default_is_a_model_that_a_table_knows_and_that_calls_tools() {
    for preset in presets().values() {
        assert!(!preset.models.is_empty() || preset.key_variable.is_none(), "{} has no default", preset.name);
        for model in &preset.models {
            let profile = known(&format!("{}/{model}", preset.name));
            assert_eq!(profile.assumed, None, "{}/{model} is in no table", preset.name);
            let is_router = preset.name == "openrouter";
            assert!(profile.window.is_some() || is_router, "the window of {}/{model} is unknown", preset.name);
            let calls = profile.tools.is_none_or(|tools| tools.as_str() == "native");
            assert!(calls, "{}/{model} calls no tools", preset.name);
        }
    }
}

// MOD-122
#[test]
fn the_shipped_table_says_where_it_is_from() {
    let table = Table::shipped();
    assert_eq!(Head { date: "2026-11-23".to_owned(), source: "litellm 1.106.2".to_owned() }, *table.head());
    let again = Table::read("again", table.text().to_owned()).unwrap();
    assert_eq!(again.text(), table.text(), "it is written anew where its lines are not in the order of their names");
}

// MOD-121
#[test]
fn each_model_of_a_table_is_found_by_its_name() {
    let table = Table::shipped();
    let whole: serde_json::Value = serde_json::from_str(table.text()).unwrap();
    let names: Vec<&String> = whole["models"].as_object().unwrap().keys().collect();
    assert!(names.len() > 400);
    for name in names {
        for name in [name.clone(), name.to_uppercase(), format!("{name}-20991231"), format!("{name}@2099-12-31")] {
            assert!(table.has_row(&name), "{name}");
        }
        assert!(!table.has_row(&format!("{name}-nobody")), "{name}");
    }
    assert!(!table.has_row("") && !table.has_row("zzz") && !table.has_row("-"));
    let unsorted = "{\"form\":1,\"date\":\"\",\"source\":\"\",\"models\":{\n\"b/é\":{},\n\"A/b\":{},\n\"a/a\":{}\n}}\n";
    let table = Table::read("table", unsorted.to_owned()).unwrap();
    assert!(["a/a", "a/b", "b/é"].into_iter().all(|name| table.has_row(name)), "{}", table.text());
}

// MOD-120
#[test]
fn a_long_prompt_costs_what_long_prompts_cost() {
    let cost = |name: &str, input| known(name).price.unwrap().of(Usage { input, output: 1000, ..Usage::default() }).0;
    assert_eq!(cost("openai/gpt-6-sol", 200_000), 200_000 * 2 + 10_000);
    assert_eq!(cost("openai/gpt-6-sol", 300_000), 300_000 * 4 + 15_000);
    assert_eq!(cost("gemini/gemini-2.5-pro", 300_000), 300_000 * 5 / 2 + 15_000);
    assert_eq!(cost("minimax/MiniMax-M3", 300_000), 90_000 + 1_200);
    let written = known("anthropic/claude-sonnet-5-5").price.unwrap();
    assert_eq!((written.base.cache_written, written.base.cache_written_hour), (2.5, 4.0));
    let steps = known("alibaba/qwen3-max").price.unwrap();
    assert_eq!([10, 32_001, 200_000].map(|input| steps.rates(input).input), [1.2, 2.4, 3.0]);
    let spoken = known("gemini/gemini-2.5-flash").price.unwrap();
    assert_eq!((spoken.base.input, spoken.base.audio), (0.3, 1.0));
    assert_eq!(
        known("openai/gpt-6-sol").price_source.as_deref(),
        Some("https://developers.openai.com/api/docs/pricing")
    );
}

// MOD-120
#[test]
fn models_of_today_are_known_by_what_they_take_and_refuse() {
    let names = [
        "openai/gpt-6.1-sol",
        "openai/gpt-5",
        "openai/gpt-4.1",
        "anthropic/claude-fable-5-1",
        "anthropic/claude-opus-5-5",
        "anthropic/claude-haiku-5-5",
        "anthropic/claude-opus-4-6",
        "anthropic/claude-sonnet-4-5-20250929",
        "gemini/gemini-3.8-flash",
        "gemini/gemini-2.5-pro",
        "xai/grok-4.7",
        "deepseek/deepseek-v4-pro",
        "mistral/mistral-medium-latest",
        "groq/openai/gpt-oss-120b",
        "moonshot/kimi-k3",
        "zai/glm-5.3",
        "minimax/MiniMax-M3",
    ];
    let lines: Vec<String> = names.map(|name| line(&known(name))).to_vec();
    insta::assert_snapshot!(lines.join("\n"));
}

fn line(profile: &ModelProfile) -> String {
    let of = &profile.abilities;
    let effort = of.effort.iter().flatten().map(|level| level.as_str()).collect::<Vec<_>>().join(",");
    let inputs = of.inputs.iter().flatten().map(|input| input.as_str()).collect::<Vec<_>>().join(",");
    let (window, output) = (profile.window.map_or(0, |window| window.0), of.max_output.unwrap_or_default());
    format!(
        "{}/{} {window}/{output} {inputs} effort={effort} sampling={} forced={} cache={} bound={} ends={}",
        profile.provider,
        profile.id,
        of.sampling.map_or("?", |takes| if takes { "yes" } else { "no" }),
        of.forced_tools.map_or("?", ForcedTools::as_str),
        of.cache_minimum.unwrap_or_default(),
        profile.reasoning_bound.unwrap_or(true),
        of.retires.as_deref().unwrap_or("-"),
    )
}

// MOD-128
#[test]
fn a_newer_model_is_taken_to_be_like_its_family() {
    let newer = known("anthropic/claude-opus-6");
    let like = known("anthropic/claude-opus-5-5");
    assert_eq!(newer.assumed.as_deref(), Some("anthropic/claude-opus-5-5"));
    assert_eq!((newer.window, &newer.abilities), (like.window, &like.abilities));
    // What it costs is not assumed.
    assert_eq!(newer.price, None);
    for (name, like) in [
        ("anthropic/claude-sonnet-6-1", "anthropic/claude-sonnet-5-5"),
        ("anthropic/claude-something-6", "anthropic/claude-sonnet-5-5"),
        ("openai/gpt-7", "openai/gpt-6.1-sol"),
        ("openai/gpt-7-luna", "openai/gpt-6-luna"),
        ("gemini/gemini-3.9-flash", "gemini/gemini-3.8-flash"),
        ("xai/grok-5", "xai/grok-4.7"),
    ] {
        assert_eq!(known(name).assumed.as_deref(), Some(like), "{name}");
    }
    assert_eq!(known("openai/gpt-6.1-sol").assumed, None);
    assert_eq!(known("openai/gpt-6-sol-2026-09-22").assumed, None, "a dated name is the model itself");
    assert_eq!(known("house/gpt-7").assumed, None);
}

/// What the newest models of a maker refuse.
fn newest(provider: &str, id: &str) -> (Rules, Protocol, Vec<fields::FieldRule>) {
    match provider {
        "anthropic" => {
            // Haiku takes a forced tool.
            let forced = (!id.contains("haiku")).then_some(fields::ANTHROPIC_FORCED_TOOL);
            let refused = [fields::ANTHROPIC_SAMPLING].into_iter().chain(forced).collect();
            (Rules::AnthropicPreserved, Protocol::Anthropic, refused)
        }
        "openai" => {
            let refused =
                vec![fields::OPENAI_TEMPERATURE, fields::OPENAI_TOP_P, fields::OPENAI_MAX_TOKENS, fields::NO_SEED];
            (Rules::Responses, Protocol::OpenaiResponses, refused)
        }
        _ => (Rules::Gemini, Protocol::Gemini, Vec::new()),
    }
}

// MOD-128
#[tokio::test]
async fn a_strict_provider_takes_what_is_sent_to_models_newer_than_every_table() {
    let text = |provider: &str| match provider {
        "anthropic" => json!({"type": "text", "text": "Hi."}),
        "openai" => {
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]})
        }
        _ => json!({"text": "Hi."}),
    };
    for name in [
        "anthropic/claude-opus-6",
        "anthropic/claude-sonnet-6-1",
        "anthropic/claude-haiku-7",
        "anthropic/claude-novel-6",
        "openai/gpt-7",
        "openai/gpt-7-luna",
        "openai/gpt-6.5-astra",
        "gemini/gemini-3.9-flash",
        "gemini/gemini-5-neon",
    ] {
        let profile = known(name);
        assert!(profile.assumed.is_some(), "{name} is to be a name that no table has");
        let (rules, protocol, refused) = newest(&profile.provider, &profile.id);
        let server =
            Strict::refusing(rules, refused, vec![Answer::Content(vec![text(&profile.provider)])]).await.unwrap();
        let place = Endpoint { protocol, ..endpoint(&profile.provider, &server.url(), 5_000) };
        let model = RemoteModel::new(profile.card(), place).unwrap();
        for effort in [Effort::Default, Effort::Off, Effort::High, Effort::Max] {
            if rules == Rules::Responses && effort == Effort::Off {
                // That fake is a model that reasons.
                continue;
            }
            let mut call = call(prompt(&inputs()));
            call.sampling =
                Sampling { temperature: Some(0.2), top_p: Some(0.9), seed: Some(1), max_output: Some(2000) };
            call.tools = ToolUse::Must("look_up".to_owned());
            call.reasoning.effort = effort;
            let (events, error) = ask(&model, &call).await;
            assert_eq!(server.refused(), [""; 0], "{name} {effort:?}");
            let ended = events.iter().any(|event| matches!(event, ModelEvent::End(FinishReason::Stop)));
            assert!(ended && error.is_none(), "{name} {effort:?}: {events:?} {error:?}");
        }
        assert!(model.info().assumed.is_some());
    }
}

#[test]
fn a_family_is_like_a_model_that_is_listed() {
    for name in [
        "anthropic/claude-9",
        "openai/gpt-9",
        "openai/gpt-9-astra",
        "openai/gpt-5-x",
        "openai/gpt-4-x",
        "openai/o3-x",
        "gemini/gemini-9",
        "gemini/gemini-4-x",
        "gemini/gemini-3-pro-x",
        "gemini/gemini-2-x",
        "xai/grok-9",
        "deepseek/deepseek-9",
        "mistral/mistral-9",
        "moonshot/kimi-9",
        "zai/glm-9",
        "minimax/MiniMax-M9",
        "alibaba/qwen9",
    ] {
        let profile = known(name);
        assert!(profile.assumed.is_some() && profile.window.is_some(), "{name}");
    }
}

#[test]
fn a_model_behind_a_gateway_is_itself_but_for_its_price() {
    for (name, same) in [
        ("openrouter/anthropic/claude-opus-5.5", "anthropic/claude-opus-5-5"),
        ("bedrock/us.anthropic.claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("litellm/claude-sonnet-5-5", "anthropic/claude-sonnet-5-5"),
        ("openrouter/openai/gpt-6.1-sol", "openai/gpt-6.1-sol"),
    ] {
        let (there, here) = (known(name), known(same));
        assert_eq!((there.window, &there.abilities.effort), (here.window, &here.abilities.effort), "{name}");
        assert_eq!((there.price, there.assumed), (None, None), "{name}");
        assert!(here.window.is_some());
    }
}

const LITELLM: &str = r#"{
  "sample_spec": { "litellm_provider": "one of them", "mode": "chat" },
  "xai/grok-9": { "litellm_provider": "xai", "mode": "chat", "max_input_tokens": 1000, "max_output_tokens": 500.0,
    "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "supports_function_calling": true,
    "reasoning_effort_levels": ["none", "high", "huge"], "supports_reasoning": true, "deprecation_date": "soon" },
  "xai/painter": { "litellm_provider": "xai", "mode": "image_generation" },
  "xai/free": { "litellm_provider": "xai", "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0 },
  "xai/below": { "litellm_provider": "xai", "mode": "chat", "input_cost_per_token": -1, "output_cost_per_token": 1 },
  "xai/two\nlines": { "litellm_provider": "xai", "mode": "chat" },
  "xai/odd": { "litellm_provider": "xai", "mode": "chat", "max_input_tokens": "many", "input_cost_per_token": [1] },
  "elsewhere": { "litellm_provider": "nobody", "mode": "chat" },
  "xai/not-even": 7
}"#;

const MODELS_DEV: &str = r#"{
  "google": { "id": "google", "models": { "gemini-9-flash": {
    "id": "gemini-9-flash", "tool_call": true, "reasoning": true, "temperature": false,
    "modalities": { "input": ["text", "image", "video", "pdf"], "output": ["text"] },
    "limit": { "context": 2000, "output": 100 },
    "cost": { "input": 1, "output": 4, "cache_read": 0.1, "context_over_200k": { "input": 2, "output": 6 } } } } },
  "nobody": { "models": { "x": {} } }
}"#;

// MOD-120 MOD-121
#[test]
fn a_list_of_others_becomes_a_table() {
    let table = Table::import("prices.json", LITELLM, head()).unwrap();
    insta::assert_snapshot!(table.text());
    let table = Table::import("api.json", MODELS_DEV, head()).unwrap();
    insta::assert_snapshot!(table.text());
    let profile = ModelProfiles::load(None).unwrap().with_fetched(table).get("gemini", "gemini-9-flash");
    assert_eq!(profile.abilities.inputs, Some(vec![Input::Text, Input::Image, Input::Pdf]));
    assert_eq!(profile.assumed, None);
}

// MOD-121
#[test]
fn a_hostile_list_is_refused_or_harmless() {
    let deep = format!("{}{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    for (text, why) in [
        ("", "EOF"),
        ("[]", "expected a map"),
        ("{}", "neither models.dev"),
        ("{\"a\":{\"litellm_provider\":\"x\"}}", "names no model"),
        (deep.as_str(), "recursion limit"),
        ("{\"a\":1", "EOF"),
    ] {
        let error = Table::import("list.json", text, head()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let huge = " ".repeat(limpid_model::catalogue::LARGEST_LIST + 1);
    assert!(Table::import("list.json", &huge, head()).unwrap_err().to_string().contains("larger than 32 MB"));
}

#[test]
fn the_owners_word_stands_before_a_fetched_table_and_that_before_the_shipped_one() {
    let fetched =
        r#"{"form":1,"date":"2026-12-01","source":"s","models":{"xai/grok-4.7":{"window":77,"max_output":7}}}"#;
    let table = Table::read("data/models.json", fetched).unwrap();
    let owner = "[[model]]\nnames = [\"xai/grok-4.7\"]\nwindow = 99";
    let profile = ModelProfiles::load(Some(("models.toml", owner))).unwrap().with_fetched(table).get("xai", "grok-4.7");
    assert_eq!((profile.window.map(|window| window.0), profile.abilities.max_output), (Some(99), Some(7)));
    assert!(profile.price.is_some(), "what neither says is as it is shipped");
}

// MOD-121
#[test]
fn a_table_that_is_broken_is_refused() {
    for (text, why) in [
        ("", "EOF"),
        ("7", "expected struct"),
        (
            "{\"form\":2,\"date\":\"\",\"source\":\"\",\"models\":{}}",
            "not a table of models that this program can read",
        ),
        ("{\"form\":1,\"date\":\"\",\"source\":\"\",\"models\":[]}", "expected a map"),
    ] {
        let error = Table::read("data/models.json", text).unwrap_err().to_string();
        assert!(error.starts_with("data/models.json: ") && error.contains(why), "{error}");
    }
}

proptest::proptest! {
    // SEC-044
    #[test]
    fn any_list_gives_a_table_or_an_error(text in "(\\{|\\}|\"xai/a\":|\"litellm_provider\":\"xai\"|\"mode\":\"chat\"|,|\\PC){0,20}") {
        let _ = Table::import("list.json", &text, head());
        let _ = Table::read("table.json", text);
    }
}

#[test]
fn levels_are_in_order() {
    let of = known("openai/gpt-6-sol").abilities.effort.unwrap();
    assert!(of.is_sorted() && of.first() == Some(&Effort::Off));
}
