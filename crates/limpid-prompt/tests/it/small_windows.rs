//! Prompts for models on this machine and for small windows.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use limpid_prompt::inputs::{Inputs, MemoryEntry, ToolInput, TrustName};
use limpid_prompt::{Estimate, Profiles, Prompt, RenderRequest, TokenCounter as _};

use crate::kit::{CHATS, TWENTY, exact};

static SHIPPED: LazyLock<Profiles> = LazyLock::new(Profiles::shipped);

fn render(profile: &str, path: &str, inputs: &Inputs) -> Prompt {
    let request = RenderRequest { path, inputs, counter: &Estimate::default(), count_tokens: false };
    SHIPPED.get(profile).unwrap().render(request).unwrap()
}

/// An agent with many memories and tools, and a model on this machine.
fn local() -> Inputs {
    let memory = |n: usize| MemoryEntry {
        key: format!("fact {n}"),
        content: "something that is worth keeping ".repeat(5),
        ..MemoryEntry::by(TrustName::Owner)
    };
    let extra = ["promote_learning", "read_email", "check_sms", "setup_email"];
    let tool = |name: &str| ToolInput { name: name.to_owned(), ..ToolInput::default() };
    let mut inputs =
        Inputs { tools: TWENTY.iter().chain(&extra).map(|name| tool(name)).collect(), ..Inputs::default() };
    inputs.model.local = true;
    inputs.model.tools = true;
    inputs.memory.enabled = true;
    inputs.memory.general = (0..60).map(memory).collect();
    inputs
}

fn system(prompt: &Prompt) -> &str {
    prompt.messages()[0].text()
}

// KAI-033 KAI-034
#[test]
fn a_model_on_this_machine_has_the_memory_and_the_tools_of_its_chat_on_every_path() {
    let inputs = local();
    let chat = render("kai", "chat-local", &inputs);
    let tools = |prompt: &Prompt| prompt.offered().iter().map(|tool| tool.name().to_owned()).collect::<BTreeSet<_>>();
    let remembered = |prompt: &Prompt| system(prompt).matches("- **fact ").count();
    assert!(remembered(&chat) > 0 && remembered(&chat) < 15);
    for path in ["heartbeat", "task"] {
        let prompt = render("kai", path, &inputs);
        assert_eq!(remembered(&prompt), remembered(&chat), "{path}");
        let own: Vec<String> = tools(&prompt).difference(&tools(&chat)).cloned().collect();
        let wanted: &[&str] =
            if path == "heartbeat" { &["cancel_task", "list_tasks", "promote_learning", "read_email"] } else { &[] };
        assert_eq!(own, wanted, "{path}");
    }
    let mut remote = inputs.clone();
    remote.model.local = false;
    assert_eq!(remembered(&render("kai", "heartbeat", &remote)), 60);
    assert!(tools(&render("kai", "task", &remote)).contains("write_file"));
}

// PRO-021 PRO-022
#[test]
fn sections_give_way_to_a_small_window_and_rules_stay() {
    for profile in ["limpid", "kai", "koshi", "ollm", "picoclaw"] {
        for (path, window) in CHATS.into_iter().take(2).flat_map(|path| [(path, 2048), (path, 32_768)]) {
            for tier in 1..=5 {
                let mut inputs = Inputs { tier: Some(tier), ..local() };
                inputs.model.local = path == "chat-local";
                inputs.model.window = Some(window);
                inputs.tools.truncate(3);
                let prompt = render(profile, path, &inputs);
                let tokens = prompt.totals_by(&Estimate::default()).total;
                assert!(tokens < window as usize / 2, "{profile} {path} {tier}: {tokens} of {window}");
            }
        }
    }
    let mut small = local();
    small.model.local = false;
    small.tools.truncate(3);
    small.model.window = Some(2048);
    let cut = render("kai", "chat-remote", &small);
    assert!(cut.cuts().any(|row| row.section == "memories-general" && row.kept > Some(0)), "{:?}", cut.report());
    assert!(system(&cut).contains("You are"));
}

/// Budgets are measured by an estimate; the texts that ship are no larger than it says, within a sixth.
// PRO-024 OLLM-105
#[test]
fn the_estimate_holds_for_every_text_that_ships() {
    for name in ["limpid", "kai", "koshi", "ollm", "picoclaw"] {
        let profile = SHIPPED.get(name).unwrap();
        for (path, mode) in profile.paths().flat_map(|path| profile.modes().map(move |mode| (path, mode))) {
            for tier in 1..=5 {
                let inputs = Inputs { mode: mode.to_owned(), tier: Some(tier), ..Inputs::default() };
                let request = RenderRequest {
                    path: &path.name,
                    inputs: &inputs,
                    counter: &Estimate::default(),
                    count_tokens: false,
                };
                let Ok(prompt) = profile.render(request) else { panic!("{name} {} {mode} {tier}", path.name) };
                for message in prompt.messages().iter().filter(|message| message.text().len() > 200) {
                    let (exact, estimate) = (exact(message.text()), Estimate::default().count(message.text()));
                    assert!(
                        exact * 6 <= estimate * 7,
                        "{name} {} {mode} {tier}: {exact}, estimated {estimate}",
                        path.name
                    );
                }
            }
        }
    }
}
