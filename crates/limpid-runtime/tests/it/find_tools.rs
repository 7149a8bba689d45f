//! Tools that wait behind `find_tools`, over a real socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, ToolClass, Trust};
use limpid_model::ExactCounter;
use limpid_model::protocol::Protocol;
use limpid_prompt::TokenCounter;
use limpid_runtime::{
    Agent, AgentOptions, ChatRequest, Config, ConversationChoice, Environment, Tool, ToolContext, TurnEvent,
};
use limpid_store::RequestFilter;
use limpid_testkit::strict::{Answer, Rules, fields};
use limpid_testkit::{Recorded, Strict};
use serde_json::{Map, Value, json};

use crate::kit::{Bench, all, last};

/// One of ten tools of a server that does not exist.
struct Fake {
    name: &'static str,
    group: &'static str,
    runs: Arc<AtomicU32>,
}

#[async_trait]
impl Tool for Fake {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        self.group
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        self.class().into()
    }

    fn schema(&self) -> Map<String, Value> {
        let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
        schema.as_object().unwrap().clone()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(&self, _: &ToolContext, _: Value) -> Result<Labelled<String>, Sentence> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        Ok(Labelled::new(format!("{} ran", self.name), Trust::Owner))
    }
}

/// An agent with every shipped tool and ninety more, and how often one of the ninety ran.
fn agent(bench: &mut Bench, servers: u32) -> (Agent, Arc<AtomicU32>) {
    agent_of(bench, servers, |_| {})
}

/// The same with other options.
fn agent_of(bench: &mut Bench, servers: u32, change: impl FnOnce(&mut AgentOptions)) -> (Agent, Arc<AtomicU32>) {
    bench.config.tools.defer = true;
    let runs = Arc::new(AtomicU32::new(0));
    let leak = |text: String| -> &'static str { text.leak() };
    let fake = |server: u32, n: u32| -> Arc<dyn Tool> {
        let name = leak(format!("alpha{server}_work{n}"));
        Arc::new(Fake { name, group: leak(format!("alpha{server}")), runs: Arc::clone(&runs) })
    };
    let mut options = bench.options();
    options.tools = (0..servers).flat_map(|server| (0..10).map(move |n| fake(server, n)).collect::<Vec<_>>()).collect();
    change(&mut options);
    (Agent::open(options).unwrap(), runs)
}

fn tools(call: &Recorded) -> Vec<Value> {
    call.json()["tools"].as_array().cloned().unwrap_or_default()
}

fn tool_names(call: &Recorded) -> Vec<String> {
    tools(call).iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

fn results(call: &Recorded) -> Vec<String> {
    let messages = call.json()["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

const SEARCH: &str = r#"
[[reply]]
calls = [{ id = "a", name = "alpha7_work3", arguments = { path = "x" } }]
[[reply]]
calls = [{ id = "b", name = "find_tools", arguments = { query = "alpha7_work3" } }]
[[reply]]
calls = [{ id = "c", name = "alpha7_work3", arguments = { path = "x" } }]
[[reply]]
text = "Done."
[[reply]]
text = "Still here."
"#;

// LES-012 PRO-046 PRO-042 LES-022
#[tokio::test]
async fn any_tool_is_found_and_called_and_stays_behind_the_others() {
    let mut bench = Bench::new(SEARCH).await;
    let (agent, runs) = agent(&mut bench, 9);
    all(agent.chat(last("do the work")).await.unwrap()).await;
    let calls = bench.server.calls();
    assert!(
        results(&calls[1])[0].contains("find_tools"),
        "it is refused before it was found: {:?}",
        results(&calls[1])
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(results(&calls[2])[1].starts_with("alpha7_work3(path: string)"), "{:?}", results(&calls[2]));
    assert_eq!(results(&calls[3])[2], "alpha7_work3 ran");
    assert_eq!(tools(&calls[0]), tools(&calls[1]));
    let (before, after) = (tools(&calls[0]), tools(&calls[2]));
    assert_eq!(before[..], after[..before.len()], "what was there stays as it is");
    assert!(tool_names(&calls[2])[before.len()..].contains(&"alpha7_work3".to_owned()));
    assert_eq!(calls[0].system(), calls[3].system());
    for call in &calls {
        let tokens = ExactCounter::O200K.count(&call.json()["tools"].to_string());
        assert!(tokens < 2000, "{tokens} tokens");
    }
    let list = before.iter().find(|tool| tool["function"]["name"] == "find_tools").unwrap().to_string();
    assert!((0..9).all(|server| list.contains(&format!("alpha{server}"))), "{list}");

    // Another start of the program, the same conversation.
    drop(agent);
    let (agent, _) = self::agent(&mut bench, 9);
    all(agent.chat(last("still there?")).await.unwrap()).await;
    assert_eq!(tools(bench.server.calls().last().unwrap()), after);
}

/// A request without what says only where to cache.
fn without_marks(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_marks).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !name.contains("cache"));
            kept.map(|(name, value)| (name.clone(), without_marks(value))).collect()
        }
        other => other.clone(),
    }
}

