//! Files that prompts quote: whatever tool changes one, the change is kept as those of memories are, and can be undone.

use limpid_runtime::{Agent, Environment};
use limpid_store::{Author, FileVersion};

use crate::kit::program::program;
use crate::kit::{Bench, say};

const MEMORY: &str = "memory/MEMORY.md";

/// A turn that makes these calls at once.
fn script(calls: &[&str]) -> String {
    format!("[[reply]]\ncalls = [{}]\n[[reply]]\ntext = \"ok\"\n", calls.join(", "))
}

fn call(name: &str, path: &str, content: &str) -> String {
    format!("{{ name = {name:?}, arguments = {{ path = {path:?}, content = {content:?} }} }}")
}

async fn versions(agent: &Agent) -> Vec<FileVersion> {
    agent.file_history().versions(None).await.unwrap().rows
}

fn file(bench: &Bench, name: &str) -> Option<String> {
    std::fs::read_to_string(bench.home.path().join("workspace").join(name)).ok()
}

// LES-060 PICO-028 LES-050
#[tokio::test]
async fn a_tool_of_files_and_a_tool_of_memory_leave_equal_records() {
    for (said, author) in
        [("I like oolong, the key is sk-secret-9f3kX2mQ7vB4tL8w", Author::Said), ("hi", Author::Inferred)]
    {
        let text = "I like oolong, the key is sk-secret-9f3kX2mQ7vB4tL8w";
        let memory = format!("{{ name = \"memory_store\", arguments = {{ key = \"tea\", content = {text:?} }} }}");
        let bench = Bench::new(&script(&[&call("write_file", MEMORY, text), &memory])).await;
        let mut options = bench.options();
        let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", bench.server.url()));
        options.environment =
            Environment::new([("HOUSE_TOKEN".to_owned(), "sk-secret-9f3kX2mQ7vB4tL8w".to_owned()), url]);
        let agent = Agent::open(options).unwrap();
        say(&agent, said).await;

        let [version] = <[FileVersion; 1]>::try_from(versions(&agent).await).unwrap();
        let [event] = <[_; 1]>::try_from(agent.memory().history(None).await.unwrap().rows).unwrap();
        let kept = event.after.clone().unwrap();
        assert_eq!(version.said_after(), Some("I like oolong, the key is [secret HOUSE_TOKEN]"));
        assert_eq!((&version.before, version.said_after()), (&None, Some(kept.content.as_str())));
        assert_eq!((version.author, Some(version.source)), (event.author, event.source));
        assert_eq!((version.author, version.at_ms, version.trust), (Some(author), event.at_ms, kept.trust));
        assert_eq!(file(&bench, MEMORY).as_deref(), Some("I like oolong, the key is [secret HOUSE_TOKEN]"));

        agent.memory().undo(event.id).await.unwrap();
        let undone = agent.file_history().undo(version.id, "test").await.unwrap();
        assert_eq!(agent.store().memory(&"tea".into()).await.unwrap(), None);
        assert_eq!(file(&bench, MEMORY), None);
        agent.file_history().undo(undone.id, "test").await.unwrap();
        assert!(file(&bench, MEMORY).is_some(), "an undo can be undone");
    }
}

