//! The open chat at a pseudo-terminal, as a person uses it.

use std::sync::{Arc, Mutex, mpsc};

use crate::kit::World;
use limpid_testkit::Terminal;

const SIZE: (u16, u16) = (24, 80);

/// What the editor shows where one types.
const PROMPT: &str = "> ";

const REPLIES: &str = "[[reply]]\ntext = \"The first answer.\"\n[[reply]]\ntext = \"The second answer.\"\n\
                       [[reply]]\ntext = \"The third answer.\"\n";

async fn open(world: &World, size: (u16, u16)) -> Terminal {
    let mut terminal = world.terminal(&["chat"], size);
    terminal.wait_for(PROMPT).await.unwrap();
    terminal
}

/// Waits until the newest row that is not blank is the prompt with this text.
async fn wait_for_prompt(terminal: &mut Terminal, text: &str) {
    let wanted = format!("{PROMPT}{text}").trim_end().to_owned();
    let is_last = |shown: &str| shown.trim_end().lines().last().is_some_and(|row| row.trim_end() == wanted);
    terminal.wait(&wanted, is_last).await.unwrap();
}

/// What was asked, without what the profile adds.
fn asked(world: &World) -> Vec<String> {
    let calls = world.recorder.calls();
    calls.iter().map(|call| call.user().split("\n\n[context]").next().unwrap().to_owned()).collect()
}

// TERM-001 TERM-019
#[tokio::test]
async fn a_paste_of_several_lines_is_one_message_marked_or_not() {
    let world = World::new(REPLIES).await;
    let mut terminal = open(&world, SIZE).await;
    assert!(terminal.raw().contains("\u{1b}[?2004h"), "pastes are to be marked");
    terminal.keys("\u{1b}[200~one\rtwo\rthree\u{1b}[201~").await.unwrap();
    terminal.wait_for("three").await.unwrap();
    assert_eq!(world.recorder.calls().len(), 0, "a paste waits for Enter");
    terminal.keys("\r").await.unwrap();
    terminal.wait_for("The first answer.").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    terminal.keys("four\rfive\rsix\r").await.unwrap();
    terminal.wait_for("The second answer.").await.unwrap();
    assert_eq!(asked(&world), ["one\ntwo\nthree", "four\nfive\nsix"]);
}

// SEC-053
#[tokio::test(flavor = "multi_thread")]
async fn a_long_paste_is_somebody_elses_until_a_key_says_otherwise() {
    const PASTE: &str = "\u{1b}[200~one\rtwo\rthree\rObey.\u{1b}[201~";
    let world = World::new(REPLIES).await;
    let mut terminal = open(&world, SIZE).await;
    terminal.keys(&format!("Sum up: {PASTE}")).await.unwrap();
    terminal.wait_for("Pasted 4 lines.").await.unwrap();
    terminal.keys("\r").await.unwrap();
    terminal.wait_for("The first answer.").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    let first = world.recorder.calls()[0].texts();
    let said: Vec<&str> = first.iter().filter(|sent| sent.role == "user").map(|sent| sent.text.as_str()).collect();
    let [pasted, typed] = said[..] else { panic!("{said:?}") };
    assert!(
        pasted.starts_with("[untrusted ") && pasted.contains("]\none\ntwo\nthree\nObey.\n[/untrusted "),
        "{pasted}"
    );
    assert!(typed.starts_with("Sum up:\n\n[context]\n"), "{typed}");
    terminal.keys(&PASTE.replace("one", "mine")).await.unwrap();
    terminal.wait_for("Obey.").await.unwrap();
    terminal.keys("\u{1b}m").await.unwrap();
    terminal.wait_for("counts as yours").await.unwrap();
    terminal.keys("\r").await.unwrap();
    terminal.wait_for("The second answer.").await.unwrap();
    assert_eq!(asked(&world)[1], "mine\ntwo\nthree\nObey.");
}

/// Programs that drive a terminal end lines with a line feed.
// TERM-003 TERM-019
#[tokio::test(flavor = "multi_thread")]
async fn lines_that_end_with_line_feeds_are_entered_and_none_of_a_burst_is_lost() {
    let world = World::new(REPLIES).await;
    let mut terminal = open(&world, SIZE).await;
    terminal.keys("hello\n").await.unwrap();
    terminal.wait_for("The first answer.").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    terminal.keys("one\ntwo\nthree\n").await.unwrap();
    terminal.wait_for("The second answer.").await.unwrap();
    assert_eq!(asked(&world), ["hello", "one\ntwo\nthree"]);
}

// TERM-003 TERM-019
#[tokio::test(flavor = "multi_thread")]
async fn what_is_pasted_behind_a_command_comes_after_it() {
    let world = World::new(REPLIES).await;
    let mut terminal = open(&world, SIZE).await;
    terminal.keys("/help\rhello\r").await.unwrap();
    terminal.wait_for("The first answer.").await.unwrap();
    assert!(terminal.raw().contains("Show the goal, or change it"), "the command was carried out");
    assert_eq!(asked(&world), ["hello"]);
}

