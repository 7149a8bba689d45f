//! Budgets applied: groups first, then each message, then the whole prompt.

use std::sync::Arc;

use limpid_core::{Tier, UsableWindow};

use super::draft::Draft;
use super::error::{Overfull, RenderError};
use super::planned::Planned;
use crate::budget::{Give, Member, fill, shrink};
use crate::count::{FixedCounter, TokenCounter as _, WindowEstimate};
use crate::profile::{GroupBudget, Limit, Path, Unit};
use crate::prompt::{OfferedTool, PromptMessage, Size};
use crate::section::{DropOrder, Section, Stability, Subject, Trim};

/// Everything that budgets are held against.
pub(super) struct Limits<'a> {
    pub(super) path: &'a Path,
    pub(super) tier: Tier,
    pub(super) window: Option<UsableWindow>,
    pub(super) counter: &'a dyn FixedCounter,
    /// Messages of the conversation: earlier ones and those of the running turn.
    pub(super) around: [&'a [PromptMessage]; 2],
    pub(super) tools: &'a [OfferedTool],
}

/// Percent of the usable window that sections and tools may have which are the same from turn to turn. A quarter of the
/// window is kept for the reply; the rest is the conversation's.
const STANDING_PERCENT: usize = 50;

/// Percent that they may have together with the sections that change every turn.
const SECTIONS_PERCENT: usize = 62;

/// Which section of which message.
type Place = (usize, usize);

