//! Turns as scripts: each file of `turns/` is a turn, its snapshot beside it says what the machine asked for.
//!
//! A line is one event: `reply TEXT [| id:tool{arguments}]…`, `chunk TEXT`, `done ID TEXT`, `error ID TEXT`,
//! `held ID WHY`, `yes ID`, `no ID`, `timer ID`, `steer TEXT`, `fail CLASS TEXT`, `ends`, `cancel`. `tools NAME…`, `decides TOOL`, `taken ID…`, `limit N`, `cut N` and
//! `own TOOL N` set the turn up; lines that begin with `#` say what the file shows and which ids it proves.

use std::fmt::Write as _;
use std::time::Duration;

use limpid_core::{CallId, FailureClass, Labelled, Message, Role, ToolCall, Trust, message::unpaired};
use limpid_turn::{Effect, Event, Finish, HeldCall, OfferedTool, Outcome, Reply, ToolOutcome, Turn, TurnStart, Why};

// ARC-011 ARC-012 ARC-013 SEC-002 SEC-011 KAI-112 KAI-113 KAI-114 LES-034 LES-037 LES-140 LES-141 LES-144 PICO-081
#[test]
fn scripted_turns() {
    insta::with_settings!({ snapshot_path => "turns", prepend_module_to_snapshot => false }, {
        insta::glob!("turns/*.turn", |path| {
            let script = std::fs::read_to_string(path).unwrap();
            insta::assert_snapshot!(play(&script));
        });
    });
}

/// Plays a script; after each event the turn equals one that is brought back from the events so far.
fn play(script: &str) -> String {
    let mut start = TurnStart::default();
    let mut events = Vec::new();
    for line in script.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "tools" => {
                let tool = |name: &str| OfferedTool {
                    name: name.to_owned(),
                    timeout: Duration::from_secs(30),
                    result_chars: None,
                };
                start.tools = rest.split(' ').map(tool).collect();
            }
            "decides" => start.decision = Some(rest.to_owned()),
            "taken" => start.taken = rest.split(' ').map(CallId::new).collect(),
            "limit" => start.limits.calls_with_tools = rest.parse().unwrap(),
            "own" => {
                let (name, chars) = rest.split_once(' ').unwrap();
                let tool = start.tools.iter_mut().find(|tool| tool.name == name).unwrap();
                tool.result_chars = Some(chars.parse().unwrap());
            }
            "cut" => start.limits.result_chars = rest.parse().unwrap(),
            _ => events.push((line, event(word, rest))),
        }
    }
    let (mut turn, effects) = Turn::start(start.clone());
    let mut out = format!("start\n{}", shown(&effects));
    for (at, (line, event)) in events.iter().enumerate() {
        let effects = turn.on(event.clone());
        write!(out, "{line}\n{}", shown(&effects)).unwrap();
        assert_eq!(unpaired(turn.in_flight()), None, "after {line}");
        let again = Turn::resume(start.clone(), events[..=at].iter().map(|(_, event)| event.clone()));
        assert_eq!(again, turn, "brought back after {line}");
    }
    write!(out, "pending\n{}", shown(&turn.pending())).unwrap();
    out
}

