//! The words that speak for a mode: whole words only, and none that a “no” takes back.

use super::Suggestion;

/// Words before a cue among which a “no” takes it back.
const REACH: usize = 3;

/// Words that take a cue back.
const NEGATIONS: [&str; 9] = ["no", "not", "never", "without", "nothing", "don't", "doesn't", "didn't", "isn't"];

/// Words that ask for a mode by its name.
const ASKING: [&str; 6] = ["switch", "change", "go", "enter", "use", "activate"];

/// Words that may stand between asking and the name.
const BETWEEN: [&str; 7] = ["to", "into", "in", "the", "over", "back", "please"];

/// What speaks for a mode. `*` at the end of a word stands for any ending; words of a cue follow one another.
const CUES: [(&str, &[&str]); 3] = [
    (
        "debugger",
        &[
            "debug*",
            "stack trace",
            "stacktrace",
            "traceback",
            "segfault*",
            "root cause",
            "core dump",
            "crash*",
            "exception*",
            "error*",
            "fails with",
            "failing test*",
            "test* fail*",
            "breakpoint*",
            "reproduce the bug",
            "fix the bug",
            "fix this bug",
            "why does it fail",
            "does not work",
            "doesn't work",
            "bug report",
        ],
    ),
    (
        "developer",
        &[
            "implement*",
            "refactor*",
            "compile*",
            "write a function",
            "write a class",
            "write a test",
            "write a script",
            "write a program",
            "write the code",
            "write code",
            "write tests",
            "code review",
            "pull request",
            "unit test*",
            "add a method",
            "add a test",
            "rename the function",
            "start coding",
        ],
    ),
    (
        "planning",
        &[
            "architecture",
            "roadmap",
            "milestone*",
            "plan out",
            "make a plan",
            "plan the",
            "plan how",
            "plan for the",
            "design the",
            "design a",
            "break down",
            "break this down",
            "trade-off*",
            "tradeoff*",
            "strategy",
            "requirements",
            "step by step plan",
        ],
    ),
];

/// The mode that a message sounds like, when that is another of `modes` than the one that is on.
///
/// ```
/// use limpid_core::mode::suggest;
/// let modes = ["assistant", "developer", "planning", "debugger"];
/// let found = suggest("developer", &modes, "It ends with this stack trace").unwrap();
/// assert_eq!((found.target.as_str(), found.confidence), ("debugger", 85));
/// assert_eq!(suggest("developer", &modes, "There was no error, thanks"), None);
/// ```
pub fn suggest(current: &str, modes: &[&str], text: &str) -> Option<Suggestion> {
    let words = words(text);
    if let Some(target) = asked_for(&words, modes) {
        let reason = format!("you asked for {target} mode");
        return (target != current).then(|| Suggestion { target: target.to_owned(), reason, confidence: 100 });
    }
    let of_mode = |(target, cues): &(&'static str, &[&'static str])| {
        let found: Vec<String> = cues.iter().filter_map(|cue| find(&words, cue)).collect();
        (*target, found)
    };
    let mut found: Vec<(&str, Vec<String>)> = CUES.iter().map(of_mode).filter(|(_, cues)| !cues.is_empty()).collect();
    // Of equals the first stays first.
    found.sort_by_key(|(_, cues)| std::cmp::Reverse(cues.len()));
    let (target, cues) = found.into_iter().next()?;
    if target == current || !modes.contains(&target) {
        return None;
    }
    let quoted: Vec<String> = cues.iter().map(|cue| format!("“{cue}”")).collect();
    Some(Suggestion { target: target.to_owned(), reason: quoted.join(", "), confidence: confidence(current, target) })
}

/// How sure a switch from one mode to another is.
fn confidence(from: &str, to: &str) -> u8 {
    match (from, to) {
        ("planning", "developer") => 80,
        ("developer", "planning") => 60,
        ("developer", "debugger") => 85,
        _ => 70,
    }
}

