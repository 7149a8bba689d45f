//! Whether a person speaks of goals: then the tools that change them are offered.

/// Words that speak of goals, in lower case.
const WORDS: [&str; 18] = [
    "goal",
    "goals",
    "checkpoint",
    "checkpoints",
    "milestone",
    "milestones",
    "ziel",
    "ziele",
    "meilenstein",
    "meilensteine",
    "objectif",
    "objectifs",
    "objetivo",
    "objetivos",
    "obiettivo",
    "obiettivi",
    "цель",
    "цели",
];

/// Words of scripts that put no spaces between words.
const UNSPACED: [&str; 4] = ["目标", "目標", "ゴール", "목표"];

/// Whether a message holds a word that speaks of goals.
///
/// ```
/// use limpid_core::goal::cue::asks_for_goals;
/// assert!(asks_for_goals("Set a goal: move house by June."));
/// assert!(!asks_for_goals("The goalkeeper was late."));
/// ```
pub fn asks_for_goals(message: &str) -> bool {
    let message = message.to_lowercase();
    let mut words = message.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.contains(&word)) || UNSPACED.iter().any(|word| message.contains(word))
}
