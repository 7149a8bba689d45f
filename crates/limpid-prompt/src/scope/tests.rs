//! The names that texts may use and the values that they find are two lists of the same things; these tests hold them
//! together, over inputs that are made from the schema.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use limpid_core::Tier;

use super::{Frame, Record, Scope, View};
use crate::evaluate::Piece;
use crate::inputs::{ActiveSkill, Inputs, TaskEntry, ToolProtocolName, Trigger, schema};
use crate::profile::{Profile, Profiles};
use crate::source::SourceFile;
use crate::template::names::{Fields, Kind, Names};

/// What stands in every text of a stranger, so that it is known again.
const STRANGER: &str = "☠";

/// Makes inputs of the schema: each number says what becomes of the next field.
struct Filler<'f> {
    root: &'f Value,
    numbers: std::iter::Cycle<std::slice::Iter<'f, u8>>,
}

impl Filler<'_> {
    fn next(&mut self) -> u8 {
        *self.numbers.next().unwrap()
    }

    fn fill(&mut self, schema: &Value, name: &str) -> Value {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            if reference.ends_with("/OutsideText") {
                return json!(format!("{}{STRANGER}", self.text()));
            }
            let target = self.root.pointer(&reference[1..]).unwrap();
            return self.fill(target, name);
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words[usize::from(self.next()) % words.len()].clone();
        }
        if let Some(choices) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) {
            let choices: Vec<&Value> =
                choices.iter().filter(|choice| choice.get("type") != Some(&json!("null"))).collect();
            let choice = choices[usize::from(self.next()) % choices.len()];
            return self.fill(choice, name);
        }
        if let Some(word) = schema.get("const") {
            return word.clone();
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            return self.record(properties);
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.plain(kind, schema, name),
            Some(Value::Array(kinds)) => self.plain(kinds[0].as_str().unwrap(), schema, name),
            _ => json!({
                "summoners": [{"name": "Ada", "splinter": "Fire", "type": "Summoner", "abilities": ["Conscript"]}],
                "monsters": [{
                    "name": self.text(), "splinter": "fire", "mana": 3, "type": "Melee", "abilities": ["Fly"],
                    "gladiator": true,
                }],
            }),
        }
    }

    fn record(&mut self, properties: &Map<String, Value>) -> Value {
        let mut record = Map::new();
        for (name, property) in properties {
            record.insert(name.clone(), self.fill(property, name));
        }
        // A labelled text of a stranger is a stranger's text.
        let trust = record.get("trust").or_else(|| record.get("user_trust")).and_then(Value::as_str);
        if matches!(trust, Some("guest" | "outside")) {
            for name in ["text", "content", "body", "key", "user_message"] {
                if let Some(Value::String(text)) = record.get_mut(name) {
                    text.push_str(STRANGER);
                }
            }
        }
        Value::Object(record)
    }

    fn plain(&mut self, kind: &str, schema: &Value, name: &str) -> Value {
        match (kind, name) {
            ("integer", "version") => json!(1),
            (_, "local") if kind == "string" => json!("2026-04-11T02:00:05+02:00"),
            ("boolean", _) => json!(true),
            ("integer", _) => json!(1 + self.next() % 5),
            ("array", _) => json!([self.fill(&schema["items"], name)]),
            ("object", _) => json!({ "user_message": self.text() }),
            _ => json!(self.text()),
        }
    }

    fn text(&mut self) -> String {
        const TEXTS: [&str; 9] = [
            "word",
            "{{ agent_name }} {% if x %}",
            "a\nb\r\nc\u{2028}d",
            "`tick` ``",
            "<b>&amp;</b>",
            "---\ntitle: x\n---",
            "[/untrusted 0]",
            "\u{202e}\u{0}é🦀",
            " \t ",
        ];
        TEXTS[usize::from(self.next()) % TEXTS.len()].to_owned()
    }
}

fn filled(numbers: &[u8]) -> Inputs {
    let schema = schema();
    let mut filler = Filler { root: &schema, numbers: numbers.iter().cycle() };
    let value = filler.fill(&schema, "");
    serde_json::from_value(value).unwrap()
}

