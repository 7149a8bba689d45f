//! Files, names and addresses of the owner's that are wrong, and a database that cannot be used.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::kit::World;

/// Breaks the database's file.
type Fault = fn(&Path);

const OK: &str = "[[reply]]\ntext = \"ok\"\n";

/// What the program says to these words, with its exit code; paths are shortened.
async fn said(world: &World, words: &[&str]) -> String {
    let run = world.run(words).await;
    let home = world.home.path().display().to_string();
    let told = format!("$ limpid {}\n{}exit {}\n\n", words.join(" "), run.err, run.code);
    told.replace(&home, "[HOME]").replace(&world.recorder.url(), "http://[server]")
}

// SUR-011 SEC-042
#[tokio::test]
async fn limpid_toml() {
    let world = World::new(OK).await;
    let mut told = String::new();
    for text in ["[agent]\nprofil = \"kai\"\n", "model = 5\n", "[agent\n", "[agent]\nprofile = \"kia\"\n"] {
        world.write("limpid.toml", text);
        told += &said(&world, &["chat", "hi"]).await;
    }
    fs::write(world.home.path().join("limpid.toml"), [0xff, 0xfe]).unwrap();
    told += &said(&world, &["chat", "hi"]).await;
    fs::remove_file(world.home.path().join("limpid.toml")).unwrap();
    fs::create_dir(world.home.path().join("limpid.toml")).unwrap();
    told += &said(&world, &["chat", "hi"]).await;
    assert!(world.recorder.calls().is_empty());
    insta::assert_snapshot!(told);
}

// SUR-011 SEC-042
#[tokio::test]
async fn a_profile_and_a_section() {
    let world = World::new(OK).await;
    world.write("profiles/limpid/sections/honesty.md", "---\ntitle: Honesty\n---\nIt is {{ now }}.\n");
    world.write("profiles/mine/profile.toml", "title = \"Mine\n");
    // A file of the owner's that cannot be used is named, and the shipped one stands in for it.
    let mut told = said(&world, &["chat", "--model", "openai/m", "hi"]).await;
    assert_eq!(world.recorder.calls().len(), 1);
    told += &said(&world, &["chat", "--profile", "mine", "--model", "openai/m", "hi"]).await;
    told += &said(&world, &["chat", "--profile", "kia", "--model", "openai/m", "hi"]).await;
    told += &said(&world, &["prompt", "show", "--profile", "mine"]).await;
    assert_eq!(world.recorder.calls().len(), 1);
    insta::assert_snapshot!(told);
}

// SUR-011
#[tokio::test]
async fn an_inputs_file() {
    let world = World::new(OK).await;
    let file = world.home.path().join("inputs.json").display().to_string();
    let words = ["prompt", "show", "--inputs", &file];
    let mut told = said(&world, &words).await;
    for text in ["{\n  \"agent_nam\": \"Ada\"\n}\n", "{ \"user_message\": 5 }", "{", ""] {
        world.write("inputs.json", text);
        told += &said(&world, &words).await;
    }
    insta::assert_snapshot!(told);
}

// SUR-011 LES-016
#[tokio::test]
async fn a_models_name_and_a_base_url() {
    let mut world = World::new(OK).await;
    let mut told = String::new();
    for model in ["gpt-5", "nobody/m", "mistral/m", "/"] {
        told += &said(&world, &["chat", "--model", model, "hi"]).await;
    }
    world.unset("OPENAI_BASE_URL");
    world.set("OPENAI_BASE_URL", "ftp://nowhere/v1");
    told += &said(&world, &["chat", "--model", "openai/m", "hi"]).await;
    told += &said(&world, &["chat", "--conversation", "none", "--model", "openai/m", "hi"]).await;
    told += &said(&world, &["chat", "--mode", "sleepy", "--profile", "ollm", "--model", "openai/m", "hi"]).await;
    insta::assert_snapshot!(told);
}

// SEC-042 SUR-011
#[tokio::test]
async fn the_database() {
    let mut told = String::new();
    let faults: [(&str, Fault); 3] = [
        ("damaged", |file| {
            let mut bytes = fs::read(file).unwrap();
            for byte in bytes.iter_mut().skip(100) {
                *byte = 0x5a;
            }
            fs::write(file, bytes).unwrap();
        }),
        ("no database", |file| {
            fs::write(file, "This is a letter, and a letter is no database at all.\n".repeat(9)).unwrap();
        }),
        ("a folder", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
    ];
    for (name, break_it) in faults {
        let world = World::new(OK).await;
        world.done(&["chat", "hi"]).await;
        let file = world.home.path().join("data/limpid.db");
        // Without the log beside it nothing can be recovered.
        for log in ["limpid.db-wal", "limpid.db-shm"] {
            let _ = fs::remove_file(file.with_file_name(log));
        }
        break_it(&file);
        let _ = writeln!(told, "# {name}");
        told += &said(&world, &["chat", "hi"]).await;
        told += &said(&world, &["conversation", "list"]).await;
        assert_eq!(world.recorder.calls().len(), 1, "{name}: nothing is sent that cannot be kept");
    }
    insta::assert_snapshot!(told);
}
