//! What was accepted beside what is stored and done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::outside::Outside;
use super::record::Record;

/// What a call, a draft or a task says of which nobody knows whether it was carried out.
const UNKNOWN: &str = "outcome unknown";

/// The kinds of things, as the process tells them.
pub(super) const KINDS: [&str; 10] =
    ["message", "draft", "reminder", "repeated", "task", "command", "mail", "item", "heartbeat", "push"];

/// Counts by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// Things that were accepted.
    pub(super) accepted: BTreeMap<&'static str, u64>,
    /// Neither done nor reported as of unknown outcome.
    pub(super) lost: BTreeMap<&'static str, u64>,
    /// Done more than once.
    pub(super) doubled: BTreeMap<&'static str, u64>,
    /// Reported as of unknown outcome, and done at most once.
    pub(super) unknown: BTreeMap<&'static str, u64>,
    /// What was lost or doubled, by name.
    pub(super) found: Vec<String>,
}

/// What became of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Once,
    Lost,
    Doubled,
    Unknown,
}

/// Compares what was told with what is there.
pub(super) fn compare(home: &Path, outside: &Outside, told: &[String]) -> Result<Sums, String> {
    let done = Done { record: Record::read(home)?, letters: outside.letters() };
    let mut sums = Sums::default();
    for map in [&mut sums.accepted, &mut sums.lost, &mut sums.doubled, &mut sums.unknown] {
        map.extend(KINDS.map(|kind| (kind, 0)));
    }
    // A draft is told again when the process dies before it is approved; what is stored was accepted, told or not.
    let told = told.iter().chain(&done.record.stored).map(String::as_str);
    for line in told.collect::<BTreeSet<_>>() {
        let Some((word, key)) = line.split_once(' ') else { return Err(format!("an odd line: {line}")) };
        let Some(kind) = KINDS.into_iter().find(|kind| *kind == word) else {
            return Err(format!("an odd line: {line}"));
        };
        let fate = match kind {
            "message" => done.message(key),
            "draft" => done.draft(key),
            "reminder" => done.reminder(key),
            "task" => done.task(key),
            "command" => done.command(key),
            _ => done.came_in(key),
        };
        sums.count(kind, fate, || line.to_owned());
    }
    for (at, report) in done.record.reports.iter().enumerate() {
        sums.count("heartbeat", done.delivered(report), || format!("heartbeat {at}: {report}"));
    }
    for (key, turns) in &done.record.repeated {
        sums.count("repeated", fate(*turns, false), || format!("repeated {key}"));
    }
    let pushes = outside.pushes();
    for (body, delivered) in &done.record.shown {
        let pushed = pushes.get(body).copied().unwrap_or_default();
        for nth in 0..*delivered {
            // Those that say the same are told apart by their number alone.
            let once = if nth + 1 == *delivered { pushed.saturating_sub(nth) } else { u64::from(nth < pushed) };
            let unknown = done.record.unknown_pushes.get(body).copied().unwrap_or_default();
            sums.count("push", fate(once, nth >= pushed && nth - pushed < unknown), || format!("push {body}"));
        }
    }
    Ok(sums)
}

impl Sums {
    fn count(&mut self, kind: &'static str, fate: Fate, name: impl Fn() -> String) {
        let one = |map: &mut BTreeMap<&'static str, u64>| *map.entry(kind).or_default() += 1;
        one(&mut self.accepted);
        match fate {
            Fate::Once => {}
            Fate::Unknown => one(&mut self.unknown),
            Fate::Lost => {
                one(&mut self.lost);
                self.found.push(format!("lost: {}", name()));
            }
            Fate::Doubled => {
                one(&mut self.doubled);
                self.found.push(format!("doubled: {}", name()));
            }
        }
    }
}

/// Everything that is stored and done.
struct Done {
    record: Record,
    letters: BTreeMap<String, u64>,
}

