//! Reads the table as it is written, and makes a [`Behaviour`] of what a profile and its bases say.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Fault, File, Problem, nearest};
use crate::source::SourceRef;

use super::Behaviour;
use super::keys::{KEYS, Key, Known, Setting, Slot};

/// The table's name.
const TABLE: &str = "behaviour";

/// A value with the place that it is written at.
#[derive(Clone, Debug)]
pub(in crate::profile) struct Given {
    value: Setting,
    file: Arc<File>,
    at: Range<usize>,
}

/// The keys of a manifest's own table. What is no value of its key is a problem and left out.
pub(in crate::profile) fn read(file: &Arc<File>, problems: &mut Vec<Problem>) -> BTreeMap<&'static str, Given> {
    let mut given = BTreeMap::new();
    // A text that is no TOML was told when the manifest was read.
    let Ok(manifest) = DeTable::parse(&file.text) else { return given };
    match manifest.get_ref().get(TABLE).map(|table| (table.span(), table.get_ref())) {
        None => {}
        Some((_, DeValue::Table(table))) => take(table, "", file, &mut given, problems),
        Some((at, _)) => {
            let fix = "write a table: [behaviour], and its keys below it";
            problems.push(file.error(Fault::new(at, "`behaviour` is not a table", fix)));
        }
    }
    given
}

fn take(
    table: &DeTable<'_>,
    above: &str,
    file: &Arc<File>,
    given: &mut BTreeMap<&'static str, Given>,
    problems: &mut Vec<Problem>,
) {
    for (key, value) in table {
        let name = format!("{above}{}", key.get_ref());
        let inner = format!("{name}.");
        if let DeValue::Table(table) = value.get_ref()
            && KEYS.iter().any(|key| key.name.starts_with(&inner))
        {
            take(table, &inner, file, given, problems);
            continue;
        }
        let Some(known) = KEYS.iter().find(|key| key.name == name) else {
            let fix = match nearest(&name, KEYS.iter().map(|key| key.name)) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "docs/profiles.md lists the keys of [behaviour]".to_owned(),
            };
            problems.push(file.error(Fault::new(key.span(), format!("unknown key `{name}` in [behaviour]"), fix)));
            continue;
        };
        let (at, value) = (value.span(), plain(value));
        match ((known.slot)(&mut Behaviour::default()).take(value.as_ref()), value) {
            (Ok(()), Some(value)) => drop(given.insert(known.name, Given { value, file: Arc::clone(file), at })),
            (Ok(()), None) => {}
            (Err(expected), _) => {
                let message = format!("wrong value of `{name}` in [behaviour]");
                problems.push(file.error(Fault::new(at, message, format!("write {expected}"))));
            }
        }
    }
}

/// None for a value of a type that no key has.
fn plain(value: &Spanned<DeValue<'_>>) -> Option<Setting> {
    match value.get_ref() {
        DeValue::Boolean(flag) => Some(Setting::Flag(*flag)),
        DeValue::String(word) => Some(Setting::Word(word.to_string())),
        DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok().map(Setting::Number),
        DeValue::Array(items) => {
            let names: Option<Vec<String>> =
                items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
            names.map(Setting::Names)
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

/// The behaviour that a profile's values make, and the line of each. `paths` and `modes` are the names that it knows.
pub(in crate::profile) fn resolve(
    given: &BTreeMap<&'static str, Given>,
    profile: &str,
    (paths, modes): (&[&str], &[&str]),
    problems: &mut Vec<Problem>,
) -> (Behaviour, BTreeMap<&'static str, SourceRef>) {
    let mut behaviour = Behaviour::default();
    let mut sources = BTreeMap::new();
    for Key { name, slot } in KEYS {
        let Some(own) = given.get(name) else { continue };
        // It was checked when it was read.
        let _ = slot(&mut behaviour).take(Some(&own.value));
        sources.insert(*name, own.file.lines(own.at.clone()));
        if let (Slot::Names(_, known), Setting::Names(names)) = (slot(&mut Behaviour::default()), &own.value) {
            let (what, all) = if known == Known::Paths { ("path", paths) } else { ("mode", modes) };
            for unknown in names.iter().filter(|name| !all.contains(&name.as_str())) {
                let fix = match nearest(unknown, all.iter().copied()) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => format!("name a {what} of this profile"),
                };
                problems.push(own.file.error(Fault::new(own.at.clone(), format!("unknown {what} `{unknown}`"), fix)));
            }
        }
    }
    contradictions(&behaviour, |keys, message, fix| {
        // What only a base says was told with the base.
        let own = |given: &&Given| given.file.path.split('/').next() == Some(profile);
        let own = keys.iter().filter_map(|key| given.get(key)).filter(own).max_by_key(|given| given.file.layer);
        let Some(own) = own else { return };
        problems.push(own.file.error(Fault::new(own.at.clone(), message, fix)));
    });
    (behaviour, sources)
}

/// Values that do not go together.
fn contradictions(behaviour: &Behaviour, mut tell: impl FnMut(&[&str], &str, &str)) {
    if behaviour.find_tools && !behaviour.stable_prefix {
        let fix = "set `stable_prefix = true`, or `find_tools = false`";
        tell(&["find_tools", "stable_prefix"], "`find_tools` needs `stable_prefix`", fix);
    }
    let window = &behaviour.compaction;
    let steps = [window.warn, window.start, window.emergency, window.rollover];
    if !steps.is_sorted() {
        let keys = ["compaction.warn", "compaction.start", "compaction.emergency", "compaction.rollover"];
        let message = format!("the thresholds of compaction do not rise: {steps:?}");
        tell(&keys, &message, "let warn ≤ start ≤ emergency ≤ rollover");
    }
    let shares = window.pin + window.digests + window.recent;
    if shares > 100 {
        let keys = ["compaction.pin", "compaction.digests", "compaction.recent"];
        tell(&keys, &format!("pin, digests and recent add up to {shares} %"), "let them add up to 100 at most");
    }
    if window.messages.is_some_and(|most| most <= window.keep_messages) {
        let keys = ["compaction.messages", "compaction.keep_messages"];
        let fix = "let `messages` be larger than `keep_messages`";
        tell(&keys, "compaction would be due at once and leave everything", fix);
    }
    if window.summary_tokens == 0 {
        tell(&["compaction.summary_tokens"], "a summary of no tokens says nothing", "write at least 1");
    }
}
