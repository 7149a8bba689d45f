//! What the answer of a heartbeat means: silence, a report, or silence with something beside it.

use crate::quiet::{QUIET, without_quiet};

/// Characters beside the word from which on something was said.
const REMAINDER: usize = 40;

/// The decision that ends a run, where a tool call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing needs the owner.
    Quiet,
    /// The owner is told something.
    Report {
        /// Names the matter: the same one is told once in a day.
        key: String,
        /// What the owner is told.
        text: String,
    },
}

impl Decision {
    /// A decision from the fields of a call. Without a key, the text names the matter.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(action: &str, key: &str, text: &str) -> Result<Self, String> {
        match action {
            "quiet" => Ok(Self::Quiet),
            "report" if text.trim().is_empty() => Err("a report needs `text`".to_owned()),
            "report" => {
                let key = if key.trim().is_empty() { text } else { key };
                Ok(Self::Report { key: key.trim().to_lowercase(), text: text.trim().to_owned() })
            }
            // The value may be a stranger's words, so the error does not repeat it.
            _ => Err("`action` must be quiet or report".to_owned()),
        }
    }
}

/// When a text means silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quiet {
    /// When it is the word alone.
    #[default]
    Alone,
    /// When it holds the word anywhere.
    Contains,
}

impl Quiet {
    /// Every rule.
    pub const ALL: [Self; 2] = [Self::Alone, Self::Contains];

    /// The rule's name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Contains => "contains",
        }
    }
}

/// What the answer of a run means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing needs the owner.
    Quiet,
    /// Silence, with so much beside it that it may have been a report.
    Remainder(String),
    /// The owner is told this.
    Report(String),
}

impl Answer {
    /// Reads a text by a rule. A blank one means nothing.
    ///
    /// ```
    /// use limpid_core::heartbeat::{Answer, Quiet};
    /// assert_eq!(Answer::read("**heartbeat_ok**.", Quiet::Alone), Some(Answer::Quiet));
    /// assert_eq!(Answer::read(" ", Quiet::Alone), None);
    /// ```
    pub fn read(text: &str, rule: Quiet) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if without_quiet(text).is_empty() {
            return Some(Self::Quiet);
        }
        if rule == Quiet::Contains && text.contains(QUIET) {
            let rest = text.replace(QUIET, "");
            let rest = rest.trim();
            let said = rest.chars().count() > REMAINDER;
            return Some(if said { Self::Remainder(rest.to_owned()) } else { Self::Quiet });
        }
        Some(Self::Report(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-064 KAI-065 KAI-125 PICO-075 LES-035 LES-036
    #[test]
    fn what_a_text_means_by_each_rule() {
        let n = |count: usize| "x".repeat(count);
        let texts = [
            ("the word", "HEARTBEAT_OK".to_owned()),
            ("in small letters, bold, with a full stop", " **heartbeat_ok**. ".to_owned()),
            ("as code", "```\nHEARTBEAT_OK\n```".to_owned()),
            ("quoted", "\"Heartbeat_Ok\"".to_owned()),
            ("with 40 characters beside it", format!("{}\nHEARTBEAT_OK", n(40))),
            ("with 41 characters beside it", format!("HEARTBEAT_OK {}", n(41))),
            ("twice, with 40 beside it", format!("HEARTBEAT_OK {} HEARTBEAT_OK", n(40))),
            ("small letters inside a text", format!("heartbeat_ok, but {}", n(41))),
            ("inside a longer word", "HEARTBEAT_OKAY".to_owned()),
            ("a report", "The disk is nearly full.".to_owned()),
            ("nothing", " \n".to_owned()),
        ];
        let shown = |answer: Option<Answer>| match answer {
            None => "means nothing".to_owned(),
            Some(Answer::Quiet) => "quiet".to_owned(),
            Some(Answer::Remainder(rest)) => format!("quiet with {} characters", rest.chars().count()),
            Some(Answer::Report(_)) => "report".to_owned(),
        };
        let rows = texts.map(|(name, text)| {
            let [alone, contains] = [Quiet::Alone, Quiet::Contains].map(|rule| shown(Answer::read(&text, rule)));
            format!("{name}: alone {alone}; contains {contains}")
        });
        insta::assert_snapshot!(rows.join("\n"));
    }

    // LES-034 LES-042 SEC-089
    #[test]
    fn only_a_whole_decision_is_one() {
        let report = |key: &str, text: &str| Ok(Decision::Report { key: key.to_owned(), text: text.to_owned() });
        assert_eq!(Decision::new("quiet", "", ""), Ok(Decision::Quiet));
        assert_eq!(Decision::new("report", " Disk ", " It is full. "), report("disk", "It is full."));
        assert_eq!(Decision::new("report", "", "It is full."), report("it is full.", "It is full."));
        assert!(Decision::new("report", "disk", " ").is_err());
        assert!(Decision::new("", "", "text").is_err());
        assert!(Decision::new("schedule", "", "").is_err());
        // What stood there may be a stranger's.
        assert_eq!(Decision::new("x\ny", "", ""), Err("`action` must be quiet or report".to_owned()));
    }
}