/// Providers that take tools which are read once they were found: their rules, a model of theirs, their protocol, the
/// field with the messages, and answers that find a tool, call it, and find it once more.
fn searching() -> [(Rules, &'static str, Protocol, &'static str, Vec<Answer>); 2] {
    let query = json!({ "query": "alpha7_work3" });
    let thinking = |signature: &str| json!({ "type": "thinking", "thinking": "Hm.", "signature": signature });
    let call =
        |id: &str, name: &str, input: &Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let find = |id: &str| call(id, "find_tools", &query);
    let anthropic = vec![
        vec![thinking("s1"), find("f1"), call("t1", "get_local_time", &json!({ "zone": "Europe/Rome" }))],
        vec![thinking("s2"), call("c1", "alpha7_work3", &json!({ "path": "x" }))],
        vec![thinking("s3"), json!({ "type": "text", "text": "Done." })],
        vec![thinking("s4"), find("f2")],
        vec![thinking("s5"), json!({ "type": "text", "text": "Still here." })],
    ];
    let reasoning =
        |id: &str| json!({ "id": id, "type": "reasoning", "summary": [], "encrypted_content": format!("{id}=") });
    let function = |id: &str, name: &str, arguments: &str| json!({ "id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": name, "arguments": arguments });
    let find = |id: &str| {
        json!({
            "id": format!("ts_{id}"), "type": "tool_search_call", "call_id": id, "execution": "client",
            "status": "completed", "arguments": query,
        })
    };
    let said = |text: &str| json!({ "id": "m", "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
    let openai = vec![
        vec![reasoning("r1"), find("f1"), function("t1", "get_local_time", r#"{"zone":"Europe/Rome"}"#)],
        vec![reasoning("r2"), function("c1", "alpha7_work3", r#"{"path":"x"}"#)],
        vec![reasoning("r3"), said("Done.")],
        vec![reasoning("r4"), find("f2")],
        vec![reasoning("r5"), said("Still here.")],
    ];
    let answers = |all: Vec<Vec<Value>>| all.into_iter().map(Answer::Content).collect();
    [
        (Rules::AnthropicPreserved, "anthropic/claude-sonnet-5-5", Protocol::Anthropic, "messages", answers(anthropic)),
        (Rules::Responses, "openai/gpt-6.1-sol", Protocol::OpenaiResponses, "input", answers(openai)),
    ]
}

/// A model behind an address of its own, before tools that wait.
fn at(model: &str, protocol: Protocol, server: &Strict) -> Config {
    let (provider, _) = model.split_once('/').unwrap();
    let (url, protocol) = (server.url(), protocol.as_str());
    let config = format!(
        "model = \"{model}\"\n[tools]\ndefer = true\n[provider.{provider}]\nbase_url = \"{url}/v1\"\nprotocol = \"{protocol}\"\n"
    );
    Config::parse(&config, "limpid.toml").unwrap()
}

// MOD-055 LES-022
#[tokio::test]
async fn a_tool_that_is_found_changes_nothing_before_the_history_where_the_provider_has_a_way() {
    for (rules, model, protocol, field, answers) in searching() {
        let server = Strict::start(rules, answers).await.unwrap();
        let mut bench = Bench::new("[[reply]]\nstatus = 500\n").await;
        let open = |bench: &mut Bench| {
            agent_of(bench, 9, |options| {
                options.config = at(model, protocol, &server);
                options.environment = Environment::default();
            })
        };
        let (agent, runs) = open(&mut bench);
        all(agent.chat(last("do the work")).await.unwrap()).await;
        assert_eq!((server.refused(), runs.load(Ordering::SeqCst)), (Vec::new(), 1), "{model}");
        // Another start of the program, the same conversation.
        drop(agent);
        let (agent, _) = open(&mut bench);
        all(agent.chat(last("still there?")).await.unwrap()).await;
        assert_eq!(server.refused(), [""; 0], "{model}");

        let bodies: Vec<Value> = server.bodies().iter().map(without_marks).collect();
        assert_eq!(bodies.len(), 5, "{model}");
        let found = &bodies[1][field];
        insta::assert_snapshot!(
            format!("found-{field}"),
            serde_json::to_string_pretty(&found.as_array().unwrap()[2..]).unwrap()
        );
        for pair in bodies.windows(2) {
            let [before, after] = pair else { unreachable!() };
            for part in ["tools", "system", "model"] {
                assert_eq!(before[part].to_string(), after[part].to_string(), "{model}: {part}");
            }
            let messages =
                |body: &Value| body[field].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>();
            assert!(messages(after).starts_with(&messages(before)), "{model}");
        }
        let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
        assert!(rows.iter().all(|row| row.shared.changed.is_none()), "{model}: {rows:#?}");
        // What the model has not read does not count, and what it has found does.
        let estimates: Vec<u64> = rows.iter().rev().map(|row| row.estimate.unwrap()).collect();
        assert!(estimates[0] < 3000 && estimates[1] > estimates[0], "{model}: {estimates:?}");
        // A logged request is the same when it is sent again.
        let mut again = agent.requests().replay(&rows[0].id, None).await.unwrap();
        while again.next().await.is_some_and(|event| !event.is_last()) {}
        let again = without_marks(server.bodies().last().unwrap());
        for part in ["tools", field] {
            assert_eq!(again[part], bodies[4][part], "{model}: {part}");
        }
    }
}

// MOD-055 MOD-074
#[tokio::test]
async fn who_refuses_tools_that_wait_gets_those_that_were_found_and_no_others() {
    let (_, model, protocol, _, mut answers) = searching().into_iter().next().unwrap();
    // The refusal takes the place of an answer.
    answers.insert(0, answers[0].clone());
    let server = Strict::refusing(Rules::Anthropic, vec![fields::ANTHROPIC_DEFERRED], answers).await.unwrap();
    let mut bench = Bench::new("[[reply]]\nstatus = 500\n").await;
    let (agent, runs) = agent_of(&mut bench, 9, |options| options.config = at(model, protocol, &server));
    let events = all(agent.chat(last("do the work")).await.unwrap()).await;
    assert_eq!(server.refused().len(), 1, "{:?}", server.refused());
    assert!(
        events.iter().any(|event| matches!(event, TurnEvent::Notice(text) if text.contains("tool_search"))),
        "{events:?}"
    );
    let bodies = server.bodies();
    let names = |body: &Value| -> Vec<String> {
        body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (before, after) = (names(&bodies[1]), names(bodies.last().unwrap()));
    assert!(!before.contains(&"alpha7_work3".to_owned()) && before == after[..before.len()], "{before:?}\n{after:?}");
    assert_eq!(after[before.len()], "alpha7_work3");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

// PRO-046
#[tokio::test]
async fn what_was_called_often_travels_in_the_next_conversation() {
    let call = |n: u32| format!("{{ id = \"c{n}\", name = \"alpha5_work5\", arguments = {{ path = \"x\" }} }}");
    let batch = |from: u32| (from..from + 30).map(call).collect::<Vec<_>>().join(", ");
    let many = format!("{}]\n[[reply]]\ncalls = [{}", batch(0), batch(30));
    let script = format!(
        "[[reply]]\ncalls = [{{ id = \"f\", name = \"find_tools\", arguments = {{ query = \"alpha5_work5\" }} }}]\n\
         [[reply]]\ncalls = [{many}]\n[[reply]]\ntext = \"Done.\"\n[[reply]]\ntext = \"Hello.\"\n"
    );
    let mut bench = Bench::new(&script).await;
    let (agent, runs) = agent(&mut bench, 9);
    all(agent.chat(last("go")).await.unwrap()).await;
    assert_eq!(runs.load(Ordering::SeqCst), 60);
    let new = ChatRequest { conversation: ConversationChoice::New, ..last("hi") };
    all(agent.chat(new).await.unwrap()).await;
    let calls = bench.server.calls();
    let has = |call: &Recorded| tool_names(call).contains(&"alpha5_work5".to_owned());
    assert!(!has(&calls[0]) && has(calls.last().unwrap()));
}

// MEA-01 PRO-046
#[tokio::test]
async fn hi_costs_at_most_1000_tokens_with_every_tool_reachable() {
    for (servers, most) in [(0, 1000), (9, 1500)] {
        let mut bench = Bench::new("[[reply]]\ntext = \"Hello.\"\n").await;
        let (agent, _) = agent(&mut bench, servers);
        all(agent.chat(last("hi")).await.unwrap()).await;
        let call = &bench.server.calls()[0];
        let body = call.json();
        let texts = body["messages"].as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap());
        let texts: usize = texts.map(|text| ExactCounter::O200K.count(text)).sum();
        let tools = ExactCounter::O200K.count(&body["tools"].to_string());
        assert!(tools <= 1000, "{tools} tokens of tools");
        assert!(texts + tools <= most, "{texts} tokens of text and {tools} of tools");
        assert!(call.system().len() < 2048);
    }
}

// OLLM-039
#[tokio::test]
async fn a_profile_without_a_finder_says_what_it_leaves_out() {
    let mut bench = Bench::new("[[reply]]\ntext = \"Hello.\"\n").await;
    bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 8192\n");
    bench.config.agent.profile = "kai".to_owned();
    let (agent, _) = agent(&mut bench, 9);
    let events = all(agent.chat(last("hi")).await.unwrap()).await;
    assert!(tools(&bench.server.calls()[0]).len() <= 10);
    let told =
        |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("the section tools was cut"));
    assert_eq!(events.iter().filter(|event| told(event)).count(), 1, "{events:?}");
}

/// Profiles whose seeds have no sentence that names a tool whatever is offered.
const NAMES_WHAT_IS_SENT: [&str; 3] = ["limpid", "ollm", "koshi"];

/// The bodies themselves, of every window and profile, before and after tools were looked for.
// OLLM-039
#[tokio::test]
async fn tools_keep_to_their_share_of_every_window_and_are_the_ones_that_are_named() {
    let shipped = limpid_prompt::profile::shipped_files();
    let shipped = shipped.iter().filter_map(|file| file.path.strip_prefix("limpid/tools/")?.strip_suffix(".md"));
    let known: Vec<String> =
        shipped.map(str::to_owned).chain((0..90).map(|n| format!("alpha{}_work{}", n / 10, n % 10))).collect();
    let (mut most, mut seen) = (0, Vec::new());
    for window in [4096, 8192, 16_384, 65_536] {
        for profile in ["limpid", "ollm", "kai", "koshi", "picoclaw"] {
            let mut bench = Bench::new(SEARCH).await;
            bench.write("models.toml", &format!("[[model]]\nnames = [\"openai/scripted\"]\nwindow = {window}\n"));
            bench.config.agent.profile = profile.to_owned();
            let (agent, _) = agent(&mut bench, 9);
            let events = all(agent.chat(last("do the work")).await.unwrap()).await;
            let calls = bench.server.calls();
            assert_eq!(calls.len(), 4, "{profile} {window}: {events:?}");
            for call in &calls {
                let sent = tool_names(call);
                let tokens = ExactCounter::O200K.count(&call.json()["tools"].to_string());
                let usable = window * 85 / 100;
                assert!(tokens <= usable * 15 / 100, "{profile} {window}: {tokens} tokens");
                assert!(window > 8192 || sent.len() <= 10, "{profile} {window}: {sent:?}");
                most = most.max(tokens * 1000 / usable);
                let system = call.system();
                let words = system.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
                let named = words.filter(|word| word.contains('_') && known.iter().any(|name| name == word));
                let strange: Vec<&str> = named.filter(|word| !sent.iter().any(|name| name == word)).collect();
                assert!(
                    !NAMES_WHAT_IS_SENT.contains(&profile) || strange.is_empty(),
                    "{profile} {window}: {strange:?}"
                );
            }
            // What is left out can be found, or the person is told its name.
            let finder = tool_names(&calls[0]).iter().any(|name| name == "find_tools");
            let told = |event: &TurnEvent| matches!(event, TurnEvent::Notice(text) if text.contains("alpha8_work9"));
            let all_sent =
                known.iter().filter(|name| name.starts_with("alpha")).all(|name| tool_names(&calls[0]).contains(name));
            // Of these profiles the seed says which tools there are.
            let offers_all = !matches!(profile, "koshi");
            assert!(!offers_all || finder || all_sent || events.iter().any(told), "{profile} {window}: {events:?}");
            seen.push(format!("{profile} {window}: {} tools", tool_names(&calls[0]).len()));
        }
    }
    assert!(most <= 150, "{most} of a thousand at most; {seen:?}");
}

/// A model that looks for the history, searches it, and reads what was found.
const HISTORY: &str = r#"
[[reply]]
calls = [{ id = "a", name = "find_tools", arguments = { query = "search earlier messages" } }]
[[reply]]
calls = [{ id = "b", name = "search_history", arguments = { query = "codeword" } }]
[[reply]]
calls = [{ id = "c", name = "read_history", arguments = { from = 1, to = 1 } }]
[[reply]]
text = "Done."
"#;

#[tokio::test]
async fn what_was_found_in_the_history_can_be_read_in_a_small_window() {
    for window in [4096, 8192, 16_384, 65_536] {
        let script = format!("[[reply]]\ntext = \"Noted.\"\n{HISTORY}");
        let mut bench = Bench::new(&script).await;
        bench.write("models.toml", &format!("[[model]]\nnames = [\"openai/scripted\"]\nwindow = {window}\n"));
        let (agent, _) = agent(&mut bench, 9);
        all(agent.chat(last("the codeword is kolibri")).await.unwrap()).await;
        all(agent.chat(last("what was the codeword?")).await.unwrap()).await;
        let calls = bench.server.calls();
        let results = results(&calls[4]);
        assert!(
            results[0].contains("search_history(") && results[0].contains("read_history("),
            "{window}: {results:?}"
        );
        assert!(results[1].contains("kolibri") && results[2].contains("kolibri"), "{window}: {results:?}");
    }
}

#[tokio::test]
async fn a_request_for_a_goal_finds_the_tool_among_the_declared_ones() {
    for window in [4096, 8192, 65_536] {
        for profile in ["limpid", "ollm"] {
            let mut bench = Bench::new("[[reply]]\ntext = \"Hello.\"\n").await;
            bench.write("models.toml", &format!("[[model]]\nnames = [\"openai/scripted\"]\nwindow = {window}\n"));
            bench.config.agent.profile = profile.to_owned();
            let (agent, _) = agent(&mut bench, 9);
            for text in ["hi", "Set a goal: finish my thesis by June, one step a week"] {
                all(agent.chat(last(text)).await.unwrap()).await;
            }
            let new = ChatRequest { conversation: ConversationChoice::New, ..last("Set a goal: learn to swim") };
            all(agent.chat(new).await.unwrap()).await;
            let has: Vec<bool> =
                bench.server.calls().iter().map(|call| tool_names(call).contains(&"create_goal".to_owned())).collect();
            assert_eq!(has, [false, true, true], "{profile} {window}");
        }
    }
}
