//! What is said about a prompt: the report, its JSON, its tables, what differs between two.

use crate::support::{from_manifest, one_message, render, render_path, rows, system};
use limpid_prompt::count::{Observation, Tally, WindowEstimate};
use limpid_prompt::diff::Change;
use limpid_prompt::inputs::WorkspaceFile;
use limpid_prompt::scenario::EXAMPLE_INPUTS;
use limpid_prompt::{Estimate, Inputs, Profiles, Prompt, RenderRequest, SourceFile, TokenCounter};

fn example() -> Inputs {
    serde_json::from_str(EXAMPLE_INPUTS).unwrap()
}

/// Every shipped profile's every path, with the example inputs.
fn shipped_prompts() -> Vec<Prompt> {
    let profiles = Profiles::shipped();
    let paths = profiles.iter().flat_map(|profile| profile.paths().map(move |path| (profile, &path.name)));
    paths.map(|(profile, path)| render_path(profile, path, &example())).collect()
}

// PRO-031
#[test]
fn every_section_has_a_row_with_its_outcome_and_the_reason() {
    let profile = one_message(
        "[budget.memories]\nlimit = { chars = 12 }\noverflow = \"stop-all\"\n",
        &[
            ("rules", "Rules."),
            ("safety", "when: safety\n---\nSafe."),
            ("soul", "from: soul\n---\nThe shipped soul."),
            ("context", "{{ active_context }}"),
            ("empty", "entries: memory.error\nentry: \"- {{ content }}\"\n---\n{{ entries }}"),
            ("memories", "entries: memory.general\nentry: \"- {{ content }}\"\nbudget: memories\n---\n{{ entries }}"),
            ("tastes", "entries: memory.preference\nentry: \"- {{ content }}\"\nbudget: memories\n---\n{{ entries }}"),
        ],
    );
    let inputs: Inputs = serde_json::from_value(serde_json::json!({
        "soul": "",
        "memory": { "general": [{ "content": "one" }, { "content": "two" }], "preference": [{ "content": "red" }] },
    }))
    .unwrap();
    assert_eq!(
        rows(&render(&profile, &inputs)),
        [
            "rules included 6",
            "safety skipped 0 (`safety` is false)",
            "soul skipped 0 (`soul` is empty)",
            "context skipped 0 (it has no text)",
            "empty skipped 0 (`memory.error` is empty)",
            "memories trimmed 5 1/2 (budget memories of 12 chars: 5 of 11 bytes are left, mostly of memory:)",
            "tastes dropped 0 0/1 (budget memories of 12 chars: 5 bytes went)",
        ]
    );
}

// PRO-031
#[test]
fn a_file_that_hides_a_shipped_one_is_said() {
    let own = SourceFile::home("limpid/sections/honesty.md", "---\ntitle: H\nwhy: W\n---\nBe true.\n");
    let profiles = Profiles::with_home([own]);
    let prompt = render_path(profiles.get("limpid").unwrap(), "chat-remote", &Inputs::default());
    let rows: Vec<String> = rows(&prompt).into_iter().filter(|row| row.starts_with("honesty")).collect();
    let reason =
        "home:profiles/limpid/sections/honesty.md stands in place of shipped:profiles/limpid/sections/honesty.md";
    assert_eq!(rows, ["honesty included 8".to_owned(), format!("honesty shadowed 0 ({reason})")]);
    assert!(system(&prompt).contains("Be true."));
}

