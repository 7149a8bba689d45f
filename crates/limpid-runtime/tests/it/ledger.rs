//! The request log, the prompt of the next turn, and what files do to it.

use crate::kit::{Bench, PROTOCOLS, all, last, remote, say, text};
use jiff::ToSpan;
use limpid_core::Category;
use limpid_runtime::{Agent, ConversationChoice, PreviewRequest, TurnEvent};
use limpid_store::{Author, CostBy, CostQuery, NewMemory, Request, RequestFilter};

const OK: &str = "[[reply]]\ntext = \"ok\"\nusage = { input = 100, cached = 40, output = 2 }\n";

async fn newest(agent: &Agent) -> Request {
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    agent.store().request(&rows[0].id).await.unwrap().unwrap()
}

fn next(text: &str) -> PreviewRequest {
    PreviewRequest { conversation: ConversationChoice::Last, text: text.to_owned(), ..PreviewRequest::default() }
}

// KOSHI-002 PRO-050
#[tokio::test]
async fn what_is_shown_is_what_is_sent_in_every_protocol() {
    for protocol in PROTOCOLS {
        let bench =
            Bench::new("[[reply]]\ncalls = [{ id = \"t\", name = \"get_local_time\" }]\n[[reply]]\ntext = \"ok\"\n")
                .await;
        let mut options = bench.options();
        options.model = Some(remote(protocol, bench.server.url()));
        let agent = Agent::open(options).unwrap();
        for said in ["hi", "and now?"] {
            let shown = agent.preview(next(said)).await.unwrap().prompt;
            let before = bench.server.calls().len();
            say(&agent, said).await;
            let sent = bench.server.calls()[before].texts();
            let by_role = |role: &str| -> Vec<String> {
                let messages = shown.messages().iter().filter(|message| message.role().as_str() == role);
                messages.map(|message| message.text().to_owned()).filter(|text| !text.is_empty()).collect()
            };
            for role in ["system", "user"] {
                let wire: Vec<String> =
                    sent.iter().filter(|sent| sent.role == role).map(|sent| sent.text.clone()).collect();
                assert_eq!(wire, by_role(role), "{} {role} of {said:?}", protocol.as_str());
            }
            // The request log holds the same.
            let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
            let first =
                rows.iter().rfind(|row| row.round == 1 && row.messages == shown.messages().len() as u64).unwrap();
            let kept = agent.store().request(&first.id).await.unwrap().unwrap();
            let kept: Vec<&str> = kept.messages.iter().map(|message| message.text.as_str()).collect();
            let shown: Vec<&str> = shown.messages().iter().map(limpid_prompt::PromptMessage::text).collect();
            assert_eq!(kept, shown, "{}", protocol.as_str());
        }
    }
}

// KOSHI-003 KOSHI-012 PICO-022 LES-027 PRO-044
#[tokio::test]
async fn a_changed_file_takes_effect_on_the_next_turn_and_the_ledger_names_it() {
    let bench = Bench::new(OK).await;
    bench.write("soul.md", "You are Ada's agent.");
    let agent = bench.agent();
    say(&agent, "hi").await;
    assert!(bench.server.calls()[0].system().starts_with("You are Ada's agent."));
    assert!(newest(&agent).await.summary.shared.changed.is_none());

    // The same length and any time of change: contents count.
    bench.write("soul.md", "You are Eve's agent.");
    say(&agent, "hi").await;
    assert!(bench.server.calls()[1].system().starts_with("You are Eve's agent."));
    assert_eq!(newest(&agent).await.summary.shared.changed.as_deref(), Some("soul"));

    bench.write("profiles/limpid/sections/honesty.md", "---\ntitle: H\nwhy: W.\n---\nNever make things up.\n");
    say(&agent, "hi").await;
    assert!(bench.server.calls()[2].system().contains("Never make things up."));
    assert_eq!(newest(&agent).await.summary.shared.changed.as_deref(), Some("honesty"));

    bench.write("safety.md", "");
    say(&agent, "hi").await;
    std::fs::remove_file(bench.home.path().join("safety.md")).unwrap();
    say(&agent, "hi").await;
    let shipped = limpid_runtime::profiles::shipped_text("limpid/sections/safety.md").unwrap();
    let rule = shipped.lines().last().unwrap();
    let safety = |at: usize| bench.server.calls()[at].system().contains(rule);
    assert_eq!([safety(2), safety(3), safety(4)], [true, false, true]);
}

