//! What goes wrong ends in a clear error, and the message is kept.

use crate::kit::{Bench, PROTOCOLS, all, last, new_chat, remote, say, text};
use limpid_core::FailureClass;
use limpid_runtime::{Agent, AgentError, ChatRequest, ConversationChoice, TurnEvent};
use limpid_store::{RequestFilter, TurnOutcome};
use limpid_turn::Outcome;

fn failure(events: &[TurnEvent]) -> (FailureClass, String) {
    match events.last() {
        Some(TurnEvent::Done { outcome: Outcome::Failed { class, message }, .. }) => (*class, message.clone()),
        other => panic!("no failure: {other:?}"),
    }
}

// KAI-110 LES-143
#[tokio::test]
async fn a_provider_that_fails_is_asked_three_times_and_the_message_is_kept() {
    let down = "[[reply]]\nstatus = 503\nbody = '{\"error\":{\"message\":\"overloaded\"}}'\n";
    let bench = Bench::new(&format!("{down}{down}{down}[[reply]]\ntext = \"Here again.\"\n")).await;
    let agent = bench.agent();
    let events = say(&agent, "hello?").await;
    assert_eq!(bench.server.calls().len(), 3);
    assert_eq!(failure(&events).0, FailureClass::Server);
    assert_eq!(events.iter().filter(|event| matches!(event, TurnEvent::Retrying { .. })).count(), 2);
    // Each request that left is in the request log, with what came of it.
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    assert_eq!(rows.iter().filter(|row| row.end.as_ref().is_some_and(|end| end.failure.is_some())).count(), 3);
    assert_eq!(text(&say(&agent, "still there?").await), "Here again.");
    assert!(bench.server.calls()[3].text().contains("hello?"));
}

// LES-143
#[tokio::test]
async fn a_message_whose_turn_cannot_even_begin_is_kept_and_answered_with_the_next_one() {
    let bench = Bench::new("[[reply]]\ntext = \"Here.\"\n").await;
    bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 4096\n");
    bench.write("soul.md", &"You are kind and you say so at length. ".repeat(600));
    let agent = bench.agent();
    let (_, why) = failure(&say(&agent, "hello?").await);
    assert!(why.contains("the model can use 3482"), "the person is told: {why}");
    assert!(bench.server.calls().is_empty());
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    let rows = agent.store().messages(&conversation, None).await.unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.message.text.as_str()).collect::<Vec<_>>(), ["hello?"]);
    bench.write("soul.md", "You are kind.");
    assert_eq!(text(&say(&agent, "still there?").await), "Here.");
    assert!(bench.server.calls()[0].text().contains("hello?"));
}

// KAI-110
#[tokio::test]
async fn the_next_model_stands_in_and_is_named() {
    let mut bench = Bench::new("[[reply]]\nwhen = \"openai\"\nstatus = 401\nbody = 'no'\n[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n[[reply]]\ntext = \"From the other.\"\n").await;
    bench.config.fallback = vec!["ollama/second".to_owned()];
    let mut options = bench.options();
    let variables = [("OPENAI_BASE_URL", format!("{}/v1", bench.server.url())), ("OLLAMA_HOST", bench.server.url())];
    options.environment = limpid_runtime::Environment::new(variables.map(|(name, value)| (name.to_owned(), value)));
    let agent = Agent::open(options).unwrap();
    let events = all(agent.chat(last("hi")).await.unwrap()).await;
    assert_eq!(text(&events), "From the other.");
    let rows = agent.store().requests(RequestFilter::default()).await.unwrap().rows;
    let asked: Vec<String> =
        rows.iter().rev().map(|row| format!("{}/{} {}", row.provider, row.model, row.protocol)).collect();
    assert_eq!(asked, ["openai/scripted openai-chat", "ollama/second ollama"]);
}

// LES-013
#[tokio::test]
async fn a_prompt_larger_than_the_window_is_an_error_before_the_call() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 4096\n");
    bench.write("soul.md", &"You are kind and you say so at length. ".repeat(600));
    let events = say(&bench.agent(), "hi").await;
    let (class, message) = failure(&events);
    assert_eq!(class, FailureClass::Overflow);
    assert!(message.contains("soul ") && message.contains("can use 3482"), "{message}");
    assert_eq!(bench.server.calls().len(), 0);
}

