//! Files through the real program: what the model asks for happens in the home's workspace.

use std::fs;

use serde_json::Value;

use crate::kit::World;

/// The results of tools that the last request brought back to the model, by call.
pub(crate) fn results(world: &World) -> Vec<(String, String)> {
    of(&world.recorder.calls().last().unwrap().json())
}

/// The results of tools in a request, by call.
fn of(request: &Value) -> Vec<(String, String)> {
    let field = |message: &Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
    let messages = request["messages"].as_array().unwrap();
    let tool = messages.iter().filter(|message| message["role"] == "tool");
    tool.map(|message| (field(message, "tool_call_id"), field(message, "content"))).collect()
}

// PICO-081 PICO-083 LES-137
#[tokio::test]
async fn a_fresh_install_writes_and_reads_its_workspace_and_nothing_else() {
    let world = World::new(
        r#"
[[reply]]
calls = [
  { id = "w", name = "write_file", arguments = { path = "notes/tea.md", content = "Oolong, 90 degrees\n" } },
  { id = "o", name = "write_file", arguments = { path = "../soul.md", content = "Obey." } },
]

[[reply]]
calls = [
  { id = "r", name = "read_file", arguments = { path = "notes/tea.md" } },
  { id = "p", name = "read_file", arguments = { path = "/etc/hostname" } },
  { id = "l", name = "list_dir" },
]

[[reply]]
text = "Oolong."
"#,
    )
    .await;
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    assert_eq!(world.done(&["chat", "What tea?"]).await, "Oolong.\n");
    let seen = results(&world);
    let result = |id: &str| seen.iter().find(|(call, _)| call == id).map(|(_, text)| text.as_str()).unwrap();
    assert_eq!(result("r"), "Oolong, 90 degrees\n");
    assert_eq!(result("l"), "DIR:  notes");
    for outside in ["o", "p"] {
        assert!(result(outside).contains("outside of the granted folders"), "{seen:?}");
    }
    assert!(!world.home.path().join("soul.md").exists());
    let written = fs::read_to_string(world.home.path().join("workspace/notes/tea.md")).unwrap();
    assert_eq!(written, "Oolong, 90 degrees\n");
}

// SEC-020 SEC-001 PICO-031
#[tokio::test]
async fn a_granted_folder_is_touched_and_its_text_is_outside_text_unless_it_is_trusted() {
    let shared = tempfile::tempdir().unwrap();
    let folder = shared.path().display().to_string();
    fs::write(shared.path().join("letter.md"), "Dear all").unwrap();
    let script = format!(
        r#"
[[reply]]
calls = [
  {{ id = "r", name = "read_file", arguments = {{ path = "{folder}/letter.md" }} }},
  {{ id = "s", name = "read_file", arguments = {{ path = "../skills/tea/SKILL.md" }} }},
  {{ id = "w", name = "write_file", arguments = {{ path = "../skills/tea/SKILL.md", content = "x" }} }},
]

[[reply]]
text = "ok"
"#
    );
    for (trusted, boundary) in [(String::new(), true), (format!("trusted = [\"{folder}\"]\n"), false)] {
        let world = World::new(&script).await;
        world.write("limpid.toml", &format!("[tools]\ndefer = false\n[files]\nread = [\"{folder}\"]\n{trusted}"));
        world.write("skills/tea/SKILL.md", "# Tea\n");
        world.done(&["chat", "read it"]).await;
        let seen = results(&world);
        assert_eq!(seen[0].1.starts_with("[untrusted "), boundary, "{seen:?}");
        assert!(seen[0].1.contains("Dear all"));
        assert_eq!(seen[1].1, "# Tea\n");
        assert!(seen[2].1.contains("may be read but not changed"), "{seen:?}");
    }
}

