//! Research workers as agents: listed, stopped, paid for as the others are, and apart from everything of the owner's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use limpid_core::task::TaskKind;
use limpid_core::{AgentId, AgentState, Purse, Role, Trust};
use limpid_runtime::tasks::{TaskChange, TaskRequest, When};
use limpid_runtime::{Agent, TurnEvent};
use limpid_store::{CostBy, CostQuery, InboundId, NewTask, Task};
use limpid_testkit::{Recorded, Reply};
use serde_json::{Value, json};

use crate::kit::agents::{Passed, Sent, agents, bench, calls, declared, hangs, newest, says, talk, until};
use crate::kit::tasks::reminder;
use crate::kit::{Bench, PATIENCE, all, last};

fn is_worker(request: &Recorded) -> bool {
    request.system().contains("research worker")
}

/// A chat with something of the owner's in its window, whose model begins with this call of `research`.
async fn researching(arguments: Value, worker: impl Fn() -> Reply + Send + Sync + 'static) -> (Bench, Sent) {
    bench("limpid", move |request| {
        let newest = newest(request);
        if is_worker(request) {
            worker()
        } else if newest.contains("Begin.") {
            calls(&[("research", arguments.clone())])
        } else {
            says("Noted.")
        }
    })
    .await
}

fn open(bench: &Bench, pause: &Passed) -> Agent {
    bench.write("soul.md", "The door code is CANARY-4711.");
    let mut options = bench.options();
    options.pause = Arc::new(pause.clone());
    Agent::open(options).unwrap()
}

/// What the results of calls say in the chat, with their labels.
async fn results(agent: &Agent) -> Vec<(String, Trust)> {
    let chat = agents(agent).await.remove(0).new.conversation;
    let said = agent.store().messages(&chat, None).await.unwrap().rows.into_iter().map(|row| row.message);
    said.filter(|message| message.role == Role::Tool).map(|message| (message.text, message.trust)).collect()
}

// SEC-101
#[tokio::test]
async fn a_research_worker_is_an_agent_that_sees_its_task_and_the_web() {
    let task = json!({ "task": "Which tea is like [agent_result:1]?" });
    let (bench, sent) = researching(task, || says("Green tea is.")).await;
    let agent = open(&bench, &Passed::new());
    talk(&agent, "Begin.").await;
    let worker = agents(&agent).await.remove(0);
    assert_eq!((worker.new.path.as_str(), worker.new.waited_for, worker.depth), ("research", true, 1));
    assert_eq!(
        (worker.state, worker.result.as_str(), worker.trust),
        (AgentState::Done, "Green tea is.", Trust::Outside)
    );
    assert_eq!(results(&agent).await.iter().map(|(_, trust)| *trust).collect::<Vec<_>>(), [Trust::Outside]);
    assert!(sent.lock().unwrap()[0].text().contains("CANARY-4711"), "the chat sees it");
    let asked: Vec<Recorded> = sent.lock().unwrap().iter().filter(|one| is_worker(one)).cloned().collect();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].text().contains("[agent_result:1]?") && !asked[0].text().contains("CANARY"),
        "no pointer is filled in"
    );
    assert!(declared(&asked[0]).iter().all(|name| ["web_search", "web_fetch"].contains(&name.as_str())));
    let kept = agent.store().messages(&worker.works_in(), None).await.unwrap().rows;
    assert_eq!(kept.len(), 2, "its transcript is kept");
    let costs = agent.store().costs(CostQuery { by: CostBy::Conversation, ..CostQuery::default() }).await.unwrap();
    assert_eq!(
        costs.iter().map(|row| (row.group.as_str(), row.requests)).collect::<Vec<_>>(),
        [(worker.chat.as_str(), 3)]
    );
    let mut tokens = 0;
    for purse in [Purse::Clean, Purse::Tainted] {
        tokens += agent.store().tokens_of_tree(&worker.root, purse).await.unwrap();
    }
    assert!(tokens > 0);
    // Whatever it is told could be carried to the web.
    let told = agent.agents().tell(AgentId(1), "The door code?").await.unwrap_err().to_string();
    assert!(told.contains("hears nothing besides its task"), "{told}");
}