impl Done {
    /// A message stands in its chat once and its turn has ended; its tool ran once, or the model was told that nobody
    /// knows; its letter became one draft, unless there was no room for one.
    fn message(&self, key: &str) -> Fate {
        match self.record.asked.get(key).map_or(&[][..], Vec::as_slice) {
            [] => return Fate::Lost,
            [turn] if self.record.answered.contains(turn) => {}
            [_] => return Fate::Lost,
            _ => return Fate::Doubled,
        }
        if key.starts_with('d') {
            let is_kept = self.record.result(&format!("call-compose_email-{key}")).contains("kept as draft");
            let drafts = self.record.drafts.get(key).map_or(0, Vec::len) as u64;
            return if is_kept || drafts > 0 { fate(drafts, false) } else { Fate::Once };
        }
        self.noted(key)
    }

    fn noted(&self, key: &str) -> Fate {
        let is_unknown = self.record.result(&format!("call-note-{key}")).contains(UNKNOWN);
        fate(self.effects(key), is_unknown)
    }

    /// A draft is one, and its letter arrived once or nobody knows.
    fn draft(&self, key: &str) -> Fate {
        let [(state, detail)] = self.record.drafts.get(key).map_or(&[][..], Vec::as_slice) else { return Fate::Lost };
        let letters = self.letters.get(&format!("{key}@example.com")).copied().unwrap_or_default();
        fate(letters, state == "failed" && detail.contains(UNKNOWN))
    }

    /// A reminder is delivered once, or its owner was told once that it is too late for it.
    fn reminder(&self, key: &str) -> Fate {
        fate(self.told(key) + self.told_beginning(&format!("**{key}**\n\nThis was due at ")), false)
    }

    /// A task that a model carried out is reported once, and its tool ran once or nobody knows.
    fn task(&self, key: &str) -> Fate {
        both(self.delivered(&format!("**{key}**\n\nIt is done.")), self.noted(key))
    }

    /// A command ran once, or its owner was told that nobody knows.
    fn command(&self, key: &str) -> Fate {
        let told =
            self.told_beginning(&format!("**{key}**\n\nThis was cut off while it ran, and its outcome is unknown."));
        if told > 1 { Fate::Doubled } else { fate(self.effects(key), told == 1) }
    }

    /// What came in is kept once and reported once.
    fn came_in(&self, key: &str) -> Fate {
        let kept = self.record.items.get(key).copied().unwrap_or_default();
        let told = self.record.told.get(key).copied().unwrap_or_default();
        both(fate(kept, false), fate(told, false))
    }

    fn delivered(&self, text: &str) -> Fate {
        fate(self.told(text), false)
    }

    /// How often a text was delivered.
    fn told(&self, text: &str) -> u64 {
        self.record.delivered.get(text).copied().unwrap_or_default()
    }

    /// How often a text was delivered that begins like this.
    fn told_beginning(&self, beginning: &str) -> u64 {
        let later = self.record.delivered.range(beginning.to_owned()..);
        later.take_while(|(text, _)| text.starts_with(beginning)).map(|(_, times)| times).sum()
    }

    fn effects(&self, key: &str) -> u64 {
        self.record.effects.get(key).copied().unwrap_or_default()
    }
}

/// What became of something that two fates are parts of.
fn both(one: Fate, other: Fate) -> Fate {
    let parts = [one, other];
    let worst = [Fate::Lost, Fate::Doubled, Fate::Unknown];
    worst.into_iter().find(|fate| parts.contains(fate)).unwrap_or(Fate::Once)
}

fn fate(times: u64, is_reported: bool) -> Fate {
    match (times, is_reported) {
        (2.., _) => Fate::Doubled,
        (_, true) => Fate::Unknown,
        (1, false) => Fate::Once,
        (0, false) => Fate::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-040
    #[test]
    fn the_worse_part_is_the_fate_of_the_whole() {
        assert_eq!(both(Fate::Once, Fate::Once), Fate::Once);
        assert_eq!(both(Fate::Unknown, Fate::Lost), Fate::Lost);
        assert_eq!(both(Fate::Once, Fate::Doubled), Fate::Doubled);
        assert_eq!(
            [fate(0, false), fate(0, true), fate(1, true), fate(2, true)],
            [Fate::Lost, Fate::Unknown, Fate::Unknown, Fate::Doubled]
        );
    }
}
