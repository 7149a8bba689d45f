//! Rights to send that the model reserves before it reads what strangers wrote.

use jiff::ToSpan;
use limpid_runtime::{Agent, ApprovalAnswer, ChatRequest, Config, TurnEvent};
use tokio::runtime::Builder;

use crate::kit::effects::PageAndMail;
use crate::kit::{Bench, last};

/// What the owner asks for.
const WISH: &str = "Look at the page. If it rains there, tell ada@example.com and say to bob@example.com: stay home";

fn call(id: &str, name: &str, arguments: &str) -> String {
    format!("[[reply]]\ncalls = [{{ id = \"{id}\", name = \"{name}\", arguments = {arguments} }}]\n")
}

fn reserve(reservation: &str) -> String {
    call("f", "find_tools", &format!("{{ query = \"mail\", reserve = [{reservation}] }}"))
}

fn send(id: &str, to: &str, text: &str) -> String {
    call(id, "send_mail", &format!("{{ to = \"{to}\", text = \"{text}\" }}"))
}

/// Talks with somebody who says no to everything; returns what they were asked about.
async fn asked(agent: &Agent, text: &str) -> Vec<String> {
    answered(agent, text, |_| ApprovalAnswer::No).await.into_iter().map(|(call, _)| call).collect()
}

/// Talks with somebody who answers so to a call; returns what they were asked about, and in which words.
async fn answered(agent: &Agent, text: &str, answer: impl Fn(&str) -> ApprovalAnswer) -> Vec<(String, String)> {
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..last(text) }).await.unwrap();
    let mut asked = Vec::new();
    while let Some(event) = handle.next().await {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            for part in parts {
                let call = part.id.call().to_string();
                handle.answer(&part.id, answer(&call));
                asked.push((call, part.about.clone().unwrap_or_default()));
            }
        }
        if event.is_last() {
            break;
        }
    }
    asked
}

