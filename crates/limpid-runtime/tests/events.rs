//! The stream of what changes, as every surface gets it: what came of tasks, heartbeats and drafts, and which servers are
//! there.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod kit;

use std::sync::Arc;

use kit::effects::Effect;
use kit::{Bench, all, last};
use limpid_core::task::TaskKind;
use limpid_core::{Skill, ToolClass};
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, BusEvent, Tool};
use limpid_store::DraftId;
use tokio::sync::broadcast::Receiver;

/// What was sent since it was asked last, as programs read it, without the ids of conversations.
fn heard(events: &mut Receiver<BusEvent>) -> Vec<String> {
    let json = |event: BusEvent| {
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
    agent.add_task(task(TaskKind::Reminder, "Water the plants.")).await.unwrap();
    agent.add_task(task(TaskKind::Agent, "Water the plants.")).await.unwrap();
    let mut events = agent.subscribe();
    agent.run_task("1").await.unwrap();
    let reminded = heard(&mut events);
    agent.run_task("2").await.unwrap();
    let failed = heard(&mut events);
    agent.run_due().await.unwrap();
    assert_eq!(heard(&mut events), [""; 0], "nothing is due, nothing is told");
    agent.run_heartbeat().await.unwrap();
    let beaten = heard(&mut events);
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
    let (page, mail) = (Effect::outside("read_page"), Effect::new("send_mail", ToolClass::Send));
    options.tools = [page, mail].map(|tool| tool as Arc<dyn Tool>).into();
    let agent = Agent::open(options).unwrap();
    let mut events = agent.subscribe();
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let mut told: Vec<String> = heard(&mut events).into_iter().filter(|event| event.contains("draft")).collect();
    agent.approve_draft(DraftId(1)).await.unwrap();
    told.extend(heard(&mut events));
    assert!(agent.approve_draft(DraftId(1)).await.is_err());
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
    agent.register_prompt(prompt("plan")).unwrap();
    agent.register_prompt(prompt("tidy")).unwrap();
    agent.clear_mcp_prompts("other");
    agent.clear_mcp_prompts("desk");
    let told = |added: &str, removed: &str| {
        format!(r#"{{"conversation":false,"event":"active-mcp-updated","added":[{added}],"removed":[{removed}]}}"#)
    };
    assert_eq!(heard(&mut events), [told("\"desk\"", ""), told("", "\"desk\"")]);
}
