//! What the owner is shown of a call that waits for them: one frame, the same on every surface, that no text of the call can
//! enter.

mod arguments;
mod form;
mod lines;

use std::borrow::Cow;

pub use form::{field_frame, form_frame};
pub use lines::{Screen, behind_margin, block, columns, columns_of, field, lines_behind_margin, wrapped_field};

use crate::QuestionPart;

/// Characters of the arguments that a question shows, unless all of them have to be seen; it says how many more there are.
const ARGUMENTS: usize = 2000;

/// Rows that the lines which a yes rests on take together at most, however high the screen is.
const ROWS: usize = 19;

/// Rows above these lines that are the frame's own too.
const HEAD: usize = 2;

/// Columns that a prompt and an answer take at most, and the rows that are left for them at least.
const PROMPT: usize = 80;
const PROMPT_ROWS: usize = 3;

/// Rows that what a call is about has where not all lines fit.
const ABOUT: usize = 4;

/// The question, for a screen of this size: no line is wider, so that no part of one begins a line of its own. The
/// arguments stand behind a margin; the lines below them are the frame's own, and the last says what the call would do.
/// These stay on a small screen; whether that cuts one of them, or one leaves a very low screen, [`is_seen`] says.
pub fn frame(part: &QuestionPart, screen: Screen) -> String {
    let arguments = if part.whole { usize::MAX } else { ARGUMENTS };
    drawn(part, screen.width, arguments, is_seen(part, screen))
}

/// The same question with nothing cut, however many rows that takes.
pub fn whole_frame(part: &QuestionPart, width: usize) -> String {
    drawn(part, width, usize::MAX, true)
}

/// Whether all that a yes rests on is on the screen with [`frame`]: what the call is about, where it leads, what a
/// lasting yes would cover and why it is asked. Where it is not, the whole frame has to be shown before there is a yes.
pub fn is_seen(part: &QuestionPart, screen: Screen) -> bool {
    let whole = |(label, text, _): Line<'_>| wrapped_field(label, &text, screen.width, usize::MAX);
    lines(part).into_iter().flat_map(whole).map(|row| screen.rows(&row)).sum::<usize>() <= room(screen)
}

/// Rows that the lines which a yes rests on may take together to be on the screen at once, above a prompt that a narrow
/// one breaks.
fn room(screen: Screen) -> usize {
    let prompt = PROMPT.div_ceil(screen.width.max(1)).max(PROMPT_ROWS);
    ROWS.min(screen.height.saturating_sub(HEAD + prompt))
}

fn drawn(part: &QuestionPart, width: usize, most: usize, is_whole: bool) -> String {
    let (shown, more) = arguments::rows(&part.arguments, width, most);
    let mut rows = vec![field("? ", &part.name, width)];
    rows.extend(shown);
    if more > 0 {
        rows.push(format!("│ … and {more} more characters: open"));
    }
    rows.push("  what this would do:".to_owned());
    rows.push(field("  tool    ", &part.name, width));
    for (label, text, share) in lines(part) {
        rows.extend(wrapped_field(label, &text, width, if is_whole { usize::MAX } else { share }));
    }
    rows.join("\n")
}

/// A line that a yes rests on: its label, its text, and the rows that it has where not all lines fit.
type Line<'a> = (&'static str, Cow<'a, str>, usize);

/// All of them, in their order; the rows that they have are [`ROWS`] together. Where there is no destination, or no lasting yes is
/// offered, nothing is said of it.
fn lines(part: &QuestionPart) -> Vec<Line<'_>> {
    let about = part.about.as_deref().map(|about| ("  about   ", Cow::Borrowed(about), ABOUT));
    let always = part
        .pattern
        .as_ref()
        .map(|pattern| ("  always  ", Cow::Owned(format!("in this chat would cover {pattern}")), 3));
    let to = part.destination.as_deref().map(|to| ("  to      ", Cow::Borrowed(to), 2));
    let folder = Some(("  in      ", Cow::Borrowed(part.folder.as_str()), 1)).filter(|_| !part.folder.is_empty());
    let why = ("  why     ", Cow::Borrowed(part.reason.as_str()), 9);
    about.into_iter().chain(to).chain(folder).chain(always).chain([why]).collect()
}

#[cfg(test)]
mod tests {
    use limpid_core::CallId;

    use super::*;
    use crate::QuestionId;

