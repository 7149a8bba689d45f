//! A window that is rolled over: the request that began the work, one note, and the newest turns stay.

use limpid_core::{Digest, DigestLevel, Entry, Labelled, WindowView};

use super::compaction::{of_entries, trust_of};
use super::pinned::pin;
use super::task::{Ask, Task};
use super::turns::{cut, sizes};
use super::{Count, mechanical, quote, room, shown};

/// Tokens that the note may have however little room there is.
const LEAST: usize = 20;

/// Where the note comes from that a rollover leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note<'a> {
    /// A model has written it; the label is that of everything that was sent for it.
    Written(&'a Labelled<String>),
    /// It is made without a model.
    Mechanical,
}

/// What a rollover takes out, and what it leaves.
pub(super) struct Rollover {
    /// The messages that leave, as they were typed.
    leaving: Vec<Entry>,
    kept: Vec<Entry>,
    /// What digests say so far.
    known: Option<Labelled<String>>,
    /// Tokens that the note may have.
    cap: usize,
}

impl Rollover {
    /// The last `running` messages belong to the running turn and stay.
    pub(super) fn of(task: &Task, running: usize, count: Count<'_>) -> Self {
        let Task { entries, budget, view, typed, .. } = task;
        let past = &entries[..entries.len().saturating_sub(running)];
        let visible: Vec<Entry> = past.iter().filter(|entry| view.shows(entry.id)).cloned().collect();
        let shown = shown::shown(view, &visible);
        let mut at = cut(&shown, budget.recent, 0, count);
        if running > 0 && at == 0 && sizes(&shown, count) > budget.recent {
            at = visible.len();
        }
        let known: Vec<&str> = view.digests.iter().map(|digest| digest.text.as_str()).collect();
        Self {
            leaving: visible[..at].iter().map(|entry| quote::as_typed(entry, typed)).collect(),
            kept: visible[at..].to_vec(),
            known: (!known.is_empty()).then(|| Labelled::new(known.join("\n"), trust_of(&view.digests))),
            cap: budget.digests.max(LEAST),
        }
    }

    /// The question for the note, and the tokens of what it stands for; none when nothing leaves.
    pub(super) fn ask(&self, task: &Task, count: Count<'_>) -> Option<(Ask, usize)> {
        if self.leaving.is_empty() {
            return None;
        }
        let known = self.known.as_ref().map_or(0, |text| count(text.value()));
        let source = sizes(&self.leaving, count) + known;
        let cap = self.cap.min(DigestLevel::Full.max_tokens()).min(source * 9 / 10);
        let messages = quote::messages(&self.leaving, task.budget.request.saturating_sub(known), usize::MAX, count);
        Some((Ask::Snapshot { existing: self.known.clone(), messages, cap }, source))
    }

    /// What is shown afterwards.
    pub(super) fn view(&self, task: &Task, note: Note<'_>, count: Count<'_>) -> WindowView {
        let Task { budget, view: old, .. } = task;
        let mut view = old.clone();
        if let Some((first, last)) = self.leaving.first().zip(self.leaving.last()) {
            let stands_for = of_entries(&self.leaving).join(trust_of(&old.digests));
            let (text, trust) = match note {
                Note::Written(note) => (shown::shorten(note.value(), self.cap, count), note.trust().join(stands_for)),
                Note::Mechanical => {
                    let known = self.known.as_ref().map(|text| text.value().as_str());
                    (mechanical::digest(known, &self.leaving, self.cap, count), stands_for)
                }
            };
            view.compactions += 1;
            view.through = Some(last.id);
            view.digests = vec![Digest {
                level: DigestLevel::Merged,
                first: old.digests.first().map_or(first.id, |digest| digest.first),
                last: last.id,
                tokens: count(&text) as u32,
                compaction: view.compactions,
                text,
                trust,
            }];
            view.pin = pin(task, view.through, count);
        }
        // Both may have been made for a larger window.
        if let Some(pin) = &mut view.pin {
            pin.text = shown::shorten(&pin.text, budget.pin, count);
        }
        room::fit_digests(&mut view.digests, budget.digests, count);
        view.shortened = room::shorten_kept(&view, &self.kept, budget, count).or(view.shortened);
        view
    }
}
