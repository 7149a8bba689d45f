//! Agents that a turn hands work to, in the program itself and over a real socket.

use std::sync::{Arc, Mutex};

use limpid_testkit::{Recorded, Reply};
use serde_json::{Value, json};

use crate::kit::World;

/// What the model was sent, in order.
type Sent = Arc<Mutex<Vec<Recorded>>>;

/// A reply that says something.
fn says(text: &str) -> Reply {
    serde_json::from_value(json!({ "text": text })).unwrap()
}

/// A reply that calls a tool.
fn calls(name: &str, arguments: &Value) -> Reply {
    let call = json!({ "name": name, "arguments": arguments });
    serde_json::from_value(json!({ "calls": [call] })).unwrap()
}

async fn world(answer: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> (World, Sent) {
    let sent = Sent::default();
    let kept = Arc::clone(&sent);
    let world = World::answering(move |request| {
        kept.lock().unwrap().push(request.clone());
        answer(request)
    })
    .await;
    (world, sent)
}

/// Waits until workers have made so many requests.
async fn asked(sent: &Sent, requests: usize) {
    let made = async {
        while sent.lock().unwrap().iter().filter(|request| is_worker(request)).count() < requests {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), made).await.unwrap();
}

fn is_worker(request: &Recorded) -> bool {
    request.system().starts_with("You are a worker agent")
}

// KOSHI-018 KOSHI-042 KOSHI-043 LES-113 LES-117
#[tokio::test]
async fn a_coordinator_hands_work_to_a_worker_and_hears_of_its_end_once() {
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) {
            says("The tea is green.")
        } else if texts.contains("[agent_result:1] done") {
            says("It is green tea.")
        } else if texts.contains("works in the background") {
            says("I had it looked at.")
        } else {
            calls("spawn_agent", &json!({ "task": "Find out which tea it is." }))
        }
    })
    .await;
    let run = world.run(&["chat", "--profile", "koshi", "Which tea is it?"]).await;
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("I had it looked at.\n"), "{}", run.out);
    let sent = sent.lock().unwrap().clone();
    let workers: Vec<_> = sent.iter().filter(|request| is_worker(request)).collect();
    assert_eq!((sent.len(), workers.len()), (4, 1));
    assert_eq!(workers[0].user(), "Find out which tea it is.");
    for other in ["Which tea is it?", "## Architecture", "spawn_agent", "memory_store"] {
        assert!(!workers[0].text().contains(other), "{other}");
    }
    let last = sent.last().unwrap();
    let (words, marker) = (last.text().find("The tea is green.").unwrap(), last.user());
    assert!(marker.starts_with("[agent_result:1] done; rounds: 1"), "{marker}");
    assert!(words < last.text().find("[agent_result:1] done").unwrap());
    let said = world.conversation().await;
    let roles: Vec<&str> = said.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "user", "assistant"]);
    assert_eq!(said[4].1, "The tea is green.");
    assert_eq!(said[6].1, "It is green tea.");
    assert!(run.err.contains("It is green tea."), "{}", run.err);
}

/// A skill that gives its workers these tools.
fn skill(world: &World, tools: &str) {
    let text = format!("---\nname: tea\ndescription: How tea is found.\ntools: [{tools}]\n---\nSmell it first.\n");
    world.write("skills/tea/SKILL.md", &text);
}

/// The names of the tools that a request declares.
fn declared(request: &Recorded) -> Vec<String> {
    let body = request.json();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| Some(tool["function"]["name"].as_str()?.to_owned())).collect()
}

