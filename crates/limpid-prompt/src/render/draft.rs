//! A section of one prompt before it is laid out: what stands in it, and how far it was cut.

use std::borrow::Cow;
use std::rc::Rc;

use super::RenderError;
use super::laid::{Layer, Origin};
use super::origin;
use limpid_core::Trust;

use crate::boundary;
use crate::inputs::TrustName;
use crate::prompt::Outcome;
use crate::scope::{Frame, Record, Scope, View};
use crate::section::{EntryList, Form, Section, Take, Trim};
use crate::source::SourceRef;
use crate::template::{Gate, Name, Piece, Slot};

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
    scope: &'a Scope<'a>,
    from: Option<View<'a>>,
    lists: Vec<Vec<Entry>>,
    /// Whether each list had entries when the body was made.
    filled: Vec<bool>,
    body: Vec<Chunk<'a>>,
}

/// One entry of a list, ready to stand in a prompt.
pub(super) struct Entry {
    pub(super) text: String,
    origin: Origin<'static>,
    trust: TrustName,
    /// Whether it must stand inside a boundary; its text is harmless already.
    pub(super) foreign: bool,
}

/// One stretch of a body.
#[derive(Clone)]
pub(super) enum Chunk<'a> {
    /// What follows stands in this file.
    Source(&'a SourceRef),
    /// The profile's own words.
    Own(&'a str),
    /// Data, and the name that printed it.
    Data(Cow<'a, str>, Option<&'a Name>),
    /// A stranger's words, harmless already, with their label and origin.
    Foreign(String, TrustName, Rc<str>),
    /// The place of a list.
    List(usize),
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
                view => draft.from = Some(view),
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

    /// Writes the text without its entries, as a group's budget counts it.
    pub(super) fn write_frame(&self, out: &mut Layer<'a>) {
        self.write_body(&self.body, &vec![0; self.lists.len()], out);
    }

    /// Bytes before anything was cut; 0 when nothing was.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The text that the section has for the prompt's tier.
    pub(super) fn form(&self) -> Option<&'a Form> {
        self.section.forms.get(self.scope.tier())
    }

    fn weigh(&mut self) {
        if self.size == 0 {
            self.size = Layer::alone(self).text().len();
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
            Chunk::Data(text, _) => !text.trim().is_empty(),
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
                self.whole = Layer::alone(self).paragraphs();
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

    fn chunks(&self, filled: &[bool]) -> Result<Vec<Chunk<'a>>, RenderError> {
        let mut out = Vec::new();
        match &self.from {
            Some(view) => {
                let name = self.section.from.as_ref();
                out.extend(view.clone().into_piece(name).and_then(|piece| self.chunk(piece)));
            }
            None => {
                let Some(form) = self.form() else { return self.mode_alone() };
                out.push(Chunk::Source(&form.source));
                for piece in form.template.render(&Frame::of_body(self.scope, filled)) {
                    if let Piece::Slot(Slot::Mode) = piece {
                        out.extend(self.mode()?);
                        out.push(Chunk::Source(&form.source));
                    } else {
                        out.extend(self.chunk(piece));
                    }
                }
            }
        }
        Ok(out)
    }

    fn mode_alone(&self) -> Result<Vec<Chunk<'a>>, RenderError> {
        if self.section.is_mode() { self.mode() } else { Ok(Vec::new()) }
    }

    fn mode(&self) -> Result<Vec<Chunk<'a>>, RenderError> {
        let scope = self.scope;
        let found = scope.profile().mode(&scope.inputs().mode, scope.tier()).map_err(RenderError::UnknownMode)?;
        let Some(found) = found else { return Ok(Vec::new()) };
        let pieces = found.form.template.render(&Frame::new(scope));
        let source = std::iter::once(Chunk::Source(&found.form.source));
        Ok(source.chain(pieces.into_iter().filter_map(|piece| self.chunk(piece))).collect())
    }

    fn chunk(&self, piece: Piece<'a>) -> Option<Chunk<'a>> {
        match piece {
            Piece::Text(text) => Some(Chunk::Own(text)),
            Piece::Data(text, name) => Some(Chunk::Data(text, name)),
            Piece::Foreign(foreign, _) if foreign.is_blank() => None,
            Piece::Foreign(foreign, name) => {
                let text = boundary::neutral(foreign.raw(), self.scope.boundary());
                let origin = name.map_or_else(String::new, |name| origin::of_input(name, self.scope.inputs())).into();
                Some(Chunk::Foreign(text, foreign.trust(), origin))
            }
            Piece::Slot(Slot::List(number)) => Some(Chunk::List(number)),
            Piece::Slot(Slot::Mode) => None,
        }
    }

    fn write_body(&self, body: &[Chunk<'a>], takes: &[usize], out: &mut Layer<'a>) {
        let mut source = None;
        let mut rest = body;
        while let Some(first) = rest.first() {
            let run = rest.iter().take_while(|chunk| matches!(chunk, Chunk::Own(_) | Chunk::Data(..))).count();
            match first {
                Chunk::Own(_) | Chunk::Data(..) => self.write_run(&rest[..run], source, out),
                Chunk::Source(place) => source = Some(*place),
                Chunk::Foreign(text, trust, origin) => {
                    out.fenced(&[text], "", self.scope.boundary(), &Origin::Named(origin.clone()), *trust);
                }
                Chunk::List(number) => {
                    if let (Some(entries), Some(list)) = (self.lists.get(*number), self.section.lists.get(*number)) {
                        self.write_list(&entries[..takes[*number]], list, out);
                    }
                }
            }
            rest = &rest[run.max(1)..];
        }
    }

    /// Writes words of the profile and data among them; data that stand alone have their own origin.
    fn write_run(&self, run: &[Chunk<'a>], source: Option<&'a SourceRef>, out: &mut Layer<'a>) {
        let mut speaking = run.iter().filter(|chunk| !matches!(chunk, Chunk::Own(text) if text.trim().is_empty()));
        let alone = match (speaking.next(), speaking.next()) {
            (Some(Chunk::Data(_, Some(name))), None) => Some(*name),
            _ => None,
        };
        let (origin, trust) = match (alone, source) {
            (Some(name), _) => {
                let origin = origin::of_input(name, self.scope.inputs());
                let trust = origin::trust_of(&origin);
                (Origin::Named(origin.into()), trust)
            }
            (None, Some(source)) => (Origin::Lines(source), TrustName::File),
            (None, None) => return,
        };
        for chunk in run {
            match chunk {
                Chunk::Own(text) => out.own(text, &origin, trust),
                Chunk::Data(text, _) => out.data(text, &origin, trust),
                _ => {}
            }
        }
    }

    /// Writes entries with the list's join between them; neighbours that a stranger wrote share a boundary.
    fn write_list(&self, entries: &[Entry], list: &EntryList, out: &mut Layer<'a>) {
        let of_list = || Origin::Named(origin::of_input(&list.of, self.scope.inputs()).into());
        for (n, entries) in entries.chunk_by(|one, next| one.foreign && next.foreign).enumerate() {
            if n > 0 {
                out.gap(&list.join);
            }
            match entries {
                [entry] if !entry.foreign => out.data(&entry.text, &entry.origin, entry.trust),
                [entry] => out.fenced(&[&entry.text], "", self.scope.boundary(), &entry.origin, entry.trust),
                several => {
                    let texts: Vec<&str> = several.iter().map(|entry| entry.text.as_str()).collect();
                    let trust = several.iter().map(|entry| entry.trust).reduce(origin::join).unwrap_or_default();
                    out.fenced(&texts, &list.join, self.scope.boundary(), &of_list(), trust);
                }
            }
        }
    }
}

/// The items of a list as they stand in the prompt; an item that comes out empty is left out.
fn entries<'a>(list: &'a EntryList, scope: &'a Scope<'a>) -> Vec<Entry> {
    let View::List(items) = scope.lookup(&list.of.path) else { return Vec::new() };
    let skipped = match list.take {
        Take::Last(last) => items.len().saturating_sub(last),
        _ => 0,
    };
    let taken = match list.take {
        Take::First(first) => first,
        _ => usize::MAX,
    };
    let items = items.into_iter().skip(skipped).take(taken).enumerate();
    items.filter_map(|(n, item)| entry(list, scope, item, n + 1)).collect()
}

fn entry<'a>(list: &'a EntryList, scope: &'a Scope<'a>, item: View<'a>, n: usize) -> Option<Entry> {
    let record = Record::from(item);
    let own = record.trust();
    let origin = record.origin().unwrap_or_else(|| origin::of_input(&list.of, scope.inputs()));
    let mut text = String::new();
    // A record of a stranger's stands inside its boundary even when the profile's own words fill its blanks.
    let mut foreign = Trust::from(own).is_foreign().then_some(own);
    for piece in list.entry.render(&Frame::of_item(scope, record, n)) {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Data(piece, _) => text.push_str(&piece),
            Piece::Foreign(piece, _) => {
                foreign = Some(foreign.map_or(piece.trust(), |trust| origin::join(trust, piece.trust())));
                text.push_str(piece.raw());
            }
            Piece::Slot(_) => {}
        }
    }
    if text.trim().is_empty() {
        return None;
    }
    if foreign.is_some() {
        text = boundary::neutral(&text, scope.boundary());
    }
    let origin = Origin::Named(origin.into());
    Some(Entry { text, origin, trust: foreign.unwrap_or(own), foreign: foreign.is_some() })
}

fn is_blank(view: &View<'_>) -> bool {
    match view {
        View::Text(text) => text.trim().is_empty(),
        View::Foreign(foreign) => foreign.is_blank(),
        other => !other.is_true(),
    }
}
