//! Budgets of groups, messages and whole prompts, over real profiles.

use std::sync::Arc;

use crate::support::{from_manifest, one_message, render, rows, system, try_render};
use limpid_prompt::inputs::{HistoryMessage, MemoryEntry, RoleName, ToolInput, TrustName};
use limpid_prompt::{Inputs, Outcome, Profile, Prompt, RenderError};
use proptest::prelude::*;

fn remembering(contents: &[&str]) -> Inputs {
    let entry = |content: &&str| MemoryEntry {
        key: "k".into(),
        content: (*content).into(),
        ..MemoryEntry::by(TrustName::Owner)
    };
    let mut inputs = Inputs::default();
    inputs.memory.general = contents.iter().map(entry).collect();
    inputs
}

const MEMORIES: &str = "entries: memory.general\nentry: \"- {{ content }}\"\n";

/// One system message with a budget of its own.
fn budgeted(budget: &str, sections: &[(&str, &str)]) -> Arc<Profile> {
    let names: Vec<String> = sections.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let list = names.join(", ");
    let manifest = format!(
        "title = \"Own\"\nabout = \"For a test.\"\n[path.chat-remote]\nabout = \"Chat.\"\nmessages = [{{ role = \
         \"system\", sections = [{list}], budget = {budget} }}]\n"
    );
    from_manifest(&manifest, sections)
}

// PRO-020
#[test]
fn a_group_is_limited_in_tokens_characters_or_bytes() {
    let rows = |limit: &str, contents: &[&str]| {
        let budget = format!("[budget.memories]\nlimit = {{ {limit} }}\noverflow = \"stop\"\n");
        let section = format!("{MEMORIES}budget: memories\n---\n# M\n{{{{ entries }}}}");
        rows(&render(&one_message(&budget, &[("memories", &section)]), &remembering(contents)))
    };
    // The join and the heading are 6 characters, an entry `- é` with its line break 4 characters and 5 bytes.
    assert_eq!(rows("chars = 14", &["é", "é"]), ["memories included 13 2/2"]);
    let cut = "memories trimmed 8 1/2 (budget memories of 14 bytes: 8 of 13 bytes are left, mostly of memory:k)";
    assert_eq!(rows("bytes = 14", &["é", "é"]), [cut]);
    let none = "memories dropped 0 0/2 (budget memories of 3 tokens: 13 bytes went)";
    assert_eq!(rows("tokens = 3", &["é", "é"]), [none]);
}

// PRO-020 PRO-021
#[test]
fn a_message_over_its_budget_loses_what_goes_first() {
    let sections = [
        ("rules", "Always tell the truth."),
        ("notes", "drop: 5\ntrim: paragraphs\n---\nOne two.\n\nThree four.\n\nFive six."),
        ("extra", "drop: 9\n---\nNobody misses this."),
        ("goal", "Not counted at all."),
    ];
    let text = |tokens: usize| {
        let budget = format!("{{ tokens = {tokens}, except = [\"goal\"] }}");
        system(&render(&budgeted(&budget, &sections), &Inputs::default())).to_owned()
    };
    let goal = "Not counted at all.";
    assert_eq!(
        text(13),
        format!("Always tell the truth.\n\nOne two.\n\nThree four.\n\nFive six.\n\nNobody misses this.\n\n{goal}")
    );
    assert_eq!(text(12), format!("Always tell the truth.\n\nOne two.\n\nThree four.\n\nFive six.\n\n{goal}"));
    assert_eq!(text(9), format!("Always tell the truth.\n\nOne two.\n\nThree four.\n\n{goal}"));
    assert_eq!(text(5), format!("Always tell the truth.\n\n{goal}"));
}

