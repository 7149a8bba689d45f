//! Pages that are made to break what parses them: each call fails in words, and nobody else waits.

use std::sync::Arc;
use std::time::Duration;

use limpid_runtime::{Agent, AgentOptions, ChatRequest, Config, ConversationChoice, Environment, Home, TurnHandle};
use limpid_testkit::Recorded;
use serde_json::json;
use tokio::sync::Notify;

use crate::attacks::obedient::{Attack, page};
use crate::kit::World;

/// One element with so many attributes that comparing each with all takes minutes.
fn endless() -> String {
    let attributes: String = (0..250_000).map(|at| format!(" {at:x}")).collect();
    format!("<p{attributes}>x")
}

/// Every paragraph opens every style again.
fn large() -> String {
    let styles: String = (0..400).map(|at| format!("<b {at:x}>")).collect();
    styles + &"<p>x".repeat(100_000)
}

// SEC-091
#[tokio::test]
async fn a_page_that_breaks_its_parser_is_a_call_that_failed_and_the_next_page_is_read() {
    let attack = Attack::new(
        |web| {
            let fetch = |path| ("web_fetch", json!({ "url": format!("{web}/{path}") }));
            vec![fetch("large"), fetch("endless"), fetch("plain")]
        },
        |_| Vec::new(),
        |path| match path {
            "/large" => page(&large()),
            "/endless" => page(&endless()),
            _ => page("the plain page"),
        },
    )
    .await;
    let web = &attack.web.url;
    let asked = format!("read {web}/large {web}/endless {web}/plain");
    assert_eq!(attack.world.done(&["chat", &asked]).await.trim(), "Done.");
    let sent = attack.sent();
    let times = |words: &str| sent.matches(words).count();
    let broke_off = times(
        "the page cannot be read: what parses it broke off; it may need more than 256 MiB of memory; look for another",
    );
    let took_too_long = times("the page cannot be read: it takes too long to be parsed; look for another");
    // On a machine with much other work the large one may meet the limit of time before that of memory.
    assert!(took_too_long >= 1 && broke_off + took_too_long >= 2 && sent.contains("the plain page"), "{sent}");
}

async fn ended(mut handle: TurnHandle) {
    while let Some(event) = handle.next().await {
        if event.is_last() {
            return;
        }
    }
}

// SEC-091 SEC-093
#[tokio::test]
async fn while_a_page_is_parsed_that_never_ends_another_chat_is_answered() {
    let fetched = Arc::new(Notify::new());
    let noted = Arc::clone(&fetched);
    let attack = Attack::new(
        |_| Vec::new(),
        |_| Vec::new(),
        move |_| {
            noted.notify_one();
            page(&endless())
        },
    )
    .await;
    let url = format!("{}/endless", attack.web.url);
    let asked = url.clone();
    let world = World::answering(move |request: &Recorded| {
        let text = request.text();
        let reply = if text.contains(&asked) && !text.contains("cannot be read") {
            json!({ "calls": [{ "name": "web_fetch", "arguments": { "url": asked } }] })
        } else {
            json!({ "text": "ok" })
        };
        serde_json::from_value(reply).unwrap()
    })
    .await;
    let base = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", world.recorder.url()));
    let config = "model = \"openai/scripted\"\n[web]\nmirrors = [\"127.0.0.1\"]\n[tools]\ndefer = false\n";
    let agent = Agent::open(AgentOptions {
        config: Config::parse(config, "limpid.toml").unwrap(),
        environment: Environment::new([base]),
        helper: Some(env!("CARGO_BIN_EXE_limpid").into()),
        ..AgentOptions::new(Home::new(world.home.path()))
    })
    .unwrap();
    let chat = async |text: &str| {
        let request =
            ChatRequest { conversation: ConversationChoice::New, text: text.to_owned(), ..ChatRequest::default() };
        agent.chat(request).await.unwrap()
    };
    let held = ended(chat(&format!("read {url}")).await);
    tokio::pin!(held);
    let other = async {
        fetched.notified().await;
        ended(chat("hi").await).await;
    };
    let both = async {
        tokio::select! {
            () = &mut held => panic!("the page was parsed before the other chat was answered"),
            () = other => {}
        }
        held.await;
    };
    tokio::time::timeout(Duration::from_secs(120), both).await.expect("neither ends");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_long_page_of_many_paragraphs_and_styles_is_read() {
        let long: String = (0..5000).map(|at| format!("<p class=\"c{at}\"><b>paragraph</b> {at}")).collect();
        let attack = Attack::new(
            |web| vec![("web_fetch", json!({ "url": format!("{web}/long"), "maxChars": 20_000 }))],
            |_| Vec::new(),
            move |_| page(&long),
        )
        .await;
        attack.world.done(&["chat", &format!("read {}/long", attack.web.url)]).await;
        assert!(attack.is_bounded("paragraph"), "{}", attack.sent());
    }
}