// LES-006 LES-007
#[test]
fn files_of_the_workspace_are_used_or_listed_with_the_reason_and_missing_ones_leave_nothing() {
    let manifest = "title = \"Own\"\nabout = \"For a test.\"\n[order]\nfiles = [\"SOUL.md\", \"USER.md\", \"AGENTS.md\"]\n\
                    [path.chat-remote]\nabout = \"Chat.\"\nmessages = [{ role = \"system\", sections = [\"files\"] }]\n";
    let section = "entries: workspace.prompt_files\nentry: \"## {{ name }}\\n{{ content }}\"\njoin: \"\\n\\n\"\n---\n{{ entries }}";
    let profile = from_manifest(manifest, &[("files", section)]);
    let file = |name: &str, content: &str| WorkspaceFile { name: name.into(), content: content.into() };
    let mut inputs = Inputs::default();
    inputs.workspace.files = vec![file("TOOLS.md", "Tools."), file("SOUL.md", "Calm."), file("AGENTS.md", " \n")];
    let prompt = render(&profile, &inputs);
    assert_eq!(system(&prompt), "## SOUL.md\nCalm.");
    assert_eq!(
        rows(&prompt),
        [
            "files included 16 1/1",
            "workspace:AGENTS.md skipped 0 (it is blank)",
            "workspace:TOOLS.md skipped 0 (`[order] files` of the profile does not name it)",
        ]
    );
    let json = serde_json::to_string(&prompt).unwrap();
    assert!(!json.contains("USER.md"), "no byte mentions a file that is not there: {json}");
}

// LES-008 PRO-030
#[test]
fn origins_cover_every_byte_of_every_shipped_prompt() {
    for prompt in shipped_prompts() {
        for message in prompt.messages() {
            let mut rest = message.text();
            for part in message.parts() {
                let at = rest.find(part.text()).unwrap_or_else(|| panic!("{} is not in the text", part.section()));
                // Between parts stand only the joins that the profile sets.
                assert!(
                    rest[..at].chars().all(|c| c.is_whitespace() || c == '-'),
                    "{}: {:?}",
                    prompt.path(),
                    &rest[..at]
                );
                assert!(!part.origin().is_empty());
                assert!(!part.origin().contains(":/"), "never an absolute path: {}", part.origin());
                rest = &rest[at + part.text().len()..];
            }
            assert!(rest.trim().is_empty(), "{} {}: {rest:?} has no origin", prompt.profile(), prompt.path());
        }
    }
}

// PRO-072
#[test]
fn the_json_form_is_the_one_that_programs_rely_on() {
    let sections = [("rules", "Rules."), ("safety", "when: safety\n---\nSafe.")];
    let inputs: Inputs = serde_json::from_value(serde_json::json!({
        "tools": [{ "name": "clock", "description": "The time.", "schema": { "type": "object" } }],
        "history": [{ "role": "assistant", "calls": [{ "id": "c1", "name": "clock", "arguments": "{}" }] },
                    { "role": "tool", "content": "noon", "call_id": "c1", "trust": "owner", "id": 4 }],
    }))
    .unwrap();
    let prompt = render(&one_message("", &sections), &inputs);
    insta::assert_json_snapshot!(prompt);
}

// PRO-024 PRO-072
#[test]
fn what_counted_is_named_and_nothing_is_counted_unasked() {
    let profile = one_message("", &[("rules", "Four words stand here.")]);
    let inputs = Inputs::default();
    let seen = Observation { tally: Tally::of(&"Words. ".repeat(100)), reported: 210 };
    let counter = WindowEstimate::calibrated([seen; 9]);
    let request =
        RenderRequest { path: "chat-remote", inputs: &inputs, counter: &Estimate::default(), count_tokens: true };
    let counted = profile.render(request).unwrap();
    assert_eq!((counted.counter(), counted.totals().unwrap().total), ("estimate", 6));
    let counted = counted.counted_by(&counter);
    assert_eq!((counted.counter(), counted.totals().unwrap().total), ("estimate ×1.19 ±0 %", 7));
    assert_eq!(counted.totals().unwrap().total, counter.count(system(&counted)));
    let uncounted = profile.render(RenderRequest { count_tokens: false, ..request }).unwrap();
    assert_eq!(uncounted.totals(), None);
    assert_eq!(uncounted.messages()[0].parts()[0].tokens(), None);
    assert_eq!(uncounted.messages()[0].text(), counted.messages()[0].text());
}

