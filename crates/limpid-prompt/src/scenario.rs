//! Scenarios: inputs whose rendered prompt is a reviewed snapshot.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::count::FixedCounter;
use crate::inputs::Inputs;
use crate::profile::Profile;
use crate::prompt::{OfferedTool, Part, Prompt, PromptMessage};
use crate::render::RenderRequest;

/// The inputs of `docs/spec/inputs.example.json`, which a scenario may build on.
pub const EXAMPLE_INPUTS: &str = include_str!("../data/inputs.example.json");

/// A TOML value that takes a field of the base away.
const ABSENT: &str = "$absent";

/// Inputs and the paths to render them on.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    name: String,
    about: Option<String>,
    paths: Paths,
    inputs: Inputs,
    /// The inputs that its file gives, those of its base included.
    given: BTreeSet<String>,
}

/// One rendered path of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The file's name, to stand in `snapshots/`: `<scenario>@<path>.md`.
    pub file: String,
    /// What it says: the messages and the report, or why the path cannot be rendered.
    pub text: String,
    /// Why the path cannot be rendered.
    pub problem: Option<String>,
}

/// What is wrong with a scenario file.
#[derive(Debug, thiserror::Error)]
#[error("scenario {name}: {problem}")]
pub struct ScenarioError {
    name: String,
    problem: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Paths {
    All,
    Some(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: Option<String>,
    path: Option<String>,
    paths: Option<PathsValue>,
    base: Option<String>,
    #[serde(default)]
    inputs: toml::Table,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PathsValue {
    Word(String),
    List(Vec<String>),
}

impl Scenario {
    /// Reads the text of `scenarios/<name>.toml`.
    ///
    /// # Errors
    /// TOML that cannot be read, an unknown key, base or input, or no path.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let error = |problem: String| ScenarioError { name: name.to_owned(), problem };
        let file: File = toml::from_str(text).map_err(|source| error(source.to_string()))?;
        let paths = paths(file.path, file.paths).map_err(error)?;
        let mut inputs = match file.base.as_deref() {
            None => Value::Object(Map::new()),
            Some("example") => serde_json::from_str(EXAMPLE_INPUTS).map_err(|source| error(source.to_string()))?,
            Some(other) => return Err(error(format!("unknown base `{other}`; the only one is \"example\""))),
        };
        lay_over(&mut inputs, toml::Value::Table(file.inputs));
        let given = inputs.as_object().into_iter().flatten();
        let given = given.filter(|(_, value)| !value.is_null()).map(|(field, _)| field.clone()).collect();
        let inputs = serde_json::from_value(inputs).map_err(|source| error(format!("[inputs]: {source}")))?;
        Ok(Self { name: name.to_owned(), about: file.about, paths, inputs, given })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it shows, in a sentence. Of the scenarios that ship, those that have one are the owner's to run.
    pub fn about(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// Whether its file gives an input, or the base that it names does.
    pub fn gives(&self, field: &str) -> bool {
        self.given.contains(field)
    }

    /// The same with what an owner says of their agent, as far as its file does not say it: the agent's name, the soul,
    /// the safety rules, and the instructions of the settings.
    #[must_use]
    pub fn with_owners(mut self, owners: &Inputs) -> Self {
        if !self.gives("agent_name") {
            self.inputs.agent_name.clone_from(&owners.agent_name);
        }
        if !self.gives("soul") {
            self.inputs.soul.clone_from(&owners.soul);
        }
        if !self.gives("safety") {
            self.inputs.safety.clone_from(&owners.safety);
        }
        if !self.gives("additional_instructions") {
            self.inputs.additional_instructions.clone_from(&owners.additional_instructions);
        }
        if !self.gives("use_sanity_checks") {
            self.inputs.use_sanity_checks = owners.use_sanity_checks;
        }
        for field in ["soul", "safety", "additional_instructions"] {
            if let Some(origin) = owners.origins.get(field).filter(|_| !self.gives(field)) {
                self.inputs.origins.entry(field.to_owned()).or_insert_with(|| origin.clone());
            }
        }
        self
    }

    /// The inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The paths that it renders: those it names, or every path that the profile itself defines.
    pub fn paths(&self, profile: &Profile) -> Vec<String> {
        match &self.paths {
            Paths::Some(paths) => paths.clone(),
            Paths::All => {
                let own = |name: &str| name == profile.name() || profile.bases().any(|base| base == name);
                profile.paths().filter(|path| own(&path.profile)).map(|path| path.name.clone()).collect()
            }
        }
    }

    /// Renders one of its paths as a snapshot.
    pub fn snapshot(&self, profile: &Profile, path: &str, counter: &dyn FixedCounter) -> Snapshot {
        let request = RenderRequest { path, inputs: &self.inputs, counter, count_tokens: true };
        let (text, problem) = match profile.render(request) {
            Ok(prompt) => (text(&prompt), None),
            Err(problem) => (format!("<!-- cannot be rendered: {problem} -->\n"), Some(problem.to_string())),
        };
        Snapshot { file: format!("{}@{path}.md", self.name), text, problem }
    }

    /// Renders all of its paths.
    pub fn snapshots(&self, profile: &Profile, counter: &dyn FixedCounter) -> Vec<Snapshot> {
        self.paths(profile).iter().map(|path| self.snapshot(profile, path, counter)).collect()
    }
}

fn paths(path: Option<String>, paths: Option<PathsValue>) -> Result<Paths, String> {
    match (path, paths) {
        (Some(path), None) => Ok(Paths::Some(vec![path])),
        (None, Some(PathsValue::Word(word))) if word == "all" => Ok(Paths::All),
        (None, Some(PathsValue::Word(word))) => Err(format!("`paths = \"{word}\"`: write \"all\" or a list of paths")),
        (Some(path), Some(PathsValue::List(list))) => Ok(Paths::Some(std::iter::once(path).chain(list).collect())),
        (None, Some(PathsValue::List(list))) if !list.is_empty() => Ok(Paths::Some(list)),
        (Some(_), Some(PathsValue::Word(_))) => Err("write `path` or `paths = \"all\"`, not both".to_owned()),
        (None, _) => Err("it names no path; write `path = \"chat-remote\"`".to_owned()),
    }
}

/// Lays TOML over JSON: tables field by field, everything else in whole.
fn lay_over(base: &mut Value, over: toml::Value) {
    let toml::Value::Table(table) = over else {
        *base = json(over);
        return;
    };
    if !base.is_object() {
        *base = Value::Object(Map::new());
    }
    let Value::Object(object) = base else { return };
    for (key, value) in table {
        if value.as_str() == Some(ABSENT) {
            object.remove(&key);
        } else {
            lay_over(object.entry(key).or_insert(Value::Null), value);
        }
    }
}

fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, json(value))).collect(),
    }
}

