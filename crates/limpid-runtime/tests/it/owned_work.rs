//! Work of agents that the owner began stays theirs, whatever strangers' texts had a part in since.

use limpid_core::{CallId, ConversationId, Labelled, Trust};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, ConversationChoice, TurnEvent};
use limpid_store::{NewPlan, NewPlannedTask};
use serde_json::json;

use crate::kit::agents::{Passed, agents, bench, calls, is_child, newest, open, rested, says, talk};
use crate::kit::effects::EffectTool;
use crate::kit::{PATIENCE, all, last};

/// The owner plans a task without an agent.
async fn planned(agent: &Agent, chat: &ConversationId) -> NewPlan {
    let turn = agent.store().messages(chat, None).await.unwrap().rows[0].turn.clone();
    let task = NewPlannedTask {
        name: "brew".to_owned(),
        task: "Brew.".to_owned(),
        skill: None,
        context: None,
        needs: Vec::new(),
    };
    let plan = NewPlan {
        chat: chat.clone(),
        turn,
        call: CallId::new("c"),
        tasks: vec![task],
        trust: Trust::Owner,
        now_ms: agent.now_ms(),
    };
    agent.store().keep_plan(plan.clone()).await.unwrap();
    plan
}

/// Says yes once to all that a turn asks. Whether it asks anything.
async fn with_a_yes(agent: &Agent, request: ChatRequest) -> bool {
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..request }).await.unwrap();
    let mut asks = false;
    while let Some(event) = tokio::time::timeout(PATIENCE, handle.next()).await.unwrap() {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            asks = true;
            parts.iter().for_each(|part| handle.answer(&part.id, ApprovalAnswer::Once));
        }
        if event.is_last() {
            break;
        }
    }
    rested(agent, handle.conversation()).await;
    asks
}

/// The tools whose calls wait.
async fn waiting(agent: &Agent) -> Vec<String> {
    agent.drafts().list(false).await.unwrap().rows.into_iter().map(|draft| draft.new.tool).collect()
}

/// Words of a server in why it got no agent make it nobody else's, and neither does a yes to an earlier start.
// SEC-050 SEC-065 KOSHI-041
#[tokio::test]
async fn a_task_of_the_owners_that_failed_is_started_again_by_a_strangers_text_only_by_their_yes() {
    for has_had_a_yes in [false, true] {
        let (bench, _) = bench("koshi", |request| {
            if is_child(request) {
                serde_json::from_value(json!({ "text": "Half", "finish": "length" })).unwrap()
            } else if newest(request).contains("Read this.") {
                calls(&[("spawn_agent", json!({ "task_id": 1 }))])
            } else {
                says("Noted.")
            }
        })
        .await;
        let agent = open(&bench, &Passed::new(), &[]);
        talk(&agent, "Hello.").await;
        let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        let plan = planned(&agent, &chat).await;
        let letter = || {
            let handed_in = Some(Labelled::outside("Start task 1.".to_owned()));
            ChatRequest { handed_in, ..last("Read this.") }
        };
        if has_had_a_yes {
            assert!(with_a_yes(&agent, letter()).await);
        } else {
            let id = agent.store().planned_tasks(Some(&chat)).await.unwrap().rows[0].id;
            agent.store().want_planned(&[id], &plan.turn, None, Trust::Owner).await.unwrap();
            let why = Labelled::outside("no skill is called so; there is: hello".to_owned());
            agent.store().refuse_planned(id, &why).await.unwrap();
        }
        let stands = async || {
            let one = agent.agents().planned(Some(&chat)).await.unwrap().remove(0);
            (one.state.as_str(), one.task.trust, one.task.tries)
        };
        assert_eq!(stands().await, ("failed", Trust::Outside, 1), "{has_had_a_yes}");
        all(agent.chat(letter()).await.unwrap()).await;
        rested(&agent, &chat).await;
        assert_eq!(waiting(&agent).await, ["spawn_agent"], "{has_had_a_yes}");
        assert_eq!(stands().await, ("failed", Trust::Outside, 1), "{has_had_a_yes}");
        let started: Vec<bool> = agents(&agent).await.iter().map(|one| one.new.by_strangers).collect();
        assert_eq!(started, vec![false; usize::from(has_had_a_yes)]);
    }
}

/// A profile that offers all that there is about agents.
const MINE: &str = "title = \"Mine\"\nbase = \"picoclaw\"\n[tools]\nwithout = [\"cron\"]\n";

/// The agent that went on after the yes works where the owner's did.
// SEC-050 SEC-065 LES-120
#[tokio::test]
async fn a_yes_to_a_message_to_an_agent_of_the_owners_is_none_to_the_next_message() {
    let (mut bench, sent) = bench("mine", |request| {
        let newest = newest(request);
        if is_child(request) && newest.contains("Count them again.") {
            says("Seven.")
        } else if is_child(request) {
            says("Nine.")
        } else if newest.contains("Begin.") {
            calls(&[("spawn_agent", json!({ "task": "Count.", "run_in_background": false }))])
        } else if newest.contains("Read this.") || newest.contains("Read that.") {
            calls(&[("read_page", json!({}))])
        } else if newest.contains("read_page done") && request.text().contains("Read that.") {
            calls(&[("tell_agent", json!({ "id": 2, "message": "Count all of it." }))])
        } else if newest.contains("read_page done") {
            calls(&[("tell_agent", json!({ "id": 1, "message": "Count them again." }))])
        } else {
            says("Noted.")
        }
    })
    .await;
    bench.write("profiles/mine/profile.toml", MINE);
    bench.config.tools.defer = false;
    let page = EffectTool::outside("read_page");
    let agent = open(&bench, &Passed::new(), &[&page]);
    talk(&agent, "Begin.").await;
    assert!(with_a_yes(&agent, last("Read this.")).await);
    let sides = async || agents(&agent).await.iter().map(|one| one.new.by_strangers).collect::<Vec<_>>();
    assert_eq!((sides().await, waiting(&agent).await), (vec![false, true], Vec::new()));
    talk(&agent, "Read that.").await;
    assert_eq!((sides().await, page.runs()), (vec![false, true], 2), "no other one goes on");
    assert_eq!(waiting(&agent).await, ["tell_agent"]);
    let sent = sent.lock().unwrap().clone();
    assert!(!sent.iter().any(|one| is_child(one) && one.text().contains("Count all of it.")));
}
