//! Skills: instructions that an agent gets when they are called for, and what calls for them.

use std::fmt;
use std::str::FromStr;

/// Characters that a name may have.
const MAX_NAME: usize = 64;

/// Characters that a description may have.
pub const MAX_DESCRIPTION: usize = 1024;

/// Words that call a command of the program's own when they follow a slash; no skill may have one as its name.
pub const COMMANDS: [&str; 24] = [
    "mode",
    "profile",
    "model",
    "goal",
    "checkpoint",
    "context",
    "prompt",
    "memory",
    "tasks",
    "heartbeat",
    "compact",
    "new",
    "undo",
    "stop",
    "cost",
    "help",
    "focus",
    "clean",
    "clear",
    "quit",
    "effort",
    "exit",
    "skills",
    "group",
];

/// The name of a skill: letters, digits and single hyphens between them. Names that differ only in case are the same
/// name, since nobody tells them apart after a slash.
#[derive(Clone, Debug)]
pub struct SkillName(String);

impl SkillName {
    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a word means this skill.
    pub fn is(&self, word: &str) -> bool {
        self.0.eq_ignore_ascii_case(word)
    }

    /// The form that is the same for every spelling of the name.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl PartialEq for SkillName {
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.0)
    }
}

impl Eq for SkillName {}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SkillName {
    type Err = BadName;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        // A line end would begin a line of its own wherever the error is told.
        let shown = |letter: char| {
            if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
        };
        let bad = |why| BadName { name: word.chars().take(MAX_NAME + 1).map(shown).collect(), why };
        if word.chars().count() > MAX_NAME {
            return Err(bad("has more than 64 characters"));
        }
        let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
        if !word.split('-').all(is_part) {
            return Err(bad("must be letters and digits with single hyphens between them"));
        }
        if COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(word)) {
            return Err(bad("is a command of the chat; take another name"));
        }
        Ok(Self(word.to_owned()))
    }
}

/// A word that cannot be the name of a skill, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name `{name}` {why}")]
pub struct BadName {
    name: String,
    why: &'static str,
}

/// A skill: what a SKILL.md says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called by.
    pub name: SkillName,
    /// Its name for people, when it has another one.
    pub title: Option<String>,
    /// What it is for, in one line.
    pub description: String,
    /// Its instructions.
    pub body: String,
    /// Words or phrases of a message that call for it.
    pub triggers: Vec<String>,
    /// The tools that a worker with this skill gets. It grants none to anybody else.
    pub tools: Vec<String>,
    /// Tools without which it is of no use.
    pub required_tools: Vec<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The model that a worker with this skill runs on.
    pub model: Option<String>,
    /// Whether it is active in every turn.
    pub always: bool,
    /// Its version, as its author counts.
    pub version: Option<String>,
}

impl Skill {
    /// A skill of which nothing but this is known.
    pub fn new(name: SkillName, description: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            name,
            title: None,
            description: description.into(),
            body: body.into(),
            triggers: Vec::new(),
            tools: Vec::new(),
            required_tools: Vec::new(),
            tags: Vec::new(),
            model: None,
            always: false,
            version: None,
        }
    }

    /// The name that headings show.
    pub fn heading(&self) -> &str {
        self.title.as_deref().unwrap_or(self.name.as_str())
    }

    /// The trigger that a message holds, if it holds one.
    pub fn trigger_in(&self, message: &str) -> Option<&str> {
        self.triggers.iter().map(String::as_str).find(|trigger| holds(message, trigger))
    }
}

/// The word after the slash that a message starts with: perhaps the name of a skill.
///
/// ```
/// use limpid_core::skill::slash_word;
/// assert_eq!(slash_word("/tea for two"), Some("tea"));
/// assert_eq!(slash_word("a /tea"), None);
/// assert_eq!(slash_word("/tea/pot"), None);
/// ```
pub fn slash_word(message: &str) -> Option<&str> {
    let word = message.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_word.then_some(word)
}