// SEC-101
#[tokio::test]
async fn what_a_planned_task_says_is_researched_unasked_where_the_owner_typed_it() {
    for is_typed in [true, false] {
        let (bench, sent) = bench("limpid", |request| {
            if is_worker(request) {
                says("Rain.")
            } else if newest(request).contains("Look for news of Kyoto.") {
                calls(&[("research", json!({ "task": "What is new in Kyoto? Look for news." }))])
            } else {
                says("It rains there.")
            }
        })
        .await;
        let agent = open(&bench, &Passed::new());
        let daily = When::Cron("0 8 * * *".to_owned());
        let request = TaskRequest { kind: TaskKind::Agent, ..reminder("Look for news of Kyoto.", daily) };
        let task = agent.tasks().add(request).await.unwrap();
        let new = NewTask { typed: is_typed, ..task.new.clone() };
        agent.store().change_task(Task { new: new.clone(), ..task }, 1).await.unwrap();
        // A form brings back what stood.
        let (prompt, description) = (Some(new.prompt.clone()), Some(new.description.clone()));
        agent.tasks().change("1", TaskChange { prompt, description, ..TaskChange::default() }).await.unwrap();
        agent.jobs().run_task("1").await.unwrap();
        let asked = sent.lock().unwrap().iter().filter(|one| is_worker(one)).count();
        let drafts = agent.drafts().list(true).await.unwrap().rows.len();
        assert_eq!((asked, drafts), if is_typed { (1, 0) } else { (0, 1) });
    }
}

// SEC-100 SEC-101
#[tokio::test]
async fn an_address_that_is_a_key_is_fetched_by_the_model_that_the_owner_named_it_to() {
    let (bench, sent) = bench("limpid", |_| says("Noted.")).await;
    let agent = open(&bench, &Passed::new());
    talk(&agent, "What is on https://calendar.test/ today?").await;
    talk(&agent, "What is on https://calendar.test/private-8f14e45fceea167a5a36dedd4bea2543/basic.ics today?").await;
    talk(&agent, "And tomorrow?").await;
    let offered = |at: usize| {
        let names = declared(&sent.lock().unwrap()[at]);
        ["research", "web_fetch", "web_search"].map(|name| names.iter().any(|known| known == name))
    };
    let with_fetch = [true, true, false];
    assert_eq!([0, 1, 2].map(offered), [[true, false, false], with_fetch, with_fetch]);
}

// SEC-101
#[tokio::test]
async fn a_research_worker_in_the_background_is_told_of_with_the_label_of_a_strangers_text() {
    let task = json!({ "task": "Which tea?", "run_in_background": true });
    let (bench, sent) = researching(task, || says("Green tea is.")).await;
    let agent = open(&bench, &Passed::new());
    talk(&agent, "Begin.").await;
    let worker = agents(&agent).await.remove(0);
    assert_eq!((worker.state, worker.new.waited_for), (AgentState::Done, false));
    assert!(results(&agent).await[0].0.contains("agent 1 works in the background"));
    let said = agent.store().messages(&worker.new.conversation, None).await.unwrap().rows;
    let words = said.iter().find(|row| row.message.text == "Green tea is.").unwrap();
    assert_eq!((words.message.role, words.message.trust), (Role::User, Trust::Outside));
    let asked = sent.lock().unwrap().last().cloned().unwrap();
    assert!(newest(&asked).contains("[agent_result:1] done"), "{}", newest(&asked));
    assert!(asked.text().contains("[untrusted"), "it stands inside a boundary");
}

// SEC-101
#[tokio::test]
async fn a_research_worker_is_stopped_by_its_number_and_with_the_turn_that_waits_for_it() {
    for by_number in [true, false] {
        let (bench, sent) = researching(json!({ "task": "Which tea?" }), || hangs("")).await;
        let agent = open(&bench, &Passed::new());
        let handle = agent.chat(last("Begin.")).await.unwrap();
        until(&agent, |agents| agents.iter().any(|one| one.state == AgentState::Running)).await;
        let asked = async {
            while !sent.lock().unwrap().iter().any(is_worker) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, asked).await.unwrap();
        if by_number {
            assert_eq!(agent.agents().cancel(AgentId(1)).await.unwrap(), [AgentId(1)]);
        } else {
            handle.cancel();
        }
        all(handle).await;
        until(&agent, |agents| agents[0].state == AgentState::Cancelled).await;
        if by_number {
            let (told, trust) = results(&agent).await.remove(0);
            assert!(told.contains("the research worker has no answer: ") && told.contains("it was stopped"), "{told}");
            assert_eq!(trust, Trust::Outside);
        }
    }
}

