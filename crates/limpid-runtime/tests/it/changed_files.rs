//! Files that tools changed: what they held is kept before the call, and a change can be taken back byte for byte.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_runtime::{Agent, Tool};
use limpid_store::{FileVersion, FileVersionId};

use crate::kit::effects::EffectTool;
use crate::kit::{Bench, say};

/// Turns of one call each, and an answer.
fn script(calls: &[(&str, &str)]) -> String {
    let turn = |(name, arguments): &(&str, &str)| {
        format!("[[reply]]\ncalls = [{{ name = {name:?}, arguments = {arguments} }}]\n")
    };
    let turns: String = calls.iter().map(turn).collect();
    format!("{turns}[[reply]]\ntext = \"ok\"\n")
}

async fn changes(agent: &Agent) -> Vec<FileVersion> {
    agent.file_history().versions(None).await.unwrap().rows
}

fn kept(bench: &Bench) -> Vec<PathBuf> {
    let kept = std::fs::read_dir(bench.home.path().join("data/kept")).into_iter().flatten();
    kept.map(|entry| entry.unwrap().path()).collect()
}

// SEC-063
#[tokio::test]
async fn writing_editing_and_adding_are_undone_byte_for_byte() {
    let calls = [
        ("write_file", r#"{ path = "docs/new.txt", content = "one\n" }"#),
        ("write_file", r#"{ path = "docs/bytes.bin", content = "two\n" }"#),
        ("edit_file", r#"{ path = "docs/old.txt", old_text = "three", new_text = "3" }"#),
        ("append_file", r#"{ path = "docs/old.txt", content = "four" }"#),
        ("write_file", r#"{ path = "docs/old.txt", content = "" }"#),
        ("write_file", r#"{ path = "docs/old.txt", content = "" }"#),
    ];
    let bench = Bench::new(&script(&calls)).await;
    let bytes = [0u8, 255, 254, b'\n', b'\r', 0];
    let docs = bench.home.path().join("workspace/docs");
    bench.write("workspace/docs/old.txt", "three\r\n");
    std::fs::write(docs.join("bytes.bin"), bytes).unwrap();
    let agent = bench.agent();
    say(&agent, "change my files").await;
    assert_eq!(std::fs::read(docs.join("old.txt")).unwrap(), b"");

    let made = changes(&agent).await;
    let names: Vec<&str> = made.iter().map(|change| change.path.as_str()).collect();
    let old = "docs/old.txt";
    assert_eq!(names, ["docs/new.txt", "docs/bytes.bin", old, old, old], "a call that changes nothing leaves nothing");
    assert!(made.iter().all(|change| change.ended && change.conversation.is_some() && change.tool.is_some()));
    let read = |name: &str| std::fs::read(docs.join(name)).ok();
    let undo = async |change: &FileVersion| agent.file_history().undo(change.id, "test").await.unwrap();
    let emptied = undo(&made[4]).await;
    assert_eq!(read("old.txt").unwrap(), b"3\r\nfour");
    undo(&made[3]).await;
    assert_eq!(read("old.txt").unwrap(), b"3\r\n");
    undo(&made[2]).await;
    assert_eq!(read("old.txt").unwrap(), b"three\r\n");
    undo(&made[1]).await;
    assert_eq!(read("bytes.bin").unwrap(), bytes);
    let gone = undo(&made[0]).await;
    assert_eq!((read("new.txt"), gone.after.is_some()), (None, false));
    undo(&gone).await;
    assert_eq!(read("new.txt").unwrap(), b"one\n", "what was taken away comes back");
    undo(&emptied).await;
    assert_eq!(read("old.txt").unwrap(), b"", "an undo is undone by its own number");
    let again = agent.file_history().undo(emptied.id, "test").await.unwrap_err().to_string();
    assert!(again.contains("already as it was"), "{again}");
}

// SEC-063
#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_for_its_owner_alone_and_nothing_is_made_of_what_was_changed_since() {
    use std::os::unix::fs::PermissionsExt as _;
    let calls = [("write_file", r#"{ path = "docs/old.txt", content = "new" }"#)];
    let bench = Bench::new(&script(&calls)).await;
    bench.write("workspace/docs/old.txt", "old");
    let agent = bench.agent();
    say(&agent, "change my file").await;
    let [file] = <[PathBuf; 1]>::try_from(kept(&bench)).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&file, "something else").unwrap();
    let refused = agent.file_history().undo(changes(&agent).await[0].id, "test").await.unwrap_err().to_string();
    assert!(refused.contains("no longer kept"), "{refused}");
    assert!(agent.file_history().undo(FileVersionId(99), "test").await.is_err());
    let docs = bench.home.path().join("workspace/docs/old.txt");
    assert_eq!(std::fs::read_to_string(docs).unwrap(), "new");
}

// SEC-063
#[tokio::test]
async fn a_call_does_not_run_when_what_its_file_holds_cannot_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.txt");
    std::fs::write(&file, "old").unwrap();
    let arguments = format!(r#"{{ path = "{}", text = "new" }}"#, file.display());
    let bench = Bench::new(&script(&[("put_file", &arguments)])).await;
    // A file where the folder of what is kept belongs.
    bench.write("data/kept", "");
    let put = EffectTool::new("put_file", limpid_core::ToolClass::Write);
    let mut options = bench.options();
    options.config.agent.mode = "developer".into();
    options.tools = vec![Arc::clone(&put) as Arc<dyn Tool>];
    let agent = Agent::open(options).unwrap();
    say(&agent, "change it").await;
    assert_eq!((put.runs(), std::fs::read_to_string(&file).unwrap().as_str()), (0, "old"));
    assert!(bench.server.calls().last().unwrap().text().contains("could not be kept, so nothing was changed"));
    assert_eq!(changes(&agent).await, []);
}

// SEC-060
#[tokio::test(flavor = "multi_thread")]
async fn of_two_processes_that_take_over_a_file_at_once_one_does() {
    let bench = Bench::new(&script(&[])).await;
    // As two processes, they have nothing but the home in common.
    let (one, other) = (bench.agent(), bench.agent());
    for number in 0..20 {
        let name = format!("outside/{number}.md");
        bench.write(&name, "Tea is green.\n");
        let offer = one.file_history().offer(&name).await.unwrap();
        let accept = async |agent: &Agent| agent.file_history().accept(&offer, "test").await.is_ok();
        let (first, second) = tokio::join!(accept(&one), accept(&other));
        assert!(first != second, "{name}: {first} and {second}");
        assert_eq!(changes(&one).await.len(), 2 * (number + 1), "made in the workspace, gone where it was");
    }
}