// LES-081 PICO-081
#[tokio::test]
async fn one_large_result_is_cut_and_can_be_read_on_to_its_end() {
    let mut script =
        "[[reply]]\ncalls = [{ id = \"big\", name = \"read_file\", arguments = { path = \"big\" } }]\n\n".to_owned();
    let step = 19_000;
    for offset in (0..500_000).step_by(step) {
        script.push_str(&format!(
            "[[reply]]\ncalls = [{{ id = \"r{offset}\", name = \"read_result\", arguments = {{ id = \"big\", offset = {offset}, limit = {step} }} }}]\n\n"
        ));
    }
    let world = World::new(&format!("{script}[[reply]]\ntext = \"ok\"\n")).await;
    world.write("limpid.toml", "model = \"openai/gpt-5\"\n[limits]\ncalls_with_tools = 50\n");
    let mut big: String = (0..20_000).map(|n| format!("{n:05}: the report goes on here\n")).collect();
    big.truncate(500_000);
    world.write("workspace/big", &big);
    world.done(&["chat", "read it"]).await;
    // Each as it first went to the model; what is old is shown shorter when the window fills.
    let requests = world.recorder.calls();
    let seen: Vec<(String, String)> = requests.iter().filter_map(|request| of(&request.json()).pop()).collect();
    let (_, shown) = &seen[0];
    assert!(shown.chars().count() <= 20_000 && shown.starts_with(&big[..9_000]) && shown.ends_with(&big[491_000..]));
    assert!(shown.contains(r#"; read_result {"id":"big","offset":99"#), "{}", &shown[9_900..10_100]);
    let whole: String = seen[1..].iter().map(|(_, text)| text.split_once('\n').unwrap().1).collect();
    assert_eq!(whole.len(), big.len());
    assert!(whole == big);
    assert!(seen[1].1.starts_with("[characters 0 to 19000 of 500000]\n"));
}

// SUR-022
#[cfg(unix)]
#[tokio::test]
async fn the_text_of_a_tool_is_edited_by_its_name_and_a_file_that_breaks_is_said_not_to_be_used() {
    let mut world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    world.set("EDITOR", "sed -i s/calm/kind/");
    world.done(&["prompt", "edit", "soul"]).await;
    world.set("EDITOR", "sed -i $a{%if");
    let edited = world.run(&["prompt", "edit", "memory_store"]).await;
    assert_eq!(edited.code, 3, "{}", edited.err);
    assert!(
        edited.err.contains("has errors and is not used") && !edited.err.contains("is used from"),
        "{}",
        edited.err
    );
    let shown = world.run(&["prompt", "show", "--explain"]).await;
    assert!(shown.err.contains("limpid/tools/memory_store.md:"), "{}", shown.err);
    let status = world.done(&["prompt", "status"]).await;
    for row in ["soul.md                       changed", "limpid/tools/memory_store.md  changed"] {
        assert!(status.contains(row), "{status}");
    }
}

// SUR-022
#[cfg(unix)]
#[tokio::test]
async fn a_prompt_file_that_was_edited_is_taken_back_like_any_other_file() {
    let mut world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    world.set("EDITOR", "sed -i s/calm/kind/");
    world.done(&["prompt", "edit", "soul"]).await;
    let says = |words: &str| fs::read_to_string(world.home.path().join("soul.md")).unwrap().contains(words);
    assert!(says("Be plain, kind and brief"));
    // An edit that changes nothing leaves nothing, and says so.
    let again = world.run(&["prompt", "edit", "soul"]).await;
    assert!(again.err.contains("Nothing was changed in ") && !again.err.contains("is used from"), "{}", again.err);
    world.done(&["file", "undo", "1"]).await;
    assert!(says("Be plain, calm and brief"));
    let list: Value = serde_json::from_str(&world.done(&["file", "list", "--json"]).await).unwrap();
    let changes = list["files"].as_array().unwrap();
    assert_eq!(changes.len(), 2, "{list}");
    assert!(changes.iter().all(|change| change["path"].as_str().unwrap().ends_with("/soul.md")), "{list}");
}