// SEC-101 LES-112 LES-128
#[tokio::test]
async fn a_research_worker_has_ten_minutes_and_what_it_said_by_then_is_no_answer() {
    let asked = AtomicUsize::new(0);
    let (bench, sent) = researching(json!({ "task": "Which tea?" }), move || {
        // Its first words are in its journal when it is asked again.
        if asked.fetch_add(1, Ordering::SeqCst) > 0 {
            return hangs("");
        }
        let call = json!({ "name": "web_fetch", "arguments": { "url": "http://127.0.0.1:1/" } });
        serde_json::from_value(json!({ "text": "RAW WORDS", "calls": [call] })).unwrap()
    })
    .await;
    let pause = Passed::new();
    let agent = open(&bench, &pause);
    let handle = agent.chat(last("Begin.")).await.unwrap();
    let asked = async {
        while sent.lock().unwrap().iter().filter(|one| is_worker(one)).count() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap();
    pause.seconds(599);
    assert_eq!(agents(&agent).await[0].state, AgentState::Running);
    pause.seconds(600);
    let events = all(handle).await;
    let worker = agents(&agent).await.remove(0);
    assert_eq!((worker.state, worker.reason.as_str()), (AgentState::Timeout, "it took longer than 600 s"));
    let (told, trust) = results(&agent).await.remove(0);
    assert!(told.contains("[agent_result:1] timeout"), "{told}");
    assert_eq!(trust, Trust::Outside);
    let seen = events.iter().filter(|event| matches!(event, TurnEvent::ToolDone { .. }));
    assert!(!format!("{:?}", seen.collect::<Vec<_>>()).contains("RAW WORDS"));
}

// SEC-101
#[tokio::test]
async fn a_research_worker_is_called_to_its_end_without_a_word_of_the_owners() {
    let said = "[report now] Leave CANARY-0815 out.";
    let words = "[path.report-now]\nabout = \"Ends.\"\nmessages = [{ tools = [] }, { role = \"user\", sections = [\"report-now\"], end = \"CANARY-0815\" }]\n";
    for (file, text, is_told) in [
        ("limpid/sections/report-now.md", format!("{said}\n"), false),
        ("limpid/sections/report-now.md", format!("---\npublic: true\n---\n{said}\n"), true),
        ("mine/profile.toml", format!("base = \"limpid\"\ntitle = \"Mine\"\nabout = \"Mine.\"\n{words}"), false),
    ] {
        let (mut bench, sent) = researching(json!({ "task": "Which tea?" }), || hangs("")).await;
        bench.write(&format!("profiles/{file}"), &text);
        bench.config.agent.profile = file.split('/').next().unwrap_or_default().to_owned();
        let pause = Passed::new();
        let agent = open(&bench, &pause);
        let handle = agent.chat(last("Begin.")).await.unwrap();
        let called = async {
            while !sent.lock().unwrap().iter().any(is_worker) {
                tokio::task::yield_now().await;
            }
            pause.seconds(480);
            let key = agents(&agent).await[0].id.report_key();
            loop {
                for id in 1..10 {
                    match agent.store().accepted(InboundId(id)).await.unwrap() {
                        Some(told) if told.key.as_ref() == Some(&key) => return told.text,
                        _ => tokio::task::yield_now().await,
                    }
                }
            }
        };
        let told = tokio::time::timeout(PATIENCE, called).await.unwrap();
        assert!(told.starts_with("[report now]"), "{told}");
        assert_eq!(told.contains("CANARY-0815"), is_told, "{told}");
        pause.seconds(600);
        all(handle).await;
    }
}

// SEC-100 SEC-101
#[tokio::test]
async fn what_the_owner_wrote_into_a_section_of_their_own_is_no_workers_to_learn_unasked() {
    for (path, word, is_asked) in [
        ("profiles/limpid/sections/honesty.md", "Pankow", true),
        ("profiles/limpid/modes/developer/tier3.md", "Pankow", true),
        ("profiles/limpid/sections/honesty.md", "kettles", false),
        ("profiles/limpid/sections/heartbeat.md", "Pankow", false),
    ] {
        let task = json!({ "task": format!("Find shops for {word}.") });
        let (mut bench, sent) = researching(task, || says("Three.")).await;
        bench.config.agent.mode = "developer".to_owned();
        bench.write(path, "Ada lives in Pankow.\n");
        let agent = open(&bench, &Passed::new());
        talk(&agent, "Begin.").await;
        let is_told = sent.lock().unwrap().iter().any(is_worker);
        let drafts = agent.drafts().list(true).await.unwrap().rows;
        let whys: Vec<bool> = drafts.iter().map(|draft| draft.new.why.contains("“Pankow”")).collect();
        assert_eq!((is_told, whys), (!is_asked, if is_asked { vec![true] } else { Vec::new() }), "{path} {word}");
    }
}

/// A home without a soul: what stands in the owner's sections decides alone.
// SEC-100
#[tokio::test]
async fn a_worker_is_offered_beside_a_section_of_the_owners_own_and_bare_tools_beside_what_ships() {
    let offered = async |section: Option<&str>| {
        let (bench, sent) = bench("limpid", |_| says("Noted.")).await;
        if let Some(section) = section {
            bench.write("profiles/limpid/sections/honesty.md", section);
        }
        let agent = Agent::open(bench.options()).unwrap();
        talk(&agent, "Hello.").await;
        let names = declared(&sent.lock().unwrap()[0]);
        ["research", "web_fetch"].map(|name| names.iter().any(|known| known == name))
    };
    assert_eq!(offered(None).await, [false, true]);
    assert_eq!(offered(Some("Ada lives in Pankow.\n")).await, [true, false]);
    assert_eq!(offered(Some("---\npublic: true\n---\nNever make things up.\n")).await, [false, true]);
}
