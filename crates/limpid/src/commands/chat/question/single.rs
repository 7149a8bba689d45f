//! The answers to a question about one call.

use limpid_runtime::ApprovalAnswer;

/// What a person may do about a call, as its question stands on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offered {
    /// Whether there is a lasting yes.
    pub(super) lasts: bool,
    /// Whether the window can be cleaned first.
    pub(super) can_clean: bool,
    /// Whether all that a yes rests on was shown; until then there is none.
    pub(super) is_seen: bool,
}

/// What a line means to a question about one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Single {
    /// It answers.
    Answer(ApprovalAnswer),
    /// It wants to see the question whole.
    Open,
}

impl Offered {
    /// The answers that there are.
    pub(super) fn words(self) -> &'static str {
        match (self.is_seen, self.lasts, self.can_clean) {
            (false, ..) => "open (shows the rest) or n",
            (true, true, false) => "y, always or n",
            (true, false, false) => "y or n",
            (true, true, true) => "y, always, n or clean (puts the outside text aside, then runs it)",
            (true, false, true) => "y, n or clean (puts the outside text aside, then runs it)",
        }
    }

    /// What is said of a line that is no answer.
    pub(super) fn help(self) -> String {
        format!("Answer {}.", self.words())
    }

    /// What a line means; nothing when it is no answer.
    pub(super) fn meaning(self, line: &str) -> Option<Single> {
        let answer = match line.trim().to_lowercase().as_str() {
            "open" => return Some(Single::Open),
            "n" | "no" => ApprovalAnswer::No,
            "y" | "yes" if self.is_seen => ApprovalAnswer::Once,
            "a" | "always" if self.is_seen && self.lasts => ApprovalAnswer::Always,
            "clean" | "/clean" if self.is_seen && self.can_clean => ApprovalAnswer::CleanFirst,
            _ => return None,
        };
        Some(Single::Answer(answer))
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::CallId;
    use limpid_runtime::question::{Screen, frame};
    use limpid_runtime::{QuestionId, QuestionPart};

    use super::*;

    const ALL: Offered = Offered { lasts: true, can_clean: true, is_seen: true };

    fn answer(offered: Offered, line: &str) -> Option<ApprovalAnswer> {
        match offered.meaning(line) {
            Some(Single::Answer(answer)) => Some(answer),
            Some(Single::Open) | None => None,
        }
    }

    // SEC-002
    #[test]
    fn only_a_clear_answer_counts() {
        let table = [
            ("y", Some(ApprovalAnswer::Once)),
            (" Yes ", Some(ApprovalAnswer::Once)),
            ("always", Some(ApprovalAnswer::Always)),
            ("N", Some(ApprovalAnswer::No)),
            ("", None),
            ("yn", None),
            ("ok", None),
            ("clean", None),
            ("help", None),
            ("?", None),
        ];
        for (line, expected) in table {
            assert_eq!(answer(Offered { can_clean: false, ..ALL }, line), expected, "{line:?}");
        }
        assert_eq!(Offered { lasts: false, can_clean: false, ..ALL }.help(), "Answer y or n.");
    }

    // SEC-078
    #[test]
    fn always_is_no_answer_where_there_is_no_lasting_yes() {
        let once = Offered { lasts: false, ..ALL };
        assert_eq!(["always", "a", "y"].map(|line| answer(once, line)), [None, None, Some(ApprovalAnswer::Once)]);
        let part = QuestionPart {
            id: QuestionId::new(CallId::new("a")),
            name: "exec".to_owned(),
            arguments: "{}".to_owned(),
            about: None,
            destination: None,
            folder: "/w".to_owned(),
            reason: "it runs a program".to_owned(),
            pattern: None,
            whole: false,
        };
        let shown = frame(&part, Screen { width: 80, height: 24 });
        assert!(!shown.contains("always") && !shown.contains("cover"), "{shown}");
        let words = [once, ALL].map(|offered| Offered { can_clean: false, ..offered }.words());
        assert_eq!(words, ["y or n", "y, always or n"]);
    }

    // SEC-072
    #[test]
    fn the_window_is_cleaned_first_where_that_is_an_answer() {
        assert_eq!(answer(Offered { lasts: false, ..ALL }, "clean"), Some(ApprovalAnswer::CleanFirst));
        assert_eq!(answer(ALL, "/Clean"), Some(ApprovalAnswer::CleanFirst));
        assert_eq!(["clean", "/clean"].map(|line| answer(Offered { can_clean: false, ..ALL }, line)), [None, None]);
        assert!(ALL.words().contains("or clean ("));
    }

    // SEC-077 SEC-078
    #[test]
    fn there_is_no_yes_to_a_question_before_all_that_it_rests_on_was_shown() {
        let cut = Offered { is_seen: false, ..ALL };
        for line in ["y", "yes", "a", "always", "clean"] {
            assert_eq!(cut.meaning(line), None, "{line:?}");
        }
        assert_eq!(answer(cut, "n"), Some(ApprovalAnswer::No));
        assert_eq!([cut.meaning("open"), ALL.meaning("Open")], [Some(Single::Open); 2]);
        assert_eq!(cut.words(), "open (shows the rest) or n");
    }
}
