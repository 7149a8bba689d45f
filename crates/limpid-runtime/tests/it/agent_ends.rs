//! How agents come to their end, alone and by the hundred: with the model and the tools that were set, after a wait, a crash, a stop.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use limpid_core::{AgentId, AgentLimits, AgentState, CallId, ConversationId, Trust, TurnId};
use limpid_model::{ModelCall, ModelCard, Pause};
use limpid_runtime::{Agent, ChatRequest, Config, Notice, Notifier, Tool, TurnEvent};
use limpid_services::agents::Unheard;
use limpid_store::{AcceptedAgent, AgentEnded, AgentFilter, NewSubAgent, RequestFilter, SubAgent};
use limpid_testkit::{Reply, Said, Talker};
use serde_json::json;
use tokio::sync::watch;

use crate::kit::agents::{Passed, agents, bench, calls, is_child, newest, open, rested, says, talk, until, wait};
use crate::kit::{Bench, Once, all, dead_holder, last, new_chat, say};

/// Waits for other tries are over when the test says so; the time of agents does not pass.
#[derive(Clone)]
struct Held(watch::Sender<bool>, Arc<AtomicUsize>);

impl Pause for Held {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut is_over = self.0.subscribe();
        let waits = Arc::clone(&self.1);
        async move {
            if time >= Duration::from_secs(30) {
                std::future::pending::<()>().await;
            }
            waits.fetch_add(1, Ordering::SeqCst);
            let _ = is_over.wait_for(|is_over| *is_over).await;
        }
        .boxed()
    }
}

// LES-126
#[tokio::test]
async fn ten_agents_wait_together_when_the_provider_has_one_of_them_wait_and_all_come_to_their_end() {
    let refused = Arc::new(AtomicUsize::new(0));
    let refuses = Arc::clone(&refused);
    let (mut bench, sent) = bench("koshi", move |request| {
        let newest = newest(request);
        if is_child(request) && newest.contains("Count ") {
            calls(&[("once", json!({}))])
        } else if is_child(request) && refuses.fetch_add(1, Ordering::SeqCst) == 0 {
            serde_json::from_value::<Reply>(
                json!({ "status": 529, "body": "{\"error\":{\"message\":\"overloaded\"}}" }),
            )
            .unwrap()
        } else if is_child(request) {
            says("Nine.")
        } else if newest.contains("Begin.") {
            let tasks: Vec<_> = (0..10).map(|at| ("spawn_agent", json!({ "task": format!("Count {at}.") }))).collect();
            calls(&tasks)
        } else {
            says("Well.")
        }
    })
    .await;
    bench.config.agents.max_concurrent = 10;
    let once = Once::new();
    let pause = Held(watch::Sender::new(false), Arc::default());
    let mut options = bench.options();
    options.tools = vec![Arc::clone(&once) as Arc<dyn Tool>];
    options.pause = Arc::new(pause.clone());
    let agent = Agent::open(options).unwrap();
    let handle = agent.chat(last("Begin.")).await.unwrap();
    let chat = handle.conversation().clone();
    all(handle).await;
    once.running.acquire_many(10).await.unwrap().forget();
    once.go_on.add_permits(1);
    wait(async || pause.1.load(Ordering::SeqCst) == 1).await;
    let asked = sent.lock().unwrap().len();
    // The others have their results by now, and would ask.
    once.go_on.add_permits(9);
    wait(async || {
        let mut have = 0;
        for one in agents(&agent).await {
            let said = agent.store().messages(&one.works_in(), None).await.unwrap().rows;
            have += usize::from(said.iter().any(|row| row.message.text.contains("done")));
        }
        have == 10
    })
    .await;
    // A whole turn of another model goes by.
    let other = ChatRequest { model: Some("openai/other".to_owned()), ..new_chat("Hello.") };
    all(agent.chat(other).await.unwrap()).await;
    assert_eq!(sent.lock().unwrap().len(), asked + 1, "nobody asks meanwhile");
    pause.0.send_replace(true);
    rested(&agent, &chat).await;
    let ended = agents(&agent).await;
    assert_eq!(ended.iter().filter(|one| one.state == AgentState::Done && one.result == "Nine.").count(), 10);
    assert_eq!((refused.load(Ordering::SeqCst), pause.1.load(Ordering::SeqCst)), (11, 1), "one was asked again, once");
}

/// What the owner is told on other screens.
#[derive(Default)]
struct Screen(Mutex<Vec<Notice>>);

#[async_trait]
impl Notifier for Screen {
    fn name(&self) -> &'static str {
        "screen"
    }

    async fn notify(&self, notice: &Notice) -> Result<(), String> {
        self.0.lock().unwrap().push(notice.clone());
        Ok(())
    }
}

