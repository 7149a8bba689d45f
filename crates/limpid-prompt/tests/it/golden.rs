//! Helpers of the tests of shipped profiles.

use std::path::Path;
use std::sync::LazyLock;

use limpid_prompt::scenario::{EXAMPLE_INPUTS, Scenario};
use limpid_prompt::{Estimate, Inputs, Profiles, Prompt, RenderRequest};
use serde_json::Value;

static PROFILES: LazyLock<Profiles> = LazyLock::new(Profiles::shipped);

/// Renders a path of a shipped profile.
pub(crate) fn render(profile: &str, path: &str, inputs: &Inputs) -> Prompt {
    let profile = PROFILES.get(profile).unwrap_or_else(|error| panic!("{error}"));
    let request = RenderRequest { path, inputs, counter: &Estimate::default(), count_tokens: false };
    profile.render(request).unwrap_or_else(|error| panic!("{error}"))
}

/// The inputs of `docs/spec/inputs.example.json`.
pub(crate) fn example() -> Inputs {
    serde_json::from_str(EXAMPLE_INPUTS).unwrap()
}

/// The inputs of a scenario.
pub(crate) fn scenario(profile: &str, name: &str) -> Inputs {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("profiles/{profile}/scenarios/{name}.toml"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    Scenario::parse(name, &text).unwrap().inputs().clone()
}

/// Inputs with some fields replaced; null puts a field back to its default.
pub(crate) fn patched(inputs: Inputs, patch: Value) -> Inputs {
    let mut whole = serde_json::to_value(inputs).unwrap();
    lay_over(&mut whole, patch);
    serde_json::from_value(whole).unwrap()
}

fn lay_over(whole: &mut Value, patch: Value) {
    let (Value::Object(whole), Value::Object(patch)) = (whole, patch) else { return };
    for (field, value) in patch {
        match value {
            Value::Null => {
                whole.remove(&field);
            }
            Value::Object(_) if whole.get(&field).is_some_and(Value::is_object) => lay_over(&mut whole[&field], value),
            value => {
                whole.insert(field, value);
            }
        }
    }
}

/// The role of each message.
pub(crate) fn roles(prompt: &Prompt) -> Vec<&'static str> {
    prompt.messages().iter().map(|message| message.role().as_str()).collect()
}

/// The text of the system message.
pub(crate) fn system(prompt: &Prompt) -> String {
    assert_eq!(roles(prompt)[0], "system");
    prompt.messages()[0].text().to_owned()
}

/// The text of the newest user message.
pub(crate) fn user(prompt: &Prompt) -> String {
    let newest = prompt.messages().iter().rfind(|message| message.role().as_str() == "user").unwrap();
    newest.text().to_owned()
}

/// The names of the tools that are declared.
pub(crate) fn offered(prompt: &Prompt) -> Vec<String> {
    prompt.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

/// The second-level headings, in order.
pub(crate) fn headings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("## ")).collect()
}

/// Holds a text against a golden in which `‹…›` stands for prose: one or more lines without a second-level heading.
pub(crate) fn assert_golden(text: &str, golden: &str) {
    let golden = golden.strip_prefix('\n').unwrap();
    let mut rest = text;
    let mut literals = golden.split('‹');
    let first = literals.next().unwrap();
    rest = rest.strip_prefix(first).unwrap_or_else(|| panic!("expected {first:?} at the beginning of\n{rest}"));
    for literal in literals {
        let literal = literal.split_once('›').unwrap().1;
        let at = match literal {
            "" => rest.len(),
            literal => rest.find(literal).unwrap_or_else(|| panic!("expected {literal:?} in\n{rest}")),
        };
        // The last literal is the end of the text.
        let at = if rest.ends_with(literal) && golden.ends_with(&format!("›{literal}")) {
            rest.len() - literal.len()
        } else {
            at
        };
        let prose = &rest[..at];
        assert!(!prose.trim().is_empty(), "no prose before {literal:?} in\n{rest}");
        assert!(!prose.contains("\n## "), "a section too many before {literal:?}: {prose}");
        rest = &rest[at + literal.len()..];
    }
    assert!(rest.is_empty(), "more than the golden: {rest:?}");
}
