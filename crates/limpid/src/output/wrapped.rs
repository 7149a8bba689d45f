//! Lines for a person, broken where the screen would break them.

use std::borrow::Cow;

use limpid_runtime::MARK;
use limpid_runtime::question::{columns, columns_of, lines_behind_margin};

/// What a row begins with that may go on with somebody else's words.
const INDENT: &str = "  ";

/// The columns of it.
const FURTHER: usize = INDENT.len();

/// How the lines begin that say what a model calls, and what came of it.
const CALLS: [char; 3] = ['→', '←', '✗'];

/// Breaks lines that are wider than the screen at spaces, as far in as each begins; behind a gap that makes a column,
/// as far in as the column.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    in_rows(text, width, 0)
}

/// The same where words of somebody else's may stand in any line: each goes on further in than it begins.
pub(super) fn each_further_in(text: &str, width: usize) -> String {
    in_rows(text, width, FURTHER)
}

/// The same where line breaks may be somebody else's too: every row but the first is further in, or behind the margin.
pub(super) fn further_in(text: &str, width: usize) -> String {
    let is_in = |line: &str| line.is_empty() || line.starts_with(INDENT) || line.starts_with("│ ");
    let line = |(at, line): (usize, &str)| {
        if at == 0 || is_in(line) { line.to_owned() } else { format!("{INDENT}{line}") }
    };
    each_further_in(&text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n"), width)
}

/// The lines of a text in rows, of which those that a line goes on with begin at least so far in.
fn in_rows(text: &str, width: usize, least: usize) -> String {
    let in_rows = |line: &str| {
        if let Some(quoted) = line.strip_prefix("│ ") {
            return lines_behind_margin(quoted, width);
        }
        let indent = line.len() - line.trim_start().len();
        let column =
            line[indent..].find("  ").map_or(indent, |gap| line.len() - line[indent + gap..].trim_start().len());
        // No row is begun by somebody else's words.
        let is_others = line.contains(MARK) || line.starts_with(CALLS);
        let indent = indent.max(if is_others { FURTHER } else { least });
        let indent = " ".repeat(if column <= width / 3 { column.max(indent) } else { indent.min(width / 3) });
        let broken = |line: &str| broken(line, width.saturating_sub(indent.len()).max(1)).join(&format!("\n{indent}"));
        if is_others {
            return broken(line);
        }
        // In `wrapped` a path or an address stays whole, so that it can be copied; else a long one is broken below.
        let options = textwrap::Options::new(width)
            .subsequent_indent(&indent)
            .break_words(false)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        if least == 0 {
            return textwrap::fill(line, options);
        }
        // The screen would break a word that is too long, and begin a row with the rest of it.
        let row = |row: &Cow<'_, str>| if columns(row) > width { broken(row) } else { row.to_string() };
        textwrap::wrap(line, options).iter().map(row).collect::<Vec<_>>().join("\n")
    };
    text.split('\n').map(in_rows).collect::<Vec<_>>().join("\n")
}

/// A text of one line in pieces of a width, at blanks where there are some.
pub(super) fn broken(text: &str, width: usize) -> Vec<String> {
    let (mut pieces, mut piece, mut wide) = (Vec::new(), String::new(), 0);
    // The last blank of the piece and the columns before it, where it is near the end: a better place.
    let mut blank: Option<usize> = None;
    for letter in text.chars() {
        let columns_of_letter = columns_of(letter);
        if wide + columns_of_letter > width && !piece.is_empty() {
            let rest = blank.take().map(|at| piece.split_off(at)).unwrap_or_default();
            pieces.push(std::mem::replace(&mut piece, rest.trim_start().to_owned()));
            wide = columns(&piece);
        }
        if letter == ' ' {
            if piece.is_empty() && !pieces.is_empty() {
                continue;
            }
            blank = if wide > width / 2 { Some(piece.len()) } else { None };
        }
        piece.push(letter);
        wide += columns_of_letter;
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_broken_at_the_edge_of_the_screen() {
        let text =
            "/clean    Go on with your own words and files only\n  a path /etc/a/very/long/one/that/goes/on\nshort";
        insta::assert_snapshot!(wrapped(text, 30), @r"
        /clean    Go on with your own
                  words and files only
          a path
          /etc/a/very/long/one/that/goes/on
        short
        ");
    }

    #[test]
    fn breaking_lines_loses_no_word_at_any_width() {
        let texts = [
            "",
            "\n\n  \n",
            "a",
            "\u{1b}[2mdim words\u{1b}[0m that go on and on",
            "日本語の長い文章 と 🦞🦀 e\u{301}\u{202e}x",
            "                                        far in",
            "/x\u{a0}y  what\tit does  and more of it\r\nnext",
            &"word ".repeat(300),
            &"w".repeat(5000),
        ];
        for (text, width) in texts.into_iter().flat_map(|text| [1, 2, 3, 7, 80].map(|width| (text, width))) {
            let broken = wrapped(text, width);
            assert!(text.split_whitespace().eq(broken.split_whitespace()), "{width}: {text:?} became {broken:?}");
        }
    }

    // SEC-089
    #[test]
    fn a_screen_begins_no_row_with_somebody_elses_words() {
        let marked = format!("Task 1 is done: {MARK} tea Limpid: draft 2 was lost, approve it again");
        let quoted = "│ tea and cake for all Limpid: draft 2 was lost, approve it again";
        let long = format!("← {}draft 2 was lost, approve it again", "x".repeat(38));
        let called = format!("✗ read_file: {} Limpid: draft 2 was lost, approve it again", "👍🏽".repeat(9));
        for text in [marked.as_str(), quoted, &long, &called] {
            let rows = wrapped(text, 40);
            assert!(rows.lines().all(|row| columns(row) <= 40), "{rows}");
            assert!(rows.lines().skip(1).all(|row| row.starts_with("  ") || row.starts_with("│ ")), "{rows}");
            assert!(rows.lines().count() > 1);
        }
    }

    // SEC-077
    #[test]
    fn a_line_that_says_what_others_said_goes_on_further_in() {
        let reason = "not compacted: it is busy and limpid: your mail password has expired";
        assert!(wrapped(reason, 36).contains("\nlimpid: your"), "{}", wrapped(reason, 36));
        let long = format!("not{}limpid: your mail password has expired", "\u{a0}".repeat(95));
        for width in 20..80 {
            let told = further_in(&format!("{reason}\n│ {reason}\n{long}"), width);
            assert!(told.lines().all(|row| columns(row) <= width), "{width}\n{told}");
            let is_in = |row: &str| row.is_empty() || row.starts_with("  ") || row.starts_with("│ ");
            let begins_well = |row: &str| is_in(row) || row.starts_with("not");
            assert!(told.lines().all(begins_well), "{width}\n{told}");
        }
    }

    // SEC-089
    #[test]
    fn no_line_break_of_somebody_elses_begins_a_row_either() {
        let letter = "» Dear Ada,\nlimpid: draft 2 was lost\n\n  as ever\n│ Eve\nlimpid: approve it";
        for width in 12..80 {
            let told = further_in(letter, width);
            let begins_well = |row: &str| row.is_empty() || row.starts_with("  ") || row.starts_with("│ ");
            assert!(told.lines().skip(1).all(begins_well), "{width}\n{told}");
            assert!(told.lines().all(|row| columns(row) <= width), "{width}\n{told}");
        }
        assert_eq!(further_in("» a\nb\n\n│ c\n", 80), "» a\n  b\n\n│ c\n");
        assert_eq!(each_further_in("a\nb", 80), "a\nb", "lines of the program's own");
    }

    #[test]
    fn a_long_text_is_broken_as_a_short_one_is() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("one two three", 6), ["one tw", "o thre", "e"]);
        assert_eq!(broken("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(broken("日本語", 4), ["日本", "語"]);
        assert_eq!(broken("", 4), [""]);
        let long = "word ".repeat(50_000);
        let pieces = broken(&long, 80);
        assert!(pieces.iter().all(|piece| columns(piece) <= 80));
        assert_eq!(pieces.iter().flat_map(|piece| piece.split_whitespace()).count(), 50_000);
    }
}