// PRO-050 KOSHI-062
#[test]
fn the_table_has_every_section_and_says_which_to_shorten() {
    let sections = [
        ("soul", "from: soul\n---\nShipped."),
        ("rules", "Some rules that take more room."),
        ("none", "when: safety\n---\nS."),
    ];
    let inputs = Inputs { soul: Some("Calm.".into()), ..Inputs::default() };
    let prompt = render(&one_message("[behaviour]\nsystem_target = 20\n", &sections), &inputs);
    insta::assert_snapshot!(prompt.explain());
    assert_eq!(render(&one_message("", &sections), &inputs).advice(), None, "without a target nobody is told anything");
    assert_eq!(prompt.to_text(), "── 0 system, 38 bytes ──\nCalm.\n\nSome rules that take more room.\n");
}

// OLLM-014
#[test]
fn the_prompt_and_its_budgets_are_shares_of_the_window() {
    let files = [
        (
            "profile.toml",
            "title = \"Own\"\nabout = \"For a test.\"\n[path.chat-remote]\nabout = \"Chat.\"\nmessages = [\n  { role = \"system\", sections = [\"rules\"], budget = { tokens = 100 } },\n]\n",
        ),
        ("sections/rules.md", "---\ntitle: Rules\nwhy: For a test.\n---\nOne two three four."),
    ];
    let profile = crate::support::profile(&files);
    let mut inputs = Inputs::default();
    assert!(!render(&profile, &inputs).explain().contains("Window:"));
    (inputs.model.window, inputs.model.usable_window) = (Some(2000), Some(1700));
    let prompt = render(&profile, &inputs);
    let told = prompt.explain();
    assert!(told.contains("Window: 4 of 2000 tokens, 0.2 %; 1700 are usable.\n"), "{told}");
    assert!(told.contains("4 of 100 tokens (rules 4); the budget is 5 % of the window.\n"), "{told}");
    let json = serde_json::to_value(&prompt).unwrap();
    assert_eq!(json["window"], serde_json::json!({ "tokens": 2000, "usable": 1700, "percent": 0.2 }));
    assert_eq!(json["budgets"][0]["window_percent"], 5.0);
}

// PRO-032 PRO-044 LES-027
#[test]
fn a_diff_says_what_changed_and_where_the_common_prefix_ends() {
    let sections = [
        ("rules", "Rules."),
        ("soul", "from: soul\n---\nShipped."),
        ("context", "when: active_context\n---\n{{ active_context }}"),
    ];
    let profile = one_message("", &sections);
    let before = render(&profile, &Inputs { soul: Some("Calm.".into()), ..Inputs::default() });
    let inputs = Inputs { soul: Some("Cold.".into()), active_context: Some("At work.".into()), ..Inputs::default() };
    let diff = before.diff(&render(&profile, &inputs));
    let changes: Vec<_> = diff.sections.iter().map(|change| (change.section.as_str(), change.change)).collect();
    assert_eq!(changes, [("soul", Change::Changed), ("context", Change::Appeared)]);
    assert_eq!((diff.prefix.messages, diff.prefix.bytes), (0, "Rules.\n\nC".len()));
    assert_eq!(diff.prefix.broken_by.as_deref(), Some("soul"));
}

// PRO-030
#[test]
fn the_revision_changes_only_with_fixed_text() {
    let profile =
        |rules: &str| one_message("", &[("rules", rules), ("soul", "from: soul\nstability: session\n---\nShipped.")]);
    let soul = |text: &str| Inputs { soul: Some(text.into()), ..Inputs::default() };
    let revision = |rules: &str, inputs: &Inputs| render(&profile(rules), inputs).revision().to_owned();
    let first = revision("Rules.", &soul("Calm."));
    assert_eq!(first.len(), 16);
    assert_eq!(first, revision("Rules.", &soul("Wild.")));
    assert_ne!(first, revision("Rule.", &soul("Calm.")));
}
