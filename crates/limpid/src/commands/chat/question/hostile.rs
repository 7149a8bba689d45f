//! Fifty texts that try to draw over a question, on an emulated screen.

use limpid_core::CallId;
use limpid_runtime::question::Screen;
use limpid_runtime::{QuestionId, QuestionPart, question};
use limpid_testkit::on_screen;

use super::several;
use super::single::Offered;

const FORGED: &str =
    "{}\n  what this would do:\n  tool    list_dir\n  to      -\n  in      /w\n  always  -\n  why     nothing";
const FORGED_PARTS: &str = "{}\n  what these would do:\n  1  tool  list_dir\n     in    /w\n     why   nothing\n> all";

/// Ways to move the cursor, to clear, to change the screen, and to hide, turn around or stretch letters.
const SHORT: [&str; 28] = [
    "\u{1b}[9A\u{1b}[J",
    "\u{1b}[H\u{1b}[2J",
    "\u{1b}[1;1H",
    "\u{1b}[?1049h",
    "\u{1b}[?25l",
    "\u{1b}[8m",
    "\u{1b}[3;20r\u{1b}[20H",
    "\u{1b}[9L",
    "\u{1b}[9M",
    "\u{1b}[9S",
    "\u{1b}[9T",
    "\u{1b}c",
    "\u{1b}7\u{1b}8",
    "\u{1b}M\u{1b}M\u{1b}M",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;ZXZpbA==\u{7}",
    "\u{1b}]8;;https://evil.test\u{1b}\\\\link\u{1b}]8;;\u{1b}\\\\",
    "\u{1b}Pq#0\u{1b}\\\\",
    "\u{9b}9A\u{9b}J",
    "\u{9d}0;t\u{9c}",
    "\r\u{b}\u{c}",
    "\u{8}\u{8}\u{8}\u{7f}",
    "\u{0}\u{5}\u{e}\u{f}",
    "\u{202e}gnihton\u{202c}",
    "\u{2066}\u{2067}\u{2069}\u{200f}\u{61c}",
    "\u{200b}\u{200d}\u{feff}\u{2060}\u{ad}",
    "\u{e0041}\u{e0042}\u{115f}\u{3164}\u{2800}",
    "\u{2028}\u{2029}\u{85}",
];

fn hostile() -> Vec<String> {
    let repeated = ["\n", "\t", " ", "x", "日本語", "👩\u{200d}🚀", "e\u{301}\u{301}", "\u{301}", "│ ", "\r\n", "🇩🇪"];
    let whole = [FORGED, FORGED_PARTS, "", "{}", "y", "> y", "always", "│", "\\u{1b}[2J", "y\n", "\n\n\n\n\n\ny"];
    let texts: Vec<String> = SHORT
        .iter()
        .map(|text| format!("{text}{FORGED}"))
        .chain(repeated.iter().map(|text| text.repeat(900)))
        .chain(whole.iter().map(|text| (*text).to_owned()))
        .collect();
    assert_eq!(texts.len(), 50);
    texts
}

fn part(text: &str) -> QuestionPart {
    QuestionPart {
        id: QuestionId::new(CallId::new("a")),
        name: "exec".to_owned(),
        arguments: text.to_owned(),
        about: Some(text.to_owned()),
        destination: Some(text.to_owned()),
        folder: text.to_owned(),
        reason: text.to_owned(),
        pattern: Some(text.to_owned()),
        whole: false,
    }
}

/// The rows of the screen.
fn rows(frame: &str, columns: u16) -> Vec<String> {
    on_screen(frame, (24, columns)).lines().map(str::to_owned).collect()
}

/// The last six of them.
fn last_rows(frame: &str, columns: u16) -> Vec<String> {
    let rows = rows(frame, columns);
    rows[rows.len().saturating_sub(6)..].to_vec()
}

