//! A rule names a folder that a server's tool may not list, and the server takes this folder where a call names none. A stranger's text
//! has the tool called without one.

use limpid_testkit::McpScript;
use serde_json::{Value, json};

use crate::attacks::obedient::{Attack, MARK, page};

/// Whether the call comes about, with a schema that gives `default` for the field `folder` of the field `target`, which may stand behind
/// a reference.
async fn is_made(default: &str, is_referred_to: bool, rule: &str, arguments: Value) -> bool {
    let orders = |_: &str| vec![("desk__list", arguments)];
    let mut attack = Attack::new(|_| Vec::new(), orders, |_| page("tea")).await;
    let world = &mut attack.world;
    world.set("PATH", &std::env::var("PATH").unwrap_or_default());
    let folder = tempfile::tempdir().unwrap();
    let target = json!({ "type": "object", "properties": { "folder": { "type": "string", "default": default } } });
    let reference = json!({ "$ref": "#/$defs/Target" });
    let field = if is_referred_to { &reference } else { &target };
    let schema = json!({ "type": "object", "$defs": { "Target": target }, "properties": { "target": field } });
    let tool = json!({ "name": "list", "description": "Lists a folder.", "inputSchema": schema });
    let script = McpScript::write(folder.path(), &json!({ "tools": [tool] })).unwrap();
    let words = script.words("");
    let line = ["mcp", "add", "desk", "--yes", "--"].into_iter().chain(words.iter().map(String::as_str));
    world.done(&line.collect::<Vec<_>>()).await;
    let settings = std::fs::read_to_string(world.home.path().join("limpid.toml")).unwrap();
    let more = "[tools]\ndefer = false\n[mcp.servers.desk.tools.list]\neffect = \"look\"\n";
    world.write("limpid.toml", &format!("{settings}\n{more}{rule}"));
    let read =
        world.pipe(&["chat", "what do they say?"], &format!("{MARK}\nDear Ada,\nhow are you?\nYours, Eve\n")).await;
    assert_eq!(read.code, 0, "{}", read.err);
    attack.newest().contains("list {\"target\"")
}

fn rule(list: &str) -> String {
    format!("[[policy.{list}]]\ntool = \"desk__list\"\narguments = {{ target = {{ folder = \"private\" }} }}\n")
}

// SEC-071
#[tokio::test]
async fn what_a_server_takes_for_a_field_that_is_left_out_is_held_by_a_rule() {
    for (list, is_referred_to) in [("ask", false), ("deny", true)] {
        for arguments in [json!({ "target": {} }), json!({ "target": { "folder": "private" } })] {
            assert!(!is_made("private", is_referred_to, &rule(list), arguments.clone()).await, "{list} {arguments}");
        }
    }
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn another_folder_is_listed_and_without_a_rule_each() {
        assert!(is_made("public", true, &rule("deny"), json!({ "target": {} })).await);
        assert!(is_made("private", true, "", json!({ "target": {} })).await);
    }
}
