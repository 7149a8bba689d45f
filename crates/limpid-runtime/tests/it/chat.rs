//! Chats over a real socket.

use crate::kit::{Bench, say, text};
use jiff::ToSpan;
use limpid_runtime::TurnEvent;
use limpid_turn::{Finish, Outcome};

const TWO: &str = r#"
[[reply]]
text = ["Hello", " there."]
usage = { input = 120, cached = 0, output = 3 }
[[reply]]
text = "Again."
usage = { input = 140, cached = 120, output = 1 }
"#;

// ARC-003 SUR-012
#[tokio::test]
async fn an_answer_is_streamed_and_stored() {
    let bench = Bench::new(TWO).await;
    let agent = bench.agent();
    let events = say(&agent, "hi").await;
    assert_eq!(text(&events), "Hello there.");
    let done = TurnEvent::Done {
        outcome: Outcome::Answered { finish: Finish::Stop },
        answer: Some("Hello there.".to_owned()),
    };
    assert_eq!(events.last(), Some(&done));
    insta::assert_debug_snapshot!(events);
}

// LES-021
#[tokio::test]
async fn white_space_at_the_end_of_what_was_said_is_sent_again_as_it_was() {
    let script = "[[reply]]\ntext = \"Hello. \\n\\n\"\n[[reply]]\ntext = \"Again.\"\n";
    let mut bench = Bench::new(script).await;
    // There the message is sent as it was typed, without a tail.
    bench.config.agent.profile = "kai".to_owned();
    say(&bench.agent(), "hi \n").await;
    say(&bench.agent(), "and now?").await;
    let calls = bench.server.calls();
    let first = calls[0].json()["messages"].as_array().unwrap().clone();
    let second = calls[1].json()["messages"].as_array().unwrap().clone();
    assert_eq!(first[1]["content"], "hi \n");
    assert_eq!((&second[1], second[2]["content"].as_str()), (&first[1], Some("Hello. \n\n")));
}

// PRO-040 PRO-041 LES-020 LES-021
#[tokio::test]
async fn the_second_request_begins_with_all_bytes_of_the_first() {
    // In Berlin the clock goes forward in the night to 29 March.
    for (apart, span) in
        [("a minute", 1.minute()), ("an hour", 1.hour()), ("a day", 24.hours()), ("a clock change", 14.hours())]
    {
        let bench = Bench::new(TWO).await;
        say(&bench.agent(), "hi").await;
        bench.clock.forward(span);
        // Another start of the program: what is sent comes from the store alone.
        say(&bench.agent(), "and now?").await;
        let calls = bench.server.calls();
        let messages = |at: usize| calls[at].json()["messages"].as_array().unwrap().clone();
        let (first, second) = (messages(0), messages(1));
        assert_eq!(second[..first.len()], first[..], "{apart} apart");
        let (first, second) = (calls[0].text(), calls[1].text());
        let end = first.find("\"messages\":[").unwrap();
        let shared = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
        let last_message = first.rfind("\"role\":\"user\"").unwrap();
        assert!(shared > last_message && last_message > end, "{apart} apart: {shared} bytes of\n{first}\n{second}");
    }
}