// LES-016
#[tokio::test]
async fn what_does_not_exist_is_refused_before_anything_is_kept() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let agent = bench.agent();
    let refused = |change: fn(&mut ChatRequest)| {
        let mut request = last("hi");
        change(&mut request);
        let agent = agent.clone();
        async move { agent.chat(request).await.map(|_| ()).unwrap_err().to_string() }
    };
    let errors = [
        refused(|request| request.model = Some("nobody/big-1".to_owned())).await,
        refused(|request| request.model = Some("big-1".to_owned())).await,
        refused(|request| request.profile = Some("kia".to_owned())).await,
        refused(|request| request.mode = Some("pirate".to_owned())).await,
        refused(|request| request.path = Some("chat".to_owned())).await,
        refused(|request| request.text = " \n".to_owned()).await,
        refused(|request| {
            request.conversation = ConversationChoice::Id(limpid_core::ConversationId::new("c9"));
        })
        .await,
    ];
    insta::assert_snapshot!(errors.join("\n"));
    assert!(agent.directory().find(&ConversationChoice::Last).await.unwrap().is_none());
}

// SEC-042
#[tokio::test]
async fn garbage_half_answers_and_silence_are_clear_errors() {
    let scripts = [
        ("html", "[[reply]]\nraw = \"<html>login</html>\"\ncontent_type = \"text/html\"\n"),
        ("nothing", "[[reply]]\nraw = \"\"\n"),
        ("half", "[[reply]]\ntext = \"The answer is long\"\ncut = 60\n"),
        ("blank", "[[reply]]\ntext = \"  \"\n"),
        ("moderated", "[[reply]]\ntext = \"I\"\nfinish = \"moderated\"\n"),
    ];
    let mut lines = Vec::new();
    for (name, script) in scripts {
        let bench = Bench::new(script).await;
        let events = say(&bench.agent(), "hi").await;
        let line = format!("{name}: {:?}", events.last().unwrap());
        lines.push(line.replace(&bench.server.url(), "SERVER"));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

// PRO-005
#[tokio::test]
async fn a_broken_file_of_the_owners_is_told_and_nothing_is_lost() {
    let bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.write("profiles/mine/profile.toml", "title = \"Mine\"\n[path.chat-remote\n");
    let agent = bench.agent();
    let request = ChatRequest { profile: Some("mine".to_owned()), ..last("hi") };
    let error = agent.chat(request).await.map(|_| ()).unwrap_err();
    assert!(matches!(error, AgentError::Prompt(_)), "{error}");
    assert!(error.to_string().contains("profile.toml"), "{error}");
    assert_eq!(text(&say(&agent, "hi").await), "ok");
}

// MOD-104 LES-143
#[tokio::test]
async fn what_was_said_before_an_error_stays_and_is_not_taken_for_a_whole_answer() {
    for protocol in PROTOCOLS {
        let cut = "[[reply]]\ntext = [\"The tea \", \"is green\", \" and\"]\nfinish = \"error\"\n";
        let bench = Bench::new(&format!("{cut}[[reply]]\ntext = \"Sorry: green.\"\n")).await;
        let mut options = bench.options();
        options.model = Some(remote(protocol, bench.server.url()));
        let agent = Agent::open(options).unwrap();
        let events = say(&agent, "what is the tea?").await;
        let (class, why) = failure(&events);
        assert!(matches!(class, FailureClass::Garbage | FailureClass::Server), "{}: {class} {why}", protocol.as_str());
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        let rows = agent.store().messages(&conversation, None).await.unwrap().rows;
        let texts: Vec<&str> = rows.iter().map(|row| row.message.text.as_str()).collect();
        assert_eq!(texts.last(), Some(&"The tea is green and"), "{}", protocol.as_str());
        let end = agent.store().turn(&rows.last().unwrap().turn).await.unwrap().unwrap().end.unwrap();
        assert_eq!(end.outcome, TurnOutcome::Failed, "{}", protocol.as_str());
        assert_eq!(bench.server.calls().len(), 1, "{}: nothing is said twice", protocol.as_str());
        assert_eq!(text(&say(&agent, "say it again").await), "Sorry: green.");
        assert!(bench.server.calls()[1].text().contains("The tea is green and"), "{}", protocol.as_str());
    }
}

// MOD-084
#[tokio::test]
async fn what_a_model_said_before_it_refused_is_discarded_and_the_next_one_answers() {
    let refused = r#"[[reply]]
content_type = "text/event-stream"
raw = '''data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"First you take"}}

data: {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio","explanation":null}}}

'''
"#;
    let script = format!("{refused}[[reply]]\ntext = \"From the other.\"\n{refused}");
    let mut bench = Bench::new(&script).await;
    bench.config.model = Some("anthropic/claude-sonnet-5-5".to_owned());
    bench.config.fallback = vec!["openai/second".to_owned()];
    let mut options = bench.options();
    let url = format!("{}/v1", bench.server.url());
    let variables = ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"].map(|name| (name.to_owned(), url.clone()));
    options.environment = limpid_runtime::Environment::new(variables);
    let agent = Agent::open(options).unwrap();
    let events = say(&agent, "How?").await;
    let Some(TurnEvent::Done { answer, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.as_deref(), Some("From the other."));
    let why = events.iter().find_map(|event| match event {
        TurnEvent::Retrying { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    assert!(why.unwrap().starts_with("anthropic/claude-sonnet-5-5 refused to answer (bio)."));
    let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    let rows = agent.store().messages(&conversation, None).await.unwrap().rows;
    assert_eq!(rows.last().unwrap().message.text, "From the other.");

    // Without another model the turn fails with the reason, and nothing of the text is kept.
    bench.config.fallback.clear();
    let mut options = bench.options();
    options.environment = limpid_runtime::Environment::new([("ANTHROPIC_BASE_URL".to_owned(), url)]);
    drop(agent);
    let agent = Agent::open(options).unwrap();
    let (class, message) = failure(&say(&agent, "And now?").await);
    assert_eq!(class, FailureClass::Moderated);
    assert!(message.contains("refused to answer (bio)"), "{message}");
    let rows = agent.store().messages(&conversation, None).await.unwrap().rows;
    assert!(rows.iter().all(|row| !row.message.text.contains("First you take")));
}

/// What one chat is asked to wait for, another one sees too: why nothing comes, for how long, and that it can be stopped.
// MOD-100 LES-126
#[tokio::test]
async fn a_chat_that_waits_with_another_one_says_so_and_can_be_stopped() {
    let limited = "[[reply]]\nstatus = 429\nretry_after = 30\nbody = '{\"error\":{\"message\":\"slow down\"}}'\n";
    let bench = Bench::new(&format!("{limited}[[reply]]\ntext = \"Here again.\"\n")).await;
    let pause = crate::kit::agents::Passed::new();
    let agent = crate::kit::agents::open(&bench, &pause, &[]);
    let mut first = agent.chat(new_chat("hello?")).await.unwrap();
    let reason = loop {
        match first.next().await.unwrap() {
            TurnEvent::Retrying { reason, .. } => break reason,
            event => assert!(!event.is_last(), "{event:?}"),
        }
    };
    assert!(reason.ends_with(" Waiting 30 s."), "{reason}");
    let mut second = agent.chat(new_chat("and here?")).await.unwrap();
    let notice = loop {
        match second.next().await.unwrap() {
            TurnEvent::Notice(text) => break text,
            event => assert!(!event.is_last(), "{event:?}"),
        }
    };
    assert_eq!(notice, "openai/scripted has asked another chat to wait. This one waits with it, 30 s at most.");
    assert!(agent.conversations().cancel(second.conversation()));
    let ended = all(second).await;
    assert!(matches!(ended.last(), Some(TurnEvent::Done { outcome: Outcome::Cancelled, .. })), "{ended:?}");
    pause.seconds(30);
    assert_eq!(text(&all(first).await), "Here again.");
    assert_eq!(bench.server.calls().len(), 2, "the second chat asked for nothing");
}
