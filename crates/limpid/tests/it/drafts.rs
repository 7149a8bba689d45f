//! `draft`: what is listed of calls that wait, and how a yes ends.

use crate::kit::World;

const ASKS: &str = "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n";

/// A home in which these files wait to be written, each with its text.
async fn waiting(files: &[(&str, &str)]) -> World {
    let call = |(path, content): &(&str, &str)| {
        format!("{{ name = \"write_file\", arguments = {{ path = {path:?}, content = {content:?} }} }}")
    };
    let calls = files.iter().map(call).collect::<Vec<_>>().join(", ");
    let world = World::new(&format!("[[reply]]\ncalls = [{calls}]\n[[reply]]\ntext = \"They wait.\"\n")).await;
    world.write("limpid.toml", ASKS);
    world.write("workspace/tea.md", "oolong\n");
    world.done(&["chat", "write them"]).await;
    world
}

// SEC-010 SUR-010
#[tokio::test]
async fn a_yes_to_a_call_that_does_not_run_is_a_failure_with_its_reason() {
    let world = waiting(&[("tea.md", "green")]).await;
    for (text, words) in
        [("sencha", &["draft", "approve", "1"][..]), ("sencha, or mate", &["draft", "approve", "1", "--json"])]
    {
        // What the owner would say yes to is replaced before they do.
        world.write("workspace/tea.md", text);
        let again = world.run(words).await;
        assert_eq!(again.code, 1, "{}", again.err);
        assert!(again.err.contains("│ not run: since it was kept, "), "{}", again.err);
        assert!(again.err.contains("limpid: draft 1 was not carried out, and waits again\n"), "{}", again.err);
        let kept = std::fs::read_to_string(world.home.path().join("workspace/tea.md")).unwrap();
        assert_eq!(kept, text);
    }
    world.done(&["draft", "approve", "1"]).await;
    let ended = world.run(&["draft", "approve", "1"]).await;
    assert!(ended.code == 2 && ended.err.contains("already, at 20"), "{}", ended.err);
}

// SEC-010
#[tokio::test]
async fn drafts_of_one_tool_are_told_apart_in_the_list() {
    let long = "x".repeat(200);
    let world = waiting(&[("tea.md", long.as_str()), ("coffee.md", long.as_str())]).await;
    let listed = world.done(&["draft", "list"]).await;
    let lines: Vec<&str> = listed.lines().collect();
    let [_, tea, coffee] = lines[..] else { panic!("{listed}") };
    assert!(tea.contains("write_file  tea.md {") && coffee.contains("write_file  coffee.md {"), "{listed}");
    assert!(!listed.contains(&"x".repeat(60)), "each has a line: {listed}");
}
