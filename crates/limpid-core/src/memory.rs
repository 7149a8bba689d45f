//! One thing that the agent was asked to keep.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

use crate::id::MemoryId;
use crate::trust::Trust;

/// Hits from which a memory may be promoted into the soul.
pub const PROMOTION_HITS: u32 = 5;

/// How a key looks to whoever reads it.
///
/// ```
/// use limpid_core::memory::KeyLook;
/// let tea = KeyLook::of("my-tea");
/// assert!(tea.is_like(&KeyLook::of("My\u{200b} Tea")));
/// assert!(tea.is_like(&KeyLook::of("my-te\u{430}")), "the last letter is Cyrillic");
/// assert!(!tea.is_like(&KeyLook::of("my-teas")));
/// // What stands for an apostrophe may be one or a letter.
/// assert!(KeyLook::of("mum's phone").is_like(&KeyLook::of("mum\u{2bc}s phone")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLook {
    /// Its letters and digits, composed and small.
    letters: String,
    /// What these are drawn as, whatever script they are of.
    drawn: String,
}

impl KeyLook {
    /// The look of a key.
    pub fn of(key: &str) -> Self {
        let plain: String = key.nfkc().filter(|letter| letter.is_alphanumeric() && !is_sign(*letter)).collect();
        // Capitals of another script are drawn as those of ASCII where the small letters are not: they are looked up
        // first.
        let drawn = |letter: char| match letter.is_ascii() {
            true => String::from(letter),
            false => skeleton(letter.encode_utf8(&mut [0; 4])).collect(),
        };
        let small = plain.chars().map(drawn).collect::<String>().to_lowercase();
        // A capital `I` is drawn as a small `l`.
        let drawn = skeleton(&small).collect::<String>().to_lowercase().replace('i', "l");
        Self { letters: plain.to_lowercase(), drawn }
    }

    /// Whether nothing of it is a letter or a digit.
    pub const fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    /// Whether two keys look so alike that a word for the one may be taken for a word for the other.
    pub fn is_like(&self, other: &Self) -> bool {
        self.letters == other.letters || self.drawn == other.drawn
    }
}

/// Whether a letter is a sign beside others that some leave out or write as an apostrophe: modifiers of Latin, the stretched line of Arabic,
/// the small iota of Greek.
const fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{2b0}'..='\u{2ff}' | '\u{345}' | '\u{640}' | '\u{a788}'..='\u{a78c}')
}

/// What kind of thing a memory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A fact.
    #[default]
    General,
    /// How the owner likes things.
    Preference,
    /// Something learned at work.
    Learning,
    /// A problem that was seen, and its cure.
    Error,
}

impl Category {
    /// Every category, in the order in which prompts list them.
    pub const ALL: [Self; 4] = [Self::General, Self::Preference, Self::Learning, Self::Error];

    /// The name, in capitals as the Kai seed writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::General => "GENERAL",
            Self::Preference => "PREFERENCE",
            Self::Learning => "LEARNING",
            Self::Error => "ERROR",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no category.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no category; use GENERAL, PREFERENCE, LEARNING or ERROR")]
pub struct UnknownCategory(String);

impl FromStr for Category {
    type Err = UnknownCategory;

    /// Reads a category in any case.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|category| category.as_str().eq_ignore_ascii_case(word))
            .ok_or_else(|| UnknownCategory(word.to_owned()))
    }
}

/// How memories reach the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// Every memory is in the prompt, by category, as far as the profile's budget goes.
    Inject,
    /// Only the pinned ones are; the model asks for the others.
    #[default]
    Recall,
    /// MEMORY.md and the daily notes are in the prompt, and the model writes to these files.
    Files,
}

impl MemoryPolicy {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::Inject, Self::Recall, Self::Files];

    /// The policy's name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inject => "inject",
            Self::Recall => "recall",
            Self::Files => "files",
        }
    }
}

/// One memory as it stands now; how it came to be is in its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its number.
    pub id: MemoryId,
    /// The name it is stored under; one memory a name and owner.
    pub key: String,
    /// What is remembered.
    pub content: String,
    /// What kind of thing it is.
    pub category: Category,
    /// How often it was stored or reinforced; a new one has 1.
    pub hits: u32,
    /// What feedback made of it: +3 for a reinforcement, −1 for a demotion.
    pub score: i32,
    /// Whether it stands in every prompt.
    pub pinned: bool,
    /// Who wrote its content.
    pub trust: Trust,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was changed or reinforced last, in milliseconds since 1970.
    pub updated_ms: i64,
}
