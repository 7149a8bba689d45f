//! `chat` and the request log, over a real socket to a server that records what the program sends.

use crate::kit::World;
use limpid_testkit::Wire;
use serde_json::Value;

const REPLIES: &str = r#"
[[reply]]
text = ["Hello, ", "Ada."]
usage = { input = 400, output = 5 }

[[reply]]
text = "Your name is Ada."
usage = { input = 420, cached = 400, output = 6 }
"#;

// SUR-002
#[tokio::test]
async fn a_key_is_found_and_the_first_line_says_which_model_answers() {
    let world = World::new(REPLIES).await;
    let run = world.run(&["chat", "hi"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "Hello, Ada.\n"));
    assert_eq!(run.err.lines().next(), Some("openai/scripted:"));
    let call = &world.recorder.calls()[0];
    assert_eq!(call.header("authorization"), Some("Bearer sk-test-0123456789"));
    assert!(call.user().starts_with("hi\n\n[context]\n"), "{}", call.user());
}

// KAI-113
#[tokio::test]
async fn a_call_that_fails_or_is_refused_is_shown_with_its_reason() {
    let world = World::new(
        r#"
[[reply]]
calls = [{ name = "rm", arguments = { path = "/" } }, { name = "read_file", arguments = { path = "gone.md" } }]
[[reply]]
text = "Neither went."
"#,
    )
    .await;
    let run = world.run(&["chat", "clean up"]).await;
    let told: Vec<&str> = run.err.lines().filter(|line| line.starts_with('✗')).collect();
    let [refused, failed] = told[..] else { panic!("{}", run.err) };
    assert!(refused.starts_with("✗ rm {") && refused.contains("}: there is no tool"), "{refused}");
    assert!(failed.contains("gone.md") && !failed.contains("success"), "{failed}");
}

// SUR-002
#[tokio::test]
async fn an_address_without_a_key_is_enough() {
    let mut world = World::new(REPLIES).await;
    world.unset("OPENAI_API_KEY");
    assert_eq!(world.done(&["chat", "hi"]).await, "Hello, Ada.\n");
    assert_eq!(world.recorder.calls()[0].header("authorization"), None);

    world.unset("OPENAI_BASE_URL");
    world.write("limpid.toml", &format!("[provider.house]\nbase_url = \"{}/v1\"\n", world.recorder.url()));
    let run = world.run(&["chat", "hi"]).await;
    assert_eq!((run.code, run.err.lines().next()), (0, Some("house/scripted:")));
}

// SUR-012
#[tokio::test]
async fn what_is_piped_as_ones_own_follows_the_words() {
    let world = World::new(REPLIES).await;
    world.pipe(&["chat", "--mine", "Sum", "this", "up:"], "one\ntwo\n").await;
    world.pipe(&["chat", "--mine"], "only this\n").await;
    let said: Vec<String> = world.recorder.calls().iter().map(|call| typed(&call.user()).to_owned()).collect();
    assert_eq!(said, ["Sum this up:\n\none\ntwo", "only this"]);
    let nothing = world.run(&["chat"]).await;
    assert_eq!(nothing.code, 2);
    insta::assert_snapshot!(nothing.err);
}

// SEC-053
#[tokio::test]
async fn a_message_of_many_lines_is_somebody_elses_unless_it_is_said_to_be_mine() {
    let letter = "sum this up: Dear Ada,\nthe hotel\nis full.\nYours";
    // A shell makes words of a letter that stands in no quotation marks.
    let long = [&["chat"], &["hotel"; 60][..]].concat();
    for (words, is_typed) in [
        (&["chat", letter][..], false),
        (&["chat", "--mine", letter], true),
        (&["chat", "a\nb\nc"], true),
        (&long, false),
    ] {
        let world = World::new(REPLIES).await;
        let run = world.run(words).await;
        let sent = world.recorder.calls()[0].user();
        assert_eq!(sent.contains("[untrusted "), !is_typed, "{sent}");
        assert_eq!(run.err.contains("a message of more than three lines"), !is_typed, "{}", run.err);
    }
}