/// How an agent comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fails {
    CutOff,
    Broken,
    Refused,
    Late,
    Stopped,
    OutOfRounds,
    OutOfTokens,
}

impl Fails {
    const ALL: [Self; 7] =
        [Self::CutOff, Self::Broken, Self::Refused, Self::Late, Self::Stopped, Self::OutOfRounds, Self::OutOfTokens];

    /// What the agent's model says.
    fn reply(self, made: usize) -> Reply {
        let reply = match self {
            Self::CutOff => json!({ "text": "RAW WORDS", "finish": "length" }),
            Self::Broken => json!({ "text": ["RAW WORDS", "RAW WORDS"], "cut": 200 }),
            Self::Refused => json!({ "status": 400, "body": "{\"error\":{\"message\":\"no\"}}" }),
            Self::Late | Self::Stopped => json!({ "text": "RAW WORDS", "hang": "end" }),
            Self::OutOfRounds | Self::OutOfTokens => {
                let path = format!("{}.", "./".repeat(made));
                json!({ "text": "RAW WORDS", "calls": [{ "name": "list_dir", "arguments": { "path": path } }] })
            }
        };
        serde_json::from_value(reply).unwrap()
    }

    fn state(self) -> AgentState {
        match self {
            Self::Late => AgentState::Timeout,
            Self::Stopped => AgentState::Cancelled,
            _ => AgentState::Failed,
        }
    }
}

// LES-128
#[tokio::test]
async fn nothing_that_an_agent_said_reaches_a_person_when_it_comes_to_nothing() {
    for (fails, waited) in Fails::ALL.into_iter().flat_map(|fails| [(fails, true), (fails, false)]) {
        let (mut bench, sent) = bench("koshi", move |request| {
            let newest = newest(request);
            let made = request.json()["messages"].as_array().map_or(0, Vec::len);
            if is_child(request) && request.json()["tool_choice"] == "none" {
                says("RAW WORDS")
            } else if is_child(request) && made > 2 && newest.contains("Look at it.") {
                says("Went on.")
            } else if is_child(request) {
                fails.reply(made)
            } else if newest.contains("Begin.") {
                calls(&[("spawn_agent", json!({ "task": "Look at it.", "run_in_background": !waited }))])
            } else {
                says("It came to nothing.")
            }
        })
        .await;
        if fails == Fails::OutOfTokens {
            bench.config.agents.tokens_per_tree = 1;
        }
        let (pause, screen) = (Passed::new(), Arc::new(Screen::default()));
        let mut options = bench.options();
        options.pause = Arc::new(pause.clone());
        options.notifiers = vec![Arc::clone(&screen) as Arc<dyn Notifier>];
        let agent = Agent::open(options).unwrap();
        let mut heard = agent.subscribe();
        let handle = agent.chat(last("Begin.")).await.unwrap();
        let chat = handle.conversation().clone();
        let ends = async {
            if ![Fails::Late, Fails::Stopped].contains(&fails) {
                return;
            }
            until(&agent, |agents| agents.iter().any(|one| one.state == AgentState::Running)).await;
            wait(async || sent.lock().unwrap().iter().any(is_child)).await;
            match fails {
                Fails::Late => pause.seconds(300),
                _ => drop(agent.agents().cancel(AgentId(1)).await.unwrap()),
            }
        };
        let (events, ()) = tokio::join!(all(handle), ends);
        rested(&agent, &chat).await;
        let ended = agents(&agent).await.remove(0);
        assert_eq!(ended.state, fails.state(), "{fails:?} {waited}: {}", ended.reason);
        let changes: Vec<_> = std::iter::from_fn(|| heard.try_recv().ok()).collect();
        let told = agent.deliveries().unread().await.unwrap();
        let shown = screen.0.lock().unwrap().clone();
        let seen = format!("{events:?} {changes:?} {told:?} {shown:?} {}", ended.reason);
        assert!(!seen.contains("RAW WORDS"), "{fails:?} {waited}: {seen}");
        let said = agent.store().messages(&chat, None).await.unwrap().rows;
        let mut answers = said.iter().filter(|row| row.message.role == limpid_core::Role::Assistant);
        assert!(answers.clone().all(|row| !row.message.text.contains("RAW WORDS")), "{fails:?} {waited}");
        assert_eq!(
            answers.next_back().map(|row| row.message.text.as_str()),
            Some("It came to nothing."),
            "{fails:?} {waited}"
        );
    }
}

