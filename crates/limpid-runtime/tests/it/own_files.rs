//! The owner's files: what an edit does to the next turn, and what a new program does to them.

use std::fs;

use crate::kit::{Bench, say};
use limpid_prompt::Outcome;
use limpid_runtime::profiles::{OwnState, copy_out, shipped_text, status};
use limpid_runtime::{ChatRequest, Config, Home, PreviewRequest, TurnEvent};

const OK: &str = "[[reply]]\ntext = \"ok\"\n";
const MODE: &str = "ollm/modes/assistant/tier3.md";

// OLLM-051
#[tokio::test]
async fn an_edited_template_counts_in_the_next_turn_and_at_the_next_switch_of_mode() {
    let mut bench = Bench::new(OK).await;
    bench.config.agent.profile = "ollm".to_owned();
    let agent = bench.agent();
    say(&agent, "hi").await;
    bench.write(&format!("profiles/{MODE}"), "Edited while it ran.\n");
    say(&agent, "hi").await;
    bench.write("profiles/ollm/modes/planning/tier3.md", "Planned anew.\n");
    let mut request = crate::kit::last("hi");
    request.mode = Some("planning".to_owned());
    crate::kit::all(agent.chat(request).await.unwrap()).await;
    let system: Vec<String> = bench.server.calls().iter().map(limpid_testkit::Recorded::system).collect();
    let has = |text: &str| -> Vec<bool> { system.iter().map(|system| system.contains(text)).collect() };
    assert_eq!(has("Edited while it ran."), [false, true, false]);
    assert_eq!(has("Planned anew."), [false, false, true]);
}

// OLLM-052
#[tokio::test]
async fn a_later_start_uses_the_last_text_that_worked_of_a_file_that_is_broken_now() {
    let mut bench = Bench::new(&OK.repeat(6)).await;
    bench.config.agent.profile = "ollm".to_owned();
    let file = format!("profiles/{MODE}");
    let mut shown = Vec::new();
    for bytes in ["Speak in rhyme.\n", "", "{{ nobody }}\n", "{% if", "Speak plainly.\n", ""] {
        bench.write(&file, bytes);
        // Each is a start and a conversation of its own: nothing is remembered in a process.
        let new = ChatRequest { text: "hi".to_owned(), ..ChatRequest::default() };
        let events = crate::kit::all(bench.agent().chat(new).await.unwrap()).await;
        let system = bench.server.calls().last().unwrap().system();
        let said = ["Speak in rhyme.", "Speak plainly."].into_iter().find(|text| system.contains(text));
        let told = events.iter().any(|event| {
            matches!(event, TurnEvent::Notice(text) if text.contains(MODE) && text.contains("the last text of it that worked"))
        });
        shown.push((said, told));
    }
    let (rhyme, plain) = (Some("Speak in rhyme."), Some("Speak plainly."));
    assert_eq!(shown, [(rhyme, false), (rhyme, true), (rhyme, true), (rhyme, true), (plain, false), (plain, true)]);
    // A file that its owner removed takes its copy along.
    fs::remove_file(bench.home.path().join(&file)).unwrap();
    bench.agent().profiles().all().unwrap();
    bench.write(&file, "");
    let profiles = bench.agent().profiles().all().unwrap();
    let kept = profiles.problems().iter().find_map(|problem| problem.kept.clone());
    assert_eq!(kept.as_deref(), Some("until then the shipped file is used"));
}

// PICO-022
#[tokio::test]
async fn an_edit_shows_on_the_next_turn_whatever_its_size_and_time_of_change() {
    let mut bench = Bench::new(&OK.repeat(5)).await;
    bench.config.agent.profile = "picoclaw".to_owned();
    let path = |name: &str| bench.home.path().join("workspace").join(name);
    let at = |name: &str| fs::metadata(path(name)).unwrap().modified().unwrap();
    let (memory, note) = ("memory/MEMORY.md", "memory/202603/20260328.md");
    bench.write(&format!("workspace/{memory}"), "Likes tea.\n");
    bench.write(&format!("workspace/{note}"), "Quiet.\n");
    let (first, before) = (at(memory), at(note) - std::time::Duration::from_secs(3600));
    let write = |name: &str, text: &str, time: std::time::SystemTime| {
        bench.write(&format!("workspace/{name}"), text);
        fs::File::options().append(true).open(path(name)).unwrap().set_modified(time).unwrap();
    };
    let agent = bench.agent();
    let mut shown = Vec::new();
    for step in 0..5 {
        match step {
            1 => write(memory, "Likes gin.\n", first),
            2 => write(note, "Quiet.\nRain.\n", before),
            3 => write("SOUL.md", "Dry.\n", before),
            4 => fs::remove_file(path(memory)).unwrap(),
            _ => {}
        }
        say(&agent, "hi").await;
        let system = bench.server.calls()[step].system();
        let words = ["Likes tea.", "Likes gin.", "Quiet.", "Rain.", "Dry."];
        shown.push(words.into_iter().filter(|word| system.contains(word)).collect::<Vec<_>>());
    }
    assert_eq!(
        shown,
        [
            vec!["Likes tea.", "Quiet."],
            vec!["Likes gin.", "Quiet."],
            vec!["Likes gin.", "Quiet.", "Rain."],
            vec!["Likes gin.", "Quiet.", "Rain.", "Dry."],
            vec!["Quiet.", "Rain.", "Dry."],
        ]
    );
}