impl Limits<'_> {
    pub(super) fn apply(&self, planned: &mut [Planned<'_>]) -> Result<(), RenderError> {
        for group in self.groups(planned) {
            self.group(&group, planned)?;
        }
        for at in 0..planned.len() {
            self.message(at, planned)?;
        }
        self.whole(planned)?;
        self.share(planned)
    }

    /// The groups that bind here, in the order in which the path meets them.
    fn groups(&self, planned: &[Planned<'_>]) -> Vec<Arc<GroupBudget>> {
        let mut groups: Vec<Arc<GroupBudget>> = Vec::new();
        for message in planned {
            let binds = |group: &GroupBudget| {
                group.binds(&self.path.name) || message.spec.spliced.iter().any(|path| group.binds(path))
            };
            for draft in &message.drafts {
                let group = draft.section.budget.as_ref().filter(|group| binds(group));
                if let Some(group) = group.filter(|group| draft.units() > 0 && !groups.contains(group)) {
                    groups.push(Arc::clone(group));
                }
            }
        }
        groups
    }

    fn group(&self, group: &GroupBudget, planned: &mut [Planned<'_>]) -> Result<(), RenderError> {
        let limit = group.limit.at(self.tier, self.window);
        let unit = group.limit.unit;
        let mut places: Vec<Place> = Vec::new();
        let mut members = Vec::new();
        let mut must_stay = Vec::new();
        for (at, message) in planned.iter().enumerate() {
            for (n, draft) in message.drafts.iter().enumerate() {
                if draft.units() > 0 && draft.section.budget.as_deref() == Some(group) {
                    let (member, stays) = self.member(draft, &message.spec.join, unit);
                    must_stay.extend(stays.map(|size| draft.sized(size)));
                    places.push((at, n));
                    members.push(member);
                }
            }
        }
        let needed = must_stay.iter().map(|size| size.size).sum();
        let Some(room) = limit.checked_sub(needed) else {
            return Err(overfull(format!("budget {}", group.name), limit, unit, needed, must_stay));
        };
        let reason = format!("budget {} of {limit} {}", group.name, unit.as_str());
        for ((at, n), kept) in places.into_iter().zip(fill(room, group.overflow, &members)) {
            let draft = &mut planned[at].drafts[n];
            if draft.section.needs_entries {
                draft.keep_entries(&kept, &reason)?;
            } else if kept[0] {
                draft.keep_entries(&kept[1..], &reason)?;
            } else {
                draft.drop_out(&reason);
            }
        }
        Ok(())
    }

    /// What a section costs in a group, and what of it stays whatever the limit.
    ///
    /// A section that its entries carry pays its frame with the first of them; any other pays it as an entry of its own.
    fn member(&self, draft: &Draft<'_>, join: &str, unit: Unit) -> (Member, Option<usize>) {
        let frame = self.size(&draft.frame(join), unit);
        let entries = draft.entries().map(|(entry, list)| self.size(&[entry.text.as_str(), &list.join].concat(), unit));
        if draft.section.needs_entries {
            return (Member { overhead: frame, entries: entries.collect() }, None);
        }
        let stays = (draft.section.drop == DropOrder::Never).then_some(frame);
        let first = if stays.is_some() { 0 } else { frame };
        (Member { overhead: 0, entries: std::iter::once(first).chain(entries).collect() }, stays)
    }

    fn message(&self, at: usize, planned: &mut [Planned<'_>]) -> Result<(), RenderError> {
        let Some(budget) = &planned[at].spec.budget else { return Ok(()) };
        let unit = budget.limit.unit;
        let limit = budget.limit.at(self.tier, self.window);
        let counts = |n: usize| !budget.except.contains(&planned[at].drafts[n].section.id);
        let places: Vec<Place> = (0..planned[at].drafts.len()).filter(|n| counts(*n)).map(|n| (at, n)).collect();
        let measure = |kept: &[usize]| self.message_size(&planned[at], at, &places, kept, unit, counts);
        let what =
            format!("message {at} ({}) of path {}", limpid_core::Role::from(planned[at].spec.role), self.path.name);
        let kept = self.shrink(limit, unit, &places, planned, measure, what, Vec::new())?;
        cut(planned, &places, &kept, &format!("the message's {limit} {}", unit.as_str()))
    }

    fn whole(&self, planned: &mut [Planned<'_>]) -> Result<(), RenderError> {
        let Some(Limit { unit, .. }) = self.path.budget else { return Ok(()) };
        let limit = self.path.budget.map_or(usize::MAX, |budget| budget.at(self.tier, self.window));
        let places: Vec<Place> = planned
            .iter()
            .enumerate()
            .flat_map(|(at, message)| (0..message.drafts.len()).map(move |n| (at, n)))
            .collect();
        let past: usize = self.around.iter().copied().flatten().map(|message| self.sent_size(message, unit)).sum();
        let tools = self.tools.iter().map(|tool| self.size(&tool.declaration(), unit)).sum();
        let measure = |kept: &[usize]| {
            let sizes = planned
                .iter()
                .enumerate()
                .map(|(at, message)| self.message_size(message, at, &places, kept, unit, |_| true));
            sizes.sum::<usize>() + past + tools
        };
        let what = format!("path {}", self.path.name);
        let rest = [("history", past), ("tools", tools)];
        let rest = rest.map(|(section, size)| Size::new(section, size)).to_vec();
        let kept = self.shrink(limit, unit, &places, planned, measure, what, rest)?;
        cut(planned, &places, &kept, &format!("the path's {limit} {}", unit.as_str()))
    }

    /// Makes the sections small enough for the window to hold a conversation beside them. This is no budget: what must
    /// stay stays, and whoever sends the prompt finds out whether it fits.
    ///
    /// Sections that change every turn give way to the others and never the other way round, so that what stands before
    /// the history is the same in every turn.
    fn share(&self, planned: &mut [Planned<'_>]) -> Result<(), RenderError> {
        let Some(UsableWindow(window)) = self.window else { return Ok(()) };
        // The window's use before anything was learned of it: the same tomorrow as today.
        let counter = WindowEstimate::default();
        let tools: usize = self.tools.iter().map(|tool| counter.count(&tool.declaration())).sum();
        for (percent, turns) in [(STANDING_PERCENT, false), (SECTIONS_PERCENT, true)] {
            let limit = window as usize * percent / 100;
            let counts =
                |section: &Section| !is_conversation(section) && (turns || section.stability != Stability::Turn);
            let gives = |section: &Section| counts(section) && turns == (section.stability == Stability::Turn);
            let all =
                || planned.iter().enumerate().flat_map(|(at, message)| (0..message.drafts.len()).map(move |n| (at, n)));
            let places: Vec<Place> = all().filter(|&(at, n)| gives(planned[at].drafts[n].section)).collect();
            let measure = |kept: &[usize]| {
                let sizes = planned.iter().enumerate().map(|(at, message)| {
                    let units = |n: usize| match places.iter().position(|place| *place == (at, n)) {
                        Some(place) => kept[place],
                        None if counts(message.drafts[n].section) => message.drafts[n].units(),
                        None => 0,
                    };
                    counter.count(message.lay_units(units).text())
                });
                sizes.sum::<usize>() + tools
            };
            let options: Vec<Give> = places.iter().map(|&(at, n)| give(&planned[at].drafts[n])).collect();
            let least = || options.iter().map(Give::floor).collect();
            let kept = shrink(limit, &options, measure).unwrap_or_else(least);
            cut(planned, &places, &kept, &format!("the window's {limit} tokens"))?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one use each for a message and for the whole")]
    fn shrink(
        &self,
        limit: usize,
        unit: Unit,
        places: &[Place],
        planned: &[Planned<'_>],
        mut measure: impl FnMut(&[usize]) -> usize,
        what: String,
        rest: Vec<Size>,
    ) -> Result<Vec<usize>, RenderError> {
        let gives: Vec<Give> = places.iter().map(|&(at, n)| give(&planned[at].drafts[n])).collect();
        if let Some(kept) = shrink(limit, &gives, &mut measure) {
            return Ok(kept);
        }
        let least: Vec<usize> = gives.iter().map(Give::floor).collect();
        let sizes = places.iter().zip(&least).map(|(&(at, n), units)| {
            let draft = &planned[at].drafts[n];
            let text = planned[at].lay_units(|other| if other == n { *units } else { 0 });
            draft.sized(self.size(text.text(), unit))
        });
        let sizes = sizes.chain(rest).collect();
        Err(overfull(what, limit, unit, measure(&least), sizes))
    }

    fn message_size(
        &self,
        message: &Planned<'_>,
        at: usize,
        places: &[Place],
        kept: &[usize],
        unit: Unit,
        counts: impl Fn(usize) -> bool,
    ) -> usize {
        let units = |n: usize| {
            let place = places.iter().position(|place| *place == (at, n));
            if counts(n) { place.map_or(0, |place| kept[place]) } else { 0 }
        };
        self.size(message.lay_units(units).text(), unit)
    }

    pub(super) fn sent_size(&self, message: &PromptMessage, unit: Unit) -> usize {
        if unit == Unit::Tokens {
            return message.tokens(self.counter);
        }
        let calls = message.calls.iter().map(|call| self.size(&call.name, unit) + self.size(&call.arguments, unit));
        let state = message.state.iter().map(|state| self.size(state.json(), unit));
        self.size(&message.text, unit) + calls.chain(state).sum::<usize>()
    }

    pub(super) fn size(&self, text: &str, unit: Unit) -> usize {
        match unit {
            Unit::Tokens => self.counter.count(text),
            Unit::Chars => text.chars().count(),
            Unit::Bytes => text.len(),
        }
    }
}

/// Whether a section holds the conversation itself, which is shortened elsewhere.
fn is_conversation(section: &Section) -> bool {
    matches!(section.subject, Subject::Pin | Subject::Digests | Subject::Message)
}

fn give(draft: &Draft<'_>) -> Give {
    let section = draft.section;
    Give {
        units: draft.units(),
        trim: section.trim.is_some(),
        keep: section.keep + if section.trim == Some(Trim::Entries) { draft.base() } else { 0 },
        drop: match section.drop {
            DropOrder::Never => None,
            DropOrder::At(number) => Some(number),
        },
    }
}

fn cut(planned: &mut [Planned<'_>], places: &[Place], kept: &[usize], reason: &str) -> Result<(), RenderError> {
    for (&(at, n), units) in places.iter().zip(kept) {
        let draft = &mut planned[at].drafts[n];
        if draft.units() > 0 {
            draft.keep_units(*units, reason)?;
        }
    }
    Ok(())
}

fn overfull(what: String, limit: usize, unit: Unit, needed: usize, mut sizes: Vec<Size>) -> RenderError {
    sizes.retain(|size| size.size > 0);
    sizes.sort_by_key(|size| std::cmp::Reverse(size.size));
    RenderError::Overfull(Box::new(Overfull { what, limit, unit, needed, sizes }))
}
