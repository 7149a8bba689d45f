//! Mail, text messages and notifications that came in: what waits for a heartbeat, what a line of them shows.

use std::fmt;
use std::str::FromStr;

/// Items of one source that wait for a heartbeat at a time; beyond it the oldest stop waiting.
pub const QUEUE: usize = 100;

/// Characters of a preview.
pub const PREVIEW_CHARS: usize = 200;

/// Characters of a sender or a title, by whichever way it comes.
pub const LINE_CHARS: usize = 500;

/// Where an item came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A mail account, or mail that was handed in.
    Mail,
    /// Text messages of a phone.
    Sms,
    /// What programs had to say.
    Notification,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::Mail, Self::Sms, Self::Notification];

    /// The source's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Sms => "sms",
            Self::Notification => "notification",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no source; there are mail, sms and notification")]
pub struct UnknownSource(String);

impl FromStr for Source {
    type Err = UnknownSource;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|source| source.as_str() == word).ok_or_else(|| UnknownSource(word.to_owned()))
    }
}

/// How a text begins: one line, every stretch of white space one space, at most [`PREVIEW_CHARS`] characters.
///
/// ```
/// assert_eq!(limpid_core::inbox::preview(" Parcel\n\n waits"), "Parcel waits");
/// ```
pub fn preview(text: &str) -> String {
    let mut line = String::new();
    let mut room = PREVIEW_CHARS;
    for word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        if room <= gap {
            break;
        }
        if gap == 1 {
            line.push(' ');
        }
        room -= gap;
        let taken = word.chars().take(room);
        let before = line.len();
        line.extend(taken);
        room -= line[before..].chars().count();
    }
    line
}

/// How many of the items that wait must stop waiting, the oldest first.
pub const fn overflow(waiting: usize) -> usize {
    waiting.saturating_sub(QUEUE)
}

/// The watermark of an account after messages with these numbers were taken in; it never falls.
pub fn raised(watermark: u32, taken: impl IntoIterator<Item = u32>) -> u32 {
    taken.into_iter().fold(watermark, u32::max)
}

/// Whether every word of a query stands in one of the texts, in whatever case; a query without words finds nothing.
pub fn matches(query: &str, texts: &[&str]) -> bool {
    let texts: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
    let query = query.to_lowercase();
    let mut words = query.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| texts.iter().any(|text| text.contains(word)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // KAI-094
    #[test]
    fn a_preview_is_one_short_line() {
        let cases = [
            ("", String::new()),
            (" \n\t ", String::new()),
            ("Your parcel\r\nwaits\u{2028}here", "Your parcel waits here".to_owned()),
            (&"ä".repeat(300), "ä".repeat(200)),
            (&format!("{} tail", "a".repeat(199)), "a".repeat(199)),
            (&format!("{} tail", "a".repeat(198)), format!("{} t", "a".repeat(198))),
        ];
        for (text, expected) in cases {
            assert_eq!(preview(text), expected);
        }
    }

    proptest! {
        // KAI-094 SEC-044
        #[test]
        fn no_text_makes_a_preview_longer_or_breaks_its_line(text in prop::collection::vec(any::<char>(), 0..600)) {
            let text = String::from_iter(text);
            let line = preview(&text);
            prop_assert!(line.chars().count() <= PREVIEW_CHARS);
            prop_assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{85}']), "{line:?}");
            prop_assert_eq!(line.trim(), line.as_str());
        }
    }

    // KAI-092
    #[test]
    fn a_watermark_never_falls() {
        assert_eq!(raised(7, []), 7);
        assert_eq!(raised(7, [3, 9, 5]), 9);
        assert_eq!(raised(7, [3]), 7);
    }

    // KAI-085
    #[test]
    fn a_hundred_wait_and_the_rest_does_not() {
        assert_eq!([0, 100, 101, 250].map(overflow), [0, 0, 1, 150]);
    }

    // KAI-095
    #[test]
    fn a_query_finds_texts_that_have_all_its_words() {
        let texts = ["+49 151", "Ihr Paket WARTET"];
        for (query, found) in [("paket", true), ("wartet 151", true), ("paket post", false), ("", false), (" ", false)]
        {
            assert_eq!(matches(query, &texts), found, "{query}");
        }
    }

    #[test]
    fn a_source_is_read_by_its_name() {
        for source in Source::ALL {
            assert_eq!(source.as_str().parse(), Ok(source));
        }
        assert!("SMS".parse::<Source>().is_err());
    }
}