// PRO-020
#[test]
fn the_budget_of_a_path_counts_tools_and_history_too() {
    let manifest = |bytes: usize| {
        format!(
            "title = \"Own\"\nabout = \"For a test.\"\n[path.chat-remote]\nabout = \"Chat.\"\nbudget = {{ bytes = {bytes} }}\nmessages \
             = [{{ role = \"system\", sections = [\"rules\", \"extra\"] }}, {{ splice = \"history\" }}]\n"
        )
    };
    let tool = ToolInput { name: "clock".into(), description: "Tell the time.".into(), ..ToolInput::default() };
    let said = HistoryMessage { role: RoleName::User, content: "Hello".into(), ..HistoryMessage::by(TrustName::Owner) };
    let inputs = Inputs { tools: vec![tool], history: vec![said], ..Inputs::default() };
    let render = |bytes| {
        let profile = from_manifest(&manifest(bytes), &[("rules", "Rules."), ("extra", "drop: 1\n---\nExtra.")]);
        try_render(&profile, &inputs)
    };
    let whole = render(1000).unwrap();
    let size = whole.messages().iter().map(|message| message.text().len()).sum::<usize>() + whole.tool_bytes();
    assert_eq!(whole.tool_bytes(), r#"{"name":"clock","description":"Tell the time.","parameters":{}}"#.len());
    let exact = render(size).unwrap();
    assert_eq!((exact.messages(), exact.report()), (whole.messages(), whole.report()));
    assert_eq!(render(size - 1).unwrap().report()[1].outcome, Outcome::Dropped);
    let error = render(20).unwrap_err().to_string();
    assert_eq!(
        error,
        "path chat-remote: what must stay takes 74 of 20 bytes: tools 63, rules 6, history 5; shorten one of them, \
         move parts of it into a skill, take a lower tier's text, or give a section a `drop` number"
    );
}

// PRO-021 LES-003
#[test]
fn rules_stay_whole_until_rendering_fails_with_their_sizes() {
    let rules = "One rule.\n\nAnother rule.";
    let sections =
        [("rules", rules), ("notes", "drop: 3\ntrim: paragraphs\n---\nA.\n\nB.\n\nC."), ("tail", "drop: 7\n---\nD.")];
    let mut failed = false;
    for tokens in (0..=10).rev() {
        match try_render(&budgeted(&format!("{{ tokens = {tokens} }}"), &sections), &Inputs::default()) {
            Ok(prompt) => {
                assert!(!failed, "a smaller budget cannot fit again");
                assert!(system(&prompt).starts_with(rules), "{tokens}");
            }
            Err(RenderError::Overfull(full)) => {
                failed = true;
                assert!(tokens < 4, "{full}");
                assert_eq!((full.limit, full.needed), (tokens, 4));
                assert_eq!(full.sizes.len(), 1);
                assert_eq!((full.sizes[0].section.as_str(), full.sizes[0].size), ("rules", 4));
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(failed);
}

// PRO-021
#[test]
fn what_is_never_dropped_but_may_be_trimmed_gives_last() {
    let sections = [
        ("template", "trim: paragraphs\n---\nA a.\n\nB b.\n\nC c."),
        ("rules", "Rules."),
        ("extra", "drop: 1\n---\nE."),
    ];
    let text = |tokens: usize| {
        system(&render(&budgeted(&format!("{{ tokens = {tokens} }}"), &sections), &Inputs::default())).to_owned()
    };
    assert_eq!(text(7), "A a.\n\nB b.\n\nC c.\n\nRules.");
    assert_eq!(text(3), "A a.\n\nRules.");
    let error = try_render(&budgeted("{ tokens = 2 }", &sections), &Inputs::default()).unwrap_err();
    assert!(error.to_string().contains("takes 3 of 2 tokens"), "{error}");
}

// PRO-012 PRO-020
#[test]
fn a_limit_may_differ_by_tier_and_follow_the_window() {
    let sections = [("notes", "drop: 3\ntrim: paragraphs\n---\nA.\n\nB.\n\nC.\n\nD.")];
    let text = |tier: u8| {
        let profile = budgeted("{ tokens = [1, 2, 3, 4, 4] }", &sections);
        let inputs = Inputs { tier: Some(tier), ..Inputs::default() };
        system(&render(&profile, &inputs)).matches('.').count()
    };
    assert_eq!([1, 2, 3, 4, 5].map(text), [1, 2, 3, 4, 4]);
    let share = |window: u32| {
        let profile = budgeted("{ tokens = 4, window_percent = 10 }", &sections);
        let mut inputs = Inputs::default();
        inputs.model.usable_window = Some(window);
        system(&render(&profile, &inputs)).matches('.').count()
    };
    assert_eq!([10, 29, 30, 1000].map(share), [1, 2, 3, 4]);
}

// LES-004 PRO-023
#[test]
fn a_soul_of_50_kilobytes_gives_one_notice_with_file_kept_and_dropped_size() {
    let paragraph = "All work and no play makes a dull agent. ".repeat(12);
    let soul = vec![paragraph.trim(); 104].join("\n\n");
    let profile = budgeted(
        "{ tokens = 1000 }",
        &[("soul", "from: soul\ntrim: paragraphs\n---\nShipped."), ("rules", "Rules stay.")],
    );
    let mut inputs = Inputs { soul: Some(soul.clone()), ..Inputs::default() };
    inputs.origins.insert("soul".into(), "home:workspace/SOUL.md".into());
    let prompt = render(&profile, &inputs);
    let cuts: Vec<_> = prompt.cuts().collect();
    assert_eq!(cuts.len(), 1);
    let kept = system(&prompt).len() - "\n\nRules stay.".len();
    let (size, outcome) = (soul.len(), cuts[0].outcome);
    assert_eq!((outcome, cuts[0].kept, cuts[0].dropped), (Outcome::Trimmed, Some(9), Some(95)));
    let reason =
        format!("the message's 1000 tokens: {kept} of {size} bytes are left, mostly of home:workspace/SOUL.md");
    assert_eq!(cuts[0].reason.as_deref(), Some(reason.as_str()));
}

// PRO-071 PRO-021
#[test]
fn no_cut_opens_a_boundary() {
    let sections = [("said", "trim: paragraphs\ndrop: 2\n---\nHead.\n\n{{ user_message }}\n\nTail.")];
    for tokens in 1..20 {
        let inputs: Inputs = serde_json::from_value(serde_json::json!({
            "user_message": "a\n\nb\n\nc", "user_trust": "guest", "boundary": "0123456789abcdef",
        }))
        .unwrap();
        let prompt = render(&budgeted(&format!("{{ tokens = {tokens} }}"), &sections), &inputs);
        let count = |mark: &str| system(&prompt).matches(mark).count();
        assert_eq!(count("[untrusted "), count("[/untrusted "), "{tokens}: {}", system(&prompt));
    }
}

/// A section of a random profile: paragraphs or entries, with or without a group, a drop number and a trim.
fn section() -> impl Strategy<Value = String> {
    let drop =
        prop::option::of(1..=9u8).prop_map(|drop| drop.map_or_else(String::new, |drop| format!("drop: {drop}\n")));
    let trim = prop::sample::select(vec!["", "trim: paragraphs\n"]);
    let text = prop::collection::vec(1..9usize, 1..4)
        .prop_map(|words| words.iter().map(|n| vec!["word"; *n].join(" ")).collect::<Vec<_>>().join("\n\n"));
    let group = prop::sample::select(vec!["", "budget: memories\n"]);
    let lists = (drop.clone(), group, prop::sample::select(vec!["", "trim: entries\nkeep: 1\n"]))
        .prop_map(|(drop, group, trim)| format!("{MEMORIES}{group}{drop}{trim}---\n# Head\n{{{{ entries }}}}"));
    let texts = (drop, trim, text).prop_map(|(drop, trim, text)| format!("{drop}{trim}---\n{text}"));
    prop_oneof![texts, lists]
}

fn never(text: &str) -> bool {
    !text.contains("drop: ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    // PRO-022 PRO-023
    #[test]
    fn no_budget_is_exceeded_and_never_means_never(
        sections in prop::collection::vec(section(), 1..5),
        group in 0..40usize,
        message in 0..60usize,
        whole in 0..80usize,
        overflow in prop::sample::select(vec!["stop-all", "stop", "skip"]),
        contents in prop::collection::vec("[a-z ]{0,30}", 0..6),
    ) {
        let ids: Vec<String> = (0..sections.len()).map(|n| format!("s{n}")).collect();
        let list = ids.iter().map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(", ");
        let manifest = format!(
            "title = \"Own\"\nabout = \"For a test.\"\n[budget.memories]\nlimit = {{ tokens = {group} }}\noverflow = \
             \"{overflow}\"\n[path.chat-remote]\nabout = \"Chat.\"\nbudget = {{ tokens = {whole} }}\nmessages = [{{ role = \
             \"system\", sections = [{list}], budget = {{ tokens = {message} }} }}]\n"
        );
        let pairs: Vec<(&str, &str)> = ids.iter().map(String::as_str).zip(sections.iter().map(String::as_str)).collect();
        let profile = from_manifest(&manifest, &pairs);
        let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
        let inputs = remembering(&contents);
        match try_render(&profile, &inputs) {
            Err(RenderError::Overfull(full)) => {
                prop_assert!(full.needed > full.limit);
                prop_assert!(!full.sizes.is_empty());
            }
            Err(other) => prop_assert!(false, "{}", other),
            Ok(prompt) => {
                prop_assert!(prompt.totals().unwrap().total <= message.min(whole));
                check_report(&prompt, &sections)?;
            }
        }
    }
}

/// What may not be dropped is there, and what is not there whole says why.
fn check_report(prompt: &Prompt, sections: &[String]) -> Result<(), TestCaseError> {
    prop_assert_eq!(prompt.report().len(), sections.len());
    for (row, text) in prompt.report().iter().zip(sections) {
        let body = text.split_once("---\n").map_or("", |(_, body)| body);
        match row.outcome {
            Outcome::Included => prop_assert!(row.dropped.unwrap_or(0) == 0),
            Outcome::Skipped => prop_assert!(text.contains("entries:"), "only a list can be empty here"),
            Outcome::Trimmed => prop_assert!(row.dropped.unwrap() > 0 && row.kept.unwrap() > 0 && row.reason.is_some()),
            Outcome::Dropped => {
                let emptied = text.contains("entries:") && text.contains("budget:");
                prop_assert!(!never(text) || emptied, "{}", text);
                prop_assert!(row.reason.is_some() && row.bytes == 0);
            }
            Outcome::Shadowed => prop_assert!(false),
        }
        if never(text) && !text.contains("trim:") && !text.contains("entries:") {
            prop_assert!(system(prompt).contains(body), "{}", body);
        }
    }
    Ok(())
}
