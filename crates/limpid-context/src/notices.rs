//! What a person is told beside the answer.

use limpid_model::ModelCard;
use limpid_prompt::shown::shown_line;
use limpid_prompt::{Outcome, SectionReport};

/// Something that is told of what stands in folders, on one line: whoever named it may have put a line end into the
/// name, and what comes after that would read as the program's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingNotice(String);

impl StandingNotice {
    /// A text on one line.
    pub fn new(text: &str) -> Self {
        Self(shown_line(text))
    }

    /// The line.
    pub fn into_line(self) -> String {
        self.0
    }
}

/// What a budget cut of a section.
pub fn cut_notice(cut: &SectionReport) -> String {
    let what = match cut.outcome {
        Outcome::Dropped => "was left out".to_owned(),
        _ => match (cut.kept, cut.dropped) {
            (Some(kept), Some(dropped)) => format!("was cut: {kept} kept, {dropped} left out"),
            _ => "was cut".to_owned(),
        },
    };
    let why = cut.reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("the section {} {what}{why}", cut.section)
}

/// What is not known of a model, said once a conversation.
pub fn unknown_notice(card: &ModelCard) -> Option<String> {
    let (no_window, no_price) = (card.window.is_none(), card.price.is_none() && !card.local);
    let assumed = card.assumed.as_ref().map(|like| {
        format!(
            "{} is in no table of models, so it is assumed to be like {like}; `limpid model update` may know it",
            card.name()
        )
    });
    let set = "in models.toml in the home folder";
    let unknown = match (no_window, no_price) {
        (false, false) => None,
        (false, true) => Some(format!("no price is known for {}, so costs leave it out; set one {set}", card.name())),
        (true, false) => Some(format!("no window is known for {}; set one {set}", card.name())),
        (true, true) => {
            Some(format!("no window and no price are known for {}, so costs leave it out; set them {set}", card.name()))
        }
    };
    let notices: Vec<String> = [assumed, unknown].into_iter().flatten().collect();
    (!notices.is_empty()).then(|| notices.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn what_stands_in_folders_is_told_on_one_line() {
        let told = StandingNotice::new("skills/a\nlimpid: it is damaged\u{1b}[2K is not used");
        assert_eq!(told.into_line(), "skills/a\\nlimpid: it is damaged\\u{1b}[2K is not used");
    }
}
