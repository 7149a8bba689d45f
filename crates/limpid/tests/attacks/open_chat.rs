//! The owner forbids a tool in another window while a chat is open; a page then has the chat use it.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, page};

const NOTE: &str = "outside/notes/hotels.md";

/// A chat that was open before `settings` were added to the owner's, and reads a page after that. Returns what the page had written.
async fn written(settings: &str) -> Option<String> {
    let attack = Attack::new(
        |web| vec![("web_fetch", json!({ "url": format!("{web}/") }))],
        |_| vec![("write_file", json!({ "path": NOTE, "content": "Anchor 70\n" }))],
        |_| page(MARK),
    )
    .await;
    let mut terminal = attack.world.terminal(&["chat"], (40, 100));
    terminal.wait_for("> ").await.unwrap();
    if !settings.is_empty() {
        attack.world.write("limpid.toml", &format!("[web]\nmirrors = [\"127.0.0.1\"]\n{settings}"));
        terminal.wait_for("limpid.toml has changed; in effect now: policy").await.unwrap();
    }
    terminal.keys(&format!("read {}/\r", attack.web.url)).await.unwrap();
    terminal.wait_for("Done.").await.unwrap();
    std::fs::read_to_string(attack.world.home.path().join(NOTE)).ok()
}

// SEC-071 SEC-065
#[tokio::test]
async fn what_is_forbidden_while_a_chat_is_open_is_forbidden_there() {
    assert_eq!(written("[[policy.deny]]\ntool = \"write_file\"\n").await, None);
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_note_is_taken_where_nothing_was_forbidden() {
        assert_eq!(written("").await.as_deref(), Some("Anchor 70\n"));
    }
}