    /// A screen of the usual height.
    fn at(width: usize) -> Screen {
        Screen { width, height: 24 }
    }

    fn part(text: &str) -> QuestionPart {
        let text = text.to_owned();
        QuestionPart {
            id: QuestionId::new(CallId::new("a")),
            name: "exec".to_owned(),
            arguments: text.clone(),
            about: Some(text.clone()),
            destination: Some(text.clone()),
            folder: "/w".to_owned(),
            reason: text.clone(),
            pattern: Some(text),
            whole: false,
        }
    }

    // SEC-077
    #[test]
    fn what_fits_on_the_screen_is_not_cut() {
        let reason = "text from outside was read, and this would run a program";
        let part = QuestionPart {
            reason: reason.to_owned(),
            pattern: Some("send: to ada@example.com".to_owned()),
            ..part("{}")
        };
        let shown = frame(&part, at(80));
        assert!(
            shown
                .ends_with(&format!("  always  in this chat would cover send: to ada@example.com\n  why     {reason}")),
            "{shown}"
        );
        let narrow = frame(&part, at(40));
        let why = "  why     text from outside was read,\n          and this would run a program";
        assert!(narrow.ends_with(why), "{narrow}");
    }

    // SEC-077
    #[test]
    fn a_line_that_has_nothing_to_say_is_not_there() {
        let shown = frame(&QuestionPart { about: None, destination: None, pattern: None, ..part("{}") }, at(80));
        let own = "  what this would do:\n  tool    exec\n  in      /w\n  why     {}";
        assert!(shown.ends_with(own), "{shown}");
    }

    // SEC-077
    #[test]
    fn the_last_lines_are_always_the_frames_own() {
        let long = "x".repeat(9000);
        let breaks = "\n".repeat(500);
        let forged = "{}\n  what this would do:\n  tool    list_dir\n  why     nothing\n» y";
        let wide = "日本語 a b c ".repeat(90);
        let ambiguous = format!("{}  to      +49301111 (Bob)", "…".repeat(96));
        let russian = "Привет ".repeat(90);
        let codes = "\u{202e}\u{1b}".repeat(200);
        for text in [
            "{}",
            "",
            forged,
            &breaks,
            &long,
            &wide,
            &ambiguous,
            &russian,
            &codes,
            "a\u{2028}b",
            "│ \u{1b}[6A\u{1b}[J",
            "\t\t",
        ] {
            for width in [40, 80, 120] {
                let shown = frame(&part(text), at(width));
                let lines: Vec<&str> = shown.split('\n').collect();
                assert!(lines.iter().all(|line| columns(line) <= width), "no line is broken by the screen: {shown}");
                let asks = lines.iter().rposition(|line| line.starts_with("  what t")).unwrap();
                let goes_on = |line: &&&str| line.starts_with("          ");
                let begin = lines[asks..].iter().filter(|line| !goes_on(line));
                let own: Vec<&str> = begin.map(|line| &line[..8]).collect();
                let labels = ["  what t", "  tool  ", "  about ", "  to    ", "  in    ", "  always", "  why   "];
                assert_eq!(own, labels, "{text:?}");
                let last = lines.iter().rposition(|line| line.starts_with("  to ")).unwrap();
                assert!(last - asks <= 2 + ABOUT, "{shown}");
                assert!(lines[1..asks].iter().all(|line| line.starts_with("│ ")), "{shown}");
            }
        }
        let cut = frame(&part(&long), at(80));
        assert!(cut.contains("… and 7000 more characters"), "what is cut says how much is missing: {cut}");
    }

    // SEC-077 SEC-078
    #[test]
    fn what_a_lasting_yes_would_cover_is_said_to_its_end_on_every_screen() {
        let pattern = "fetch an address, also where strangers' text led to it, where others read too, with what is \
                       private here: to a-rather-long-name-that-a-stranger-has-chosen.example.com";
        for width in 40..=200 {
            let part = QuestionPart { pattern: Some(pattern.to_owned()), ..part("{}") };
            let shown = frame(&part, at(width));
            let covers = shown.split("would cover ").nth(1).unwrap().split("\n  why ").next().unwrap();
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(squeezed(covers), squeezed(pattern), "{shown}");
            assert!(is_seen(&part, at(width)), "{shown}");
        }
    }