// PICO-028
#[tokio::test]
async fn whichever_tool_changes_a_file_what_it_said_before_is_kept_and_its_owner_alone_may_read_it() {
    let edit =
        r#"{ name = "edit_file", arguments = { path = "memory/MEMORY.md", old_text = "tea", new_text = "coffee" } }"#;
    let calls = [
        call("write_file", MEMORY, "Likes tea.\n"),
        call("append_file", MEMORY, "Lives in Berlin.\n"),
        edit.to_owned(),
        "{ name = \"program\" }".to_owned(),
        call("write_file", "docs/plan.md", "no prompt quotes this"),
    ];
    let turns: String = calls.iter().map(|call| format!("[[reply]]\ncalls = [{call}]\n")).collect();
    let mut bench = Bench::new(&format!("{turns}[[reply]]\ntext = \"ok\"\n")).await;
    bench.config.agent.mode = "developer".to_owned();
    bench.write("workspace/AGENTS.md", "Be kind.\n");
    let mut options = bench.options();
    let workspace = bench.home.path().join("workspace");
    options.tools = vec![program(move || {
        std::fs::write(workspace.join("AGENTS.md"), "Be brief. sk-secret-9f3kX2mQ7vB4tL8w\n").unwrap();
        std::fs::write(workspace.join("other.txt"), "nothing that prompts quote").unwrap();
        Err("it failed, but it had written".into())
    })];
    let url = ("OPENAI_BASE_URL".to_owned(), format!("{}/v1", bench.server.url()));
    options.environment = Environment::new([("HOUSE_TOKEN".to_owned(), "sk-secret-9f3kX2mQ7vB4tL8w".to_owned()), url]);
    let agent = Agent::open(options).unwrap();
    say(&agent, "I live in Berlin").await;

    let rows = versions(&agent).await;
    let said = |text: Option<&str>| text.map(str::to_owned);
    let shown = |version: &FileVersion| (version.path.clone(), said(version.said_before()), said(version.said_after()));
    let change = |path: &str, before: Option<&str>, after: &str| {
        (path.to_owned(), before.map(str::to_owned), Some(after.to_owned()))
    };
    let told: Vec<_> = rows.iter().map(shown).collect();
    assert_eq!(
        told,
        [
            change(MEMORY, None, "Likes tea.\n"),
            change(MEMORY, Some("Likes tea.\n"), "Likes tea.\nLives in Berlin.\n"),
            change(MEMORY, Some("Likes tea.\nLives in Berlin.\n"), "Likes coffee.\nLives in Berlin.\n"),
            // What a program left is left as it is, and a secret in it is kept nowhere else.
            ("AGENTS.md".to_owned(), said(Some("Be kind.\n")), None),
            ("docs/plan.md".to_owned(), None, None),
        ]
    );
    // LES-050: who said it is asked of what is new in a file.
    let authors: Vec<Author> = rows.iter().filter_map(|version| version.author).collect();
    assert_eq!(authors, [Author::Inferred, Author::Said, Author::Inferred, Author::Inferred]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = std::fs::metadata(bench.home.path().join("workspace").join(MEMORY)).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
    let undone = agent.file_history().undo(rows[3].id, "test").await.unwrap();
    assert_eq!((undone.undoes, undone.author), (Some(rows[3].id), Some(Author::Said)));
    agent.file_history().undo(rows[1].id, "test").await.unwrap();
    assert_eq!(file(&bench, "AGENTS.md").as_deref(), Some("Be kind.\n"));
    assert_eq!(file(&bench, MEMORY).as_deref(), Some("Likes tea.\n"));
    assert_eq!(agent.file_history().versions(Some("AGENTS.md")).await.unwrap().rows.len(), 2);
}

// PICO-028 PICO-086
#[tokio::test]
async fn calls_that_run_at_once_leave_a_chain_of_versions() {
    let lines = ["one\n", "two\n", "three\n"].map(|line| call("append_file", MEMORY, line));
    let bench = Bench::new(&script(&lines.each_ref().map(String::as_str))).await;
    let agent = bench.agent();
    say(&agent, "go").await;
    let rows = versions(&agent).await;
    assert_eq!(rows[0].before, None);
    for pair in rows.windows(2) {
        assert_eq!(pair[0].after, pair[1].before);
    }
    let last = rows.last().unwrap().said_after().map(str::to_owned);
    assert_eq!(last, file(&bench, MEMORY));
    assert!(["one\n", "two\n", "three\n"].iter().all(|line| last.as_ref().unwrap().contains(line)), "{last:?}");
}

// PICO-023
#[tokio::test]
async fn a_note_that_the_agent_begins_has_the_day_above_it() {
    let note = "memory/202603/20260328.md";
    let first = call("append_file", note, "Rain.\n");
    let second = call("append_file", note, "Sun.\n");
    let bench = Bench::new(&format!("{}{}", script(&[&first]), script(&[&second]))).await;
    let agent = bench.agent();
    say(&agent, "note it").await;
    assert_eq!(file(&bench, note).as_deref(), Some("# 2026-03-28\n\nRain.\n"));
    say(&agent, "and this").await;
    assert_eq!(file(&bench, note).as_deref(), Some("# 2026-03-28\n\nRain.\nSun.\n"));
}

// PICO-028
#[tokio::test]
async fn an_undo_changes_what_a_link_leads_to_and_leaves_the_link() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new(&script(&[&call("write_file", MEMORY, "Likes coffee.\n")])).await;
    bench.write("workspace/notes/real.md", "Likes tea.\n");
    let link = bench.home.path().join("workspace").join(MEMORY);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../notes/real.md", &link).unwrap();
    let agent = bench.agent();
    say(&agent, "coffee now").await;
    assert_eq!(file(&bench, "notes/real.md").as_deref(), Some("Likes coffee.\n"));
    let version = versions(&agent).await.remove(0);
    assert_eq!((version.path.as_str(), version.said_before()), (MEMORY, Some("Likes tea.\n")));
    agent.file_history().undo(version.id, "test").await.unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink(), "the link stays");
    assert_eq!(file(&bench, "notes/real.md").as_deref(), Some("Likes tea.\n"));
}

/// A link that somebody put in the place of a file since then: an undo neither writes through it nor takes away what it
/// leads to.
// PICO-028 SEC-020
#[tokio::test]
async fn an_undo_never_follows_a_link_out_of_the_workspace() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new(&script(&[&call("write_file", MEMORY, "Likes coffee.\n")]).repeat(2)).await;
    for before in [Some("Likes tea.\n"), None] {
        let path = bench.home.path().join("workspace").join(MEMORY);
        let _ = std::fs::remove_file(&path);
        if let Some(before) = before {
            bench.write(&format!("workspace/{MEMORY}"), before);
        }
        let agent = bench.agent();
        say(&agent, "coffee now").await;
        let version = versions(&agent).await.pop().unwrap();
        assert_eq!(version.said_before(), before);
        let outside = bench.home.path().join("outside.md");
        std::fs::write(&outside, "not the agent's").unwrap();
        std::fs::remove_file(&path).unwrap();
        symlink(&outside, &path).unwrap();
        let refused = agent.file_history().undo(version.id, "test").await.unwrap_err().to_string();
        assert!(refused.contains("its path contains a link, which is not followed"), "{refused}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "not the agent's");
        assert!(path.symlink_metadata().unwrap().is_symlink());
    }
}