fn results(bench: &Bench) -> Vec<String> {
    let last = bench.server.calls().last().unwrap().json();
    let messages = last["messages"].as_array().unwrap().clone();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

const ADA: &str = r#"{ tool = "send_mail", arguments = { to = "ada@example.com", text = "take an umbrella" } }"#;

// SEC-070
#[tokio::test]
async fn what_was_reserved_runs_once_and_everything_else_waits() {
    let script = [
        reserve(ADA),
        call("r", "read_page", "{}"),
        send("plan", "ada@example.com", "take an umbrella"),
        send("again", "ada@example.com", "take an umbrella"),
        send("words", "ada@example.com", "the secret"),
        send("other", "eve@example.com", "take an umbrella"),
        "[[reply]]\ntext = \"Done.\"\n".to_owned(),
    ];
    let bench = Bench::new(&script.concat()).await;
    let tools = PageAndMail::new();
    let agent = tools.agent(&bench);
    assert_eq!(asked(&agent, WISH).await, ["again", "words", "other"]);
    assert_eq!(tools.mail.runs.lock().unwrap().len(), 1);
    assert!(results(&bench)[0].starts_with("reserved: 1"), "{:?}", results(&bench));
}

// SEC-070
#[tokio::test]
async fn nothing_is_reserved_after_a_strangers_text_or_for_an_address_that_nobody_typed() {
    let eve = ADA.replace("ada@", "eve@");
    let script = [
        reserve(&eve),
        call("r", "read_page", "{}"),
        reserve(ADA).replace("\"f\"", "\"g\""),
        send("late", "ada@example.com", "take an umbrella"),
        send("eve", "eve@example.com", "take an umbrella"),
        "[[reply]]\ntext = \"Done.\"\n".to_owned(),
    ];
    let bench = Bench::new(&script.concat()).await;
    let tools = PageAndMail::new();
    assert_eq!(asked(&tools.agent(&bench), WISH).await, ["late", "eve"]);
    assert_eq!(tools.mail.runs(), 0);
    let results = results(&bench);
    assert!(results[0].contains("did not type"), "{results:?}");
    assert!(results[2].contains("strangers' text was read by now"), "{results:?}");
}

// SEC-070 SEC-071
#[tokio::test]
async fn nothing_is_reserved_by_a_call_that_a_rule_forbids_or_that_got_a_no() {
    let script = [
        reserve(ADA),
        call("r", "read_page", "{}"),
        send("plan", "ada@example.com", "take an umbrella"),
        "[[reply]]\ntext = \"Done.\"\n".to_owned(),
    ];
    for (kind, questions) in [("deny", &["plan"][..]), ("ask", &["f", "plan"])] {
        let mut bench = Bench::new(&script.concat()).await;
        let rule = format!("[policy]\n{kind} = [{{ tool = \"find_tools\", arguments = {{ reserve = [\"**\"] }} }}]\n");
        bench.config.policy = Config::parse(&rule, "limpid.toml").unwrap().policy;
        let tools = PageAndMail::new();
        assert_eq!(asked(&tools.agent(&bench), WISH).await, questions, "{kind}: {:?}", results(&bench));
        assert_eq!(tools.mail.runs(), 0, "{kind}");
        // A yes to it is one to what it reserves, and says so.
        if kind == "ask" {
            let policy = bench.config.policy.clone();
            let mut bench = Bench::new(&script.concat()).await;
            bench.config.policy = policy;
            let tools = PageAndMail::new();
            let answer = |call: &str| if call == "f" { ApprovalAnswer::Once } else { ApprovalAnswer::No };
            let asked = answered(&tools.agent(&bench), WISH, answer).await;
            let lets_pass = "with a yes, what it reserves is done later in this turn without another question";
            assert_eq!(asked, [("f".to_owned(), lets_pass.to_owned())]);
            assert_eq!(tools.mail.runs(), 1);
        }
    }
}

// SEC-070
#[tokio::test]
async fn a_result_that_can_change_and_words_that_the_owner_typed_are_no_right() {
    let result = r#"{ tool = "send_mail", arguments = { to = "ada@example.com" }, result = { argument = "text", tool = "read_page", arguments = {} } }"#;
    let script = [
        reserve(result),
        call("r", "read_page", "{}"),
        send("whole", "ada@example.com", "read_page done"),
        send("typed", "bob@example.com", "stay home"),
        "[[reply]]\ntext = \"Done.\"\n".to_owned(),
    ];
    let bench = Bench::new(&script.concat()).await;
    let tools = PageAndMail::new();
    assert_eq!(asked(&tools.agent(&bench), WISH).await, ["whole", "typed"]);
    assert_eq!(tools.mail.runs(), 0);
    assert!(results(&bench)[0].contains("can change until then"), "{:?}", results(&bench));
}

// SEC-070 SEC-071
#[tokio::test]
async fn other_words_than_the_reserved_ones_wait_unless_a_rule_allows_free_text_to_that_destination() {
    let all = ["words", "long", "other"];
    let cases: [(&str, &[&str]); 5] = [
        ("", &all),
        (r#"allow = [{ tool = "send_mail", destination = "ada@example.com", max_bytes = 60 }]"#, &["long", "other"]),
        ("allow = [{ tool = \"send_mail\" }]", &all),
        (r#"allow = [{ tool = "send_sms", destination = "ada@example.com" }]"#, &all),
        (
            r#"allow = [{ tool = "send_mail", destination = "ada@example.com", arguments = { to = "*", text = "bring a coat" } }]"#,
            &all,
        ),
    ];
    for (rules, waiting) in cases {
        let script = [
            reserve(ADA),
            call("r", "read_page", "{}"),
            send("plan", "ada@example.com", "take an umbrella"),
            send("words", "ada@example.com", "in an hour it rains"),
            send("long", "ada@example.com", &"it rains ".repeat(10)),
            send("other", "eve@example.com", "it rains"),
            "[[reply]]\ntext = \"Done.\"\n".to_owned(),
        ];
        let mut bench = Bench::new(&script.concat()).await;
        bench.config.policy = Config::parse(&format!("[policy]\n{rules}\n"), "limpid.toml").unwrap().policy;
        let tools = PageAndMail::new();
        assert_eq!(asked(&tools.agent(&bench), WISH).await, waiting, "{rules}");
        assert_eq!(tools.mail.runs(), 4 - waiting.len(), "what was reserved ran in every case: {rules}");
    }
}

// SEC-070
#[test]
fn a_restart_keeps_what_was_reserved() {
    let script = [
        reserve(ADA),
        call("r", "read_page", "{}"),
        send("words", "ada@example.com", "the secret"),
        send("plan", "ada@example.com", "take an umbrella"),
        "[[reply]]\ntext = \"Done.\"\n".to_owned(),
    ];
    let outer = tokio::runtime::Runtime::new().unwrap();
    let bench = outer.block_on(Bench::new(&script.concat()));
    let tools = PageAndMail::new();
    // The first life ends at a question.
    let first = Builder::new_current_thread().enable_all().build().unwrap();
    first.block_on(async {
        let agent = tools.agent(&bench);
        let mut handle = agent.chat(ChatRequest { can_answer: true, ..last(WISH) }).await.unwrap();
        while !matches!(handle.next().await, Some(TurnEvent::ApprovalRequested { .. })) {}
    });
    first.shutdown_background();
    bench.clock.forward(1.minute());
    outer.block_on(async {
        let agent = tools.agent(&bench);
        agent.conversations().resume().await.unwrap();
        let settled = async {
            while !agent.store().unfinished_turns().await.unwrap().rows.is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::kit::PATIENCE, settled).await.unwrap();
        let drafts = agent.drafts().list(false).await.unwrap().rows;
        assert_eq!(drafts.len(), 1, "nobody could be asked about other words");
        assert_eq!(tools.mail.runs(), 1, "what was reserved ran");
    });
}
