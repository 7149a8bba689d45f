//! The stream of what changes, as every surface gets it: what came of tasks, heartbeats and drafts, and which servers are
//! there.

use std::sync::Arc;

use crate::kit::effects::EffectTool;
use crate::kit::{Bench, all, last};
use limpid_core::goal::Priority;
use limpid_core::task::TaskKind;
use limpid_core::{Skill, ToolClass, WindowSize};
use limpid_prompt::count::{TokenCounter as _, WindowEstimate};
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, ConversationChoice, Event, EventKind, Tool};
use limpid_store::DraftId;
use tokio::sync::broadcast::Receiver;

const LAST: ConversationChoice = ConversationChoice::Last;

/// What was sent since it was asked last, as programs read it, without the ids of conversations.
fn heard(events: &mut Receiver<Event>) -> Vec<String> {
    let json = |event: Event| {
        let mut json = serde_json::to_value(&event).unwrap();
        json["conversation"] = json["conversation"].is_string().into();
        json.to_string()
    };
    std::iter::from_fn(|| events.try_recv().ok()).map(json).collect()
}

fn task(kind: TaskKind, prompt: &str) -> TaskRequest {
    TaskRequest {
        key: None,
        description: "Water".to_owned(),
        prompt: prompt.to_owned(),
        kind,
        when: When::In(3600),
        zone: None,
        missed: None,
        conversation: None,
    }
}

// OLLM-108 OLLM-110
#[tokio::test]
async fn what_comes_of_tasks_and_heartbeats_is_told_once() {
    let script = "[[reply]]\nstatus = 401\n[[reply]]\n\
                  calls = [{ id = \"d\", name = \"heartbeat_decision\", arguments = { action = \"quiet\" } }]\n";
    let bench = Bench::new(script).await;
    let agent = bench.agent();
    agent.tasks().add(task(TaskKind::Reminder, "Water the plants.")).await.unwrap();
    agent.tasks().add(task(TaskKind::Agent, "Water the plants.")).await.unwrap();
    let mut events = agent.subscribe();
    agent.jobs().run_task("1").await.unwrap();
    let reminded = heard(&mut events);
    agent.jobs().run_task("2").await.unwrap();
    let failed = heard(&mut events);
    agent.jobs().run_due().await.unwrap();
    assert_eq!(heard(&mut events), [""; 0], "nothing is due, nothing is told");
    agent.jobs().run_heartbeat().await.unwrap();
    let beaten = heard(&mut events);
    // What a run hides is nobody's news: its prompt, its tools.
    let all = [&reminded[..], &failed, &beaten].concat();
    assert!(!all.iter().any(|event| event.contains("-updated")), "{all:#?}");
    let about = |events: Vec<String>| -> String {
        let wanted =
            events.into_iter().filter(|event| ["task-ran", "heartbeat"].iter().any(|name| event.contains(name)));
        wanted.map(|event| format!("{event}\n")).collect()
    };
    insta::assert_snapshot!([reminded, failed, beaten].map(about).concat());
}

