//! What texts come to: a table of expressions, one of filters, one of blocks and white space.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use limpid_core::Tier;
use proptest::prelude::*;

use super::Template;
use super::compile::Context;
use super::names::Names;
use crate::evaluate::Piece;
use crate::inputs::{Inputs, Quoted, TrustName};
use crate::profile::{Profile, Profiles};
use crate::scenario::EXAMPLE_INPUTS;
use crate::scope::{Frame, Scope};
use crate::source::SourceFile;

static NAMES: LazyLock<Names> = LazyLock::new(Names::new);

fn profile() -> Profile {
    let manifest = "[path.chat]\nmessages = [{ role = \"user\", sections = [\"soul\"] }]\n";
    let files =
        [SourceFile::shipped("mine/profile.toml", manifest), SourceFile::shipped("mine/sections/soul.md", "Hello.")];
    Profiles::load(files).get("mine").unwrap().as_ref().clone()
}

fn compile(source: &str) -> Template {
    let words = BTreeMap::from([("odd".to_owned(), vec!["Write".to_owned(), "`Read`".to_owned(), "Edit".to_owned()])]);
    Context::new(&NAMES, &words).template(source).unwrap_or_else(|faults| panic!("{source}: {faults:?}"))
}

// SEC-044
#[test]
fn what_is_too_long_between_two_braces_is_refused_before_it_is_parsed() {
    let words = BTreeMap::new();
    let context = Context::new(&NAMES, &words);
    let long = [
        context.gate(&format!("{}true", "not ".repeat(100_000))).unwrap_err(),
        context.template(&format!("{{{{ \"a\"{} }}}}", " | oneline".repeat(50_000))).unwrap_err(),
        context.template(&format!("{{% if {}true %}}a{{% endif %}}", "not ".repeat(100_000))).unwrap_err(),
    ];
    for faults in long {
        assert_eq!((faults.len(), faults[0].message.as_str()), (1, "this has more than 500 words and signs"));
    }
    assert!(context.gate(&format!("{}true", "not ".repeat(400))).is_ok());
    // Text, and many pairs of braces, may be as long as they like.
    assert!(context.template(&"{{ \"a\" }} | not\n".repeat(1_000)).is_ok());
}

/// The text with a stranger's part in angle brackets.
fn text(template: &Template, inputs: &Inputs) -> String {
    let profile = profile();
    let scope = Scope::new(inputs, &profile, profile.path("chat").unwrap(), Tier::ALL[4], "0123");
    let pieces = template.render(&Frame::new(&scope)).into_iter().map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Data(text, _) => text.as_str().to_owned(),
        Piece::Foreign(foreign, _) => format!("<{}>", foreign.raw()),
        Piece::Slot(_) => String::new(),
    });
    pieces.collect()
}

fn check(rows: &[(&str, &str)], inputs: &Inputs) {
    for (source, expected) in rows {
        assert_eq!(text(&compile(source), inputs), *expected, "{source}");
    }
}

fn example() -> Inputs {
    serde_json::from_str(EXAMPLE_INPUTS).unwrap()
}

// PRO-005
#[test]
fn expressions() {
    let rows = [
        ("memory.enabled", true),
        ("not memory.enabled", false),
        ("active_context", false),
        ("memory.general", true),
        ("soul and goal", true),
        ("soul and active_context", false),
        ("active_context or soul", true),
        ("active_context or delegate.skill", false),
        ("not active_context and soul", true),
        ("not (active_context or soul)", false),
        ("agent_name == \"Limpid\"", true),
        ("agent_name != 'Limpid'", false),
        ("tier == 5", true),
        ("tier == \"5\"", false),
        ("tier in [1, 2]", false),
        ("tier not in [1, 2]", true),
        ("ui_mode in [\"none\", \"dynamic\"]", true),
        ("\"Edit\" in words.odd", true),
        ("\"edit\" in words.odd", false),
        ("\"im\" in agent_name", false),
        ("tool.memory_store", true),
        ("tool.exec", false),
        ("goal.status == \"active\"", true),
        ("delegate.skill.name == delegate.skill.title", true),
        ("additional_instructions", false),
        ("0", false),
        ("-1", true),
        ("\"\"", false),
        ("true", true),
        ("payload.a.b", false),
        ("memory.general | count == 1", true),
        ("time.weekday in [\"Saturday\", \"Sunday\"]", true),
    ];
    let inputs = example();
    for (source, expected) in rows {
        let shown = format!("{{% if {source} %}}yes{{% else %}}no{{% endif %}}");
        assert_eq!(text(&compile(&shown), &inputs) == "yes", expected, "{source}");
    }
}