// PRO-040 PRO-041
#[tokio::test]
async fn memories_stored_and_pinned_in_between_change_nothing_before_the_history() {
    let bench = Bench::new(OK).await;
    let agent = bench.agent();
    let keep = async |key: &str| {
        let new = NewMemory {
            key: Some(key.to_owned()),
            content: format!("about {key}"),
            category: Category::General,
            trust: limpid_core::Trust::Owner,
            author: Author::Said,
            source: None,
            now_ms: agent.now_ms(),
        };
        agent.store().store_memory(new).await.unwrap();
        agent.store().pin_memory(&key.into(), true, agent.now_ms()).await.unwrap();
    };
    keep("tea").await;
    say(&agent, "one").await;
    bench.clock.forward(1.minute());
    keep("rain").await;
    bench.clock.forward(24.hours());
    say(&agent, "two").await;
    say(&agent, "three").await;
    let calls = bench.server.calls();
    assert!(calls[0].system().contains("- tea: about tea") && !calls[0].system().contains("rain"));
    assert_eq!(calls[0].system(), calls[2].system());
    let users: Vec<bool> = calls.iter().map(|call| call.user().contains("Pinned: rain: about rain")).collect();
    assert_eq!(users, [false, true, false], "it is told once");
    let messages = |at: usize| calls[at].json()["messages"].as_array().unwrap().clone();
    assert_eq!(messages(1)[..messages(0).len()], messages(0)[..]);
    assert_eq!(messages(2)[..messages(1).len()], messages(1)[..]);
    // A new conversation begins with what holds by then.
    all(agent.chat(limpid_runtime::ChatRequest { text: "new".into(), ..Default::default() }).await.unwrap()).await;
    let system = bench.server.calls()[3].system();
    assert!(system.contains("- tea: about tea\n- rain: about rain"), "{system}");
}

// LES-026 PRO-055 LES-016 KOSHI-005
#[tokio::test]
async fn counts_and_costs_are_the_providers() {
    let bench = Bench::new(OK).await;
    bench.write(
        "models.toml",
        "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 32768\nprice = { input = 2.0, cached = 0.5, output = 8.0 }\n",
    );
    let agent = bench.agent();
    let events = say(&agent, "hi").await;
    let request = newest(&agent).await;
    let end = request.summary.end.unwrap();
    let usage = end.usage.unwrap();
    assert_eq!((usage.input, usage.cached, usage.output), (100, 40, 2));
    assert_eq!(end.cost.unwrap().0, 60 * 2 + 20 + 16);
    assert!(events.iter().any(|event| matches!(event, TurnEvent::Usage { cost: Some(cost), .. } if cost.0 == 156)));
    assert!(!events.iter().any(|event| matches!(event, TurnEvent::Notice(_))), "{events:?}");
    assert!(request.messages.iter().all(|message| message.parts.iter().all(|part| !part.origin.is_empty())));
}

// PRO-024
#[tokio::test]
async fn the_estimate_follows_what_the_provider_counts() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\nusage = { input = 9000, output = 2 }\n").await;
    let agent = bench.agent();
    let before = agent.preview(next("hi")).await.unwrap().prompt;
    assert_eq!(before.counter(), "estimate");
    // One odd report says little; three say how the provider counts.
    for _ in 0..3 {
        say(&agent, "hi").await;
    }
    let after =
        agent.preview(PreviewRequest { conversation: ConversationChoice::New, ..next("hi") }).await.unwrap().prompt;
    assert!(after.counter().starts_with("estimate ×"), "{}", after.counter());
    assert!(after.totals().unwrap().total > 2 * before.totals().unwrap().total);
}

