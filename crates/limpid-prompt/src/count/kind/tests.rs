use proptest::prelude::*;

use super::*;
use crate::count::{Estimate, TokenCounter as _};

/// The kind that most of a text is.
fn kind(text: &str) -> TextKind {
    Tally::of(text).tokens().max_by_key(|(_, tokens)| *tokens).unwrap().0
}

// OLLM-105
#[test]
fn a_text_is_known_by_its_lines() {
    let rows = [
        ("The build is red since Monday, and nobody knows why; look at the log first.", TextKind::Words),
        ("- `read_file` reads a file, and `web_fetch` a page of the web.", TextKind::Words),
        ("Zażółć gęślą jaźń; proszę sprawdzić, dlaczego kompilacja się nie udaje.", TextKind::Accented),
        ("A fordítás hétfő óta hibás, és senki sem tudja, miért történik ez.", TextKind::Accented),
        ("Сборка сломана с понедельника, и никто не знает почему.", TextKind::Letters),
        ("البناء معطل منذ يوم الاثنين ولا أحد يعرف السبب", TextKind::Letters),
        ("从星期一开始构建就失败了，没有人知道原因。", TextKind::Ideographs),
        ("🦞🦀🚀✨🔥", TextKind::Pictures),
        (r#"{"name":"read_file","parameters":{"type":"object"}}"#, TextKind::Marks),
        ("2026-01-05;1204;Warszawa;12.50;PLN;0.23", TextKind::Numbers),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", TextKind::Noise),
        ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", TextKind::Noise),
    ];
    for (text, expected) in rows {
        assert_eq!(kind(text), expected, "{text}");
    }
    let both = Tally::of("A line of words that goes on.\n1,2,3,4,5,6,7\n");
    assert_eq!(both.tokens().map(|(kind, _)| kind).collect::<Vec<_>>(), [TextKind::Words, TextKind::Numbers]);
}

proptest! {
    // OLLM-105
    #[test]
    fn a_tally_is_the_plain_estimate_by_kind(text in any::<String>()) {
        let plain: u64 = Tally::of(&text).quarters().iter().sum();
        prop_assert_eq!(plain.div_ceil(4), Estimate::default().count(&text) as u64);
    }
}