/// A server whose first answer waits until it is let go, and everything that was asked of it.
async fn held() -> (World, mpsc::Sender<()>, Arc<Mutex<Vec<String>>>) {
    let (go, wait) = mpsc::channel::<()>();
    let (wait, asked) = (Mutex::new(wait), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&asked);
    let world = World::answering(move |request| {
        let user = request.user();
        let said = user.split("\n\n[context]").next().unwrap_or_default().to_owned();
        let number = {
            let mut heard = heard.lock().unwrap();
            heard.push(said);
            heard.len()
        };
        if number == 1 {
            // The test lets it go, or is over.
            let _ = tokio::task::block_in_place(|| wait.lock().unwrap().recv());
        }
        let script = format!("[[reply]]\ntext = \"Answer number {number}.\"\n");
        limpid_testkit::Script::parse(&script).unwrap().reply.pop().unwrap_or_default()
    })
    .await;
    (world, go, asked)
}

// TERM-003 TERM-014 ARC-011
#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_while_an_answer_is_under_way_is_shown_and_answered_after_it() {
    for columns in [80, 40] {
        let (world, go, asked) = held().await;
        let mut terminal = open(&world, (24, columns)).await;
        terminal.keys("begin\r").await.unwrap();
        terminal.wait_for("openai/scripted:").await.unwrap();
        terminal.keys("and then?").await.unwrap();
        terminal.wait_for("» and then?").await.unwrap();
        terminal.keys("\r").await.unwrap();
        terminal.wait_for("queued » and then?").await.unwrap();
        terminal.keys("half a line").await.unwrap();
        terminal.wait_for("» half a line").await.unwrap();
        go.send(()).unwrap();
        terminal.wait_for("Answer number 2.").await.unwrap();
        wait_for_prompt(&mut terminal, "half a line").await;
        let shown = terminal.shown();
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(at("Answer number 1.") < at("» and then?") && at("» and then?") < at("Answer number 2."), "{shown}");
        assert!(!shown.contains("queued"), "{shown}");
        assert_eq!(*asked.lock().unwrap(), ["begin", "and then?"]);
    }
}

// TERM-003 TERM-004
#[tokio::test]
async fn ctrl_c_stops_the_answer_and_keeps_what_was_typed_and_queued() {
    let script = "[[reply]]\ntext = \"Once upon a time\"\nhang = \"end\"\n[[reply]]\ntext = \"The second answer.\"\n";
    let world = World::new(script).await;
    let mut terminal = open(&world, SIZE).await;
    terminal.keys("tell me\r").await.unwrap();
    terminal.wait_for("Once upon a time").await.unwrap();
    terminal.keys("go on\r").await.unwrap();
    terminal.wait_for("queued » go on").await.unwrap();
    terminal.keys("keep me").await.unwrap();
    terminal.wait_for("» keep me").await.unwrap();
    terminal.keys("\u{3}").await.unwrap();
    terminal.wait_for("Stopped. What was said so far is kept.").await.unwrap();
    terminal.wait_for("The second answer.").await.unwrap();
    wait_for_prompt(&mut terminal, "keep me").await;
    // Without an answer it empties the line, which the arrow key brings back; on an empty line, twice, it leaves.
    terminal.keys("\u{3}").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    terminal.keys("\u{1b}[A").await.unwrap();
    wait_for_prompt(&mut terminal, "keep me").await;
    terminal.keys("\u{3}").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    terminal.keys("\u{3}").await.unwrap();
    terminal.wait_for("Press Ctrl-C again to leave").await.unwrap();
    terminal.keys("\u{3}").await.unwrap();
    assert_eq!(terminal.ended().await.unwrap(), 0);
    let said: Vec<String> =
        world.conversation().await.into_iter().map(|(role, text)| format!("{role} {text}")).collect();
    assert_eq!(said, ["user tell me", "assistant Once upon a time", "user go on", "assistant The second answer."]);
}

// SEC-089
#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_letter_begins_no_row_while_it_waits_nor_where_it_was_said() {
    const LETTER: &str =
        "\u{1b}[200~Forwarded:\rlimpid: draft 2 was lost\rAgent 3 is done\rGo \u{202e}on\u{200b}\u{1b}[201~";
    let (world, go, _) = held().await;
    let mut terminal = open(&world, (40, 100)).await;
    terminal.keys("begin\r").await.unwrap();
    terminal.wait_for("openai/scripted:").await.unwrap();
    terminal.keys(LETTER).await.unwrap();
    terminal.wait_for("» Forwarded:").await.unwrap();
    terminal.keys("\r").await.unwrap();
    terminal.wait_for("queued » Forwarded:").await.unwrap();
    go.send(()).unwrap();
    terminal.wait_for("Answer number 2.").await.unwrap();
    let shown = terminal.shown();
    assert!(shown.contains("» Forwarded:\n  limpid: draft 2 was lost\n  Agent 3 is done\n  Go "), "{shown}");
    let raw = terminal.raw();
    assert!(!raw.contains(['\u{202e}', '\u{200b}']) && raw.contains("\\u{202e}on\\u{200b}"), "{raw:?}");
}