fn event(word: &str, rest: &str) -> Event {
    let (id, text) = rest.split_once(' ').unwrap_or((rest, ""));
    match word {
        "reply" | "length" => {
            let mut fields = rest.split('|').map(str::trim);
            let text = fields.next().unwrap_or_default().to_owned();
            let finish = if word == "length" { Finish::Length } else { Finish::Stop };
            let reply = Reply { text, calls: fields.map(call).collect(), finish, ..Reply::default() };
            Event::Reply(Labelled::new(reply, Trust::Owner))
        }
        "chunk" => Event::Chunk { text: Labelled::new(rest.to_owned(), Trust::Owner) },
        "done" => {
            let outcome = ToolOutcome::done(Labelled::new(text.to_owned(), Trust::Owner), String::new);
            Event::ToolDone { id: CallId::new(id), outcome }
        }
        "outside" => {
            let outcome = ToolOutcome::done(Labelled::outside(text.to_owned()), || "00ff".to_owned());
            Event::ToolDone { id: CallId::new(id), outcome }
        }
        "error" => Event::ToolDone {
            id: CallId::new(id),
            outcome: ToolOutcome::failed(Labelled::new(text.to_owned(), Trust::Owner), String::new),
        },
        "held" => Event::Held {
            id: CallId::new(id),
            why: Why { reason: text.to_owned(), about: None, bound_to: format!("hash of {id}") },
        },
        "yes" | "no" => Event::Decided { id: CallId::new(id), approved: word == "yes", at_ms: 1 },
        "timer" => Event::Timer { id: CallId::new(id) },
        "steer" => Event::Steer(Message::new(Role::User, rest, Trust::Owner)),
        "fail" => {
            let class = FailureClass::parse(id).unwrap();
            Event::ModelFailed { class, message: text.to_owned() }
        }
        "ends" => Event::EndAfterCalls,
        "cancel" => Event::Cancel,
        _ => panic!("no event is called {word}"),
    }
}

fn call(text: &str) -> ToolCall {
    let (id, rest) = text.split_once(':').unwrap();
    let (name, arguments) = rest.split_at(rest.find(['{', '[']).unwrap_or(rest.len()));
    ToolCall { id: CallId::new(id), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn shown(effects: &[Effect]) -> String {
    let mut out = String::new();
    for effect in effects {
        match effect {
            Effect::CallModel { round, tools } => {
                let with = if *tools { "with tools" } else { "without tools" };
                writeln!(out, "    call model, round {round}, {with}").unwrap();
            }
            Effect::Decide { round } => writeln!(out, "    ask for the decision alone, round {round}").unwrap(),
            Effect::RunTools { calls } => {
                writeln!(out, "    run").unwrap();
                for planned in calls {
                    let ToolCall { id, name, arguments } = &planned.call;
                    write!(out, "        {id}: {name} {arguments} within {:?}", planned.timeout).unwrap();
                    let approved = planned.approved.as_ref().map(|yes| format!(", approved with the {}", yes.bound_to));
                    writeln!(out, "{}", approved.unwrap_or_default()).unwrap();
                }
            }
            Effect::AskOwner { calls } => {
                writeln!(out, "    ask the owner").unwrap();
                for HeldCall { call: ToolCall { id, name, arguments }, why } in calls {
                    writeln!(out, "        {id}: {name} {arguments}, since {} ({})", why.reason, why.bound_to).unwrap();
                }
            }
            Effect::StoreMessages { batch } => {
                writeln!(out, "    store").unwrap();
                for message in batch {
                    writeln!(out, "        {}", shown_message(message)).unwrap();
                }
            }
            Effect::TellNotDrawn { why } => writeln!(out, "    tell that it cannot be drawn: {why}").unwrap(),
            Effect::Deliver { text } => writeln!(out, "    deliver {text:?}").unwrap(),
            Effect::End { outcome, unanswered } => {
                match outcome {
                    Outcome::Answered { finish } => writeln!(out, "    end: answered ({})", finish.as_str()).unwrap(),
                    Outcome::Cancelled => writeln!(out, "    end: cancelled").unwrap(),
                    Outcome::Failed { class, message } => {
                        writeln!(out, "    end: failed ({class}): {message}").unwrap();
                    }
                }
                for message in unanswered {
                    writeln!(out, "        unanswered {}", shown_message(message)).unwrap();
                }
            }
        }
    }
    out
}

fn shown_message(message: &Message) -> String {
    let mut out = message.role.to_string();
    if let Some(id) = &message.call_id {
        write!(out, " of {id}").unwrap();
    }
    if message.trust.is_foreign() {
        write!(out, " ({}, {})", message.trust, message.boundary.as_deref().unwrap_or("no boundary")).unwrap();
    }
    write!(out, " {:?}", message.text).unwrap();
    for call in &message.calls {
        write!(out, " {}:{}{}", call.id, call.name, call.arguments).unwrap();
    }
    out
}
