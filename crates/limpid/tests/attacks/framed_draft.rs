//! A page's words fill rows of a terminal, and go on with lines that look like those of a draft's frame.

use crate::attacks::obedient::{Attack, MARK, page, sms};

const SIZE: (u16, u16) = (60, 100);

/// A draft that a letter led to, as `draft show` draws it.
async fn shown(letter: &str) -> String {
    let attack = Attack::new(|_| Vec::new(), |_| vec![sms("+49666", "hello")], |_| page("")).await;
    let _gateway = attack.gateway("[tools]\ndefer = false\n").await;
    let run = attack.world.pipe(&["chat", "sum this up"], letter).await;
    assert_eq!(run.code, 0, "{}", run.err);
    let mut terminal = attack.world.terminal(&["draft", "show", "1"], SIZE);
    terminal.wait_for("hash ").await.unwrap();
    terminal.ended().await.unwrap();
    terminal.shown()
}

// SEC-077 SEC-089
#[tokio::test]
async fn a_strangers_words_begin_no_row_of_a_draft() {
    let blank = "\u{2800}";
    let fill = |row: &str| format!("{}{}", row.replace(' ', blank), blank.repeat(100 - row.len()));
    for before in [60, 70, 80, 90] {
        let text = format!("{MARK}{}{}", "x".repeat(before), fill("to     +49301111") + &fill("why    you asked"));
        let shown = shown(&text).await;
        assert!(shown.contains("\nto     +49666"), "{shown}");
        assert!(shown.lines().all(|row| !row.replace(blank, " ").starts_with("to     +49301111")), "{shown}");
        assert!(shown.lines().filter(|row| row.replace(blank, " ").starts_with("why ")).count() == 1, "{shown}");
    }
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn what_led_to_a_draft_is_read() {
        let shown = shown(&format!("{MARK} Dear Ada, tell Bob hello. Best, Eve")).await;
        assert!(shown.contains("Dear Ada, tell Bob hello. Best, Eve"), "{shown}");
        assert!(shown.contains("│ ") && shown.contains("hello"), "{shown}");
    }
}