/// The messages as they go over the wire, each behind a comment, and the report.
fn text(prompt: &Prompt) -> String {
    let mut out = String::new();
    for (n, message) in prompt.messages().iter().enumerate() {
        push(&mut out, format_args!("<!-- message {n}: {}, {} -->\n", message.role(), sizes(message)));
        out.push_str(message.text());
        out.push('\n');
        for call in message.calls() {
            push(&mut out, format_args!("<!-- call {}: {}({}) -->\n", call.id, call.name, call.arguments));
        }
        if let Some(id) = message.call_id() {
            push(&mut out, format_args!("<!-- answers {id} -->\n"));
        }
    }
    let names: Vec<&str> = prompt.tools().iter().map(OfferedTool::name).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    push(&mut out, format_args!("<!-- declared tools: {names} -->\n"));
    out.push_str("\n| section | outcome | bytes | tokens | origin | reason |\n|---|---|---|---|---|---|\n");
    for row in prompt.report() {
        let part = prompt.messages().iter().flat_map(PromptMessage::parts).find(|part| part.section() == row.section);
        let origin = part.filter(|_| row.bytes > 0).map_or("", |part| part.origin());
        let counts = row.kept.zip(row.dropped).filter(|(_, dropped)| *dropped > 0);
        let counts = counts.map_or_else(String::new, |(kept, dropped)| format!(" {kept} of {}", kept + dropped));
        let (tokens, reason) = (row.tokens.unwrap_or(0), row.reason.as_deref().unwrap_or(""));
        push(
            &mut out,
            format_args!(
                "| {} | {}{counts} | {} | {tokens} | {origin} | {} |\n",
                row.section,
                row.outcome.as_str(),
                row.bytes,
                reason.replace('|', "\\|")
            ),
        );
    }
    out
}

