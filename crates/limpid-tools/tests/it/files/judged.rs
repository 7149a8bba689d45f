//! What a call says of the files that it would change, and of those that it changed.

use std::fs;

use limpid_core::Trust;
use limpid_tools::ToolContext;
use serde_json::{Value, json};

use super::Bench;

/// Calls that write `name`, each with what is there before.
fn writes(name: &str) -> Vec<(Option<&'static str>, &'static str, Value)> {
    let picture = "[The Anchor](http://a.example/a.png?x=4711)";
    let edit = |old: &str, new: &str| json!({ "path": name, "old_text": old, "new_text": new });
    vec![
        (None, "write_file", json!({ "path": name, "content": format!("!{picture}") })),
        (Some("Seven rooms!"), "append_file", json!({ "path": name, "content": picture })),
        (Some("Seven rooms. [a](b)"), "edit_file", edit(". ", "!")),
        (Some("```\n![a](b)\n```\n"), "edit_file", edit("```\n!", "!")),
    ]
}

// SEC-005 SEC-059
#[tokio::test]
async fn a_call_says_what_its_file_holds_afterwards() {
    let bench = Bench::new();
    let more = [
        (Some("one\n"), "append_file", json!({ "path": "a.md", "content": "two" })),
        (None, "append_file", json!({ "path": "a.md", "content": "two" })),
        (Some("one"), "write_file", json!({ "path": "a.md", "content": "two" })),
        (Some("one one"), "edit_file", json!({ "path": "a.md", "old_text": "one", "new_text": "two" })),
        (Some("one"), "edit_file", json!({ "path": "a.md", "old_text": "", "new_text": "two" })),
        (Some("one two"), "edit_file", json!({ "path": "a.md", "old_text": "one", "new_text": "two" })),
    ];
    for (before, tool, call) in writes("a.md").into_iter().chain(more) {
        let file = bench.path("workspace/a.md");
        let _ = fs::remove_file(&file);
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
        let said = bench.tool(tool).leaves(&call, before);
        let _ = bench.call(tool, call.clone()).await;
        assert_eq!(said, fs::read_to_string(&file).ok(), "{call}");
    }
}

// SEC-005 SEC-059
#[tokio::test]
async fn a_file_that_was_changed_since_a_call_was_judged_fetches_nothing_by_it() {
    let bench = Bench::new();
    let foreign = || ToolContext { trust: Trust::Outside, ..Bench::context() };
    for (before, tool, call) in writes("offer.md") {
        let file = bench.path("workspace/offer.md");
        let reset = || match before {
            Some(before) => fs::write(&file, before).unwrap(),
            None => drop(fs::remove_file(&file)),
        };
        reset();
        let refused = bench.call_in(foreign(), tool, call.clone()).await.err().unwrap();
        assert!(refused.contains("Make the call again by itself: then the owner is asked."), "{refused}");
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), before, "{call}");
        let asked = [ToolContext { approved: true, ..foreign() }, ToolContext { drawn: true, ..foreign() }];
        for context in asked.into_iter().chain([Bench::context()]) {
            reset();
            bench.call_in(context, tool, call.clone()).await.unwrap();
        }
    }
    let link = json!({ "path": "offer.md", "content": "See [The Anchor](http://a.example/)." });
    bench.call_in(foreign(), "write_file", link).await.unwrap();
}

/// A link may be laid after the call was judged.
// SEC-061
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_says_where_it_wrote_wherever_its_path_leads_by_then() {
    let bench = Bench::new();
    fs::create_dir(bench.path("workspace/notes")).unwrap();
    std::os::unix::fs::symlink("notes/b.md", bench.path("workspace/linked.md")).unwrap();
    let folder = bench.path("workspace").canonicalize().unwrap();
    let long = "a".repeat((1 << 20) + 1);
    let adds = |path: &str| json!({ "path": path, "content": "hot\n" });
    let edits = |path: &str| json!({ "path": path, "old_text": "tea", "new_text": "hot" });
    let calls = [
        ("a.md", "a.md", None, "append_file", adds("a.md")),
        ("a.md", "a.md", Some("tea\n"), "append_file", adds("a.md")),
        ("a.md", "a.md", Some(long.as_str()), "append_file", adds("a.md")),
        ("a.md", "a.md", Some("tea\n"), "edit_file", edits("a.md")),
        ("linked.md", "notes/b.md", Some("tea\n"), "write_file", adds("linked.md")),
    ];
    for (named, place, before, tool, call) in calls {
        if let Some(before) = before {
            fs::write(folder.join(named), before).unwrap();
        }
        let context = Bench::context();
        bench.call_in(context.clone(), tool, call.clone()).await.unwrap();
        assert_eq!(context.written.take(), [folder.join(place)], "{tool}: {call}");
    }
}