// PRO-052
#[tokio::test]
async fn a_request_is_sent_again_byte_for_byte() {
    let bench = Bench::new(OK).await;
    let agent = bench.agent();
    say(&agent, "hi").await;
    bench.write("soul.md", "Somebody else.");
    bench.clock.forward(72.hours());
    let request = newest(&agent).await;
    let mut answering = agent.requests().replay(&request.summary.id, None).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = answering.next().await {
        events.push(event);
    }
    assert_eq!(text(&events), "ok");
    let calls = bench.server.calls();
    let without_cache_name = |at: usize| {
        let mut body = calls[at].json();
        body.as_object_mut().unwrap().remove("prompt_cache_key");
        body
    };
    assert_eq!(without_cache_name(0), without_cache_name(1));
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
    assert_eq!(conversation.messages, 2, "nothing is stored but the request");
    assert_eq!(agent.store().requests(RequestFilter::default()).await.unwrap().rows.len(), 2);
    assert_eq!(newest(&agent).await.messages, request.messages);
}

// LES-010 LES-011 KAI-113
#[tokio::test]
async fn a_model_without_native_calls_calls_tools_by_json() {
    let bench = Bench::new(
        r#"
[[reply]]
text = '{"calls":[{"name":"memory_store","arguments":{"key":"tea","content":"Likes oolong"}}]}'
[[reply]]
text = ['{"ans', 'wer":"Kept', '."}']
"#,
    )
    .await;
    let mut options = bench.options();
    options.config.model = Some("llamacpp/small".to_owned());
    let url = ("LLAMACPP_BASE_URL".to_owned(), format!("{}/v1", bench.server.url()));
    options.environment = limpid_runtime::Environment::new([url]);
    let agent = Agent::open(options).unwrap();
    let events = all(agent.chat(last("I like oolong")).await.unwrap()).await;
    assert_eq!(text(&events), "Kept.");
    assert_eq!(agent.memory().recall("oolong", 1).await.unwrap().len(), 1);
    let calls = bench.server.calls();
    assert!(calls[0].json().get("tools").is_none());
    assert!(calls[0].system().contains("- memory_store("), "{}", calls[0].system());
    let roles: Vec<String> = calls[1].texts().into_iter().map(|sent| sent.role).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
}

// PRO-023 PRO-063
#[tokio::test]
async fn what_a_budget_cuts_is_told_once_a_change() {
    let bench = Bench::new(OK).await;
    let agent = bench.agent();
    for n in 0..3 {
        let new = NewMemory {
            key: Some(format!("fact {n}")),
            content: "x".repeat(250),
            category: Category::General,
            trust: limpid_core::Trust::Owner,
            author: Author::Said,
            source: None,
            now_ms: agent.now_ms(),
        };
        let id = agent.store().store_memory(new).await.unwrap().memory.id;
        agent.store().pin_memory(&id.into(), true, agent.now_ms()).await.unwrap();
    }
    let mut told = Vec::new();
    for said in ["one", "two"] {
        let events = say(&agent, said).await;
        told.push(
            events
                .into_iter()
                .filter(|event| matches!(event, TurnEvent::Notice(text) if text.contains("pinned")))
                .count(),
        );
    }
    assert_eq!(told, [1, 0]);
    assert!(!bench.server.calls()[0].system().contains("fact 2"));
}

// OLLM-105
#[tokio::test]
async fn what_is_counted_for_one_model_says_nothing_of_another() {
    let script = "[[reply]]\ntext = \"ok\"\nusage = { input = 9000, output = 2 }\n";
    let mut bench = Bench::new(script).await;
    say(&bench.agent(), "hi").await;
    bench.config.model = Some("openai/another".to_owned());
    let other = bench.agent();
    let shown =
        other.preview(PreviewRequest { conversation: ConversationChoice::New, ..next("hi") }).await.unwrap().prompt;
    assert_eq!(shown.counter(), "estimate");
}

