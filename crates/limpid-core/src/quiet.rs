//! The word with which a run says that there is nothing to report, and how it is kept from people.

/// The word.
pub const QUIET: &str = "HEARTBEAT_OK";

/// What markdown puts around a word.
const DECORATION: [char; 4] = ['*', '_', '`', '~'];

/// Bytes of markdown on one side of the word that may belong to it. Of a longer run the rest is looked at no more, so that a run without
/// end is gone through once, whatever pieces it comes in.
const MOST_DECORATION: usize = 16;

/// A text without the word, whatever its case and the markdown around it. A text in which only punctuation stood beside
/// it becomes empty; one without the word stays as it is.
///
/// ```
/// use limpid_core::quiet::without_quiet;
/// assert_eq!(without_quiet("**heartbeat_ok**."), "");
/// assert_eq!(without_quiet("The disk is full. HEARTBEAT_OK"), "The disk is full.");
/// assert_eq!(without_quiet(" as it is "), " as it is ");
/// ```
pub fn without_quiet(text: &str) -> String {
    let mut filter = QuietFilter::default();
    let mut out = filter.push(text);
    out.push_str(&filter.finish());
    if out.len() == text.len() {
        return out;
    }
    if out.contains(char::is_alphanumeric) { out.trim().to_owned() } else { String::new() }
}

/// Takes the word out of a text that arrives in pieces.
#[derive(Clone, Debug, Default)]
pub struct QuietFilter {
    /// What came last and may still become the word.
    held: String,
    /// The last character that was given out.
    last: Option<char>,
}

impl QuietFilter {
    /// Takes in a piece and gives out what is certain not to be the word.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        self.give(false)
    }

    /// The text is over; gives out what is left.
    pub fn finish(&mut self) -> String {
        let rest = self.give(true);
        self.last = None;
        rest
    }

    fn give(&mut self, is_over: bool) -> String {
        let held = std::mem::take(&mut self.held);
        let mut out = String::with_capacity(held.len());
        let mut rest = held.as_str();
        while let Some(first) = rest.chars().next() {
            let step = match look(rest, self.last, is_over) {
                Found::Word { length } => {
                    rest = &rest[length..];
                    continue;
                }
                Found::Perhaps => break,
                Found::No { bytes: 0 } => first.len_utf8(),
                Found::No { bytes } => bytes,
            };
            out.push_str(&rest[..step]);
            self.last = out.chars().next_back();
            rest = &rest[step..];
        }
        self.held = rest.to_owned();
        out
    }
}

/// What a text begins with.
enum Found {
    /// The word with the markdown around it.
    Word { length: usize },
    /// What may become the word when more comes.
    Perhaps,
    /// Something else, at least for so many bytes.
    No { bytes: usize },
}

fn look(text: &str, last: Option<char>, is_over: bool) -> Found {
    let before = decoration(text);
    if before > MOST_DECORATION {
        return Found::No { bytes: before - MOST_DECORATION };
    }
    let no = Found::No { bytes: before };
    let rest = &text[before..];
    let length = match word(rest) {
        Some(length) => length,
        None if is_over => return no,
        None if may_become_word(rest) => return Found::Perhaps,
        None => return no,
    };
    let after = &rest[length..];
    let closing = decoration(after);
    let next = after[closing..].chars().next();
    if next.is_none() && closing <= MOST_DECORATION && !is_over {
        return Found::Perhaps;
    }
    // `A_HEARTBEAT_OK_B` is a name of its own.
    let is_part =
        |side: &str, beyond: Option<char>| side.chars().all(|c| c == '_') && beyond.is_some_and(char::is_alphanumeric);
    let is_part_behind = closing <= MOST_DECORATION && is_part(&after[..closing], next);
    if is_part(&text[..before], last) || is_part_behind {
        return Found::No { bytes: before + length };
    }
    // Markdown that opens before the word and closes behind it goes with it.
    let pairs = text[..before].chars().rev().zip(after.chars()).take_while(|(open, close)| open == close).count();
    match before - pairs {
        0 => Found::Word { length: length + 2 * pairs },
        opened => Found::No { bytes: opened },
    }
}