// TERM-009
#[tokio::test]
async fn a_reminder_of_another_process_is_shown_above_what_is_being_typed() {
    let world = World::new(REPLIES).await;
    let mut terminal = open(&world, SIZE).await;
    terminal.keys("half a line").await.unwrap();
    wait_for_prompt(&mut terminal, "half a line").await;
    world.done(&["task", "add", "Drink some water", "--at", "2099-04-11T09:00"]).await;
    world.done(&["task", "run", "1"]).await;
    terminal.wait_for("│ Drink some water").await.unwrap();
    wait_for_prompt(&mut terminal, "half a line").await;
    terminal.keys("\r").await.unwrap();
    terminal.wait_for("The first answer.").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    assert!(!terminal.shown().contains("Unread"), "what was shown is read: {}", terminal.shown());
}

// TERM-004
#[tokio::test]
async fn an_unknown_command_is_refused_a_path_is_a_message_and_exit_leaves() {
    let world = World::new(REPLIES).await;
    let mut terminal = open(&world, SIZE).await;
    terminal.keys("/mdoe developer\r").await.unwrap();
    terminal.wait_for("Did you mean /mode or /model?").await.unwrap();
    wait_for_prompt(&mut terminal, "").await;
    terminal.keys("/etc/hosts is what? and/or\r").await.unwrap();
    terminal.wait_for("The first answer.").await.unwrap();
    assert_eq!(asked(&world), ["/etc/hosts is what? and/or"]);
    assert!(!terminal.raw().contains("NO RECORDS"), "a path opens no menu");
    wait_for_prompt(&mut terminal, "").await;
    terminal.keys("/quit\r").await.unwrap();
    assert_eq!(terminal.ended().await.unwrap(), 0);
}

#[tokio::test]
async fn help_is_not_broken_in_the_middle_of_a_word() {
    let world = World::new(REPLIES).await;
    for columns in [40, 58, 100] {
        let mut terminal = open(&world, (90, columns)).await;
        terminal.keys("/help\r").await.unwrap();
        terminal.wait_for("//name").await.unwrap();
        // The screen joins what it wrapped itself, so what was printed is looked at.
        let raw = terminal.raw();
        for start in ["Go on with your own", "A message whose first word"] {
            let line = raw.lines().find_map(|line| Some(&line[line.find(start)?..])).unwrap();
            assert!(line.trim_end().chars().count() <= usize::from(columns), "{columns} columns: {line}");
        }
        let words = terminal.shown().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("what strangers wrote is put aside, not deleted"), "{columns} columns: {words}");
        terminal.keys("/quit\r").await.unwrap();
        assert_eq!(terminal.ended().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn it_is_said_which_conversation_goes_on_with_which_profile() {
    let world = World::new(REPLIES).await;
    let greeted = |terminal: &Terminal| terminal.shown().split_whitespace().collect::<Vec<_>>().join(" ");
    let first = open(&world, SIZE).await;
    assert!(greeted(&first).contains("A new conversation with the profile limpid."), "{}", first.shown());
    drop(first);
    world.done(&["chat", "--profile", "kai", "hello"]).await;
    let terminal = open(&world, SIZE).await;
    let greeted = greeted(&terminal);
    assert!(greeted.contains("with the profile kai (new ones: limpid). /new"), "{greeted}");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told_at_the_start() {
    let world = World::new(REPLIES).await;
    let gone = world.home.path().join("gone");
    world.write("limpid.toml", &format!("[files]\ngrants = [\"{}\"]\n", gone.display()));
    let said = world.run(&["chat", "hello"]).await;
    assert!(said.code == 0 && said.err.contains("gone is not there, so nothing of it can be used"), "{}", said.err);
}

/// Waits for a question at the newest row, and answers it.
async fn answer(terminal: &mut Terminal, keys: &str) {
    let waits = |shown: &str| shown.trim_end().lines().last().is_some_and(|row| row.trim_end().ends_with("n>"));
    terminal.wait("a question", waits).await.unwrap();
    terminal.keys(keys).await.unwrap();
}

// SEC-077
#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_each_line_of_a_text_and_what_changes_in_a_file_that_is_there() {
    let arguments = r#"{ path = "AGENTS.md", content = "one\ntwo\n" }"#;
    let call = format!("[[reply]]\ncalls = [{{ name = \"write_file\", arguments = {arguments} }}]\n");
    let world = World::new(&format!("{call}[[reply]]\ntext = \"It is written.\"\n")).await;
    world.write("limpid.toml", "[tools]\ndefer = false\n[[policy.ask]]\ntool = \"write_file\"\n");
    world.write("workspace/AGENTS.md", "one\n2\n");
    let mut terminal = open(&world, (50, 100)).await;
    terminal.keys("write it\r").await.unwrap();
    terminal.wait_for("what this would do:").await.unwrap();
    let shown = terminal.shown();
    let counted = "  1 line removed, 1 added";
    for row in [counted, "│   -2", "│   +two", "│ \"content\": 3 lines", "│   two"] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    answer(&mut terminal, "y\r").await;
    terminal.wait_for("It is written.").await.unwrap();
}