/// The mode that is asked for by name: “switch to planning mode”.
fn asked_for<'a>(words: &[String], modes: &[&'a str]) -> Option<&'a str> {
    let at_word = |at: usize| -> Option<&'a str> {
        let mode = modes.iter().find(|mode| words[at] == **mode)?;
        let before = words[..at].iter().rev().skip_while(|word| BETWEEN.contains(&word.as_str()));
        let mut before = before.map(String::as_str);
        let asks = before.next().is_some_and(|word| ASKING.contains(&word));
        let denied = before.take(REACH).any(|word| NEGATIONS.contains(&word));
        let named = words.get(at + 1).is_some_and(|word| word == "mode");
        (asks && named && !denied).then_some(*mode)
    };
    (0..words.len()).find_map(at_word)
}

/// The words of the text that are a cue, unless a “no” stands closely before them.
fn find(words: &[String], cue: &str) -> Option<String> {
    let cue: Vec<&str> = cue.split(' ').collect();
    let is_cue = |at: &usize| {
        let mut pairs = words[*at..].iter().zip(&cue);
        let denied = words[at.saturating_sub(REACH)..*at].iter().any(|word| NEGATIONS.contains(&word.as_str()));
        !denied && pairs.all(|(word, cue)| fits(word, cue))
    };
    let last = words.len().checked_sub(cue.len())?;
    (0..=last).find(is_cue).map(|at| words[at..at + cue.len()].join(" "))
}

fn fits(word: &str, cue: &str) -> bool {
    match cue.strip_suffix('*') {
        Some(stem) => word.strip_prefix(stem).is_some_and(|ending| ENDINGS.contains(&ending)),
        None => word == cue,
    }
}

/// Endings that leave a word the same word.
const ENDINGS: [&str; 9] = ["", "s", "es", "ed", "d", "ing", "ging", "ation", "ger"];

/// The words of a text in small letters; apostrophes and dashes stay within them.
fn words(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_');
    let split = text.split(|c: char| !is_part(c));
    let word = |word: &str| word.trim_matches(['\'', '’', '-']).replace('’', "'").to_lowercase();
    split.map(word).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [&str; 6] = ["assistant", "debugger", "developer", "planning", "user", "night-watch"];

    fn told(current: &str, text: &str) -> String {
        match suggest(current, &MODES, text) {
            Some(found) => format!("{} {} %: {}", found.target, found.confidence, found.reason),
            None => "nothing".to_owned(),
        }
    }

    // OLLM-040 OLLM-041
    #[test]
    fn whole_words_suggest_a_mode_and_small_talk_none() {
        let cases = [
            ("assistant", "hi"),
            ("assistant", "There was no error, thanks"),
            ("assistant", "write a poem"),
            ("assistant", "The terrorist plot of the novel"),
            ("assistant", "I don't want to refactor it"),
            ("assistant", "I don’t want to refactor it"),
            ("assistant", "There is an error in the roadmap: the architecture"),
            ("assistant", "Let us make a plan for the garden"),
            ("assistant", "Sketch the architecture, with milestones"),
            ("assistant", "Implement the parser"),
            ("assistant", "It crashed with an exception"),
            ("planning", "Good. Implement it, and write tests"),
            ("developer", "What would the architecture look like?"),
            ("developer", "Here is the traceback"),
            ("debugger", "Here is the traceback"),
            ("debugger", "Refactoring that module is next"),
            ("user", "Debugging again"),
            ("assistant", "switch to planning mode"),
            ("assistant", "Please switch back to the Developer mode."),
            ("planning", "switch to planning mode"),
            ("assistant", "do not switch to planning mode"),
            ("assistant", "go into night-watch mode"),
            ("assistant", "switch to sleepy mode"),
            ("assistant", "they use developer tools"),
            ("assistant", ""),
        ];
        let lines: Vec<String> =
            cases.iter().map(|(current, text)| format!("{current}: {text:?} → {}", told(current, text))).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    // OLLM-041
    #[test]
    fn a_mode_that_a_profile_lacks_is_not_suggested() {
        assert_eq!(suggest("assistant", &["assistant", "planning"], "Implement the parser"), None);
        assert_eq!(suggest("assistant", &[], "switch to planning mode"), None);
    }
}