/// Bytes of markdown at the beginning of a text.
fn decoration(text: &str) -> usize {
    text.len() - text.trim_start_matches(DECORATION).len()
}

/// Bytes of the word at the beginning of a text; its underscore may be escaped.
fn word(text: &str) -> Option<usize> {
    SPELLINGS.iter().find(|spelling| starts(text, spelling)).map(|spelling| spelling.len())
}

fn may_become_word(text: &str) -> bool {
    SPELLINGS.iter().any(|spelling| text.len() < spelling.len() && starts(spelling, text))
}

/// The word as plain text and as markdown has it.
const SPELLINGS: [&str; 2] = [QUIET, "HEARTBEAT\\_OK"];

fn starts(text: &str, beginning: &str) -> bool {
    text.as_bytes().get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning.as_bytes()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPELLED: [&str; 9] = [
        "HEARTBEAT_OK",
        "heartbeat_ok",
        "Heartbeat_Ok",
        "**HEARTBEAT_OK**",
        "`heartbeat_ok`",
        "_HEARTBEAT_OK_",
        "***Heartbeat\\_OK***",
        "~~HEARTBEAT_OK~~",
        "HEARTBEAT\\_OK",
    ];

    // LES-035
    #[test]
    fn the_word_is_gone_in_every_spelling_wherever_it_stands() {
        for spelled in SPELLED {
            for alone in
                [spelled.to_owned(), format!(" {spelled}.\n"), format!("\"{spelled}\""), format!("> {spelled}")]
            {
                assert_eq!(without_quiet(&alone), "", "{alone}");
            }
            assert_eq!(without_quiet(&format!("{spelled}\n\nThe disk is full.")), "The disk is full.");
            assert_eq!(without_quiet(&format!("Disk: {spelled}, mail: none.")), "Disk: , mail: none.");
            assert_eq!(without_quiet(&format!("{spelled} {spelled}")), "");
        }
        assert_eq!(without_quiet("**HEARTBEAT_OK, all good**"), "**, all good**");
        assert_eq!(without_quiet("```\nHEARTBEAT_OK\n```"), "");
    }

    // LES-035
    #[test]
    fn nothing_else_is_touched() {
        for text in [
            "",
            " . ",
            "HEARTBEAT",
            "heartbeat_okay",
            "MY_HEARTBEAT_OK",
            "HEARTBEAT_OK_COUNT",
            "xHEARTBEAT_OK",
            "***\n_a_ `b` ~~c~~ _",
            "The heartbeat is ok.",
        ] {
            assert_eq!(without_quiet(text), text);
        }
    }

    // SEC-093
    #[test]
    fn a_run_of_one_sign_in_pieces_is_gone_through_once() {
        for one in ["*", "_", "HEARTBEAT_OK", "`~"] {
            let mut filter = QuietFilter::default();
            filter.push(QUIET);
            for _ in 0..20_000 {
                filter.push(&one.repeat(40));
                assert!(filter.held.len() < 60, "{}", filter.held.len());
            }
        }
    }

    proptest! {
        // LES-035
        #[test]
        fn pieces_give_what_the_whole_gives(
            parts in proptest::collection::vec("HEARTBEAT_OK|heartbeat_|ok|[*_`~]{1,3}|[*_]{15,18}|é|[a-z .\n]{0,3}", 0..12),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let text = parts.concat();
            let mut whole = QuietFilter::default();
            let mut expected = whole.push(&text);
            expected.push_str(&whole.finish());
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut at: Vec<usize> = cuts.iter().map(|cut| *cut.get(&borders)).chain([0, text.len()]).collect();
            at.sort_unstable();
            let mut filter = QuietFilter::default();
            let mut given: String = at.windows(2).map(|piece| filter.push(&text[piece[0]..piece[1]])).collect();
            given.push_str(&filter.finish());
            prop_assert_eq!(given, expected);
        }
    }
}
