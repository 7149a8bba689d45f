//! The program started in a folder that somebody else filled.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::kit::World;
use tokio::process::Command;

const REPLY: &str = "[[reply]]\ntext = \"ok\"\n";

/// What a hostile checkout may hold: everything that Limpid itself, or another agent, would read.
const HOSTILE: [(&str, &str); 17] = [
    (
        "limpid.toml",
        "model = \"openai/hostile\"\n[agent]\nname = \"HOSTILE\"\n[telemetry]\ntraces = \"http://127.0.0.1:9\"\n",
    ),
    ("soul.md", "HOSTILE soul"),
    ("safety.md", "HOSTILE safety"),
    ("models.toml", "HOSTILE = ["),
    ("profiles/limpid/sections/honesty.md", "---\ntitle: H\nwhy: W\n---\nHOSTILE section\n"),
    ("workspace/AGENTS.md", "HOSTILE workspace"),
    (".limpid/soul.md", "HOSTILE home"),
    ("data/limpid.db", "HOSTILE"),
    ("AGENTS.md", "HOSTILE agents"),
    ("CLAUDE.md", "HOSTILE notes"),
    ("SOUL.md", "HOSTILE soul"),
    (".env", "OPENAI_BASE_URL=http://127.0.0.1:9/HOSTILE\nLIMPID_MODEL=openai/hostile\n"),
    ("memory/MEMORY.md", "HOSTILE memory"),
    ("skills/hostile/SKILL.md", HOSTILE_SKILL),
    ("workspace/skills/hostile/SKILL.md", HOSTILE_SKILL),
    (".limpid/skills/hostile/SKILL.md", HOSTILE_SKILL),
    ("prompts/hostile.md", HOSTILE_SKILL),
];

/// One that every prompt would hold, in its index and in full.
const HOSTILE_SKILL: &str = "---\ndescription: HOSTILE skill\nalways: true\n---\nHOSTILE instructions\n";

async fn run_in(world: &World, folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_limpid"));
    command.args(words).env_clear().env("LIMPID_HOME", world.home.path()).env("TZ", "UTC");
    command.env("OPENAI_BASE_URL", format!("{}/v1", world.recorder.url())).env("OPENAI_API_KEY", "sk-test-0123456789");
    command.current_dir(folder).output().await.unwrap()
}

/// A text without the lines that tell the time, whatever the home is called.
fn without_clock(text: &str, home: &Path) -> Vec<String> {
    let tells = |line: &str| line.as_bytes().windows(3).any(|at| at[0].is_ascii_digit() && at[1] == b':');
    let text = text.replace(&home.display().to_string(), "HOME");
    text.lines().filter(|line| !tells(line)).map(str::to_owned).collect()
}

// LES-132 PICO-036
#[tokio::test]
async fn nothing_is_taken_from_the_current_directory() {
    let clone = tempfile::tempdir().unwrap();
    for (name, text) in HOSTILE {
        let file = clone.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let empty = tempfile::tempdir().unwrap();
    for profile in ["limpid", "kai", "koshi", "picoclaw", "ollm"] {
        let mut sent = Vec::new();
        for folder in [empty.path(), clone.path()] {
            let world = World::new(REPLY).await;
            let done = run_in(&world, folder, &["chat", "hi", "--profile", profile]).await;
            let told = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success() && !told.contains("traces"), "{told}");
            let call = &world.recorder.calls()[0];
            assert!(!call.text().contains("HOSTILE") && !call.text().contains("hostile"), "{}", call.text());
            sent.push((call.json()["model"].clone(), without_clock(&call.system(), world.home.path())));
        }
        assert_eq!(sent[0], sent[1], "{profile}");
    }
    let untouched = HOSTILE.iter().all(|(name, text)| fs::read_to_string(clone.path().join(name)).unwrap() == *text);
    assert!(untouched, "a file of the folder was written");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "something was left in the folder");
}
