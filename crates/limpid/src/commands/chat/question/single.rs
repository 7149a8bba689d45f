//! The answers to a question about one call.

use limpid_runtime::{ApprovalAnswer, QuestionPart};

/// The answers that there are.
pub(super) fn words(part: &QuestionPart, can_clean: bool) -> &'static str {
    match (part.pattern.is_some(), can_clean) {
        (true, false) => "y, always or n",
        (false, false) => "y or n",
        (true, true) => "y, always, n or clean (forgets the outside text, then runs it)",
        (false, true) => "y, n or clean (forgets the outside text, then runs it)",
    }
}

/// What a line means; nothing when it is no answer. `lasts` says whether there is a lasting yes, `can_clean` whether the window
/// can be cleaned first.
pub(super) fn meaning(line: &str, lasts: bool, can_clean: bool) -> Option<ApprovalAnswer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(ApprovalAnswer::Once),
        "a" | "always" if lasts => Some(ApprovalAnswer::Always),
        "clean" if can_clean => Some(ApprovalAnswer::CleanFirst),
        "n" | "no" => Some(ApprovalAnswer::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::CallId;
    use limpid_runtime::question::frame;

    use super::*;

    fn part(text: &str) -> QuestionPart {
        let text = text.to_owned();
        QuestionPart {
            id: CallId::new("a"),
            name: "exec".to_owned(),
            arguments: text.clone(),
            about: None,
            destination: Some(text.clone()),
            folder: "/w".to_owned(),
            reason: text.clone(),
            pattern: Some(text),
            whole: false,
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
        ];
        for (line, expected) in table {
            assert_eq!(meaning(line, true, false), expected, "{line:?}");
        }
    }

    // SEC-078
    #[test]
    fn always_is_no_answer_where_there_is_no_lasting_yes() {
        assert_eq!([meaning("always", false, true), meaning("a", false, true)], [None, None]);
        assert_eq!(meaning("y", false, true), Some(ApprovalAnswer::Once));
        let once = QuestionPart { pattern: None, ..part("{}") };
        let shown = frame(&once, 80);
        assert!(shown.contains("\n  always  -\n") && !shown.contains("cover"), "{shown}");
        assert_eq!([words(&once, false), words(&part("{}"), false)], ["y or n", "y, always or n"]);
    }

    // SEC-072
    #[test]
    fn the_window_is_cleaned_first_where_that_is_an_answer() {
        assert_eq!(meaning("clean", false, true), Some(ApprovalAnswer::CleanFirst));
        assert_eq!(meaning("clean", true, false), None);
        assert!(words(&part("{}"), true).contains("or clean ("));
    }
}