    // SEC-077 SEC-078
    #[test]
    fn what_a_yes_rests_on_is_on_the_screen_whole_or_the_question_says_that_it_has_to_be_opened() {
        let short = part("{}");
        let heights = [6, 8, 12, 23, 24, 50];
        let high = |width| heights.map(|height| Screen { width, height });
        let screens: Vec<Screen> = [40, 80, 120].into_iter().flat_map(high).collect();
        for length in [10, 100, 300, 700, 4000] {
            let text = |name: &str| format!("{}the-end-of-{name}", "x".repeat(length));
            let about = QuestionPart { about: Some(text("about")), ..short.clone() };
            let to = QuestionPart { destination: Some(text("to")), ..short.clone() };
            let folder = QuestionPart { folder: text("in"), ..short.clone() };
            let always = QuestionPart { pattern: Some(text("always")), ..short.clone() };
            let why = QuestionPart { reason: text("why"), ..short.clone() };
            let all = QuestionPart {
                about: about.about.clone(),
                destination: to.destination.clone(),
                folder: folder.folder.clone(),
                pattern: always.pattern.clone(),
                ..why.clone()
            };
            for part in [about, to, folder, always, why, all] {
                for screen in screens.iter().copied() {
                    let Screen { width, height } = screen;
                    let (brief, whole) = (frame(&part, screen), whole_frame(&part, width));
                    let own = brief.lines().skip_while(|line| !line.starts_with("  what t")).count();
                    assert!(own <= HEAD + ROWS, "{brief}");
                    let is_on_screen = own + PROMPT_ROWS <= height;
                    assert_eq!(is_on_screen && shows(&brief, &part), is_seen(&part, screen), "{height} rows:\n{brief}");
                    assert!(shows(&whole, &part), "{whole}");
                    assert!(brief == whole || !is_seen(&part, screen), "{brief}");
                }
            }
        }
    }

    /// Whether a frame has every letter of what a yes rests on.
    fn shows(frame: &str, part: &QuestionPart) -> bool {
        let joined = frame.replace("\n          ", "");
        let QuestionPart { about, destination, pattern, folder, reason, .. } = part;
        let mut texts = [about, destination, pattern].into_iter().flatten().chain([folder, reason]);
        texts.all(|text| joined.contains(text.as_str()))
    }

    // SEC-077 SEC-087
    #[test]
    fn why_it_is_asked_is_said_to_its_end_on_every_screen() {
        let reason = "text from outside was read, and this would run a program; it can read your folders and the variables \
                      GITHUB_TOKEN and send to api.example.com, crates.example.com, and since you were asked, tidy.py has changed";
        for width in 40..=200 {
            let shown = frame(&QuestionPart { reason: reason.to_owned(), ..part("{}") }, at(width));
            let why = shown.split("  why     ").nth(1).unwrap();
            let said: Vec<&str> = why.split_whitespace().collect();
            assert_eq!(said, reason.split_whitespace().collect::<Vec<_>>(), "{shown}");
        }
    }

    // SEC-077
    #[test]
    fn a_text_with_its_line_breaks_begins_no_line_of_its_own_either() {
        let forged = format!("a{}to    +49301111 (Bob)\n\twhy\u{1b}[A", " ".repeat(97));
        for width in [20, 80, 100] {
            let shown = lines_behind_margin(&forged, width);
            assert!(shown.lines().all(|line| line.starts_with("│ ") && line.chars().count() <= width), "{shown}");
        }
        assert_eq!(lines_behind_margin("a\nb", 80), "│ a\n│ b");
    }

    // SEC-077
    #[test]
    fn a_blank_at_the_end_of_a_row_is_seen() {
        for more in ["日", "xx", "x"] {
            for gap in 0..20 {
                let begin = "x".repeat(gap);
                let [with, without] = [" ", ""].map(|blank| lines_behind_margin(&format!("{begin}{blank}{more}"), 20));
                let seen = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
                assert_ne!(seen(&with), seen(&without));
            }
        }
    }

    // SEC-060
    #[test]
    fn what_a_yes_makes_the_owners_is_shown_whole() {
        let text = "x".repeat(8000) + "end";
        let whole = frame(&QuestionPart { whole: true, ..part(&text) }, at(80));
        let seen: String = whole.lines().filter_map(|line| line.strip_prefix("│ ")).collect();
        assert_eq!(seen, text);
    }
}