/// Whether a text holds a phrase as whole words, in any case. Scripts that are written without spaces have no word
/// borders, so there every place is one.
pub fn holds(text: &str, phrase: &str) -> bool {
    let fold = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, phrase) = (fold(text), fold(phrase));
    if phrase.is_empty() {
        return false;
    }
    let (Some(first), Some(last)) = (phrase.chars().next(), phrase.chars().next_back()) else { return false };
    text.match_indices(&phrase).any(|(at, found)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
        is_border(before, Some(first)) && is_border(Some(last), after)
    })
}

fn is_border(left: Option<char>, right: Option<char>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return true };
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    !in_word(left) || !in_word(right) || is_unspaced(left) || is_unspaced(right)
}

/// Whether a character belongs to a script that is written without spaces between words.
const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Myanmar
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3040}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-033 KAI-100
    #[test]
    fn names_are_letters_digits_and_single_hyphens_and_no_commands() {
        for good in ["tea", "Tea2", "2-a-B", "mode-2", &"a".repeat(64)] {
            assert_eq!(good.parse::<SkillName>().unwrap().as_str(), good);
        }
        let long = "a".repeat(65);
        for bad in ["", "-", "tea-", "-tea", "a--b", "a b", "a_b", "tée", "../x", "a/b", "a.b", "Goal", "help", &long]
        {
            assert!(bad.parse::<SkillName>().is_err(), "{bad}");
        }
        assert_eq!(
            "Goal".parse::<SkillName>().unwrap_err().to_string(),
            "the name `Goal` is a command of the chat; take another name"
        );
        let error = "tea\nlimpid: done".parse::<SkillName>().unwrap_err().to_string();
        assert!(error.starts_with("the name `tea\\nlimpid: done` must be"), "{error}");
    }

    // KAI-098 KAI-099
    #[test]
    fn a_slash_calls_only_at_the_start_and_as_a_whole_word() {
        let cases = [
            ("/tea", Some("tea")),
            ("/Tea-2\nnow", Some("Tea-2")),
            ("/tea\u{a0}x", Some("tea")),
            ("/", None),
            ("/ tea", None),
            (" /tea", None),
            ("/tea.", None),
            ("/usr/bin", None),
            ("//tea", None),
            ("/té", None),
        ];
        for (message, word) in cases {
            assert_eq!(slash_word(message), word, "{message:?}");
        }
        assert!("tea".parse::<SkillName>().unwrap().is("TEA"));
    }

    // KOSHI-031
    #[test]
    fn triggers_are_whole_words_in_any_case() {
        let held = [
            ("Brew TEA, please", "tea"),
            ("tea", "Tea"),
            ("a pull\n  request is open", "pull request"),
            ("(tea)", "tea"),
            ("use c++ here", "c++"),
            ("ÜBER alles", "über"),
            ("请帮我泡茶吧", "泡茶"),
            ("ok泡茶ok", "泡茶"),
        ];
        for (text, phrase) in held {
            assert!(holds(text, phrase), "{text:?} {phrase:?}");
        }
        let not = [
            ("team work", "tea"),
            ("steam", "tea"),
            ("tea_pot", "tea"),
            ("tea2", "tea"),
            ("pull the request", "pull request"),
            ("tea", ""),
            ("", "tea"),
            ("überall", "über"),
            ("bring it", "ring"),
        ];
        for (text, phrase) in not {
            assert!(!holds(text, phrase), "{text:?} {phrase:?}");
        }
    }

    // KOSHI-031
    #[test]
    fn a_skill_says_which_of_its_triggers_was_met() {
        let mut skill = Skill::new("tea".parse().unwrap(), "Brews tea", "Steep.");
        assert_eq!(skill.trigger_in("make tea"), None, "its name alone calls nothing");
        skill.triggers = vec!["oolong".to_owned(), "green tea".to_owned()];
        assert_eq!(skill.trigger_in("some Green  Tea?"), Some("green tea"));
    }
}
