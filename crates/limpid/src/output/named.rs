//! Sentences and headings that name what a stranger may have named: a tool, a file, what a server said.

use limpid_prompt::shown::shown_line;
use limpid_runtime::SERVER_SAYS;
use limpid_runtime::question::{columns, lines_behind_margin};

use crate::failure::Failure;

/// What may stand before a sentence on its row.
const BEFORE: &str = "limpid: ";

/// The letters of plain names: Latin, Greek and Cyrillic, Hiragana, Katakana, Han, Hangul. Many signs, and some letters of other scripts,
/// look like a quotation mark.
const LETTERS: [(char, char); 8] = [
    ('\0', '\u{24f}'),
    ('\u{386}', '\u{52f}'),
    ('\u{1e00}', '\u{1eff}'),
    ('\u{3041}', '\u{3096}'),
    ('\u{30a1}', '\u{30fa}'),
    ('ー', 'ー'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7a3}'),
];

/// The signs of plain names.
const SIGNS: &str = " -_./,?!+&#%@=~–…";

/// Marks above and below a letter of a plain name, where it is not one letter with them. The double acute, and what stands to the right of
/// a letter, look like a quotation mark.
const MARKS: [(char, char); 4] =
    [('\u{300}', '\u{304}'), ('\u{306}', '\u{30a}'), ('\u{30c}', '\u{30c}'), ('\u{323}', '\u{328}')];

/// Marks of one letter in a plain name: more would reach into other rows.
const MOST_MARKS: usize = 2;

/// A sentence of words of the program's own, each with a name of somebody else's behind it, and of its last words. Where a name is not
/// plain, or would not end on the first row of the screen, each stands on lines of its own behind a margin: broken by the screen, it
/// would begin a row, where a stranger's words look like Limpid's own. For a program it is one line.
pub fn named(parts: &[(&str, &str)], end: &str) -> String {
    named_on(parts, end, super::screen_of_margin())
}

/// What is told when the program has failed, with what a server said behind a margin in the same way.
pub fn failed(failure: &Failure) -> String {
    // A name behind a margin has its lines to itself.
    let before = if failure.what.starts_with('│') { "limpid:\n" } else { BEFORE };
    let what = failed_on(&format!("{before}{}", failure.what), super::screen_of_margin());
    match &failure.advice {
        Some(advice) => Failure::new(failure.status, what).advise(advice.as_str()).to_string(),
        None => what,
    }
}

fn named_on(parts: &[(&str, &str)], end: &str, screen: Option<usize>) -> String {
    let parts: Vec<(&str, String)> = parts.iter().map(|(own, name)| (*own, shown_line(name))).collect();
    let sentence: String = parts.iter().map(|(own, name)| format!("{own}{name}")).collect();
    // A row that is broken at blanks ends before a word, so what is joined to a name goes with it.
    let joined = end.split([' ', '\n']).next().unwrap_or_default();
    let Some(screen) = screen else { return sentence + end };
    if parts.iter().all(|(_, name)| is_plain(name)) && columns(BEFORE) + columns(&sentence) + columns(joined) <= screen
    {
        return sentence + end;
    }
    // Quotes and signs belong to a name that stands between words.
    let bare = |own: &str| {
        own.trim_start_matches([' ', '”', '.', ',', ':', ';', ')']).trim_end_matches([' ', '“', '(']).to_owned()
    };
    let named = parts.iter().flat_map(|(own, name)| [bare(own), lines_behind_margin(name, screen)]);
    let lines: Vec<String> = named.chain([bare(end)]).filter(|lines| !lines.is_empty()).collect();
    lines.join("\n")
}

/// Whether a name has letters and everyday signs alone, of which none looks like a quotation mark, a bracket or a colon. A full stop may
/// end a sentence in it.
fn is_plain(name: &str) -> bool {
    let within =
        |ranges: &[(char, char)], letter: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter));
    // How many more marks may follow.
    let mut marks = 0;
    let is_known = |letter: char| {
        if within(&MARKS, letter) && marks > 0 {
            marks -= 1;
            return true;
        }
        let is_letter = letter.is_alphanumeric() && within(&LETTERS, letter);
        marks = if letter.is_alphabetic() { MOST_MARKS } else { 0 };
        is_letter || SIGNS.contains(letter)
    };
    name.chars().all(is_known) && !name.contains("  ")
}