// KOSHI-042 KOSHI-041 LES-121
#[tokio::test]
async fn a_worker_has_the_tools_of_its_skill_and_none_that_keeps_or_starts_anything() {
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) && texts.contains("none of this agent") || texts.contains("there is no tool") {
            says("I have no such tool.")
        } else if is_worker(request) && texts.contains("Find the tea.") {
            calls("memory_store", &json!({ "content": "tea" }))
        } else if is_worker(request) {
            says("It was green.")
        } else if texts.contains("[agent_result:2]") {
            says("So it is.")
        } else if texts.contains("[agent_result:1] done") && !texts.contains("agent 2 works") {
            let context = "[agent_result:1] is what the first one said.";
            calls("spawn_agent", &json!({ "task": "Taste it.", "context": context }))
        } else if texts.contains("works in the background") {
            says("Wait.")
        } else {
            let more = json!({ "task": "Find the tea.", "skill": "tea" });
            calls("spawn_agent", &more)
        }
    })
    .await;
    skill(&world, "read_file, memory_store, spawn_agent, create_skill, list_dir");
    let run = world.run(&["chat", "--profile", "koshi", "Which tea is it?"]).await;
    assert_eq!(run.code, 0, "{}", run.err);
    let sent = sent.lock().unwrap().clone();
    let workers: Vec<_> = sent.iter().filter(|request| is_worker(request)).collect();
    let mut names = declared(workers[0]);
    names.sort();
    assert_eq!(names, ["create_skill", "list_dir", "read_file"]);
    assert!(workers[0].system().contains("## Skill: tea\n\nSmell it first."), "{}", workers[0].system());
    let second = workers.iter().find(|request| request.user().starts_with("Taste it.")).unwrap();
    assert_eq!(second.user(), "Taste it.\n\n## Context\nI have no such tool. is what the first one said.");
    let has = |name: &str| declared(second).iter().any(|declared| declared == name);
    assert!(has("read_file") && has("write_file") && has("research") && !has("spawn_agent") && !has("memory_store"));
    assert_eq!(world.json(&["memory", "list", "--json"]).await["memories"], json!([]));
}

// PICO-060 PICO-061 LES-111 LES-112 LES-116
#[tokio::test]
async fn a_result_that_is_waited_for_is_the_result_of_the_call() {
    let long = "é".repeat(100_000);
    let answer = long.clone();
    let (world, _) = world(move |request| {
        let texts = request.text();
        if request.system().starts_with("As a subagent") {
            return if texts.contains("Brew") {
                serde_json::from_value(json!({ "text": "Half of", "finish": "length" })).unwrap()
            } else {
                says(&answer)
            };
        }
        match request.json()["messages"].as_array().map_or(0, Vec::len) {
            2 => calls("subagent", &json!({ "task": "Look.", "label": "look" })),
            4 => calls("subagent", &json!({ "task": " Look.\n" })),
            6 => calls("subagent", &json!({ "task": "Brew." })),
            _ => says("Done."),
        }
    })
    .await;
    let run = world.run(&["chat", "--profile", "picoclaw", "Look at it."]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "Done.\n"), "{}", run.err);
    let said = world.conversation().await;
    let results: Vec<&str> = said.iter().filter(|(role, _)| role == "tool").map(|(_, text)| text.as_str()).collect();
    let whole = format!("[agent_result:1] done; rounds: 1; its own words are claims\n{long}");
    assert!(results[0] == whole, "{} bytes", results[0].len());
    assert!(results[1].contains("agent 1 was given the same task in this turn"), "{}", results[1]);
    assert!(results[2].starts_with("[agent_result:2] failed; rounds: 1"), "{}", results[2]);
    assert!(results[2].contains("its answer was cut off: length") && results[2].contains("Half of"), "{}", results[2]);
    assert!(run.err.chars().filter(|letter| *letter == 'é').count() <= 500, "the person sees a short form");
}

