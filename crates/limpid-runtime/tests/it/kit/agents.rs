//! Agents that turns hand work to: models that answer by what they are asked, and what came of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use limpid_core::ConversationId;
use limpid_model::Pause;
use limpid_runtime::{Agent, Tool, TurnEvent};
use limpid_store::{AgentFilter, SubAgent};
use limpid_testkit::{Recorded, Recorder, Reply};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::kit::effects::EffectTool;
use crate::kit::{Bench, PATIENCE, all, to_newest};

/// Time that passes when the test says so: a wait is over when at least its length has passed.
#[derive(Clone)]
pub struct Passed(watch::Sender<Duration>);

impl Pause for Passed {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut passed = self.0.subscribe();
        async move {
            if time >= Duration::from_secs(30) {
                let _ = passed.wait_for(|passed| *passed >= time).await;
            }
        }
        .boxed()
    }
}

impl Passed {
    pub fn new() -> Self {
        Self(watch::Sender::new(Duration::ZERO))
    }

    pub fn seconds(&self, seconds: u64) {
        self.0.send_replace(Duration::from_secs(seconds));
    }
}

pub fn says(text: &str) -> Reply {
    serde_json::from_value(json!({ "text": text })).unwrap()
}

pub fn calls(all: &[(&str, Value)]) -> Reply {
    let calls: Vec<Value> =
        all.iter().map(|(name, arguments)| json!({ "name": name, "arguments": arguments })).collect();
    serde_json::from_value(json!({ "calls": calls })).unwrap()
}

pub fn hangs(text: &str) -> Reply {
    serde_json::from_value(json!({ "text": text, "hang": "end" })).unwrap()
}

/// What the newest message of a request says.
pub fn newest(request: &Recorded) -> String {
    let all = request.json()["messages"].as_array().cloned().unwrap_or_default();
    all.last().and_then(|message| message["content"].as_str().map(str::to_owned)).unwrap_or_default()
}

pub fn is_child(request: &Recorded) -> bool {
    request.system().starts_with("You are a worker") || request.system().starts_with("As a subagent")
}

/// The names of the tools that a request declares.
pub fn declared(request: &Recorded) -> Vec<String> {
    let tools = request.json()["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| Some(tool["function"]["name"].as_str()?.to_owned())).collect()
}

pub type Sent = Arc<Mutex<Vec<Recorded>>>;

/// A bench of a profile whose model answers by a function.
pub async fn bench(profile: &str, answer: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> (Bench, Sent) {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config.agent.profile = profile.into();
    let sent = Sent::default();
    let kept = Arc::clone(&sent);
    bench.server = Recorder::answering(move |request| {
        kept.lock().unwrap().push(request.clone());
        answer(request)
    })
    .await
    .unwrap();
    (bench, sent)
}

pub fn open(bench: &Bench, pause: &Passed, tools: &[&Arc<EffectTool>]) -> Agent {
    let mut options = bench.options();
    options.pause = Arc::new(pause.clone());
    options.tools = tools.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect();
    Agent::open(options).unwrap()
}

/// Says something and waits until no agent of the chat works any more.
pub async fn talk(agent: &Agent, text: &str) -> Vec<TurnEvent> {
    let handle = agent.chat(to_newest(agent, text).await).await.unwrap();
    let conversation = handle.conversation().clone();
    let events = all(handle).await;
    let waiting = agent.conversations().wait_for_agents(&conversation);
    tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
    events
}

pub async fn agents(agent: &Agent) -> Vec<SubAgent> {
    let mut rows = agent.store().agents(AgentFilter::default()).await.unwrap().rows;
    rows.reverse();
    rows
}

/// Waits until something holds of the agents.
pub async fn until(agent: &Agent, holds: impl Fn(&[SubAgent]) -> bool) {
    let looked = async {
        while !holds(&agents(agent).await) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.unwrap();
}

/// The messages by which a chat was told of the ends of agents.
pub async fn notices(agent: &Agent, chat: &SubAgent) -> Vec<String> {
    let said = agent.store().messages(&chat.new.conversation, None).await.unwrap().rows;
    let texts = said.into_iter().map(|row| row.message.text);
    texts.filter(|text| text.starts_with("[agent_result:")).collect()
}

/// Waits until something holds.
pub async fn wait(holds: impl AsyncFn() -> bool) {
    let looked = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.unwrap();
}

/// Waits until no agent of a chat works any more.
pub async fn rested(agent: &Agent, chat: &ConversationId) {
    tokio::time::timeout(PATIENCE, agent.conversations().wait_for_agents(chat)).await.unwrap().unwrap();
}