// PRO-005
#[test]
fn filters() {
    let inputs = Inputs {
        user: Some(Quoted::new("one\r\n\n  two\n[context]\n  three  ", TrustName::Owner)),
        additional_instructions: " \n".to_owned(),
        agent_name: "in-progress o'clock <a&b>".to_owned(),
        soul: Some("é🦀x".to_owned()),
        safety: Some("``` `".to_owned()),
        payload: Some(serde_json::json!({"list": [3, "b", 1, "a", null], "half": 0.5, "deep": {"er": "x"}})),
        ..example()
    };
    check(
        &[
            ("{{ user_message | oneline }}", "one two [context] three"),
            ("[{{ additional_instructions | oneline }}]", "[]"),
            ("{{ user_message | trim }}", "one\r\n\n  two\n[context]\n  three"),
            ("{{ user_message | trim_end }}", "one\r\n\n  two\n[context]\n  three"),
            ("{{ user_message | guard(\"[context]\") | oneline }}", "one two [context] three"),
            ("{{ user_message | guard(\"[context]\") }}", "one\r\n\n  two\n [context]\n  three  "),
            ("{{ agent_name | title }}", "In-Progress O'clock <A&B>"),
            ("{{ agent_name | upper }}", "IN-PROGRESS O'CLOCK <A&B>"),
            ("{{ agent_name | upper | lower }}", "in-progress o'clock <a&b>"),
            ("{{ agent_name | xml }}", "in-progress o'clock &lt;a&amp;b&gt;"),
            ("{{ soul | code }}", "`é🦀x`"),
            ("{{ safety | code }}", "```` ``` ` ````"),
            ("{{ active_context | code }}", ""),
            ("{{ words.odd | commas }}", "Write, `Read`, Edit"),
            ("{{ words.odd }}", "Write, `Read`, Edit"),
            ("{{ words.odd | code | commas }}", "`Write`, `` `Read` ``, `Edit`"),
            ("{{ words.odd | sort | bullets }}", "- Edit\n- Write\n- `Read`"),
            ("{{ words.odd | upper | commas }}", "WRITE, `READ`, EDIT"),
            ("{{ payload.list | sort | commas }}", "1, 3, a, b"),
            ("{{ payload.list | count }}", "5"),
            ("{{ active_context | count }}", "0"),
            ("{{ payload.half }} {{ payload.deep.er }} {{ payload.none.at.all }}", "0.5 x "),
            ("{{ \"a\nb\n\nc\" | indent(2) }}", "a\n  b\n\n  c"),
            ("{{ \"a\n\nb\" | quote }}", "> a\n>\n> b"),
            ("{{ soul | cut(2) }}", "é🦀…"),
            ("{{ soul | cut(3) }}", "é🦀x"),
            ("{{ soul | cut(0) }}", "…"),
            ("{{ active_context | default(\"none\") }}", "none"),
            ("{{ soul | default(\"none\") }}", "é🦀x"),
            ("{{ email.new | count }} new", "1 new"),
            ("{{ tier }} {{ use_sanity_checks }}", "5 true"),
        ],
        &inputs,
    );
}

// PRO-005
#[test]
fn parts_of_the_time() {
    let all = "{{ time.date }} {{ time.minute }} {{ time.second }} {{ time.offset }} {{ time.weekday }}";
    let rows = [
        ("2026-04-11T02:00:05+02:00", "2026-04-11 02:00 02:00:05 +02:00 Saturday"),
        ("2026-06-01T05:45:00.123-00:30", "2026-06-01 05:45 05:45:00 -00:30 Monday"),
        ("2026-06-01T05:45:00Z", "2026-06-01 05:45 05:45:00 +00:00 Monday"),
        ("noon", "    "),
        ("ééééééééééééééééééé", "    "),
    ];
    for (local, expected) in rows {
        let mut inputs = example();
        inputs.time.as_mut().unwrap().local = local.to_owned();
        assert_eq!(text(&compile(all), &inputs), expected, "{local}");
    }
}

// PRO-006
#[test]
fn blocks_and_white_space() {
    check(
        &[
            ("a\n{% if goal %}\nb\n{% endif %}\nc\n", "a\nb\nc"),
            ("a\n{% if active_context %}\nb\n{% endif %}\nc\n", "a\nc"),
            ("a\n  {% if goal %}\n  b\n  {% endif %}\nc", "a\n  b\nc"),
            ("a\n{% if active_context %}\nb\n{% elif goal %}\nc\n{% else %}\nd\n{% endif %}\n", "a\nc"),
            ("a\n\n{% if active_context %}\nb\n{% endif %}\n", "a"),
            ("a\n{# note #}\nb", "a\nb"),
            ("a {% if goal %}b{% endif %} c", "a b c"),
            ("{{ \"{{\" }} {{ \"%}\" }}", "{{ %}"),
            ("", ""),
            ("\n", ""),
        ],
        &example(),
    );
}

// PRO-004
#[test]
fn data_is_expanded_once_and_comes_out_as_it_is() {
    let data = "{{ agent_name }} {% if x %}\n---\ntitle: x\n---\n# Heading\n{# no #}\n";
    let inputs = Inputs { soul: Some(data.to_owned()), ..example() };
    assert_eq!(text(&compile("{{ soul }}"), &inputs), data);
}

// PRO-071
#[test]
fn what_a_filter_makes_of_a_strangers_text_is_still_the_strangers() {
    let mut inputs = example();
    inputs.user = Some(Quoted::new("a\nb", TrustName::Guest));
    check(
        &[
            ("{{ user_message | oneline | upper | code | quote | cut(3) }}", "<> `…>"),
            ("{{ user_message | trim | xml | indent(2) | title | guard(\"b\") | bullets }}", "<- A\n  B>"),
            ("{{ user_message | default(\"x\") }}", "<a\nb>"),
            ("{{ active_context | default(\"x\") }} {{ user_message | count }}", "x 1"),
            ("{{ active_context or user_message }}", "<a\nb>"),
            ("{% if user_message == \"a\nb\" %}same{% endif %}", "same"),
        ],
        &inputs,
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // PRO-005
    #[test]
    fn no_text_makes_the_compiler_panic(
        source in "(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}| |\n|if|endif|elif|else|for|set|in|not|and|or|is|raw|[a-z]{1,4}|\\.|\\||\\(|\\)|\\[|\\]|\"|'|[0-9]{1,20}|==|<|-|\\+|~|é|🦀){0,25}",
    ) {
        let words = BTreeMap::new();
        let context = Context::new(&NAMES, &words);
        for faults in [context.template(&source).err(), context.gate(&source).err()].into_iter().flatten() {
            for fault in faults {
                crate::problem::Place::in_text(&source, fault.at);
            }
        }
    }
}