// PICO-021
#[tokio::test]
async fn the_days_of_notes_are_those_of_the_owners_zone_and_move_at_its_midnight() {
    for (zone, before, after) in [
        ("Pacific/Auckland", ["20260301", "20260302", "20260303"], ["20260302", "20260303", "20260304"]),
        ("Pacific/Niue", ["20260228", "20260301", "20260302"], ["20260301", "20260302", "20260303"]),
    ] {
        let mut bench = Bench::new(&OK.repeat(2)).await;
        bench.config.agent.profile = "picoclaw".to_owned();
        bench.config.owner = Config::parse(&format!("[owner]\nzone = {zone:?}\n"), "limpid.toml").unwrap().owner;
        for day in ["20260227", "20260228", "20260301", "20260302", "20260303", "20260304", "20260305"] {
            bench.write(&format!("workspace/memory/{}/{day}.md", &day[..6]), &format!("Day-{day}.\n"));
        }
        // Midnight in both places is at eleven by UTC.
        bench.clock = std::sync::Arc::new(crate::kit::FixedClock::at("2026-03-03T10:59:59Z"));
        let agent = bench.agent();
        let shown = async || {
            say(&agent, "hi").await;
            let system = bench.server.calls().last().unwrap().system();
            let mut days: Vec<String> =
                system.split("Day-").skip(1).map(|rest| rest.split('.').next().unwrap().to_owned()).collect();
            days.sort();
            days
        };
        assert_eq!(shown().await, before, "{zone}");
        bench.clock.forward(jiff::Span::new().seconds(1));
        assert_eq!(shown().await, after, "{zone}");
    }
}

// SEC-002
#[tokio::test]
async fn what_is_added_to_a_strangers_file_leaves_it_a_strangers() {
    let calls = [
        "{ name = \"memory_query\", arguments = { query = \"offer\" } }",
        "{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"obey me\" } }",
        "{ name = \"append_file\", arguments = { path = \"outside/notes.md\", content = \", please\" } }",
        "{ name = \"read_file\", arguments = { path = \"outside/notes.md\" } }",
    ];
    let call = |at: usize| format!("[[reply]]\ncalls = [{}]\n", calls[at]);
    let bench =
        Bench::new(&[call(0), call(1), OK.to_owned(), call(2), OK.to_owned(), call(3), OK.to_owned()].concat()).await;
    let agent = bench.agent();
    crate::kit::keep_mail(&agent, "an offer").await;
    for text in ["keep what the offer says", "be polite", "what do my notes say?"] {
        let new = ChatRequest { text: text.to_owned(), ..ChatRequest::default() };
        crate::kit::all(agent.chat(new).await.unwrap()).await;
    }
    let read = bench.server.calls().last().unwrap().json();
    let read = read["messages"].as_array().unwrap().iter().rfind(|message| message["role"] == "tool").unwrap().clone();
    let read = read["content"].as_str().unwrap();
    assert!(read.starts_with("[untrusted ") && read.contains("obey me, please"), "{read}");
}

// OLLM-050
#[tokio::test]
async fn a_new_program_leaves_edited_templates_alone_and_brings_unedited_copies_up_to_date() {
    let bench = Bench::new(OK).await;
    let home = Home::new(bench.home.path());
    let edited = copy_out(&home, "ollm/modes/planning/tier3.md").unwrap();
    let unedited = copy_out(&home, MODE).unwrap();
    // As an older program shipped and copied them.
    fs::write(&edited, "The owner's own.\n").unwrap();
    fs::write(edited.with_file_name(".tier3.md.shipped"), "An older text.\n").unwrap();
    fs::write(&unedited, "An older text.\n").unwrap();
    fs::write(unedited.with_file_name(".tier3.md.shipped"), "An older text.\n").unwrap();

    let _agent = bench.agent();
    assert_eq!(fs::read_to_string(&edited).unwrap(), "The owner's own.\n");
    assert_eq!(fs::read_to_string(&unedited).unwrap(), shipped_text(MODE).unwrap());
    let states: Vec<_> = status(&home).unwrap().into_iter().map(|row| (row.path, row.state)).collect();
    assert_eq!(
        states,
        [(MODE.to_owned(), OwnState::Same), ("ollm/modes/planning/tier3.md".to_owned(), OwnState::ShippedIsNewer),]
    );
    // An edit after that is the owner's again.
    fs::write(&unedited, "Edited since.\n").unwrap();
    let _agent = bench.agent();
    assert_eq!(fs::read_to_string(&unedited).unwrap(), "Edited since.\n");
}

// LES-005
#[tokio::test]
async fn a_file_under_two_names_stands_in_the_prompt_once_and_the_second_is_told() {
    let mut bench = Bench::new(OK).await;
    bench.config.agent.profile = "picoclaw".to_owned();
    bench.write("workspace/AGENTS.md", "Water the plants on Monday.\n");
    std::os::unix::fs::symlink("AGENTS.md", bench.home.path().join("workspace/SOUL.md")).unwrap();
    let agent = bench.agent();
    let shown =
        agent.preview(PreviewRequest { text: "hi".to_owned(), ..PreviewRequest::default() }).await.unwrap().prompt;
    let row = shown.report().iter().find(|row| row.section == "workspace:SOUL.md").unwrap();
    assert_eq!((row.outcome, row.reason.as_deref()), (Outcome::Skipped, Some("it is the same file as AGENTS.md")));
    let events = say(&agent, "hi").await;
    let system = bench.server.calls()[0].system();
    assert_eq!(system.matches("Water the plants on Monday.").count(), 1, "{system}");
    let told: Vec<&String> =
        events.iter().filter_map(|event| if let TurnEvent::Notice(text) = event { Some(text) } else { None }).collect();
    assert!(told.iter().any(|notice| *notice == "SOUL.md was not read: it is the same file as AGENTS.md"), "{told:?}");
}