// MOD-056
#[tokio::test]
async fn a_request_that_should_have_been_cached_and_was_not_is_named() {
    let reply = |input: u64, cached: u64| {
        format!("[[reply]]\ntext = \"ok\"\nusage = {{ input = {input}, cached = {cached}, output = 2 }}\n")
    };
    let script =
        [reply(1500, 0), reply(1600, 0), reply(1700, 1600), reply(1800, 0), reply(900, 0), reply(950, 0)].concat();
    let priced = "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 100_000\nprice = { input = 2.0, cached = 0.2, output = 8.0 }\n";
    let free = "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 100_000\nprice = { input = 2.0, output = 8.0 }\n";
    for (models, expected) in [(priced, vec![false, true, false, false, false, false]), (free, vec![false; 6])] {
        let bench = Bench::new(&script).await;
        bench.write("models.toml", models);
        let agent = bench.agent();
        for turn in 0..6 {
            match turn {
                // An hour later the provider may have let go of it.
                3 => bench.clock.forward(1.hour()),
                // A new conversation, too short for any cache.
                4 => {
                    let new = limpid_runtime::ChatRequest { text: "hi".to_owned(), ..Default::default() };
                    all(agent.chat(new).await.unwrap()).await;
                    continue;
                }
                _ => {}
            }
            say(&agent, "hi").await;
        }
        let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
        let missed = agent.requests().missed_cache(&rows);
        let named: Vec<bool> = rows.iter().rev().map(|row| missed.contains(&row.id)).collect();
        assert_eq!(named, expected);
    }
}

// MOD-055
#[tokio::test]
async fn what_it_cost_that_a_tool_was_found_is_named_where_the_provider_has_no_way() {
    let script = r#"
[[reply]]
calls = [{ id = "a", name = "find_tools", arguments = { query = "sleep hang slow" } }]
usage = { input = 2000, cached = 0, output = 2 }
[[reply]]
text = "Done."
usage = { input = 2100, cached = 1900, output = 2 }
[[reply]]
calls = [{ id = "b", name = "find_tools", arguments = { query = "files folder" } }]
usage = { input = 2200, cached = 2000, output = 2 }
[[reply]]
text = "Done."
usage = { input = 3000, cached = 500, output = 2 }
"#;
    let mut bench = Bench::new(script).await;
    bench.config.tools.defer = true;
    let price = "price = { input = 2.0, cached = 0.2, output = 8.0 }";
    bench.write("models.toml", &format!("[[model]]\nnames = [\"openai/scripted\"]\nwindow = 100_000\n{price}\n"));
    let agent = bench.agent();
    say(&agent, "hi").await;
    say(&agent, "and the files?").await;
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    let again = agent.requests().tools_read_again(&rows);
    assert_eq!(rows[0].shared.changed.as_deref(), Some("tools"), "{rows:#?}");
    // 1,500 of the 2,000 tokens that were in the cache, at 1.80 dollars a million more than there.
    assert_eq!(
        again.get(&rows[0].id).map(|again| (again.tokens, again.cost)),
        Some((1500, Some(limpid_core::Money(2700))))
    );
    assert_eq!(again.len(), 1, "{again:?}");
}

// MOD-127
#[tokio::test]
async fn what_a_provider_says_that_a_request_cost_counts_more_than_the_list_of_prices() {
    let script = r#"[[reply]]
content_type = "text/event-stream"
raw = '''data: {"model":"groq/fast-1","choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":1000000,"completion_tokens":1000000,"cost":0.0004204}}

data: [DONE]

'''
"#;
    let bench = Bench::new(script).await;
    let price = "price = { input = 1.0, output = 2.0, as_of = \"2026-11-01\" }";
    bench.write("models.toml", &format!("[[model]]\nnames = [\"openai/scripted\"]\n{price}\n"));
    let agent = bench.agent();
    say(&agent, "hi").await;
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    let end = rows[0].end.as_ref().unwrap();
    assert_eq!((end.cost, end.model.as_deref()), (Some(limpid_core::Money(420)), Some("groq/fast-1")));
    assert_eq!(rows[0].model, "scripted", "what was asked for stays");
    let query = CostQuery { by: CostBy::Model, ..CostQuery::default() };
    assert_eq!(agent.store().costs(query).await.unwrap()[0].group, "openai/groq/fast-1");
}
