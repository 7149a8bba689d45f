//! An answer that repeats a stranger's codes for the terminal: the clipboard, the title, the cursor, the direction of reading.

use serde_json::json;

use crate::attacks::obedient::{Attack, page};

const SIZE: (u16, u16) = (24, 200);

/// What a terminal is sent when the model answers so.
async fn printed(answer: &'static str) -> String {
    let fetch = |web: &str| vec![("web_fetch", json!({ "url": format!("{web}/") }))];
    let attack = Attack::answering(answer, fetch, |_| Vec::new(), |_| page("tea")).await;
    let mut terminal = attack.world.terminal(&["chat", &format!("read {}/", attack.web.url)], SIZE);
    assert_eq!(terminal.ended().await.unwrap(), 0, "{}", terminal.shown());
    terminal.raw()
}

// SEC-089
#[tokio::test]
async fn no_code_of_an_answer_reaches_the_terminal() {
    let raw =
        printed("Copied \u{1b}]52;c;ZXZpbA==\u{7} titled \u{1b}]0;root\u{7} up \u{1b}[1A\u{9b}2K yes\u{202e}on end")
            .await;
    for code in ["\u{1b}]52", "\u{1b}]0;root", "\u{9b}2K", "\u{202e}", "\u{7}"] {
        assert!(!raw.contains(code), "{code:?} in {raw:?}");
    }
    assert!(raw.contains("\\u{1b}]52;c;ZXZpbA=="), "{raw:?}");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn letters_of_every_script_come_as_they_are() {
        let answer = "Grüße, 日本語, नमस्ते, 👩\u{200d}🚀";
        let raw = printed(answer).await;
        assert!(raw.contains(answer), "{raw:?}");
    }
}
