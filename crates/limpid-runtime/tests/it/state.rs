//! What providers want back with a message goes back: through the store, a restart, and another provider's turn.

use std::sync::Arc;

use crate::kit::{Bench, Once, PATIENCE, all, last, say, text};
use jiff::ToSpan;
use limpid_runtime::{Agent, AgentOptions, ConversationChoice, Environment, Tool, TurnEvent};
use limpid_store::RequestFilter;
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, Rules, fields};
use serde_json::{Value, json};

/// The bench's own server is not asked here.
const NOBODY: &str = "[[reply]]\nstatus = 500\n";

fn thinking(text: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": signature})
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn clock(id: &str, zone: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "get_local_time", "input": {"zone": zone}})
}

/// An answer that thinks again between its two calls, one whose thought is hidden, one without words, and the end.
fn tool_loop() -> Vec<Answer> {
    let interleaved = vec![
        thinking("", "s1"),
        said("Looking."),
        clock("a", "Europe/Paris"),
        thinking("And Rome.", "s2"),
        clock("b", "Europe/Rome"),
    ];
    let hidden = vec![json!({"type": "redacted_thinking", "data": "EmwK"}), clock("c", "Europe/Oslo")];
    let parted = vec![thinking("Once more.", "s3"), said("Nearly."), clock("d", "Asia/Tokyo"), said("Wait.")];
    let end = |n: u32| vec![thinking("Done.", &format!("e{n}")), said("Noon.")];
    [interleaved, hidden, parted, end(1), end(2), end(3)].into_iter().map(Answer::Content).collect()
}

fn options(bench: &Bench, models: &[&str], servers: &[(&str, &Strict)]) -> AgentOptions {
    let mut options = bench.options();
    options.config.model = models.first().map(ToString::to_string);
    options.config.fallback = models.iter().skip(1).map(ToString::to_string).collect();
    let path = |variable: &str| if variable.starts_with("GEMINI") { "/v1beta" } else { "/v1" };
    let variables = servers.iter().map(|(name, server)| ((*name).to_owned(), server.url() + path(name)));
    options.environment = Environment::new(variables);
    options
}

/// The messages of the model in the last request, without what says only where to cache.
fn sent(server: &Strict) -> Vec<Value> {
    let body = server.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    let mut contents: Vec<Value> = messages.map(|message| message["content"].clone()).collect();
    for block in contents.iter_mut().flat_map(|content| content.as_array_mut().unwrap()) {
        block.as_object_mut().unwrap().shift_remove("cache_control");
    }
    contents
}

fn contents(answers: &[Answer]) -> Vec<Value> {
    let content = |answer: &Answer| match answer {
        Answer::Content(content) => Some(Value::from(content.clone())),
        Answer::Error(..) => None,
    };
    answers.iter().filter_map(content).collect()
}

// MOD-001 MOD-002 MOD-005 MOD-006
#[tokio::test]
async fn thinking_goes_back_as_it_came_through_a_tool_loop_and_a_restart() {
    for rules in [Rules::Anthropic, Rules::AnthropicPreserved] {
        let bench = Bench::new(NOBODY).await;
        let server = Strict::start(rules, tool_loop()).await.unwrap();
        let agent = || {
            Agent::open(options(&bench, &["anthropic/claude-sonnet-5-5"], &[("ANTHROPIC_BASE_URL", &server)])).unwrap()
        };
        assert_eq!(text(&say(&agent(), "What time is it?").await), "Looking.Nearly.Wait.Noon.");
        assert_eq!(server.refused(), [""; 0]);
        assert_eq!(sent(&server), contents(&tool_loop())[..3]);
        // Another start of the program reads the conversation from the store.
        let agent = agent();
        assert_eq!(text(&say(&agent, "And now?").await), "Noon.");
        assert_eq!(text(&say(&agent, "And now?").await), "Noon.");
        assert_eq!(server.refused(), [""; 0]);
        assert_eq!(sent(&server), contents(&tool_loop())[..5]);
        // A logged request is the same when it is sent again.
        let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
        let mut again = agent.requests().replay(&rows[0].id, None).await.unwrap();
        while again.next().await.is_some_and(|event| !event.is_last()) {}
        assert_eq!(server.bodies().len(), 7);
        assert_eq!(sent(&server), contents(&tool_loop())[..5]);
    }
}

