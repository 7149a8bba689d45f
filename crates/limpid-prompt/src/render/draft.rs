//! A section of one prompt before it is laid out: what stands in it, and how far it was cut.

use super::body::{Chunk, Entry, entries};
use super::error::RenderError;
use super::laid::Layer;
use crate::prompt::{Outcome, Size};
use crate::scope::{Frame, Scope, View};
use crate::section::{EntryList, Form, Section, Trim};
use crate::source::SourceRef;
use crate::template::Gate;

/// A section of one prompt.
pub(super) struct Draft<'a> {
    pub(super) section: &'a Section,
    pub(super) outcome: Outcome,
    pub(super) reason: Option<String>,
    /// Units that are kept; see [`Draft::units`].
    kept: usize,
    /// Entries or paragraphs before anything was cut.
    whole: usize,
    /// Bytes before anything was cut; only measured when something is.
    size: usize,
    pub(super) scope: &'a Scope<'a>,
    pub(super) from: Option<View<'a>>,
    pub(super) lists: Vec<Vec<Entry>>,
    /// Whether each list had entries when the body was made.
    filled: Vec<bool>,
    body: Vec<Chunk<'a>>,
}

impl<'a> Draft<'a> {
    /// What a section comes to, before any budget. `closed` is the gate of its message when that is false.
    pub(super) fn new(section: &'a Section, scope: &'a Scope<'a>, closed: Option<&Gate>) -> Result<Self, RenderError> {
        let mut draft = Self {
            section,
            outcome: Outcome::Included,
            reason: None,
            kept: 0,
            whole: 0,
            size: 0,
            scope,
            from: None,
            lists: Vec::new(),
            filled: Vec::new(),
            body: Vec::new(),
        };
        if let Some(gate) = closed.or(section.when.as_ref().filter(|gate| !gate.is_true(&Frame::new(scope)))) {
            draft.skip(format!("`{gate}` is false"));
            return Ok(draft);
        }
        if let Some(name) = &section.from {
            match scope.lookup(&name.path) {
                View::Absent => {}
                view if is_blank(&view) => draft.skip(format!("`{name}` is empty")),
                view => {
                    let view = section.from_filters.iter().fold(view, |view, filter| filter.apply(view));
                    draft.from = Some(view);
                }
            }
        }
        if draft.outcome == Outcome::Included {
            draft.lists = section.lists.iter().map(|list| entries(list, scope)).collect();
            draft.build()?;
        }
        Ok(draft)
    }

    /// How many units are kept: entries (and one for a body that stands without them), paragraphs, or 1 for the whole.
    pub(super) fn units(&self) -> usize {
        if matches!(self.outcome, Outcome::Included | Outcome::Trimmed) { self.kept } else { 0 }
    }

    /// How many units stand for the text without its entries.
    pub(super) fn base(&self) -> usize {
        usize::from(self.section.trim == Some(Trim::Entries) && !self.section.needs_entries)
    }

