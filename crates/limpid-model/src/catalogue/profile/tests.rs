use limpid_core::Effort;
use proptest::prelude::*;

use super::*;
use crate::abilities::{EffortForm, ForcedTools};
use crate::remedy::Field;

fn profiles(owner: &str) -> ModelProfiles {
    ModelProfiles::load(Some(("models.toml", owner))).unwrap()
}

// LES-016 LES-076
#[test]
fn of_an_unknown_model_nothing_is_known_and_that_is_said() {
    let profile = profiles("").get("openai", "made-up");
    assert_eq!((profile.window, &profile.price, profile.tools), (None, &None, None));
    assert_eq!(profile.unknown(), ["window", "price"]);
    let card = profile.card();
    assert_eq!((card.window, card.usable_window, &card.price), (None, None, &None));
    assert_eq!(card.name(), "openai/made-up");
}

#[test]
fn a_known_model_has_its_window_and_its_price() {
    let profile = profiles("").get("anthropic", "claude-sonnet-4-5-20250929");
    assert_eq!(profile.window, Some(WindowSize(200_000)));
    assert_eq!(profile.card().usable_window, Some(UsableWindow(170_000)));
    let price = profile.price.clone().unwrap().base;
    assert_eq!((price.input, price.cached, price.cache_written, price.output), (3.0, 0.3, 3.75, 15.0));
    assert_eq!(profile.price_as_of.as_deref(), Some("2026-11-23"));
    assert!(profile.unknown().is_empty());
    assert_eq!(profiles("").get("local", "SmolLM2-135M-Instruct.Q4_1").tools, Some(ToolProtocol::None));
    assert_eq!(profiles("").get("openai", "gpt-5-mini").price.map(|price| price.base.input), Some(0.25));
}

// OLLM-017
#[test]
fn the_usable_window_is_the_profiles_value_or_else_85_percent() {
    let owner = "[[model]]\nnames = [\"x/a\"]\nwindow = 8192\n[[model]]\nnames = [\"x/b\"]\nwindow = 8192\n\
        usable_window = 7000";
    assert_eq!(profiles(owner).get("x", "a").card().usable_window, Some(UsableWindow(6963)));
    assert_eq!(profiles(owner).get("x", "b").card().usable_window, Some(UsableWindow(7000)));
}

#[test]
fn the_owners_fields_stand_before_the_shipped_ones_one_by_one() {
    let owner = "[[model]]\nnames = [\"openai/gpt-4o*\"]\nwindow = 64000\nprice = { output = 1.0 }";
    let profile = profiles(owner).get("openai", "gpt-4o");
    assert_eq!(profile.window, Some(WindowSize(64_000)));
    let price = profile.price.clone().unwrap().base;
    assert_eq!((price.input, price.cached, price.cache_written, price.output), (2.5, 1.25, 2.5, 1.0));
    assert_eq!(profile.tokenizer.as_deref(), Some("o200k"));
}

#[test]
fn the_longest_name_counts_first() {
    let owner = "[[model]]\nnames = [\"x/*\"]\nwindow = 1000\nvision = true\n[[model]]\nnames = [\"x/big*\"]\n\
        window = 2000";
    let profile = profiles(owner).get("x", "big-1");
    assert_eq!((profile.window, profile.vision), (Some(WindowSize(2000)), Some(true)));
}

// MOD-120
#[test]
fn what_a_model_takes_and_refuses_is_said_by_its_entries() {
    let owner = "[[model]]\nnames = [\"x/a\"]\nmax_output = 64_000\nsampling = false\nforced_tools = \"never\"\n\
        effort = [\"low\", \"high\"]\neffort_form = \"budget\"\nown_effort = \"low\"\n[[model]]\nnames = [\"x/*\"]\nsampling = true\ncache_minimum = 1024\n\
        retires = \"2027-05-01\"\nrefuses = [\"seed\", \"tool_choice\"]";
    let expected = Abilities {
        max_output: Some(64_000),
        sampling: Some(false),
        forced_tools: Some(ForcedTools::Never),
        effort: Some(vec![Effort::Low, Effort::High]),
        effort_form: Some(EffortForm::Budget),
        own_effort: Some(Effort::Low),
        cache_minimum: Some(1024),
        retires: Some("2027-05-01".to_owned()),
        refuses: Some(vec![Field::Seed, Field::ToolChoice]),
        ..Abilities::default()
    };
    assert_eq!(profiles(owner).get("x", "a").card().abilities, expected);
}

#[test]
fn a_wrong_file_is_refused_with_what_is_wrong() {
    let cases = [
        ("[[model]]\nnames = [\"x/y\"]\nwindw = 1", "unknown field `windw`"),
        ("[[model]]\nnames = [\"x/y\"]\ntools = \"maybe\"", "`maybe` is no way to call tools"),
        ("[[model]]\nnames = [\"x/y\"]\neffort = [\"huge\"]", "`huge` is not a level of effort"),
        ("[[model]]\nnames = [\"x/y\"]\nown_effort = \"huge\"", "`huge` is not a level of effort"),
        ("[[model]]\nnames = [\"x/y\"]\neffort_form = \"loud\"", "`loud` is no way to tell a model its effort"),
        ("[[model]]\nnames = [\"x/y\"]\nforced_tools = \"yes\"", "`yes` does not say when a tool can be forced"),
        ("[[model]]\nnames = [\"x/y\"]\nrefuses = [\"heat\"]", "`heat` is not a field that can be left out"),
        ("[[model]]\nnames = [\"gpt\"]", "`gpt` is no model's name"),
        ("[[model]]\nnames = [\"x/y\"]\nprice = { input = -1.0 }", "no amount of dollars"),
        ("[[model]]\nnames = [\"x/y\"]\nwindow = 10\nusable_window = 11", "larger than its window"),
    ];
    for (text, expected) in cases {
        let error = ModelProfiles::load(Some(("home/models.toml", text))).unwrap_err().to_string();
        assert!(error.starts_with("home/models.toml: ") && error.contains(expected), "{error}");
    }
}

proptest! {
    // SEC-044
    #[test]
    fn any_file_gives_profiles_or_an_error(text in "(\\[\\[model\\]\\]|\\[\\[download\\]\\]|names = |\\PC|\n){0,30}") {
        let _ = ModelProfiles::load(Some(("models.toml", &text)));
    }
}