// MOD-001
#[tokio::test]
async fn thinking_survives_the_death_of_the_program_between_call_and_result() {
    let bench = Bench::new(NOBODY).await;
    let call = json!({"type": "tool_use", "id": "o", "name": "once", "input": {}});
    let answers = vec![
        Answer::Content(vec![thinking("Do it.", "s1"), clock("a", "Europe/Rome"), call]),
        Answer::Content(vec![thinking("Good.", "s2"), said("Done.")]),
    ];
    let server = Strict::start(Rules::AnthropicPreserved, answers).await.unwrap();
    let once = Once::new();
    let agent = || {
        let mut options = options(&bench, &["anthropic/claude-sonnet-5-5"], &[("ANTHROPIC_BASE_URL", &server)]);
        options.tools = vec![Arc::clone(&once) as Arc<dyn Tool>];
        Agent::open(options).unwrap()
    };
    let died = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let first = agent();
    let running = Arc::clone(&once);
    died.spawn(async move {
        let _handle = first.chat(last("do it")).await.unwrap();
        std::future::pending::<()>().await;
    });
    running.running.acquire().await.unwrap().forget();
    died.shutdown_background();
    // The dead process's lease runs out.
    bench.clock.forward(1.minute());
    let agent = agent();
    agent.conversations().resume().await.unwrap();
    let answered = async {
        while server.bodies().len() < 2 || !agent.store().unfinished_turns().await.unwrap().rows.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.unwrap();
    assert_eq!(server.refused(), [""; 0]);
    assert_eq!(sent(&server)[0][0], thinking("Do it.", "s1"));
}

// MOD-006
#[tokio::test]
async fn after_a_change_of_what_was_before_no_thinking_behind_it_goes_back() {
    let mut bench = Bench::new(NOBODY).await;
    bench.config.tools.defer = true;
    // Two answers a turn: a call, which sometimes finds another tool, and the end.
    let answer = |n: u32| {
        let zone = ["Europe/Paris", "Europe/Rome", "Europe/Oslo"][n as usize % 3];
        let id = format!("c{n}");
        let find =
            json!({"type": "tool_use", "id": id, "name": "find_tools", "input": {"query": "search earlier messages"}});
        Answer::Content(match n % 2 {
            0 if n % 14 == 4 => vec![thinking("Which?", &format!("s{n}")), find],
            0 => vec![thinking("Hm.", &format!("s{n}")), clock(&id, zone)],
            _ => vec![thinking("So.", &format!("s{n}")), said("Noon.")],
        })
    };
    let server = Strict::start(Rules::AnthropicPreserved, (0..100).map(answer).collect()).await.unwrap();
    let agent =
        Agent::open(options(&bench, &["anthropic/claude-sonnet-5-5"], &[("ANTHROPIC_BASE_URL", &server)])).unwrap();
    let (mut compacted, mut with_thinking) = (0, 0);
    for turn in 0..50 {
        match turn % 10 {
            3 => bench.write("soul.md", &format!("You are kind. {turn}")),
            7 => {
                let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
                assert_eq!(report.failure, None);
                compacted += 1;
            }
            _ => {}
        }
        assert_eq!(text(&say(&agent, "What time is it?").await), "Noon.", "turn {turn}: {:?}", server.refused());
        with_thinking += sent(&server).iter().filter(|content| content.to_string().contains("thinking")).count();
    }
    assert_eq!(server.refused(), [""; 0]);
    assert_eq!((server.bodies().len(), compacted), (100, 5));
    let found = |at: usize| server.bodies()[at].to_string().contains("tool_reference");
    assert!(!found(4) && found(5), "a tool was found");
    assert!(sent(&server).len() < 99 && with_thinking > 50, "{} {with_thinking}", sent(&server).len());
}

/// Of a model that is not known to bind its thoughts to what stands before them, only the provider can tell.
// MOD-007
#[tokio::test]
async fn a_conversation_that_was_edited_by_hand_goes_on_without_its_thoughts() {
    let bench = Bench::new(NOBODY).await;
    let unknown = "[[model]]\nnames = [\"anthropic/claude-sonnet-5-5\"]\nreasoning_bound = false\n";
    bench.write("models.toml", unknown);
    let answer = |n: u32| Answer::Content(vec![thinking("Hm.", &format!("s{n}")), said("Noon.")]);
    let server = Strict::start(Rules::AnthropicPreserved, (0..4).map(answer).collect()).await.unwrap();
    let agent =
        || Agent::open(options(&bench, &["anthropic/claude-sonnet-5-5"], &[("ANTHROPIC_BASE_URL", &server)])).unwrap();
    for _ in 0..2 {
        assert_eq!(text(&say(&agent(), "What time is it?").await), "Noon.");
    }
    let database = rusqlite::Connection::open(bench.home.path().join("data/limpid.db")).unwrap();
    let edit = "DROP TRIGGER message_is_never_changed;
                UPDATE message SET text = 'What hour is it?' WHERE id = (SELECT min(id) FROM message);";
    database.execute_batch(edit).unwrap();
    drop(database);

    let agent = agent();
    let events = say(&agent, "And now?").await;
    assert_eq!(text(&events), "Noon.");
    let refused = server.refused();
    assert!(
        matches!(&refused[..], [one] if one.contains("The block is bound to a different conversation")),
        "{refused:?}"
    );
    let asked = server.bodies();
    let has_thinking = |at: usize| asked[at]["messages"].to_string().contains("\"thinking\"");
    assert_eq!((asked.len(), has_thinking(2), has_thinking(3)), (4, true, false), "once more, without any");
    let told = |events: &[TurnEvent]| {
        events
            .iter()
            .filter(
                |event| matches!(event, TurnEvent::Notice(text) if text.contains("did not take back the reasoning")),
            )
            .count()
    };
    assert_eq!(told(&events), 1, "{events:?}");
    let events = say(&agent, "And now?").await;
    assert_eq!((text(&events), told(&events), server.refused().len()), ("Noon.".to_owned(), 0, 1));
}

// MOD-011
#[tokio::test]
async fn reasoning_goes_back_to_the_chat_servers_that_want_it() {
    let call = |id: &str, zone: &str| {
        let function = json!({"name": "get_local_time", "arguments": format!("{{\"zone\":\"{zone}\"}}")});
        json!({"id": id, "type": "function", "function": function})
    };
    let answers = [
        json!({"reasoning_content": "First.", "tool_calls": [call("a", "Europe/Paris"), call("b", "Europe/Rome")]}),
        json!({"reasoning_content": "Then.", "content": "Hm.", "tool_calls": [call("c", "Europe/Oslo")]}),
        json!({"reasoning_content": "So.", "content": "Noon."}),
    ];
    let answers: Vec<Answer> = answers.map(|message| Answer::Content(vec![message])).into();
    for (name, variable, rules) in [
        ("deepseek/deepseek-reasoner", "DEEPSEEK_BASE_URL", Rules::Chat),
        ("openai/any", "OPENAI_BASE_URL", Rules::PlainChat),
    ] {
        let bench = Bench::new(NOBODY).await;
        let server = Strict::start(rules, answers.clone()).await.unwrap();
        let agent = Agent::open(options(&bench, &[name], &[(variable, &server)])).unwrap();
        assert_eq!(text(&say(&agent, "What time is it?").await), "Hm.Noon.");
        say(&agent, "And now?").await;
        assert_eq!(server.refused(), [""; 0], "{name}");
        assert_eq!(server.bodies().len(), 4);
    }
}

fn gemini_call(zone: &str, signature: Option<&str>) -> Value {
    let mut part = json!({"functionCall": {"name": "get_local_time", "args": {"zone": zone}}});
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

// MOD-014
#[tokio::test]
async fn signatures_stay_on_the_parts_that_bore_them() {
    let bench = Bench::new(NOBODY).await;
    let batch = vec![
        json!({"text": "Let me see.", "thought": true}),
        json!({"text": "Looking.", "thoughtSignature": "t1"}),
        gemini_call("Europe/Paris", Some("c1")),
        gemini_call("Europe/Rome", None),
    ];
    let end = vec![json!({"text": "Noon."}), json!({"text": "", "thoughtSignature": "e1"})];
    let answers = vec![Answer::Content(batch), Answer::Content(end)];
    let server = Strict::start(Rules::Gemini, answers).await.unwrap();
    let agent = Agent::open(options(&bench, &["gemini/gemini-3.8-flash"], &[("GEMINI_BASE_URL", &server)])).unwrap();
    assert_eq!(text(&say(&agent, "What time is it?").await), "Looking.Noon.");
    assert_eq!(text(&say(&agent, "And now?").await), "Noon.");
    assert_eq!(server.refused(), [""; 0]);
    let body = server.bodies().pop().unwrap();
    assert_eq!(body["contents"][3]["parts"][1], json!({"text": "", "thoughtSignature": "e1"}));
}

// MOD-074
#[tokio::test]
async fn a_field_that_is_refused_is_told_once_and_both_requests_are_in_the_ledger() {
    let bench = Bench::new(NOBODY).await;
    let answers = vec![Answer::Content(vec![json!({"content": "Noon."})])];
    let server = Strict::refusing(Rules::PlainChat, vec![fields::MISTRAL_STREAM_OPTIONS], answers).await.unwrap();
    let agent = Agent::open(options(&bench, &["openai/any"], &[("OPENAI_BASE_URL", &server)])).unwrap();
    let told = |events: &[TurnEvent]| -> Vec<String> {
        let notices = events.iter().filter_map(|event| match event {
            TurnEvent::Notice(text) if text.contains("refuses") => Some(text.clone()),
            _ => None,
        });
        notices.collect()
    };
    let first = say(&agent, "What time is it?").await;
    assert_eq!(text(&first), "Noon.");
    insta::assert_snapshot!(told(&first).join("\n"), @r#"
    openai/any refuses `stream_options`, and is asked accordingly from now on. To keep it so after a restart, add this to models.toml in the home folder:
    [[model]]
    names = ["openai/any"]
    refuses = ["stream_options"]
    "#);
    assert_eq!(told(&say(&agent, "And now?").await), [""; 0]);
    assert_eq!((server.bodies().len(), server.refused().len()), (3, 1));
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    let failures: Vec<bool> =
        rows.iter().rev().map(|row| row.end.as_ref().is_some_and(|end| end.failure.is_some())).collect();
    assert_eq!(failures, [true, false, false]);
}

// MOD-003
#[tokio::test]
async fn state_goes_to_nobody_but_its_maker_and_is_there_again_after_a_fallback() {
    let bench = Bench::new(NOBODY).await;
    let claude = vec![
        Answer::Content(vec![thinking("Paris.", "s1"), clock("a", "Europe/Paris")]),
        Answer::Error(401, "the key is locked"),
        Answer::Error(401, "the key is locked"),
        Answer::Content(vec![thinking("So.", "s2"), said("Noon.")]),
    ];
    let chat = json!({"reasoning_content": "Rome.", "tool_calls": [{"id": "b", "type": "function",
        "function": {"name": "get_local_time", "arguments": "{\"zone\":\"Europe/Rome\"}"}}]});
    let openai = vec![Answer::Content(vec![chat]), Answer::Error(401, "the key is locked")];
    let gemini = vec![Answer::Content(vec![gemini_call("Europe/Oslo", Some("g1"))])];
    let claude = Strict::start(Rules::AnthropicPreserved, claude).await.unwrap();
    let openai = Strict::start(Rules::PlainChat, openai).await.unwrap();
    let gemini = Strict::start(Rules::Gemini, gemini).await.unwrap();
    let models = ["anthropic/claude-sonnet-5-5", "openai/any", "gemini/gemini-3.8-flash"];
    let servers = [("ANTHROPIC_BASE_URL", &claude), ("OPENAI_BASE_URL", &openai), ("GEMINI_BASE_URL", &gemini)];
    let agent = Agent::open(options(&bench, &models, &servers)).unwrap();
    let events = all(agent.chat(last("What time is it?")).await.unwrap()).await;
    assert_eq!(text(&events), "Noon.");
    let fallbacks = events.iter().filter(|event| matches!(event, TurnEvent::Retrying { .. })).count();
    assert_eq!(fallbacks, 3);
    for server in [&claude, &openai, &gemini] {
        assert_eq!(server.refused(), [""; 0]);
    }
    assert!(!openai.bodies()[0].to_string().contains("Paris.") && !gemini.bodies()[0].to_string().contains("s1"));
    assert_eq!(sent(&claude)[0], json!([thinking("Paris.", "s1"), clock("a", "Europe/Paris")]));
    assert_eq!(sent(&claude)[2][0]["type"], "tool_use");
}

// MOD-050 MOD-051
#[tokio::test]
async fn nothing_of_a_long_conversation_is_paid_twice_in_full() {
    let bench = Bench::new(NOBODY).await;
    // Rounds of one call and of 15: more blocks than the provider looks back for.
    let round = |turn: usize, round: usize, calls: usize| -> Answer {
        let call = |n: usize| clock(&format!("t{turn}r{round}c{n}"), "Europe/Rome");
        let thought = thinking("Look.", &format!("s{turn}-{round}"));
        Answer::Content([vec![thought], (0..calls).map(call).collect()].concat())
    };
    let turn = |n: usize| match n % 4 {
        0 => vec![round(n, 0, 15), round(n, 1, 15), round(n, 2, 1)],
        1 => vec![round(n, 0, 2)],
        2 => vec![round(n, 0, 1), round(n, 1, 15)],
        _ => Vec::new(),
    };
    let answers = (0..20).flat_map(|n| turn(n).into_iter().chain([Answer::Content(vec![said(&format!("Noon {n}."))])]));
    let server = Strict::start(Rules::Anthropic, answers.collect()).await.unwrap();
    for profile in ["limpid", "ollm"] {
        let mut options = options(&bench, &["anthropic/claude-sonnet-5-5"], &[("ANTHROPIC_BASE_URL", &server)]);
        options.config.agent.profile = profile.to_owned();
        let agent = Agent::open(options).unwrap();
        let before = server.bodies().len();
        all(agent.chat(limpid_runtime::ChatRequest { text: "Begin.".to_owned(), ..Default::default() }).await.unwrap())
            .await;
        for n in 1..20 {
            say(&agent, &format!("What time is it now, {n}?")).await;
        }
        assert_eq!(server.refused(), [""; 0]);
        let bodies = &server.bodies()[before..];
        for (at, cached) in limpid_testkit::cache::anthropic(bodies).iter().enumerate().skip(1) {
            // The end of the fixed part is marked too, so a request reads all that it repeats.
            assert!(cached.read == cached.repeated && cached.read > 0, "{profile}, request {at}: {cached:?}");
        }
    }
}