// SEC-077
#[test]
fn the_last_six_rows_of_the_screen_are_the_frames_own() {
    let labels = [
        [
            "  what this would do:",
            "  tool    ",
            "  about   ",
            "  to      ",
            "  in      ",
            "  always  ",
            "  why     ",
            "          ",
        ],
        [
            "  what these would do:",
            "  1 to 2 tool  exec",
            "     about ",
            "     to    ",
            "     why   ",
            "           ",
            "     calls 2, with the arguments above",
            "?",
        ],
    ];
    for text in hostile() {
        let part = part(&text);
        for columns in [40, 80, 120] {
            let screen = Screen { width: usize::from(columns), height: 24 };
            let frames = [question::frame(&part, screen), several::frame(&[(1, &part), (2, &part)], screen).text];
            for (frame, labels) in frames.iter().zip(labels) {
                let rows = last_rows(frame, columns);
                // What is blank at the end of a row is not shown.
                let is_own = |row: &String| labels.iter().any(|label| format!("{row:<14}").starts_with(label));
                assert!(rows.len() == 6 && rows.iter().all(is_own), "{text:?} at {columns}:\n{}", rows.join("\n"));
            }
        }
        // However long the reason is, all rows above it are on the screen, and behind it are its own.
        let wide = rows(&question::frame(&part, Screen { width: 80, height: 24 }), 80);
        let asks = wide.iter().rposition(|row| row.starts_with("  what t")).unwrap();
        let labels: Vec<String> =
            wide[asks..].iter().map(|row| format!("{row:<10}").chars().take(8).collect()).collect();
        let own: Vec<&str> = labels.iter().map(String::as_str).filter(|label| !label.trim().is_empty()).collect();
        let whole = ["  what t", "  tool  ", "  about ", "  to    ", "  in    ", "  always", "  why   "];
        // No folder is no row.
        let expected = whole.into_iter().filter(|label| !text.is_empty() || *label != "  in    ");
        assert!(own.iter().copied().eq(expected), "{text:?}: {own:?}");
        assert!(labels.len() <= 21, "{text:?}: {labels:?}");
    }
}

// SEC-072 SEC-077
#[test]
fn nothing_that_has_left_the_screen_by_the_time_of_the_prompt_counts_as_seen() {
    let mut times_seen = [0, 0];
    for text in hostile() {
        // As long as it may be to be seen at all.
        let part = part(&text.chars().take(100).collect::<String>());
        let whole = QuestionPart { whole: true, ..part.clone() };
        let wide = |rows: u16| [10_u16, 40, 80, 120].map(|columns| (rows, columns));
        for (rows, columns) in [6, 8, 12, 24, 60].into_iter().flat_map(wide) {
            let size = (rows, columns);
            let screen = Screen { width: usize::from(columns), height: usize::from(rows) };
            let at_prompt = |frame: &str, words: &str| on_screen(&format!("{frame}\n{words}> "), size);
            let several = several::frame(&[(1, &part), (2, &whole)], screen);
            let shown = at_prompt(&several.text, several::words(true));
            let has = |row: &str| shown.lines().any(|shown| shown.starts_with(row));
            // The same is said of both.
            let has_both = has("  1 to 2");
            assert!(!several.seen.contains(&1) || has_both, "{text:?} at {size:?}:\n{shown}");
            assert!(!several.seen.contains(&2) || has_both && has("2 exec"), "{text:?} at {size:?}:\n{shown}");
            times_seen[0] += several.seen.len();
            if question::is_seen(&part, screen) {
                let words = Offered { lasts: true, can_clean: true, is_seen: true }.words();
                let shown = at_prompt(&question::frame(&part, screen), words);
                let is_about = |row: &str| row.starts_with("  about");
                assert!(shown.lines().any(is_about), "{text:?} at {size:?}:\n{shown}");
                times_seen[1] += 1;
            }
        }
    }
    assert!(times_seen.iter().all(|times| *times > 0), "{times_seen:?}");
}
