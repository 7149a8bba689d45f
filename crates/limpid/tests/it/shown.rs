//! What every command prints of stored text: nothing in it reaches a terminal as a code, and nothing a pipe unless `--raw` asks
//! for it. The commands are those of the command line's own definition, so none is forgotten.
#![cfg(unix)]

use std::collections::BTreeMap;

use clap::{ArgAction, Command, CommandFactory as _};
use limpid::cli::Cli;
use limpid_prompt::boundary::is_invisible;
use limpid_testkit::Reply;
use serde_json::json;

use crate::kit::World;

/// Sets the clipboard and the title, clears the screen, goes up by a C1 code, rings, turns letters around and hides one.
const HOSTILE: &str = "evil\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[3J\u{9b}1A\u{202e}txt\u{200b}";

/// The same, as a terminal must never get it.
const CODES: [&str; 6] = ["\u{1b}]52", "\u{7}", "\u{1b}[3J", "\u{9b}", "\u{202e}", "\u{200b}"];

/// Commands that are not run here, each with the reason.
const NOT_RUN: [(&str, &str); 8] = [
    ("serve", "it does not end; its log is one function with what is told here"),
    ("inbox mail add", "it asks for a password and looks for servers"),
    ("inbox mail test", "it speaks to a server"),
    ("inbox mail check", "it speaks to a server"),
    ("model pull", "it downloads"),
    ("model update", "it downloads"),
    ("service install", "it changes the system"),
    ("service uninstall", "it changes the system"),
];

/// What stands in the place of words that a command needs; of those that are not here the words are hostile.
fn words_of(leaf: &str) -> Option<Vec<&'static str>> {
    Some(match leaf {
        "completions" => vec!["bash"],
        "conversation show" | "conversation export" | "conversation context" => vec!["last"],
        "conversation keep" => vec!["last", "--reason", HOSTILE],
        "draft show" | "task show" | "task log" | "inbox show" => vec!["1"],
        "draft edit" => vec!["1", "{}"],
        "memory show" | "memory history" => vec![HOSTILE],
        "memory search" | "goal list" | "goal show" | "goal history" => vec![],
        "profile show" => vec!["evil"],
        "prompt show" => vec!["next"],
        _ => return None,
    })
}

/// Every command that has none below it, by its words.
fn leaves(command: &Command, before: &str, found: &mut BTreeMap<String, Command>) {
    let below: Vec<&Command> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
    for command in &below {
        let path = format!("{before} {}", command.get_name()).trim().to_owned();
        leaves(command, &path, found);
    }
    if below.is_empty() {
        found.insert(before.to_owned(), command.clone());
    }
}

/// A call of a command with hostile words wherever it needs some.
fn call(leaf: &str, command: &Command) -> Vec<String> {
    let mut words: Vec<String> = leaf.split(' ').map(str::to_owned).collect();
    let given = words_of(leaf);
    let needed = command.get_arguments().filter(|argument| argument.is_required_set());
    let hostile = needed.flat_map(|argument| {
        let name = argument.get_long().map(|long| format!("--{long}"));
        let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
        name.into_iter().chain(takes.then(|| HOSTILE.to_owned())).collect::<Vec<_>>()
    });
    match given {
        Some(given) => words.extend(given.into_iter().map(str::to_owned)),
        None => words.extend(hostile),
    }
    words
}

/// A home with the hostile text in every field that an owner, a model or a stranger can fill.
async fn filled() -> World {
    let world = World::answering(|request| -> Reply {
        let said = request.text();
        let reply =
            if said.contains("forget it") && !said.contains("\"role\":\"tool\"") && !said.contains("not done yet") {
                json!({ "calls": [{ "name": "memory_forget", "arguments": { "key": HOSTILE } }] })
            } else {
                json!({ "text": HOSTILE })
            };
        serde_json::from_value(reply).unwrap()
    })
    .await;
    let text = HOSTILE.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007");
    world.write(
        "limpid.toml",
        &format!("[agent]\nname = \"{text}\"\n[tools]\ndefer = false\n[inbox]\nsms = true\nnotifications = true\n"),
    );
    world.write("soul.md", HOSTILE);
    world.write("workspace/AGENTS.md", HOSTILE);
    world.write("outside/evil.md", HOSTILE);
    world.write(&format!("outside/{HOSTILE}"), "x");
    world.write("skills/evil/SKILL.md", &format!("---\nname: evil\ndescription: \"{text}\"\n---\n{HOSTILE}\n"));
    world.write("profiles/evil/profile.toml", &format!("title = \"{text}\"\nextends = \"limpid\"\n"));
    world.write("profiles/evil/sections/soul.md", HOSTILE);
    for words in [
        &["memory", "add", HOSTILE, HOSTILE][..],
        &["inbox", "add", "sms", HOSTILE, "--from", HOSTILE],
        &["inbox", "add", "notification", HOSTILE, "--from", HOSTILE, "--title", HOSTILE],
        &["task", "add", HOSTILE, "--description", HOSTILE, "--cron", "0 9 * * *"],
        &["chat", HOSTILE],
        &["goal", "create", HOSTILE],
        &["goal", "step", "add", HOSTILE],
        &["goal", "decide", HOSTILE, "--because", HOSTILE],
        &["heartbeat", "set", "--prompt", HOSTILE],
        &["conversation", "keep", "last", "--reason", HOSTILE],
    ] {
        let run = world.run(words).await;
        assert_eq!(run.code, 0, "{words:?}: {}", run.err);
    }
    assert_eq!(world.pipe(&["chat", "-c", "last", "forget it"], HOSTILE).await.code, 0);
    world
}