// SEC-053
#[tokio::test]
async fn a_command_that_makes_words_the_owners_takes_no_letter() {
    let letter = "sum this up: Dear Ada,\nthe hotel\nis full.\nYours";
    let world = World::new(REPLIES).await;
    for words in [
        &["task", "add", "--after", "2h", letter][..],
        &["memory", "add", "hotel", letter],
        &["memory", "promote", "hotel", letter],
        &["goal", "create", letter],
        &["goal", "complete", "--summary", letter],
        &["heartbeat", "set", "--prompt", letter],
    ] {
        let run = world.run(words).await;
        assert!(run.code == 2 && run.err.contains("--mine"), "{}", run.err);
    }
    world.done(&["memory", "add", "hotel", letter, "--mine"]).await;
    let promoted = world.run(&["memory", "promote", "hotel", letter, "--mine"]).await;
    assert!(promoted.err.contains("hits that a promotion takes"), "{}", promoted.err);
}

// SUR-012
#[tokio::test]
async fn where_nothing_is_said_no_model_is_fetched_for_it() {
    let mut world = World::new(REPLIES).await;
    world.unset("OPENAI_BASE_URL");
    world.unset("OPENAI_API_KEY");
    let run = world.run(&["chat"]).await;
    assert!(run.code == 2 && run.err.contains("nothing to say"), "{}", run.err);
    assert!(!run.err.contains("No model is set"), "{}", run.err);
}

// SUR-012
#[tokio::test]
async fn without_a_command_it_is_a_chat() {
    let mut world = World::new(REPLIES).await;
    world.set("LIMPID_MODEL", "openai/by-variable");
    let run = world.pipe(&[], "hi").await;
    assert!(run.code == 0 && run.err.lines().any(|line| line == "openai/by-variable:"), "{}", run.err);
    assert!(!run.err.contains('\u{1b}') && !run.out.contains('\u{1b}'), "no colours where no terminal is");
}

// SUR-012 SUR-010 OLLM-110
#[tokio::test]
async fn events_come_as_json_one_a_line() {
    let world = World::new(REPLIES).await;
    let run = world.run(&["chat", "--json", "hi"]).await;
    let mut events: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in &mut events {
        for id in ["conversation", "turn"] {
            if event[id].is_string() {
                event[id] = "[id]".into();
            }
        }
        if event["type"] == "change" {
            (event["hash"], event["tokens"]) = ("[hash]".into(), "[tokens]".into());
        }
    }
    insta::assert_snapshot!(events.iter().map(|event| format!("{event}\n")).collect::<String>());
}

// SUR-015 SUR-012
#[tokio::test]
async fn a_command_is_carried_out_in_the_last_conversation_and_two_slashes_say_one() {
    let world = World::new(REPLIES).await;
    world.done(&["chat", "hi"]).await;
    let said = world.done(&["chat", "/mode", "developer"]).await;
    assert!(said.contains("developer"), "{said}");
    let shown = world.json(&["conversation", "show", "last", "--json"]).await;
    assert_eq!(shown["conversation"]["mode"], "developer");
    let event: Value = serde_json::from_str(&world.done(&["chat", "--json", "/mode"]).await).unwrap();
    assert_eq!((&event["type"], &event["command"]), (&"command".into(), &"mode".into()));
    assert_eq!(world.recorder.calls().len(), 1, "no command asks a model");
    world.done(&["chat", "-c", "last", "//mode", "is", "a", "command"]).await;
    assert_eq!(typed(&world.recorder.calls()[1].user()), "/mode is a command");
    let wrong = world.run(&["chat", "/mode", "sleepy"]).await;
    assert!(wrong.code == 2 && wrong.err.contains("there are: assistant"), "{}", wrong.err);
}