/// The folder of a call is moved, or a link laid, while it waits for another change.
// SEC-061
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_writes_nowhere_else_than_it_was_judged_to_and_nothing_once_it_was_given_up() {
    let bench = Bench::new();
    let folder = bench.path("workspace").canonicalize().unwrap();
    fs::write(folder.join("rules.md"), "Be kind.\n").unwrap();
    std::os::unix::fs::symlink("rules.md", folder.join("plan.md")).unwrap();
    let long = "a".repeat((1 << 20) + 1);
    let calls = [
        ("write_file", json!({ "path": "plan.md", "content": "hot\n" })),
        ("append_file", json!({ "path": "plan.md", "content": "hot\n" })),
        ("edit_file", json!({ "path": "plan.md", "old_text": "kind", "new_text": "hot" })),
    ];
    let under = |judged: &str| limpid_tools::Written::under(std::sync::Arc::new(()), vec![folder.join(judged)]);
    for before in ["Be kind.\n", long.as_str()] {
        for (tool, call) in calls.iter().filter(|(tool, _)| before != long || *tool == "append_file") {
            let run = async |written: limpid_tools::Written| {
                fs::write(folder.join("rules.md"), before).unwrap();
                let context = ToolContext { written: written.clone(), ..Bench::context() };
                let told = bench.call_in(context, tool, call.clone()).await;
                assert_eq!(
                    written.take().is_empty(),
                    told.is_err(),
                    "{tool}: where nothing was written nothing is told"
                );
                told
            };
            let refused = run(under("plan.md")).await.unwrap_err();
            assert!(refused.contains("leads elsewhere than when this call was judged"), "{tool}: {refused}");
            assert_eq!(fs::read_to_string(folder.join("rules.md")).unwrap(), before, "{tool}");
            let given_up = under("rules.md");
            given_up.give_up();
            assert!(run(given_up).await.unwrap_err().contains("nothing was written"), "{tool}");
            assert_eq!(fs::read_to_string(folder.join("rules.md")).unwrap(), before, "{tool}");
            run(under("rules.md")).await.unwrap();
            assert_ne!(fs::read_to_string(folder.join("rules.md")).unwrap(), before, "{tool}");
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no unfinished copy is left");
}

// SEC-077
#[tokio::test]
async fn a_question_about_a_whole_file_says_that_one_is_there() {
    let bench = Bench::new();
    fs::write(bench.path("workspace/a.md"), "mine\n").unwrap();
    fs::write(bench.path("workspace/empty.md"), "").unwrap();
    let said = async |path: &str| {
        let arguments = json!({ "path": path, "content": "theirs" });
        bench.tool("write_file").concerns(&arguments, None).await.into_words()
    };
    assert_eq!(said("a.md").await.unwrap(), "a file is there already, and its 5 bytes would be replaced");
    for path in ["new.md", "empty.md", ".", "../secret", ""] {
        assert_eq!(said(path).await, None, "{path}");
    }
}

// SEC-077
#[tokio::test]
async fn a_question_about_a_change_of_a_file_says_at_which_line_it_is() {
    let bench = Bench::new();
    fs::write(bench.path("workspace/a.md"), "# Plants\n- water\n- water\n- feed\n").unwrap();
    let said = async |path: &str, old: &str| {
        let arguments = json!({ "path": path, "old_text": old, "new_text": "- prune" });
        bench.tool("edit_file").concerns(&arguments, None).await.into_words()
    };
    assert_eq!(said("a.md", "- feed").await.unwrap(), "`old_text` stands at line 4 of 4");
    let nothing = "so that nothing would change";
    assert_eq!(said("a.md", "- sow").await.unwrap(), format!("`old_text` does not stand in the file, {nothing}"));
    assert_eq!(
        said("a.md", "- water").await.unwrap(),
        format!("`old_text` occurs more than once in the file, {nothing}")
    );
    assert_eq!(said("a.md", "").await.unwrap(), format!("`old_text` is empty, {nothing}"));
    for path in ["new.md", ".", "../secret", ""] {
        assert_eq!(said(path, "- feed").await, None, "{path}");
    }
}
