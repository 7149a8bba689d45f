//! Provider state in prompts: who gets it back, behind what, and what it counts.

use crate::support::from_manifest;
use limpid_prompt::count::TokenCounter;
use limpid_prompt::inputs::{CallInput, HistoryMessage, RoleName, StateInput, StateReader, ToolInput, TrustName};
use limpid_prompt::render::prefix;
use limpid_prompt::{Estimate, Inputs, Prompt, PromptMessage, RenderRequest, StatePart};

fn render(inputs: &Inputs, rule: &str) -> Prompt {
    let manifest = "title = \"Own\"\nabout = \"For a test.\"\n[path.chat-remote]\nabout = \"Chat.\"\nmessages = [\n  { role = \
                    \"system\", sections = [\"rules\"] },\n  { splice = \"history\" },\n]\n";
    let profile = from_manifest(manifest, &[("rules", rule)]);
    let counter = Estimate::default();
    profile.render(RenderRequest { path: "chat-remote", inputs, counter: &counter, count_tokens: true }).unwrap()
}

fn state(model: &str, json: &str, after: Option<&str>) -> StateInput {
    let (protocol, model, json) = ("anthropic".to_owned(), model.to_owned(), json.to_owned());
    StateInput { protocol, model, json, after: after.map(str::to_owned), ..StateInput::default() }
}

fn said(role: RoleName, content: &str) -> HistoryMessage {
    HistoryMessage { role, content: content.to_owned(), ..HistoryMessage::by(TrustName::Owner) }
}

/// A model of a provider that reads state by this rule.
fn inputs(of_provider: bool, bound: bool) -> Inputs {
    let mut inputs =
        Inputs { tools: vec![ToolInput { name: "clock".to_owned(), ..ToolInput::default() }], ..Inputs::default() };
    inputs.model.provider = "anthropic".to_owned();
    inputs.model.id = "big".to_owned();
    inputs.model.state = StateReader { protocol: "anthropic".to_owned(), of_provider, bound };
    inputs
}

fn kept(prompt: &Prompt) -> Vec<&str> {
    prompt.messages().iter().flat_map(PromptMessage::state).map(StatePart::json).collect()
}

// MOD-003
#[test]
fn state_is_in_the_prompts_of_models_that_read_it_alone() {
    let states = vec![
        state("anthropic/big", "\"own\"", None),
        state("anthropic/small", "\"sister\"", None),
        state("other/big", "\"other\"", None),
    ];
    let history = vec![HistoryMessage { state: states, ..said(RoleName::Assistant, "Hi.") }];
    let with = |inputs: Inputs| render(&Inputs { history: history.clone(), ..inputs }, "Rules.");
    assert_eq!(kept(&with(inputs(false, false))), ["\"own\""]);
    assert_eq!(kept(&with(inputs(true, false))), ["\"own\"", "\"sister\""]);
    let mut foreign = inputs(true, false);
    foreign.model.state.protocol = "gemini".to_owned();
    assert_eq!(kept(&with(foreign)), [""; 0]);
    assert_eq!(kept(&with(Inputs::default())), [""; 0]);
}

// MOD-006
#[test]
fn bound_state_is_kept_until_the_first_change_and_from_new_state_on() {
    let mut inputs = inputs(true, true);
    let answer = |inputs: &mut Inputs, rules: &str, n: usize| {
        inputs.history.push(said(RoleName::User, &format!("Question {n}")));
        let after = prefix(&render(inputs, rules));
        let thought = state("anthropic/big", &format!("{n}"), Some(&after));
        inputs.history.push(HistoryMessage { state: vec![thought], ..said(RoleName::Assistant, "Answer.") });
    };
    for n in 0..3 {
        answer(&mut inputs, "Rules.", n);
    }
    assert_eq!(kept(&render(&inputs, "Rules.")), ["0", "1", "2"]);
    assert_eq!(kept(&render(&inputs, "Other rules.")), [""; 0]);
    let mut edited = inputs.clone();
    edited.history[2].content.push('!');
    assert_eq!(kept(&render(&edited, "Rules.")), ["0"]);
    let mut found = inputs.clone();
    found.tools.push(ToolInput { name: "radio".to_owned(), ..ToolInput::default() });
    assert_eq!(kept(&render(&found, "Rules.")), [""; 0]);
    // What is made behind the changed rules stays with them, and the old thoughts are those of the old rules.
    answer(&mut inputs, "Other rules.", 3);
    assert_eq!(kept(&render(&inputs, "Other rules.")), ["3"]);
    assert_eq!(kept(&render(&inputs, "Rules.")), ["0", "1", "2"]);
}

struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str) -> usize {
        text.len()
    }
}

// MOD-004
#[test]
fn state_is_a_part_of_its_own_and_the_parts_are_the_request() {
    let mut inputs = inputs(true, false);
    let call = CallInput { id: "c".into(), name: "clock".into(), arguments: "{}".into() };
    let thought = state("anthropic/big", "{\"secret\":\"thought\"}", None);
    inputs.history = vec![
        said(RoleName::User, "What time is it?"),
        HistoryMessage { calls: vec![call], state: vec![thought], ..said(RoleName::Assistant, "") },
        HistoryMessage { call_id: Some("c".into()), ..said(RoleName::Tool, "noon") },
    ];
    let prompt = render(&inputs, "Rules.").counted_by(&Bytes);
    let table = prompt.explain();
    let rows: Vec<(&str, usize)> = table
        .lines()
        .skip(1)
        .map_while(|line| {
            let cells: Vec<&str> = line.split_whitespace().collect();
            Some((*cells.first()?, cells.get(2)?.parse().ok()?))
        })
        .collect();
    let (total, parts) = rows.split_last().unwrap();
    assert_eq!(total.0, "total");
    assert_eq!(parts.iter().map(|(_, tokens)| tokens).sum::<usize>(), total.1, "{table}");
    assert_eq!(prompt.totals().unwrap().total, total.1);
    assert!(parts.contains(&("reasoning", 20)) && table.contains("model:reasoning"), "{table}");
    let shown = serde_json::to_string(&prompt).unwrap() + &prompt.to_text();
    assert!(shown.contains("model:reasoning") && !shown.contains("secret"), "{shown}");
}