// PICO-063 PICO-066 LES-110 LES-113 LES-115 LES-128
#[tokio::test]
async fn an_agent_whose_program_died_is_told_of_once_and_not_carried_on() {
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) && request.json()["messages"].as_array().is_some_and(|all| all.len() > 2) {
            serde_json::from_value(json!({ "text": "never", "hang": "start" })).unwrap()
        } else if is_worker(request) {
            let call = json!({ "name": "list_dir", "arguments": { "path": "." } });
            serde_json::from_value(json!({ "text": "RAW WORDS", "calls": [call] })).unwrap()
        } else if texts.contains("[agent_result:1]") {
            says("It was cut off.")
        } else if texts.contains("works in the background") {
            says("Wait.")
        } else {
            calls("spawn_agent", &json!({ "task": "Count the files." }))
        }
    })
    .await;
    let mut first = world.start(&["chat", "--profile", "koshi", "Count them."]);
    drop(first.stdin.take());
    asked(&sent, 2).await;
    first.kill().await.unwrap();
    let before = sent.lock().unwrap().iter().filter(|request| is_worker(request)).count();
    let state = world.json(&["agent", "show", "1", "--json"]).await;
    assert_eq!(state["agent"]["state"], "interrupted", "its program is gone");

    let run = world.run(&["chat", "-c", "last", "And?"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "It was cut off.\n"), "{}", run.err);
    assert!(!run.err.contains("RAW WORDS"), "{}", run.err);
    world.done(&["chat", "-c", "last", "Thanks."]).await;
    let shown = world.json(&["agent", "show", "1", "--json"]).await;
    assert_eq!(shown["agent"]["state"], "interrupted");
    let roles: Vec<&str> =
        shown["agent"]["messages"].as_array().unwrap().iter().filter_map(|one| one["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"], "its transcript is kept");
    let said = world.conversation().await;
    let told = said.iter().filter(|(_, text)| text.starts_with("[agent_result:1] interrupted")).count();
    assert_eq!(told, 1, "{said:?}");
    let after = sent.lock().unwrap().iter().filter(|request| is_worker(request)).count();
    assert_eq!(before, after, "it is not carried on");
    let again = world.done(&["agent", "cancel", "1"]).await;
    assert_eq!(again, "");
    let listed = world.json(&["agent", "list", "--json"]).await;
    assert_eq!(listed["agents"][0]["state"], "interrupted");
}

// PICO-064 PICO-066 LES-112 LES-124
#[tokio::test]
async fn an_agent_that_runs_out_of_rounds_is_told_to_report_and_is_not_done() {
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) && request.json()["tool_choice"] == "none" {
            says("I counted half of them.")
        } else if is_worker(request) {
            let made = request.json()["messages"].as_array().map_or(0, Vec::len);
            calls("list_dir", &json!({ "path": format!("{}.", "./".repeat(made)) }))
        } else if texts.contains("[agent_result:1]") {
            says("It ran out.")
        } else if texts.contains("works in the background") {
            says("Wait.")
        } else {
            calls("spawn_agent", &json!({ "task": "Count the files." }))
        }
    })
    .await;
    let run = world.run(&["chat", "--profile", "koshi", "Count them."]).await;
    assert_eq!(run.code, 0, "{}", run.err);
    let sent = sent.lock().unwrap().clone();
    let workers: Vec<_> = sent.iter().filter(|request| is_worker(request)).collect();
    assert_eq!(workers.len(), 10);
    let told: Vec<usize> =
        (0..10).filter(|at| workers[*at].text().contains("[report now] rounds left: 3")).map(|at| at + 1).collect();
    assert!(told == [8, 9, 10] || told == [9, 10], "{told:?}");
    let last = sent.last().unwrap();
    assert!(last.user().starts_with("[agent_result:1] failed; rounds: 10; calls: list_dir 9"), "{}", last.user());
    assert!(last.text().contains("I counted half of them."));
    let shown = world.json(&["agent", "show", "1", "--json"]).await;
    assert_eq!(shown["agent"]["reason"], "it ran out of its 10 rounds");
}

// KOSHI-016 KOSHI-040 LES-119
#[tokio::test]
async fn a_model_that_goes_on_starting_agents_comes_to_an_end_and_reads_what_they_found() {
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) {
            return says("Leaves:\ngreen");
        }
        let last = request.json()["messages"].as_array().and_then(|all| all.last().cloned()).unwrap_or_default();
        let last = last["content"].as_str().unwrap_or_default().to_owned();
        if last.contains("\"agents\":[") {
            calls("read_file", &json!({ "path": "agent:1", "offset": 2 }))
        } else if last == "green" {
            calls("read_file", &json!({ "path": "agent:99" }))
        } else if last.contains("there is no agent 99") {
            says("That is all.")
        } else if last.contains("this message has led to") {
            calls("list_agents", &json!({}))
        } else if last.contains("works in the background") {
            says("Wait.")
        } else {
            let at = texts.matches("[agent_result:").count();
            calls("spawn_agent", &json!({ "task": format!("Look at leaf {at}.") }))
        }
    })
    .await;
    let run = world.run(&["chat", "--profile", "koshi", "Look at the leaves."]).await;
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(sent.lock().unwrap().iter().filter(|request| is_worker(request)).count(), 16);
    let said = world.conversation().await;
    assert_eq!(said.last().map(|(_, text)| text.as_str()), Some("That is all."));
    let listed = world.json(&["agent", "list", "--json"]).await;
    assert!(listed["agents"].as_array().unwrap().iter().all(|one| one["state"] == "done" && one["depth"] == 1));
}