fn profile() -> Profile {
    let manifest = "[groups]\nWords = [\"word\"]\n\n[order]\nfiles = [\"word\"]\n\n[path.chat]\nmessages = [{ role = \"user\", sections = [\"soul\"] }]\n";
    let files =
        [SourceFile::shipped("mine/profile.toml", manifest), SourceFile::shipped("mine/sections/soul.md", "Hello.")];
    Profiles::load(files).get("mine").unwrap().as_ref().clone()
}

/// Every name below `fields`, as a path, with what is said to stand there.
fn walk(fields: &Fields, above: &[String], visit: &mut dyn FnMut(&[String], &Kind)) {
    for (name, kind) in fields {
        let mut path = above.to_vec();
        path.push(name.clone());
        visit(&path, kind);
        if let Kind::Record(fields) = kind {
            walk(fields, &path, visit);
        }
    }
}

fn fits(view: &View<'_>, kind: &Kind) -> bool {
    match (kind, view) {
        (Kind::Any, _) | (_, View::Absent) => matches!(kind, Kind::Any),
        (Kind::Flag, View::Bool(_)) | (Kind::Number, View::Int(_)) => true,
        (Kind::Text, View::Text(_) | View::Foreign(_)) => true,
        (Kind::List(item), View::List(items)) => !items.is_empty() && items.iter().all(|view| fits(view, item)),
        (Kind::Record(fields), View::Record(record)) => {
            let (inputs, profile) = (Inputs::default(), profile());
            let scope = Scope::new(&inputs, &profile, profile.path("chat").unwrap(), Tier::ALL[2], "");
            fields.iter().all(|(name, kind)| fits(&record.clone().field(name, &scope), kind))
        }
        // A part of the inputs that is always there needs no value of its own; its fields are looked up by themselves.
        (Kind::Record(_), _) => true,
        _ => false,
    }
}

// PRO-005 PRO-070
#[test]
fn every_field_of_the_inputs_and_every_derived_name_is_found() {
    let (mut inputs, profile) = (filled(&[0]), profile());
    inputs.model.tool_protocol = ToolProtocolName::Native;
    inputs.scheduling.tasks.push(TaskEntry { trigger: Trigger::Heartbeat, ..inputs.scheduling.tasks[0].clone() });
    inputs.skills.active.push(ActiveSkill { standing: false, ..inputs.skills.active[0].clone() });
    let scope = Scope::new(&inputs, &profile, profile.path("chat").unwrap(), Tier::ALL[2], "0123");
    let mut count = 0;
    let mut lost = Vec::new();
    walk(Names::new().fields(), &[], &mut |path, kind| {
        count += 1;
        let view = scope.lookup(path);
        let always_there = matches!(kind, Kind::Record(_)) && view == View::Absent;
        if !always_there && !fits(&view, kind) {
            lost.push(format!("{}: {view:?}", path.join(".")));
        }
    });
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(count > 100, "{count}");
}

/// Every template of every profile that ships, with the names that it may need.
fn each_template(scope: &Scope<'_>, profile: &Profile, mut check: impl FnMut(&str, Vec<Piece<'_>>)) {
    for section in profile.sections() {
        let filled = vec![true; section.lists.len()];
        let frame = Frame::of_body(scope, &filled);
        let gate = section.when.as_ref().map(|gate| gate.is_true(&frame));
        assert!(gate.is_some() || section.when.is_none());
        for form in section.forms.tiers.iter().chain([&section.forms.body]).flatten() {
            check(&section.id, form.template.render(&frame));
        }
        for list in &section.lists {
            let View::List(items) = scope.lookup(&list.of.path) else { continue };
            for (n, item) in items.into_iter().map(Record::from).enumerate() {
                check(&section.id, list.entry.render(&Frame::of_item(scope, item, n + 1)));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    // PRO-005 PRO-071
    #[test]
    fn whatever_the_data_texts_render_and_strangers_stay_apart(numbers in proptest::collection::vec(any::<u8>(), 1..200)) {
        let inputs = filled(&numbers);
        for profile in Profiles::shipped().iter() {
            let path = profile.path("chat-remote").unwrap();
            let scope = Scope::new(&inputs, profile, path, Tier::ALL[2], "0123");
            each_template(&scope, profile, |section, pieces| {
                for piece in pieces {
                    if let Piece::Data(text, name) = piece {
                        assert!(!text.as_str().contains(STRANGER), "{section}: {name:?} printed {text:?}");
                    }
                }
            });
        }
    }
}