fn sizes(message: &PromptMessage) -> String {
    let tokens: Option<usize> = message.parts().iter().map(Part::tokens).sum();
    format!("{} bytes, {} tokens", message.text().len(), tokens.unwrap_or(0))
}

/// Writing to a text cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_specifications() {
        let spec = include_str!("../../../docs/spec/inputs.example.json");
        assert_eq!(EXAMPLE_INPUTS, spec, "copy docs/spec/inputs.example.json to crates/limpid-prompt/data/");
        serde_json::from_str::<Inputs>(spec).expect("the example is read as it stands");
    }

    #[test]
    fn inputs_are_laid_over_the_base_field_by_field() {
        let text = r#"
            path = "chat-remote"
            base = "example"
            [inputs]
            soul = "Dry."
            goal = "$absent"
            memory = { general = [] }
        "#;
        let scenario = Scenario::parse("dry", text).expect("it is a scenario");
        let inputs = scenario.inputs();
        assert_eq!(inputs.soul.as_deref(), Some("Dry."));
        assert!(inputs.goal.is_none() && inputs.memory.general.is_empty());
        assert_eq!(inputs.memory.preference.len(), 1, "what is not named stays");
    }

    // PRO-054
    #[test]
    fn an_owners_words_stand_where_the_scenario_says_nothing() {
        let owners = Inputs {
            agent_name: "Ada".to_owned(),
            soul: Some("Dry.".to_owned()),
            safety: Some("Ask.".to_owned()),
            origins: [("soul".to_owned(), "home:soul.md".to_owned())].into(),
            ..Inputs::default()
        };
        let scenario = |inputs: &str| {
            let text = format!("about = \"A greeting.\"\npath = \"chat-remote\"\n[inputs]\n{inputs}");
            Scenario::parse("hello", &text).expect("it is a scenario").with_owners(&owners)
        };
        let open = scenario("");
        let inputs = open.inputs();
        assert_eq!((open.about(), inputs.agent_name.as_str()), (Some("A greeting."), "Ada"));
        assert_eq!((inputs.soul.as_deref(), inputs.safety.as_deref()), (Some("Dry."), Some("Ask.")));
        assert_eq!(inputs.origins.get("soul").map(String::as_str), Some("home:soul.md"));

        let own = scenario("soul = \"Mild.\"");
        let inputs = own.inputs();
        assert_eq!((inputs.soul.as_deref(), inputs.safety.as_deref()), (Some("Mild."), Some("Ask.")));
        assert!(own.gives("soul") && !own.gives("safety") && inputs.origins.is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_scenario_is_said() {
        let problem = |text| Scenario::parse("x", text).expect_err("it is wrong").to_string();
        assert_eq!(problem(""), "scenario x: it names no path; write `path = \"chat-remote\"`");
        assert!(problem("path = \"a\"\nbase = \"b\"").ends_with("unknown base `b`; the only one is \"example\""));
        assert!(problem("path = \"a\"\n[inputs]\nsole = \"x\"").contains("unknown field `sole`"));
    }
}