/// Whether a text that went to a pipe holds anything that a terminal would follow.
fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, '\n' | '\t') || !(letter.is_control() || is_invisible(letter)))
}

// SEC-089
#[tokio::test]
async fn no_command_sends_a_code_of_stored_text_to_a_terminal_or_a_pipe() {
    let mut all = BTreeMap::new();
    leaves(&Cli::command(), "", &mut all);
    for (name, _) in NOT_RUN {
        assert!(all.remove(name).is_some(), "there is no `{name}`");
    }
    let mut world = filled().await;
    world.set("EDITOR", "true");
    world.set("VISUAL", "true");
    let mut rows = Vec::new();
    // What only looks comes first, so that it is still there.
    let looks = |leaf: &str| {
        let last = leaf.rsplit(' ').next().unwrap_or_default();
        !["list", "show", "log", "status", "search", "history", "context", "export", "explain", "cost", "doctor"]
            .contains(&last)
    };
    let mut order: Vec<&String> = all.keys().collect();
    order.sort_by_key(|leaf| looks(leaf));
    for leaf in order {
        let command = &all[leaf];
        let mut words = call(leaf, command);
        if leaf == "chat" {
            words.push("hi".to_owned());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut terminal = world.terminal(&words, (40, 120));
        // Whoever asks something gets a no.
        let _ = terminal.keys("n\r\r\r\r\u{4}\u{4}").await;
        terminal.ended().await.unwrap_or_else(|error| panic!("{leaf}: {error}"));
        let raw = terminal.raw();
        for code in CODES {
            assert!(!raw.contains(code), "{leaf} sends {code:?} to a terminal: {raw:?}");
        }
        let mut shows = raw.contains("\\u{9b}1A");
        let has_json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        for json in [false, true].into_iter().filter(|json| has_json || !json) {
            let words: Vec<&str> = words.iter().copied().chain(json.then_some("--json")).collect();
            let run = world.run(&words).await;
            assert!(is_plain(&run.out) && is_plain(&run.err), "{words:?}: {:?} {:?}", run.out, run.err);
            shows |= run.out.contains("\\u{9b}1A") || run.out.contains("\\u009b1A");
            if json && run.code == 0 && !run.out.is_empty() {
                let lines = run.out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
                let whole = serde_json::from_str::<serde_json::Value>(&run.out).is_ok();
                assert!(whole || lines, "{words:?}: {}", run.out);
            }
        }
        rows.push(format!("{leaf}: {}", if shows { "written out" } else { "shows none of it" }));
    }
    rows.sort();
    insta::assert_snapshot!(rows.join("\n"));
}

// SEC-089
#[tokio::test]
async fn raw_data_goes_to_a_pipe_and_never_to_a_terminal() {
    let world = filled().await;
    let show = ["memory", "show", HOSTILE];
    let written_out = world.done(&show).await;
    assert!(is_plain(&written_out) && written_out.contains("\\u{1b}]52"), "{written_out:?}");
    let raw = world.done(&["--raw", "memory", "show", HOSTILE]).await;
    assert!(raw.contains(HOSTILE), "{raw:?}");
    let mut terminal = world.terminal(&["--raw", "memory", "show", HOSTILE], (24, 120));
    assert_eq!(terminal.ended().await.unwrap(), 2);
    assert!(terminal.shown().contains("--raw prints to a pipe"), "{}", terminal.shown());
    assert!(CODES.iter().all(|code| !terminal.raw().contains(code)), "{:?}", terminal.raw());
}