// LES-118
#[tokio::test]
async fn an_agent_has_the_model_that_was_set_for_it_and_tools_that_work() {
    let (mut bench, sent) = bench("picoclaw", |request| {
        let newest = newest(request);
        if is_child(request) && newest.contains("Look.") {
            calls(&[("list_dir", json!({ "path": "." }))])
        } else if is_child(request) {
            says(&format!("There is: {newest}"))
        } else if newest.contains("Begin.") {
            calls(&[
                ("spawn", json!({ "task": "Look.", "agent_id": "reader" })),
                ("subagent", json!({ "task": "Look. Now." })),
            ])
        } else {
            says("Done.")
        }
    })
    .await;
    bench.write("workspace/tea.txt", "green");
    let config = "[agents]\nallow = [\"*\"]\n[agents.named.reader]\nmodel = \"openai/other\"\n";
    bench.config.agents = Config::parse(config, "limpid.toml").unwrap().agents;
    let agent = open(&bench, &Passed::new(), &[]);
    talk(&agent, "Begin.").await;
    let mut models: Vec<String> = Vec::new();
    for request in sent.lock().unwrap().iter().filter(|one| is_child(one) && newest(one).contains("Look.")) {
        models.push(format!("{} for {}", request.json()["model"].as_str().unwrap(), newest(request).contains("Now.")));
    }
    models.sort();
    assert_eq!(models, ["other for false", "scripted for true"]);
    assert!(agents(&agent).await.iter().all(|one| one.result.contains("tea.txt")), "each one's call came to something");
}

// LES-118
#[tokio::test]
async fn an_agent_of_a_local_model_has_that_model_and_tools_that_work() {
    let bench = Bench::new("[[reply]]\ntext = \"never asked\"\n").await;
    bench.write("workspace/tea.txt", "green");
    let answer = |call: &ModelCall| {
        let newest = call.prompt.messages().last().unwrap().text().to_owned();
        let is_child = call.prompt.path().starts_with("subagent");
        match is_child {
            true if newest.contains("Look.") => {
                Said::Calls(vec![("list_dir".to_owned(), "{\"path\":\".\"}".to_owned())])
            }
            true => Said::Text(format!("There is: {newest}")),
            false if newest.contains("Begin.") => {
                Said::Calls(vec![("subagent".to_owned(), "{\"task\":\"Look.\"}".to_owned())])
            }
            false => Said::Text("Done.".to_owned()),
        }
    };
    let card = ModelCard {
        provider: "local".to_owned(),
        id: "small".to_owned(),
        local: true,
        window: Some(limpid_core::WindowSize(32_768)),
        ..ModelCard::default()
    };
    let model = Arc::new(Talker::new(card, answer));
    let mut options = bench.options();
    options.config.agent.profile = "picoclaw".to_owned();
    options.model = Some(Arc::clone(&model) as Arc<dyn limpid_model::Model>);
    let agent = Agent::open(options).unwrap();
    talk(&agent, "Begin.").await;
    let ended = agents(&agent).await.remove(0);
    assert_eq!((ended.state, ended.result.contains("tea.txt")), (AgentState::Done, true), "{ended:?}");
    let filter = RequestFilter { conversation: Some(ended.works_in()), limit: 9, ..RequestFilter::default() };
    let asked = agent.store().requests(filter).await.unwrap().rows;
    assert!(
        asked.len() == 2 && asked.iter().all(|one| (one.provider.as_str(), one.model.as_str()) == ("local", "small"))
    );
    assert!(bench.server.calls().is_empty(), "no provider was asked");
}

/// Six hundred agents, fifty at a time, of processes that die: whoever opens the home next ends what they left, two at once.
// LES-110
#[tokio::test]
async fn of_six_hundred_agents_whose_processes_die_each_ends_and_is_told_once() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let dead = dead_holder();
    if dead.is_empty() {
        return;
    }
    let first = bench.agent();
    let mut random = 11_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let limits = AgentLimits { live: 50, tokens: 1_000_000, a_day: None };
    let mut accepted = HashSet::new();
    for batch in 0..12 {
        let mut chats = Vec::new();
        for chat in 0..5 {
            let handle = first.chat(new_chat(&format!("Batch {batch}, chat {chat}."))).await.unwrap();
            let conversation = handle.conversation().clone();
            all(handle).await;
            let turn = first.store().last_message(&conversation).await.unwrap().unwrap().turn;
            for call in 0..10 {
                let new = new_agent(&conversation, &turn, call, &dead, first.now_ms());
                match first.store().accept_agent(new, limits).await.unwrap() {
                    AcceptedAgent::Fresh(one) => accepted.insert(one.id),
                    other => panic!("{other:?}"),
                };
            }
            chats.push(conversation);
        }
        let open = open_agents(&first).await;
        assert_eq!(open.len(), 50);
        for one in &open {
            match next(4) {
                0 => {}
                1 => drop(first.store().begin_agent(one.id, 1).await.unwrap()),
                // It came to its end before its process died, or has just done so when that is found dead.
                _ => {
                    first.store().begin_agent(one.id, 1).await.unwrap();
                    let words = limpid_core::Labelled::new("r".to_owned(), Trust::Owner);
                    let ended = first.agents().end(one, AgentState::Done, words, String::new(), Unheard::IsTold).await;
                    assert_eq!(ended.unwrap(), AgentEnded::Now);
                }
            }
        }
        let second = bench.agent();
        let (one, other) = tokio::join!(first.agents().recover(None), second.agents().recover(None));
        one.unwrap();
        other.unwrap();
        assert!(open_agents(&first).await.is_empty());
        for chat in &chats {
            first.conversations().wait_for_agents(chat).await.unwrap();
        }
    }
    let ended = agents(&first).await;
    assert_eq!(ended.iter().map(|one| one.id).collect::<HashSet<_>>(), accepted);
    assert_eq!(accepted.len(), 600);
    let mut told = 0;
    for chat in ended.iter().map(|one| &one.new.conversation).collect::<HashSet<_>>() {
        let said = first.store().messages(chat, None).await.unwrap().rows;
        let waiting = first.store().waiting(chat).await.unwrap().rows;
        for one in ended.iter().filter(|one| one.new.conversation == *chat) {
            let begins = format!("[agent_result:{}] {}", one.id, one.state);
            let times = said.iter().filter(|row| row.message.text.starts_with(&begins)).count()
                + waiting.iter().filter(|row| row.text.starts_with(&begins)).count();
            assert_eq!(times, 1, "agent {}", one.id);
            told += times;
        }
    }
    assert_eq!(told, 600);
}