// PRO-040 PRO-041
#[tokio::test]
async fn the_second_turn_begins_with_every_byte_of_the_first_ones_messages() {
    let world = World::new(REPLIES).await;
    world.done(&["chat", "I am Ada. Say hello."]).await;
    world.done(&["chat", "--conversation", "last", "Who am I?"]).await;
    let bodies: Vec<String> = world.recorder.calls().iter().map(|call| messages(&call.text())).collect();
    let first = bodies[0].strip_suffix(']').unwrap();
    assert!(bodies[1].starts_with(first), "{}\n\n{}", bodies[0], bodies[1]);
    assert_eq!(world.done(&["conversation", "show", "last"]).await.matches("## ").count(), 4);
}

// KOSHI-002 PRO-050 PRO-060
#[tokio::test]
async fn the_system_text_is_byte_for_byte_what_prompt_show_says_whatever_the_protocol() {
    for wire in [Wire::OpenAiChat, Wire::Anthropic, Wire::Gemini, Wire::Ollama] {
        let (variable, path, key, model) = match wire {
            Wire::Anthropic => ("ANTHROPIC_BASE_URL", "/v1", "ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-5"),
            Wire::Gemini => ("GEMINI_BASE_URL", "/v1beta", "GEMINI_API_KEY", "gemini/gemini-flash-latest"),
            Wire::Ollama => ("OLLAMA_HOST", "", "NO_KEY", "ollama/llama3.2"),
            _ => ("OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY", "openai/gpt-5-mini"),
        };
        let mut world = World::new(REPLIES).await;
        world.unset("OPENAI_BASE_URL");
        world.unset("OPENAI_API_KEY");
        let url = format!("{}{path}", world.recorder.url());
        world.set(variable, &url);
        world.set(key, "k-0123456789abcdef");
        world.set("LIMPID_MODEL", model);

        let shown = world.done(&["prompt", "show", "--say", "hi", "--message", "0", "--text"]).await;
        let mut last = vec![world.done(&["prompt", "show", "--say", "hi", "--message", "1"]).await];
        world.done(&["chat", "hi"]).await;
        last.push(world.done(&["prompt", "show", "--say", "hi", "--message", "1"]).await);
        let call = &world.recorder.calls()[0];
        assert_eq!(call.wire(), Some(wire));
        assert_eq!(call.system(), shown, "{}", wire.name());
        assert!(shown.len() < 2048, "{} bytes", shown.len());
        // The message carries the time by the minute, so what was sent is what one of two looks around it saw.
        assert!(last.contains(&call.user()), "{}: {last:?}", wire.name());
    }
}

// OLLM-114 PRO-050
#[tokio::test]
async fn the_payload_of_the_next_turn_is_shown_as_it_is_sent() {
    let world = World::new(REPLIES).await;
    world.done(&["chat", "I am Ada."]).await;
    let look = ["prompt", "show", "-c", "last", "--say", "Who am I?", "--payload"];
    let shown = world.done(&look).await;
    let explained = world.done(&["prompt", "show", "-c", "last", "--explain"]).await;
    assert!(explained.lines().last().unwrap().starts_with("Since request r"), "{explained}");
    let names_tool = |line: &str| {
        line.starts_with("memory_store ") && line.contains("shipped:profiles/limpid/tools/memory_store.md")
    };
    assert!(explained.lines().any(names_tool) && explained.contains("\nPrice: unknown for this model"), "{explained}");
    let price = "[[model]]\nnames = [\"openai/scripted\"]\nprice = { input = 1_000_000.0, output = 0.0 }\n";
    world.write("models.toml", price);
    let priced = world.done(&["prompt", "show", "-c", "last", "--explain"]).await;
    let total = priced.lines().find(|line| line.starts_with("total ")).unwrap();
    let tokens = total.split_whitespace().nth(2).unwrap();
    assert!(priced.contains(&format!("\nPrice: ${tokens}.000000 to read it")), "{priced}");
    std::fs::remove_file(world.home.path().join("models.toml")).unwrap();
    world.done(&["chat", "-c", "last", "Who am I?"]).await;
    // The message carries the time by the minute, and a minute may pass between the two.
    let whatever_minute = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "0");
    assert_eq!(whatever_minute(&shown), whatever_minute(&world.recorder.calls()[1].text()));
    assert!(world.run(&["prompt", "show", "--payload", "--message", "0"]).await.code == 2);
}

