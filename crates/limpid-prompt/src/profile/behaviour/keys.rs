//! The keys of `[behaviour]`: a line each. Reading, inheriting, checking and showing them follow from this table.

use std::fmt;

use limpid_core::compaction::CompactionStyle;
use limpid_core::heartbeat::Quiet;
use limpid_core::memory::MemoryPolicy;
use serde::Serialize;

use super::{Behaviour, ModeRulesApply};

/// A key and the place of its value.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) slot: fn(&mut Behaviour) -> Slot<'_>,
}

pub(super) const KEYS: &[Key] = &[
    Key { name: "agent_name", slot: |b| Slot::Text(&mut b.agent_name) },
    Key { name: "system_target", slot: |b| Slot::OptionalCount(&mut b.system_target) },
    Key { name: "stable_prefix", slot: |b| Slot::Flag(&mut b.stable_prefix) },
    Key { name: "find_tools", slot: |b| Slot::Flag(&mut b.find_tools) },
    Key { name: "memory", slot: |b| Slot::Memory(&mut b.memory) },
    Key { name: "mode_rules", slot: |b| Slot::ModeRules(&mut b.mode_rules) },
    Key { name: "small_model_tools", slot: |b| Slot::Names(&mut b.small_model_tools, Known::Paths) },
    Key { name: "goal_tools_on_request", slot: |b| Slot::Names(&mut b.goal_tools_on_request, Known::Modes) },
    Key { name: "agents_delegate", slot: |b| Slot::Flag(&mut b.agents_delegate) },
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
    Text(&'b mut String),
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

/// A value as `profile.toml` writes it; its wire format is the same value in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// True or false.
    Flag(bool),
    /// A count, or a share in percent.
    Number(u32),
    /// One of a few words, or a text.
    Word(String),
    /// Names of paths or modes.
    Names(Vec<String>),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
            Self::Names(names) => write!(f, "{names:?}"),
        }
    }
}

/// Takes a number that is not set away again from a profile whose base sets it.
const NONE: &str = "none";

/// More messages or tokens than anybody means; a larger number is a slip.
const MOST: u32 = 1_000_000;

impl Slot<'_> {
    /// Takes a value; none stands for one of a type that no key has. Says what is expected when it does not fit this key.
    pub(super) fn take(self, value: Option<&Setting>) -> Result<(), String> {
        match (self, value) {
            (Self::Flag(slot), Some(Setting::Flag(flag))) => *slot = *flag,
            (Self::Flag(_), _) => return Err("true or false".to_owned()),
            (Self::Text(slot), Some(Setting::Word(text))) if !text.trim().is_empty() => slot.clone_from(text),
            (Self::Text(_), _) => return Err("a text".to_owned()),
            (Self::Names(slot, _), Some(Setting::Names(names))) => slot.clone_from(names),
            (Self::Names(..), _) => return Err("a list of names: [\"a\", \"b\"]".to_owned()),
            (Self::Percent(slot), Some(Setting::Number(number @ 1..=100))) => *slot = *number,
            (Self::Percent(_), _) => return Err("a number of percent from 1 to 100".to_owned()),
            (Self::OptionalPercent(slot), Some(Setting::Number(number @ 1..=100))) => *slot = Some(*number),
            (Self::OptionalPercent(slot), Some(Setting::Word(word))) if word == NONE => *slot = None,
            (Self::OptionalPercent(_), _) => return Err(format!("a number of percent from 1 to 100, or \"{NONE}\"")),
            (Self::Count(slot), Some(Setting::Number(number @ ..=MOST))) => *slot = *number as usize,
            (Self::Count(_), _) => return Err(format!("a number from 0 to {MOST}")),
            (Self::OptionalCount(slot), Some(Setting::Number(number @ 1..=MOST))) => *slot = Some(*number as usize),
            (Self::OptionalCount(slot), Some(Setting::Word(word))) if word == NONE => *slot = None,
            (Self::OptionalCount(_), _) => return Err(format!("a number from 1 to {MOST}, or \"{NONE}\"")),
            (Self::Memory(slot), value) => *slot = word(value, &MemoryPolicy::ALL, MemoryPolicy::as_str)?,
            (Self::ModeRules(slot), value) => *slot = word(value, &ModeRulesApply::ALL, ModeRulesApply::as_str)?,
            (Self::Quiet(slot), value) => *slot = word(value, &Quiet::ALL, Quiet::as_str)?,
            (Self::Style(slot), value) => *slot = word(value, &CompactionStyle::ALL, CompactionStyle::as_str)?,
        }
        Ok(())
    }

    /// The value that the place holds.
    pub(super) fn value(self) -> Setting {
        let word = |word: &str| Setting::Word(word.to_owned());
        match self {
            Self::Flag(flag) => Setting::Flag(*flag),
            Self::Text(text) => word(text),
            Self::Names(names, _) => Setting::Names(names.clone()),
            Self::Percent(percent) => Setting::Number(*percent),
            Self::OptionalPercent(percent) => percent.map_or_else(|| word(NONE), Setting::Number),
            Self::Count(count) => Setting::Number(number(*count)),
            Self::OptionalCount(count) => count.map_or_else(|| word(NONE), |count| Setting::Number(number(count))),
            Self::Memory(policy) => word(policy.as_str()),
            Self::ModeRules(apply) => word(apply.as_str()),
            Self::Quiet(quiet) => word(quiet.as_str()),
            Self::Style(style) => word(style.as_str()),
        }
    }
}

/// A count as it was read; none is above `MOST`.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(MOST)
}

/// Reads one of a few words. Says which there are when it is none of them.
fn word<T: Copy>(value: Option<&Setting>, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|known| matches!(value, Some(Setting::Word(word)) if word == name(*known)));
    found.ok_or_else(|| {
        let words: Vec<String> = all.iter().map(|known| format!("\"{}\"", name(*known))).collect();
        words.join(" or ")
    })
}