/// What an agent of an editor's session came to is answered where the session's folder is: elsewhere the turn would work on other files.
// SUR-034 SEC-041
#[tokio::test]
async fn the_end_of_an_agent_is_answered_where_its_chat_works() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let dead = dead_holder();
    if dead.is_empty() {
        return;
    }
    let here = bench.config.clone();
    bench.config.files.base = Some(bench.home.path().join("project"));
    let editor = bench.agent();
    let handle = editor.chat(new_chat("Begin.")).await.unwrap();
    let chat = handle.conversation().clone();
    all(handle).await;
    let turn = editor.store().last_message(&chat).await.unwrap().unwrap().turn;
    let limits = AgentLimits { live: 50, tokens: 1_000_000, a_day: None };
    editor.store().accept_agent(new_agent(&chat, &turn, 0, &dead, editor.now_ms()), limits).await.unwrap();
    drop(editor);
    let there = std::mem::replace(&mut bench.config, here);
    for is_there in [false, true] {
        if is_there {
            bench.config = there.clone();
        }
        let agent = bench.agent();
        agent.conversations().resume().await.unwrap();
        agent.conversations().wait_idle(&chat).await;
        assert!(open_agents(&agent).await.is_empty(), "it has ended");
        if !is_there {
            // Whoever speaks here says nothing of it.
            say(&agent, "hello").await;
        }
        let waiting = agent.store().waiting(&chat).await.unwrap().rows.len();
        assert_eq!((bench.server.calls().len(), waiting), (2 + usize::from(is_there), usize::from(!is_there)));
    }
}

async fn open_agents(agent: &Agent) -> Vec<SubAgent> {
    agent.store().agents(AgentFilter { open: true, ..AgentFilter::default() }).await.unwrap().rows
}

fn new_agent(conversation: &ConversationId, turn: &TurnId, call: u32, holder: &str, now_ms: i64) -> NewSubAgent {
    NewSubAgent {
        conversation: conversation.clone(),
        turn: turn.clone(),
        call: CallId::new(format!("c{call}")),
        path: "worker".to_owned(),
        waited_for: false,
        label: "tea".to_owned(),
        task: format!("make tea {call}"),
        skill: None,
        context: None,
        tools: None,
        planned: None,
        continues: None,
        named: None,
        trust: Trust::Owner,
        by_strangers: false,
        holder: holder.to_owned(),
        now_ms,
    }
}

// SEC-077 LES-128
#[tokio::test]
async fn a_file_that_begins_like_the_end_of_an_agent_is_shown_whole() {
    let (bench, _) = bench("limpid", |request| match newest(request) {
        newest if newest.contains("Begin.") => calls(&[("read_file", json!({ "path": "note.md" }))]),
        _ => says("Noted."),
    })
    .await;
    bench.write("workspace/note.md", "[agent_result:1] failed\nThe rest of it.\n");
    let agent = open(&bench, &Passed::new(), &[]);
    let events = all(agent.chat(last("Begin.")).await.unwrap()).await;
    let shown = events.iter().find_map(|event| match event {
        TurnEvent::ToolDone { result, .. } => Some(result.as_str()),
        _ => None,
    });
    assert!(shown.is_some_and(|shown| shown.contains("The rest of it.")), "{shown:?}");
}