fn failed_on(failure: &str, screen: Option<usize>) -> String {
    let ends = SERVER_SAYS.iter().filter_map(|says| failure.find(says).map(|at| at + says.len()));
    let Some(at) = ends.min() else { return failure.to_owned() };
    match screen {
        Some(_) => named_on(&[failure.split_at(at)], "", screen),
        None => failure.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORGED: &str = "limpid: this server was checked and is safe.";

    /// Whether a row is the program's own, or stands behind the margin.
    fn begins_well(row: &str, own: &[&str]) -> bool {
        row.starts_with("│ ") || own.iter().any(|words| row.starts_with(words))
    }

    /// The rows that a terminal makes of a text, which it breaks at its border.
    fn rows(text: &str, screen: usize) -> Vec<String> {
        let letters = text.lines().map(|line| line.chars().collect::<Vec<_>>());
        letters.flat_map(|line| line.chunks(screen).map(String::from_iter).collect::<Vec<_>>()).collect()
    }

    // SEC-077
    #[test]
    fn no_name_in_a_sentence_begins_a_row_of_the_screen() {
        for (screen, pad) in [40, 80, 120].into_iter().flat_map(|screen| (2..=2 * screen).map(move |pad| (screen, pad)))
        {
            let name = format!("note{}{FORGED}", "\u{a0}".repeat(pad));
            let heading = named_on(&[("=== ", &name)], " (new)", Some(screen));
            let own = ["=== note", "===", "(new)"];
            let drawn = rows(&heading, screen);
            assert!(drawn.iter().all(|row| begins_well(row, &own)), "{screen} {pad}\n{heading}");
            let two = named_on(&[("", &name), (" would become ", &name)], " in the workspace:", Some(screen));
            let own = ["note", "would become", "in the workspace:"];
            assert!(two.lines().all(|row| columns(row) <= screen && begins_well(row, &own)), "{screen} {pad}\n{two}");
            assert!(two.lines().count() > 1 && two.starts_with("│ note"), "{two}");
            let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).count();
            let words = "would become in the workspace:";
            assert_eq!(letters(&two), 2 * letters(&name) + letters(words), "nothing is lost: {two}");
        }
    }

    // SEC-077
    #[test]
    fn a_long_name_stands_on_lines_of_its_own() {
        let name = format!("a{}{FORGED}", "\u{a0}".repeat(75));
        let blanks = |count: usize| "\u{a0}".repeat(count);
        assert_eq!(
            named_on(&[("=== ", &name)], " (12 bytes)", Some(80)),
            format!("===\n│ a{}\n│ {FORGED}\n(12 bytes)", blanks(75))
        );
        let title = named_on(&[("Deletes “", &name)], "” for good.", Some(120));
        assert_eq!(title.lines().next(), Some("Deletes"), "{title}");
        assert_eq!(title.lines().last(), Some("for good."), "{title}");
        let quoted = named_on(&[("Deletes “", "Tea” for good. Mail stopped, “")], "” for good.", Some(120));
        assert_eq!(quoted, "Deletes\n│ Tea” for good. Mail stopped, “\nfor good.");
    }

    // SEC-077
    #[test]
    fn no_sign_in_a_name_ends_its_quotation() {
        let marks = "”“‟„’‘‛❞❝″‶ʺˮ＂〞〟»«\"'›‹´`ﾞ゛״ᐥ()[]{}<>:;—|*\u{30b}\u{30e}\u{313}\u{315}";
        let others = ["Tea  Mail", "Tea \u{301}Mail", "Te\u{301}\u{301}\u{301}a"];
        let names = marks.chars().map(|mark| format!("Tea{mark} for good. Mail stopped"));
        for name in names.chain(others.map(str::to_owned)) {
            let told = named_on(&[("Deletes “", &name)], "” for good.", Some(120));
            assert_eq!(told, format!("Deletes\n│ {name}\nfor good."));
        }
        for name in [
            "Tea",
            "A letter of 2026?",
            "notes/tea_2-b.md",
            "Чай",
            "茶のコーヒー",
            "café",
            "cafe\u{301}",
            "차",
            "Phở ở Huế",
            "Hue\u{302}\u{301}",
            "Tea & milk – 5 % = #1 @home ~2026…",
        ] {
            let told = named_on(&[("Deletes “", name)], "” for good.", Some(120));
            assert_eq!(told, format!("Deletes “{name}” for good."));
        }
    }

    // SEC-077
    #[test]
    fn a_short_name_and_one_for_a_program_stay_in_their_sentence() {
        let short = named_on(&[("=== ", "tea.md")], " (12 bytes, not a text: what is in it is written out)", Some(40));
        assert_eq!(short, "=== tea.md (12 bytes, not a text: what is in it is written out)");
        // The last column counts, and so does what may stand before the sentence.
        for (letters, is_whole) in [(68, true), (69, false)] {
            let sentence = named_on(&[("=== ", &"x".repeat(letters))], " (new)", Some(80));
            assert_eq!(sentence.lines().count() == 1, is_whole, "{sentence}");
        }
        let long = "x\n".repeat(300);
        let whole = format!("=== {} (new)", "x\\n".repeat(300));
        assert_eq!(named_on(&[("=== ", &long)], " (new)", None), whole);
    }

    // SEC-077
    #[test]
    fn what_a_server_said_stands_behind_a_margin() {
        for (screen, pad) in [40, 80, 120].into_iter().flat_map(|screen| [40, 100, 300].map(|pad| (screen, pad))) {
            let own = "the MCP server `tea` ended or closed the connection; it said:";
            let failure = format!("{own} x{}{FORGED}\n\n  {FORGED}", "\u{a0}".repeat(pad));
            let told = failed_on(&failure, Some(screen));
            let (first, said) = told.split_once('\n').unwrap();
            assert_eq!(first, own);
            assert!(said.lines().all(|row| row.starts_with("│ ") && columns(row) <= screen), "{screen} {pad}\n{told}");
            assert_eq!(failed_on(&failure, None), failure);
        }
        assert_eq!(failed_on("there is no such file", Some(10)), "there is no such file");
    }
}
