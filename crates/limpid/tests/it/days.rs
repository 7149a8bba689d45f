//! Days of an owner's, at a terminal: what they ask for is done, and they are asked as often as it says and no oftener. A
//! question that nobody expects is never answered, so the program would not end.
#![cfg(unix)]

use limpid_testkit::Terminal;
use limpid_testkit::mail::{Dovecot, Manner, SmtpSink};

use crate::kit::World;
use crate::mail::set_up;

/// Waits for the one question, answers it, and waits for the end. Returns what the question said.
async fn asked_once(terminal: &mut Terminal, question: &str, answer: &str) -> String {
    let is_last = |shown: &str| shown.trim_end().lines().last().is_some_and(|row| row.contains(question));
    terminal.wait(question, is_last).await.unwrap();
    let shown = terminal.shown();
    terminal.keys(answer).await.unwrap();
    assert_eq!(terminal.ended().await.unwrap(), 0, "{}", terminal.shown());
    shown
}

/// Twenty letters, three of which want an answer.
fn deliver(dovecot: &Dovecot) {
    for number in 1..=20 {
        let text = if number % 7 == 0 || number == 1 { "Will you come?" } else { "News of the week." };
        dovecot.deliver(
            &format!("letter-{number:02}"),
            &format!(
                "From: Ada <ada{number}@example.com>\nTo: me@example.com\nSubject: Letter {number}\n\
                 Message-ID: <{number}@example.com>\n\n{text}\n"
            ),
        );
    }
}

// SEC-072
#[tokio::test]
async fn twenty_letters_of_which_three_are_answered_ask_once() {
    let (Some(dovecot), Some(sink)) = (Dovecot::start(), SmtpSink::start(Manner::Take)) else { return };
    let reply = |number: u32| {
        format!(
            "{{ id = \"r{number}\", name = \"reply_email\", arguments = {{ id = \"{number}\", \
             to = [\"ada{number}@example.com\"], subject = \"Re: yours\", text = \"I will.\" }} }}"
        )
    };
    let script = format!(
        "[[reply]]\ncalls = [{{ id = \"c\", name = \"check_email\", arguments = {{}} }}]\n\
         [[reply]]\ncalls = [{}, {}, {}]\n[[reply]]\ntext = \"Three are answered.\"\n",
        reply(1),
        reply(7),
        reply(14)
    );
    let world = set_up(&script, &dovecot, &sink).await;
    world.done(&["inbox", "mail", "check", "me@example.com"]).await;
    deliver(&dovecot);
    let mut terminal = world.terminal(&["chat", "Answer the mail that wants an answer."], (60, 100));
    let question = asked_once(&mut terminal, "open 1 or clean", "all\r").await;
    assert!(question.contains("3 calls wait for you"), "{question}");
    let mut told: Vec<String> = sink.letters().into_iter().map(|(envelope, _)| envelope[1].clone()).collect();
    told.sort();
    assert_eq!(told, ["ada14@example.com", "ada1@example.com", "ada7@example.com"]);
}

// SEC-072
#[tokio::test]
async fn an_appointment_out_of_a_letter_asks_once() {
    let (Some(dovecot), Some(sink)) = (Dovecot::start(), SmtpSink::start(Manner::Take)) else { return };
    let script = r#"
[[reply]]
calls = [{ name = "check_email", arguments = {} }]
[[reply]]
calls = [{ name = "schedule_task", arguments = { description = "Lunch with Ada", prompt = "Lunch with Ada", execute_at = "2099-06-01T12:00:00Z" } }]
[[reply]]
text = "It is noted."
"#;
    let world = set_up(script, &dovecot, &sink).await;
    world.done(&["inbox", "mail", "check", "me@example.com"]).await;
    dovecot.deliver("lunch", "From: Ada <ada@example.com>\nTo: me@example.com\nSubject: Lunch\n\n1 June 2099, noon?\n");
    let mut terminal = world.terminal(&["chat", "Put the lunch in Ada's letter on my list."], (60, 100));
    let question = asked_once(&mut terminal, "y, n or clean", "y\r").await;
    assert!(question.contains("schedule_task") && question.contains("2099-06-01"), "{question}");
    let tasks = world.done(&["task", "list"]).await;
    assert!(tasks.contains("Lunch with Ada"), "{tasks}");
}

// KAI-024
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_script_of_a_skill_that_was_enabled_runs_unasked() {
    if crate::programs::no_sandbox() {
        return;
    }
    let script = r#"
[[reply]]
calls = [{ name = "load_skill", arguments = { name = "tea" } }]
[[reply]]
calls = [{ name = "exec", arguments = { command = "sh ../skills/tea/scripts/steep.sh" } }]
[[reply]]
text = "Three minutes."
"#;
    let world = World::new(script).await.without_rights();
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    world.write("from/tea/SKILL.md", "---\nname: tea\ndescription: Brew tea\n---\nRun `scripts/steep.sh`.\n");
    world.write("from/tea/scripts/steep.sh", "echo steeped\n");
    let from = world.home.path().join("from/tea").display().to_string();
    world.done(&["skill", "install", &from]).await;
    world.done(&["skill", "enable", "tea"]).await;
    world.done(&["chat", "Brew tea."]).await;
    let results = world.recorder.calls().last().unwrap().texts();
    assert!(results.iter().any(|result| result.role == "tool" && result.text.contains("steeped")), "{results:?}");
    assert_eq!(world.json(&["draft", "list", "--json"]).await["drafts"].as_array().map(Vec::len), Some(0));
}