// KOSHI-005 PRO-052 PRO-051
#[tokio::test]
async fn every_request_can_be_listed_shown_compared_and_sent_again() {
    let world = World::new(REPLIES).await;
    world.done(&["chat", "I am Ada."]).await;
    world.done(&["chat", "-c", "last", "Who am I?"]).await;
    let log = world.json(&["prompt", "log", "--json"]).await;
    let ids: Vec<&str> = log["requests"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    let (newer, older) = (ids[0], ids[1]);

    let calls = world.recorder.calls();
    assert_eq!(world.done(&["prompt", "show", older, "--message", "0"]).await, calls[0].system());
    let shown = world.json(&["prompt", "show", newer, "--json"]).await;
    assert_eq!(shown["end"]["text"], "Your name is Ada.");
    assert_eq!(shown["end"]["tokens"]["cached"], 400);
    let texts: Vec<&str> = shown["messages"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap()).collect();
    let sent: Vec<String> = calls[1].texts().into_iter().map(|sent| sent.text).collect();
    assert_eq!(texts, sent);

    // Everything of the older request stands in the newer one.
    let diff = world.json(&["prompt", "diff", older, newer, "--json"]).await;
    assert_eq!(diff["diff"]["prefix"]["messages"].as_u64(), Some(calls[0].texts().len() as u64));
    assert!(world.done(&["prompt", "diff", older, newer]).await.contains("+Who am I?"));

    assert_eq!(world.done(&["prompt", "replay", older]).await, "Your name is Ada.\n");
    let calls = world.recorder.calls();
    assert_eq!(messages(&calls[2].text()), messages(&calls[0].text()));
    assert_eq!(world.conversation().await.len(), 4, "a replay says nothing in the conversation");
    let unknown = world.run(&["prompt", "show", "nothing-like-it"]).await;
    assert_eq!(unknown.code, 2);
}

// PRO-055 LES-016
#[tokio::test]
async fn cost_sums_up_what_was_sent_and_says_when_a_price_is_unknown() {
    let world = World::new(REPLIES).await;
    world.done(&["chat", "I am Ada."]).await;
    world.done(&["chat", "-c", "last", "Who am I?"]).await;
    let table = world.done(&["cost"]).await;
    let by_path = world.done(&["cost", "--by", "path", "--json"]).await;
    insta::assert_snapshot!(format!("{table}\n{by_path}"));
}

/// What the person typed, without what the profile adds behind it.
fn typed(message: &str) -> &str {
    message.split_once("\n\n[context]\n").map_or(message, |(typed, _)| typed)
}

/// The array of messages of a request's body, as it stands there.
fn messages(body: &str) -> String {
    let start = body.find("\"messages\":[").unwrap() + "\"messages\":".len();
    let mut stream = serde_json::Deserializer::from_str(&body[start..]).into_iter::<Value>();
    stream.next().unwrap().unwrap();
    body[start..start + stream.byte_offset()].to_owned()
}

// KAI-099
#[tokio::test]
async fn a_message_that_calls_a_skill_begins_a_conversation_and_a_command_acts_on_the_last_one() {
    let world = World::new("[[reply]]\ntext = \"ok\"\n[[reply]]\ntext = \"ok\"\n").await;
    world.write("workspace/skills/tea/SKILL.md", "---\nname: tea\ndescription: Pours tea.\n---\nPour it.\n");
    world.done(&["chat", "hello"]).await;
    world.done(&["chat", "/tea once more"]).await;
    world.done(&["chat", "/cost"]).await;
    let listed = world.json(&["conversation", "list", "--json"]).await;
    assert_eq!(listed["conversations"].as_array().unwrap().len(), 2, "{listed}");
}
