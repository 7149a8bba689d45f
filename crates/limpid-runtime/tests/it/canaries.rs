//! A canary in every field of somebody else's that a tool may repeat, when it succeeds and each way it can fail: the model
//! reads it inside a boundary, and the turn is tainted from there on.

mod kept;
mod mailed;
mod places;
mod raised;
mod sources;
mod wire;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use limpid_core::{Role, Trust};
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, Config, TurnEvent};
use limpid_testkit::{Recorded, Recorder};
use serde_json::{Value, json};

use crate::kit::{Bench, last};

/// What a stranger wrote.
const CANARY: &str = "canary7731";

/// Everything on that an owner can switch on, with their servers at one address.
fn everything(url: &str) -> String {
    format!(
        "model = \"openai/scripted\"\n[owner]\nzone = \"Europe/Berlin\"\n[agent]\nmode = \"developer\"\n[tools]\ndefer = false\n[web]\nmirrors = [\"127.0.0.1\"]\n\
         [search]\nengine = \"searxng\"\nurl = \"{url}\"\n[location]\nservice = \"{url}/place\"\n\
         [inbox]\nsms = true\nnotifications = true\n[inbox.gateway]\nurl = \"{url}/sms\"\n"
    )
}

/// An agent whose model makes the calls that a test sets, one turn each.
struct Caller {
    bench: Bench,
    calls: Arc<Mutex<VecDeque<(String, Value)>>>,
    /// What it says besides.
    says: Arc<Mutex<Value>>,
    sent: Arc<Mutex<Vec<Recorded>>>,
}

impl Caller {
    async fn new(config: &str) -> Self {
        let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
        bench.config = Config::parse(config, "limpid.toml").unwrap();
        let (calls, sent) =
            (Arc::<Mutex<VecDeque<(String, Value)>>>::default(), Arc::<Mutex<Vec<Recorded>>>::default());
        let says = Arc::new(Mutex::new(json!({ "text": "Done." })));
        let (next, noted, said) = (Arc::clone(&calls), Arc::clone(&sent), Arc::clone(&says));
        bench.server = Recorder::answering(move |request: &Recorded| {
            noted.lock().unwrap().push(request.clone());
            let reply = match next.lock().unwrap().pop_front() {
                Some((name, arguments)) => json!({ "calls": [{ "name": name, "arguments": arguments }] }),
                None => said.lock().unwrap().clone(),
            };
            serde_json::from_value(reply).unwrap()
        })
        .await
        .unwrap();
        Self { bench, calls, says, sent }
    }

    /// Makes one call in a clean turn, with a yes to whatever is asked. Returns what the model reads of it, and its label.
    async fn calls(&self, agent: &Agent, name: &str, arguments: Value) -> (String, Trust) {
        // What an earlier call has brought is put aside; there may be nothing.
        let _ = agent.conversations().clean(&last("").conversation).await;
        self.go_on(agent, name, arguments, ChatRequest { can_answer: true, ..last("go on") }).await
    }

    /// Makes one call in the turn of this message.
    async fn go_on(&self, agent: &Agent, name: &str, arguments: Value, request: ChatRequest) -> (String, Trust) {
        self.go_on_with(agent, vec![(name, arguments)], request).await
    }

    /// Makes calls one after another in the turn of this message. Returns what the model reads of the last one, and its label.
    async fn go_on_with(&self, agent: &Agent, calls: Vec<(&str, Value)>, request: ChatRequest) -> (String, Trust) {
        let name = calls.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        self.calls.lock().unwrap().extend(calls.into_iter().map(|(name, arguments)| (name.to_owned(), arguments)));
        let mut handle = agent.chat(request).await.unwrap();
        let conversation = handle.conversation().clone();
        while let Some(event) = handle.next().await {
            if let TurnEvent::ApprovalRequested { parts, .. } = &event {
                parts.iter().for_each(|part| handle.answer(&part.id, ApprovalAnswer::Once));
            }
            if event.is_last() {
                break;
            }
        }
        let texts = self.sent.lock().unwrap().last().unwrap().texts();
        let read = texts.into_iter().rev().find(|sent| sent.role == "tool").expect(&name).text;
        let rows = agent.store().messages(&conversation, None).await.unwrap().rows;
        let row = rows.into_iter().rev().find(|row| row.message.role == Role::Tool).expect(&name);
        (read, row.message.trust)
    }

    /// The same, judged: a canary in it is bounded and taints. Returns whether there was one.
    async fn shows(&self, agent: &Agent, name: &str, arguments: Value) -> bool {
        let (read, trust) = self.calls(agent, name, arguments.clone()).await;
        let shows = read.to_lowercase().contains(CANARY);
        if shows {
            let left = outside_of_boundaries(&read).to_lowercase();
            assert!(!left.contains(CANARY), "{name} {arguments}: {read}");
            assert!(trust.is_foreign(), "{name} {arguments} taints: {read}");
        }
        shows
    }

    /// The tools that the model was offered.
    fn offered(&self) -> BTreeSet<String> {
        let sent = self.sent.lock().unwrap();
        let tools = sent.last().unwrap().json()["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// A text without its boundaries and what stands in them.
fn outside_of_boundaries(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("[untrusted ") {
        let (tag, after) = inside.split_once(']').expect("a boundary has a tag");
        let (_, after) = after.split_once(&format!("[/untrusted {tag}]")).expect("a boundary is closed");
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// What each call showed, a line each.
fn told(rows: &[(String, bool)]) -> String {
    let told =
        |(what, shows): &(String, bool)| format!("{what}: {}", if *shows { "in a boundary" } else { "not shown" });
    rows.iter().map(told).collect::<Vec<_>>().join("\n")
}