    /// The entries that are kept, over every list.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Entry, &'a EntryList)> {
        let lists = self.lists.iter().zip(&self.section.lists);
        lists.flat_map(|(entries, list)| entries.iter().map(move |entry| (entry, list)))
    }

    /// Where each entry comes from that is in the prompt for certain: none of a text that was cut by paragraphs.
    pub(super) fn origins(&self) -> Vec<String> {
        let whole = self.outcome == Outcome::Included;
        let by_entries = self.outcome == Outcome::Trimmed && self.section.trim != Some(Trim::Paragraphs);
        if !whole && !by_entries {
            return Vec::new();
        }
        self.entries().map(|(entry, _)| entry.origin.to_string()).collect()
    }

    /// Entries or paragraphs that are kept and that were cut; none for a text without any.
    pub(super) fn counts(&self) -> Option<(usize, usize)> {
        if self.section.lists.is_empty() && self.section.trim.is_none() || self.outcome == Outcome::Skipped {
            return None;
        }
        let kept = match (self.outcome, self.section.trim) {
            (Outcome::Dropped, _) => 0,
            (_, Some(Trim::Paragraphs)) => self.kept,
            (_, Some(Trim::Entries)) => self.kept - self.base(),
            (_, None) => self.entries().count(),
        };
        Some((kept, self.whole - kept))
    }

    /// Keeps only the entries that a group's budget has room for.
    pub(super) fn keep_entries(&mut self, kept: &[bool], reason: &str) -> Result<(), RenderError> {
        if kept.iter().all(|kept| *kept) {
            return Ok(());
        }
        self.weigh();
        let mut kept = kept.iter();
        for list in &mut self.lists {
            list.retain(|_| kept.next().copied().unwrap_or(true));
        }
        self.outcome = Outcome::Trimmed;
        self.reason = Some(reason.to_owned());
        if self.section.needs_entries && self.entries().next().is_none() {
            self.drop_out(reason);
            return Ok(());
        }
        self.refill()
    }

    /// Keeps only so many units.
    pub(super) fn keep_units(&mut self, units: usize, reason: &str) -> Result<(), RenderError> {
        if units >= self.kept {
            return Ok(());
        }
        if units == 0 {
            self.drop_out(reason);
            return Ok(());
        }
        self.weigh();
        self.kept = units;
        self.outcome = Outcome::Trimmed;
        self.reason = Some(reason.to_owned());
        if self.section.trim == Some(Trim::Entries) {
            let mut left = units - self.base();
            for list in &mut self.lists {
                list.truncate(left);
                left -= list.len();
            }
            return self.refill();
        }
        Ok(())
    }

    /// Takes the whole section out.
    pub(super) fn drop_out(&mut self, reason: &str) {
        self.weigh();
        self.outcome = Outcome::Dropped;
        self.reason = Some(reason.to_owned());
    }

    /// Writes the text with only so many units.
    pub(super) fn write(&self, units: usize, out: &mut Layer<'a>) {
        let mut left = if self.section.trim == Some(Trim::Entries) { units - self.base() } else { usize::MAX };
        let take = |list: &Vec<Entry>| {
            let take = list.len().min(left);
            left -= take;
            take
        };
        let takes: Vec<usize> = self.lists.iter().map(take).collect();
        if takes.iter().zip(&self.filled).all(|(take, filled)| (*take > 0) == *filled) {
            self.write_body(&self.body, &takes, out);
        } else {
            // The body may say something else when a list is empty.
            let filled: Vec<bool> = takes.iter().map(|take| *take > 0).collect();
            self.write_body(&self.chunks(&filled).unwrap_or_default(), &takes, out);
        }
        if self.section.trim == Some(Trim::Paragraphs) {
            out.cut_paragraphs(units);
        }
    }

    /// The section for itself.
    pub(super) fn alone(&self) -> Layer<'a> {
        let mut out = Layer::default();
        out.section(0, "", |out| self.write(usize::MAX, out));
        out
    }

    /// What a group's budget counts of the section besides its entries: the join before it, and its text without them.
    pub(super) fn frame(&self, join: &str) -> String {
        let mut out = Layer::behind(join);
        self.write_body(&self.body, &vec![0; self.lists.len()], &mut out);
        out.into_text()
    }

    /// How much of it there is, for whoever must say what is too large.
    pub(super) fn sized(&self, size: usize) -> Size {
        Size { source: self.source().cloned(), ..Size::new(&self.section.id, size) }
    }

    /// Bytes before anything was cut; 0 when nothing was.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The text that the section has for the prompt's tier.
    pub(super) fn form(&self) -> Option<&'a Form> {
        self.section.forms.get(self.scope.tier())
    }

    /// The file that its text stands in: the mode's where it prints the mode's template; none where an input takes the
    /// place of the text.
    pub(super) fn source(&self) -> Option<&'a SourceRef> {
        let sources = self.body.iter().filter_map(|chunk| match chunk {
            Chunk::Source(source) => Some(*source),
            _ => None,
        });
        if self.from.is_some() {
            return None;
        }
        let own = self.form().map(|form| &form.source);
        sources.rev().find(|source| Some(*source) != own).or(own)
    }

    fn weigh(&mut self) {
        if self.size == 0 {
            self.size = self.alone().text().len();
        }
    }

    fn skip(&mut self, reason: String) {
        self.outcome = Outcome::Skipped;
        self.reason = Some(reason);
    }

    fn build(&mut self) -> Result<(), RenderError> {
        let entries = self.entries().count();
        if self.section.needs_entries && entries == 0 && self.from.is_none() {
            let names: Vec<String> = self.section.lists.iter().map(|list| format!("`{}`", list.of)).collect();
            self.skip(format!("{} is empty", names.join(" and ")));
            return Ok(());
        }
        self.refill()?;
        let has_text = self.body.iter().any(|chunk| match chunk {
            Chunk::Own(text) => !text.trim().is_empty(),
            Chunk::Data(text, _) => !text.as_str().trim().is_empty(),
            Chunk::Foreign(..) => true,
            Chunk::List(number) => self.filled.get(*number).copied().unwrap_or(false),
            Chunk::Source(_) => false,
        });
        if !has_text {
            self.skip("it has no text".to_owned());
            return Ok(());
        }
        match self.section.trim {
            None => (self.whole, self.kept) = (entries, 1),
            Some(Trim::Entries) => self.whole = entries,
            Some(Trim::Paragraphs) => {
                self.whole = self.alone().paragraphs();
                self.kept = self.whole;
            }
        }
        Ok(())
    }

    /// Makes the body anew for the lists as they are.
    fn refill(&mut self) -> Result<(), RenderError> {
        self.filled = self.lists.iter().map(|list| !list.is_empty()).collect();
        self.body = self.chunks(&self.filled)?;
        if self.section.trim == Some(Trim::Entries) {
            self.kept = self.entries().count() + self.base();
        }
        Ok(())
    }
}

fn is_blank(view: &View<'_>) -> bool {
    match view {
        View::Text(text) => text.as_str().trim().is_empty(),
        View::Foreign(foreign) => foreign.is_blank(),
        other => !other.is_true(),
    }
}
