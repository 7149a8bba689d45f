//! The keys of `[behaviour]`: a line each. Reading, inheriting, checking and showing them follow from this table.

use limpid_core::compaction::CompactionStyle;
use limpid_core::heartbeat::Quiet;
use limpid_core::memory::MemoryPolicy;

use super::{Behaviour, ModeRulesApply};

/// A key and the place of its value.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) slot: fn(&mut Behaviour) -> Slot<'_>,
}

pub(super) const KEYS: &[Key] = &[
    Key { name: "stable_prefix", slot: |b| Slot::Flag(&mut b.stable_prefix) },
    Key { name: "find_tools", slot: |b| Slot::Flag(&mut b.find_tools) },
    Key { name: "memory", slot: |b| Slot::Memory(&mut b.memory) },
    Key { name: "mode_rules", slot: |b| Slot::ModeRules(&mut b.mode_rules) },
    Key { name: "small_model_tools", slot: |b| Slot::Names(&mut b.small_model_tools, Known::Paths) },
    Key { name: "goal_tools_on_request", slot: |b| Slot::Names(&mut b.goal_tools_on_request, Known::Modes) },
    Key { name: "heartbeat.quiet", slot: |b| Slot::Quiet(&mut b.heartbeat.quiet) },
    Key { name: "heartbeat.create_checklist", slot: |b| Slot::Flag(&mut b.heartbeat.create_checklist) },
    Key { name: "compaction.style", slot: |b| Slot::Style(&mut b.compaction.style) },
    Key { name: "compaction.warn", slot: |b| Slot::Percent(&mut b.compaction.warn) },
    Key { name: "compaction.start", slot: |b| Slot::Percent(&mut b.compaction.start) },
    Key { name: "compaction.emergency", slot: |b| Slot::Percent(&mut b.compaction.emergency) },
    Key { name: "compaction.rollover", slot: |b| Slot::Percent(&mut b.compaction.rollover) },
    Key { name: "compaction.window_percent", slot: |b| Slot::OptionalPercent(&mut b.compaction.window_percent) },
    Key { name: "compaction.messages", slot: |b| Slot::OptionalCount(&mut b.compaction.messages) },
    Key { name: "compaction.keep_messages", slot: |b| Slot::Count(&mut b.compaction.keep_messages) },
    Key { name: "compaction.split_over", slot: |b| Slot::OptionalCount(&mut b.compaction.split_over) },
    Key { name: "compaction.summary_tokens", slot: |b| Slot::Count(&mut b.compaction.summary_tokens) },
    Key { name: "compaction.pin", slot: |b| Slot::Percent(&mut b.compaction.pin) },
    Key { name: "compaction.digests", slot: |b| Slot::Percent(&mut b.compaction.digests) },
    Key { name: "compaction.recent", slot: |b| Slot::Percent(&mut b.compaction.recent) },
    Key { name: "compaction.result", slot: |b| Slot::Percent(&mut b.compaction.result) },
];

/// The place of a value, by its type.
pub(super) enum Slot<'b> {
    Flag(&'b mut bool),
    Names(&'b mut Vec<String>, Known),
    Percent(&'b mut u32),
    OptionalPercent(&'b mut Option<u32>),
    Count(&'b mut usize),
    OptionalCount(&'b mut Option<usize>),
    Memory(&'b mut MemoryPolicy),
    ModeRules(&'b mut ModeRulesApply),
    Quiet(&'b mut Quiet),
    Style(&'b mut CompactionStyle),
}

/// What the names of a list must be names of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Paths,
    Modes,
}

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Flag(bool),
    Number(u32),
    Word(String),
    Names(Vec<String>),
    /// Of a type that no key has.
    Other,
}

/// Takes a number that is not set away again from a profile whose base sets it.
const NONE: &str = "none";

/// More messages or tokens than anybody means; a larger number is a slip.
const MOST: u32 = 1_000_000;

impl Slot<'_> {
    /// Takes a value. Says what is expected when it is not one for this key.
    pub(super) fn take(self, value: &Value) -> Result<(), String> {
        match (self, value) {
            (Self::Flag(slot), Value::Flag(flag)) => *slot = *flag,
            (Self::Flag(_), _) => return Err("true or false".to_owned()),
            (Self::Names(slot, _), Value::Names(names)) => slot.clone_from(names),
            (Self::Names(..), _) => return Err("a list of names: [\"a\", \"b\"]".to_owned()),
            (Self::Percent(slot), Value::Number(number @ 1..=100)) => *slot = *number,
            (Self::Percent(_), _) => return Err("a number of percent from 1 to 100".to_owned()),
            (Self::OptionalPercent(slot), Value::Number(number @ 1..=100)) => *slot = Some(*number),
            (Self::OptionalPercent(slot), Value::Word(word)) if word == NONE => *slot = None,
            (Self::OptionalPercent(_), _) => return Err(format!("a number of percent from 1 to 100, or \"{NONE}\"")),
            (Self::Count(slot), Value::Number(number @ ..=MOST)) => *slot = *number as usize,
            (Self::Count(_), _) => return Err(format!("a number from 0 to {MOST}")),
            (Self::OptionalCount(slot), Value::Number(number @ 1..=MOST)) => *slot = Some(*number as usize),
            (Self::OptionalCount(slot), Value::Word(word)) if word == NONE => *slot = None,
            (Self::OptionalCount(_), _) => return Err(format!("a number from 1 to {MOST}, or \"{NONE}\"")),
            (Self::Memory(slot), value) => *slot = word(value, &MemoryPolicy::ALL, MemoryPolicy::as_str)?,
            (Self::ModeRules(slot), value) => *slot = word(value, &ModeRulesApply::ALL, ModeRulesApply::as_str)?,
            (Self::Quiet(slot), value) => *slot = word(value, &Quiet::ALL, Quiet::as_str)?,
            (Self::Style(slot), value) => *slot = word(value, &CompactionStyle::ALL, CompactionStyle::as_str)?,
        }
        Ok(())
    }

    /// The value as `profile.toml` writes it.
    pub(super) fn shown(self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Names(names, _) => format!("{names:?}"),
            Self::Percent(percent) => percent.to_string(),
            Self::OptionalPercent(percent) => percent.map_or(NONE.to_owned(), |percent| percent.to_string()),
            Self::Count(count) => count.to_string(),
            Self::OptionalCount(count) => count.map_or(NONE.to_owned(), |count| count.to_string()),
            Self::Memory(policy) => policy.as_str().to_owned(),
            Self::ModeRules(apply) => apply.as_str().to_owned(),
            Self::Quiet(quiet) => quiet.as_str().to_owned(),
            Self::Style(style) => style.as_str().to_owned(),
        }
    }
}

/// Reads one of a few words. Says which there are when it is none of them.
fn word<T: Copy>(value: &Value, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|known| matches!(value, Value::Word(word) if word == name(*known)));
    found.ok_or_else(|| {
        let words: Vec<String> = all.iter().map(|known| format!("\"{}\"", name(*known))).collect();
        words.join(" or ")
    })
}