// LES-120
#[tokio::test]
async fn another_process_stops_an_agent_and_its_caller_is_told() {
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) {
            serde_json::from_value(json!({ "text": "never", "hang": "start" })).unwrap()
        } else if texts.contains("[agent_result:1] cancelled") {
            says("It was stopped.")
        } else if texts.contains("works in the background") {
            says("Wait.")
        } else {
            calls("spawn_agent", &json!({ "task": "Count the files." }))
        }
    })
    .await;
    let mut first = world.start(&["chat", "--profile", "koshi", "Count them."]);
    drop(first.stdin.take());
    asked(&sent, 1).await;
    let cancelled = world.json(&["agent", "cancel", "1", "--json"]).await;
    assert_eq!(cancelled["cancelled"], json!([1]));
    let ended =
        tokio::time::timeout(std::time::Duration::from_secs(30), first.wait_with_output()).await.unwrap().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success() && told.contains("It was stopped."), "{told}");
    let said = world.conversation().await;
    assert_eq!(said.iter().filter(|(_, text)| text.starts_with("[agent_result:1]")).count(), 1, "{said:?}");
}

/// The program dies while a planned task is at work: what was done stays done, what was cut off blocks what needs it, and
/// starting that again carries the plan on.
// KOSHI-041 KOSHI-044 LES-110
#[tokio::test]
async fn a_plan_goes_on_after_the_program_died_in_the_middle() {
    let is_back = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let back = Arc::clone(&is_back);
    let (world, sent) = world(move |request| {
        let texts = request.text();
        let now = request.user();
        let is_back = back.load(std::sync::atomic::Ordering::SeqCst);
        let has_planned = request.texts().iter().any(|text| text.role == "tool" && text.text.contains("planned"));
        if is_worker(request) && has_planned {
            says("Planned.")
        } else if is_worker(request) && now.starts_with("Plan it.") {
            let tasks = json!([
                { "name": "leaves", "task": "Find leaves." },
                { "name": "water", "task": "Boil water.", "after": ["leaves"] },
                { "name": "brew", "task": "Brew.", "after": ["water"] },
            ]);
            calls("plan_tasks", &json!({ "tasks": tasks }))
        } else if is_worker(request) && now.starts_with("Boil water.") && !is_back {
            serde_json::from_value(json!({ "text": "never", "hang": "start" })).unwrap()
        } else if is_worker(request) {
            says("Did it.")
        } else if texts.contains("Start it again.") && !texts.contains("task 2 (water): running") {
            calls("spawn_agent", &json!({ "task_id": 2 }))
        } else if texts.contains("Planned.") && !texts.contains("task 3 (brew)") {
            calls("spawn_agent", &json!({ "task_id": 3 }))
        } else if texts.contains("works in the background") {
            says("Noted.")
        } else {
            calls("spawn_agent", &json!({ "task": "Plan it." }))
        }
    })
    .await;
    let mut first = world.start(&["chat", "--profile", "koshi", "Make tea."]);
    drop(first.stdin.take());
    // The plan, the results of planning, leaves, water.
    asked(&sent, 4).await;
    first.kill().await.unwrap();
    let planned = async || {
        let planned = world.json(&["agent", "plan", "--json"]).await;
        let rows = planned["planned"].as_array().unwrap().clone();
        rows.iter().map(|row| row["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    world.done(&["chat", "-c", "last", "And?"]).await;
    assert_eq!(planned().await, ["done", "failed", "blocked"]);
    let table = world.done(&["agent", "plan"]).await;
    assert!(table.contains("blocked by 2"), "{table}");
    is_back.store(true, std::sync::atomic::Ordering::SeqCst);
    world.done(&["chat", "-c", "last", "Start it again."]).await;
    assert_eq!(planned().await, ["done", "done", "done"]);
    let listed = world.json(&["agent", "list", "--json"]).await;
    let states: Vec<&str> =
        listed["agents"].as_array().unwrap().iter().filter_map(|one| one["state"].as_str()).collect();
    assert_eq!(states.iter().filter(|state| **state == "interrupted").count(), 1);
    assert_eq!(states.iter().filter(|state| **state == "done").count(), 4);
}

/// A worker with a skill runs the skill's own scripts, once the skill is enabled.
// KOSHI-042
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_with_a_skill_runs_the_skills_own_script() {
    if crate::programs::no_sandbox() {
        return;
    }
    let (world, sent) = world(|request| {
        let texts = request.text();
        if is_worker(request) && texts.contains("steeped") {
            says("Three minutes.")
        } else if is_worker(request) {
            calls("exec", &json!({ "command": "sh ../skills/tea/scripts/steep.sh" }))
        } else if texts.contains("Three minutes.") {
            says("Done.")
        } else {
            calls("spawn_agent", &json!({ "task": "Steep it.", "skill": "tea", "run_in_background": false }))
        }
    })
    .await;
    let world = world.without_rights();
    let text = "---\nname: tea\ndescription: Brew tea\ntools: [exec]\n---\nRun `scripts/steep.sh`.\n";
    world.write("from/tea/SKILL.md", text);
    world.write("from/tea/scripts/steep.sh", "echo steeped\n");
    let from = world.home.path().join("from/tea").display().to_string();
    world.done(&["skill", "install", &from]).await;
    world.done(&["skill", "enable", "tea"]).await;
    let run = world.run(&["chat", "--profile", "koshi", "Steep it."]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "Done.\n"), "{}", run.err);
    assert!(sent.lock().unwrap().iter().any(|one| is_worker(one) && one.text().contains("steeped")));
}

/// The processes of this machine whose words hold this one.
#[cfg(target_os = "linux")]
fn processes(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let words = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    words.filter(|words| words.split(|byte| *byte == 0).any(|one| one == word.as_bytes())).count()
}

/// A program that an agent runs ends with the agent, with all that it has started, while the agent's caller goes on.
// LES-127
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_processes_of_an_agent_end_with_it() {
    if crate::programs::no_sandbox() {
        return;
    }
    // No other process sleeps so long.
    let seconds = format!("{}.{}", 86_000 + std::process::id() % 1000, std::process::id());
    let program = format!("(sleep {seconds} &); setsid sleep {seconds} & sleep {seconds}");
    let (world, _) = world(move |request| {
        let texts = request.text();
        if is_worker(request) {
            calls("exec", &json!({ "command": format!("sh -c '{program}'") }))
        } else if texts.contains("[agent_result:1] cancelled") {
            serde_json::from_value(json!({ "text": "never", "hang": "start" })).unwrap()
        } else if texts.contains("works in the background") {
            says("Wait.")
        } else {
            calls("spawn_agent", &json!({ "task": "Count the files." }))
        }
    })
    .await;
    let world = world.without_rights();
    let config = std::fs::read_to_string(world.home.path().join("limpid.toml")).unwrap_or_default();
    world.write("limpid.toml", &format!("{config}\n[exec]\nshell = true\nseconds = 900\n"));
    let mut first = world.start(&["chat", "--profile", "koshi", "Count them."]);
    drop(first.stdin.take());
    let until = async |number: usize, holds: fn(usize, usize) -> bool| {
        let looked = async {
            while !holds(processes(&seconds), number) {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), looked).await.unwrap();
    };
    until(3, |there, number| there >= number).await;
    // They would go on for a quarter of an hour.
    let cancelled = world.json(&["agent", "cancel", "1", "--json"]).await;
    assert_eq!(cancelled["cancelled"], json!([1]));
    until(0, |there, number| there == number).await;
    assert!(first.try_wait().unwrap().is_none(), "its caller goes on");
    first.kill().await.unwrap();
}
