//! What a call says of the files that it would change, and of those that it changed.

use std::fs;

use limpid_core::Trust;
use limpid_tools::{Rewrite, ToolContext};
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

// SEC-061
#[tokio::test]
async fn a_call_says_which_bytes_it_wrote_and_which_it_had_read_for_that() {
    let bench = Bench::new();
    let file = bench.path("workspace/a.md");
    let adds = json!({ "path": "a.md", "content": "hot\n" });
    let edits = json!({ "path": "a.md", "old_text": "tea", "new_text": "hot" });
    let calls = [
        (Some("tea\n"), "append_file", &adds, Rewrite::of(Some(b"tea\n"), b"tea\nhot\n")),
        (None, "append_file", &adds, Rewrite::of(None, b"hot\n")),
        (Some("tea\n"), "edit_file", &edits, Rewrite::of(Some(b"tea\n"), b"hot\n")),
        (Some("tea\n"), "write_file", &adds, Rewrite::of(None, b"hot\n")),
    ];
    let rewrites = async |tool: &str, call: &Value| {
        let context = Bench::context();
        bench.call_in(context.clone(), tool, call.clone()).await.unwrap();
        context.rewrites.take()
    };
    for (before, tool, call, made) in calls {
        match before {
            Some(before) => fs::write(&file, before).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        assert_eq!(rewrites(tool, call).await, [made], "{tool}: {call}");
    }
    // One that is too long to be written anew was not read.
    fs::write(&file, "a".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(rewrites("append_file", &adds).await, []);
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