// OLLM-108 OLLM-110
#[tokio::test]
async fn each_step_of_a_draft_is_told_once() {
    let script = "[[reply]]\ncalls = [{ id = \"r\", name = \"read_page\" }]\n[[reply]]\n\
                  calls = [{ id = \"m\", name = \"send_mail\", arguments = { to = \"eve@example.com\" } }]\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = Bench::new(script).await;
    let mut options = bench.options();
    let (page, mail) = (EffectTool::outside("read_page"), EffectTool::new("send_mail", ToolClass::Send));
    options.tools = [page, mail].map(|tool| tool as Arc<dyn Tool>).into();
    let agent = Agent::open(options).unwrap();
    let mut events = agent.subscribe();
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let mut told: Vec<String> = heard(&mut events).into_iter().filter(|event| event.contains("draft")).collect();
    agent.drafts().approve(DraftId(1), None).await.unwrap();
    told.extend(heard(&mut events));
    assert!(agent.drafts().approve(DraftId(1), None).await.is_err());
    assert_eq!(heard(&mut events), [""; 0], "nothing changed, nothing is told");
    let state = |state: &str| {
        format!(r#"{{"conversation":true,"event":"draft-updated","draft":1,"tool":"send_mail","state":"{state}"}}"#)
    };
    assert_eq!(told, ["open", "approved", "sending", "sent"].map(state));
}

// OLLM-107 OLLM-108
#[tokio::test]
async fn a_server_is_told_when_its_first_prompt_comes_and_when_its_last_goes() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    let prompt = |name: &str| {
        let skill = Skill::new(name.parse().unwrap(), "d", "b");
        RegisteredPrompt::new(skill, PromptSource::Mcp { server: "desk".to_owned() }, "desk", 0)
    };
    let mut events = agent.subscribe();
    agent.skills().register(prompt("plan")).unwrap();
    agent.skills().register(prompt("tidy")).unwrap();
    agent.skills().forget_server("other");
    agent.skills().forget_server("desk");
    let told = |added: &str, removed: &str| {
        format!(r#"{{"conversation":false,"event":"active-mcp-updated","added":[{added}],"removed":[{removed}]}}"#)
    };
    assert_eq!(heard(&mut events), [told("\"desk\"", ""), told("", "\"desk\"")]);
}

/// What was told of new system prompts: why, in which tier and mode, and whether the owner reads that their own text was cut.
fn prompts(events: &mut Receiver<Event>) -> Vec<(String, u8, String, usize, bool)> {
    let told = |event: Event| match event.change {
        EventKind::SystemPromptUpdated { mode, tier, tokens, reason, trims, .. } => {
            Some((reason, tier, mode, tokens, trims.iter().any(|cut| cut.contains("additional"))))
        }
        _ => None,
    };
    std::iter::from_fn(|| events.try_recv().ok()).filter_map(told).collect()
}

// OLLM-004 OLLM-109
#[tokio::test]
async fn a_new_system_prompt_tells_why_it_is_new_its_size_and_what_was_cut() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 16384\ntools = \"native\"\n");
    bench.write("skills/tea/SKILL.md", "---\ndescription: Brew tea\n---\nSteep at 80 degrees.\n");
    bench.config.agent.profile = "ollm".to_owned();
    bench.config.prompt.additional_instructions = "Never shout, not even in the evening. ".repeat(60);
    let agent = bench.agent();
    let mut bus = agent.subscribe();
    let mut seen: Vec<(String, u8, String, bool)> = Vec::new();
    for step in 0..7 {
        let id = agent.directory().find(&LAST).await.unwrap().map(|found| found.id);
        let mut request = last("go on");
        match (step, id) {
            (1, _) => drop(agent.goals().create(&LAST, "Move the library", Priority::High).await.unwrap()),
            (2, _) => drop(agent.conversations().use_skills(&LAST, vec!["tea".to_owned()]).await.unwrap()),
            (3, _) => drop(agent.conversations().use_skills(&LAST, Vec::new()).await.unwrap()),
            (4, Some(id)) => drop(agent.conversations().set_window(&id, Some(WindowSize(4096))).await.unwrap()),
            (5, _) => bench.write("profiles/ollm/sections/core-mandates/tier1.md", "Be kind.\n"),
            (6, _) => request.profile = Some("kai".to_owned()),
            _ => {}
        }
        all(agent.chat(request).await.unwrap()).await;
        let sent = bench.server.calls().last().unwrap().system();
        let told = prompts(&mut bus);
        let counted = WindowEstimate::default().count(&sent);
        assert_eq!(told.last().map(|told| told.3), Some(counted), "{step}: the system prompt and nothing else");
        seen.extend(told.into_iter().map(|(reason, tier, mode, _, cut)| (reason, tier, mode, cut)));
    }
    let told: Vec<String> =
        seen.iter().map(|(reason, tier, mode, cut)| format!("{reason} {tier} {mode} cut: {cut}")).collect();
    let wanted = [
        "first 3 assistant cut: true",
        "goal 3 assistant cut: true",
        "skills 3 assistant cut: true",
        "skills 3 assistant cut: true",
        "tier 1 assistant cut: true",
        "files 1 assistant cut: true",
        "profile 1 assistant cut: false",
    ];
    assert_eq!(told, wanted);
}
