//! What stands in a section, and how it is written down.

use std::cell::OnceCell;
use std::rc::Rc;

use super::draft::Draft;
use super::error::RenderError;
use super::laid::{Layer, Origin};
use super::origin;
use crate::boundary;
use crate::evaluate::{self, Piece};
use crate::inputs::TrustName;
use crate::scope::{Frame, Plain, Record, Scope, View};
use crate::section::{EntryList, Take};
use crate::source::SourceRef;
use crate::template::{Name, Slot};

/// One entry of a list, ready to stand in a prompt.
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) origin: Origin<'static>,
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
    Data(Plain<'a>, Option<&'a Name>),
    /// A stranger's words, harmless already, with their label and origin.
    Foreign(String, TrustName, Rc<str>),
    /// The place of a list.
    List(usize),
}

impl<'a> Draft<'a> {
    /// The body for lists of which so many have entries.
    pub(super) fn chunks(&self, filled: &[bool]) -> Result<Vec<Chunk<'a>>, RenderError> {
        let mut out = Vec::new();
        match &self.from {
            Some(view) => {
                let name = self.section.from.as_ref();
                out.extend(evaluate::piece(view.clone(), name).and_then(|piece| self.chunk(piece)));
            }
            None => {
                let Some(form) = self.form() else { return self.mode_alone() };
                let pieces = form.template.render(&Frame::of_body(self.scope, filled));
                out.reserve_exact(pieces.len() + 1);
                out.push(Chunk::Source(&form.source));
                for piece in pieces {
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
        let mut chunks = Vec::with_capacity(pieces.len() + 1);
        chunks.push(Chunk::Source(&found.form.source));
        chunks.extend(pieces.into_iter().filter_map(|piece| self.chunk(piece)));
        Ok(chunks)
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

    /// Writes a body with so many entries of each list.
    pub(super) fn write_body(&self, body: &[Chunk<'a>], takes: &[usize], out: &mut Layer<'a>) {
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
            (Some(Chunk::Data(text, Some(name))), None) => Some((*name, text.trust())),
            _ => None,
        };
        let (origin, trust) = match (alone, source) {
            (Some((name, trust)), _) => (Origin::Named(origin::of_input(name, self.scope.inputs()).into()), trust),
            (None, Some(source)) => (Origin::Lines(source), TrustName::File),
            (None, None) => return,
        };
        for chunk in run {
            match chunk {
                Chunk::Own(text) => out.own(text, &origin, trust),
                Chunk::Data(text, _) => out.data(text.as_str(), &origin, trust),
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
                    let trust = several.iter().map(|entry| entry.trust).fold(TrustName::File, TrustName::join);
                    out.fenced(&texts, &list.join, self.scope.boundary(), &of_list(), trust);
                }
            }
        }
    }
}

/// The items of a list as they stand in the prompt; an item that comes out empty is left out.
pub(super) fn entries<'a>(list: &'a EntryList, scope: &'a Scope<'a>) -> Vec<Entry> {
    let View::List(items) = scope.lookup(&list.of.path) else { return Vec::new() };
    let skipped = match list.take {
        Take::Last(last) => items.len().saturating_sub(last),
        _ => 0,
    };
    let taken = match list.take {
        Take::First(first) => first,
        _ => usize::MAX,
    };
    let of_list: OnceCell<Rc<str>> = OnceCell::new();
    let of_list = || of_list.get_or_init(|| origin::of_input(&list.of, scope.inputs()).into()).clone();
    let mut entries = Vec::with_capacity(items.len().saturating_sub(skipped).min(taken));
    let items = items.into_iter().skip(skipped).take(taken).enumerate();
    entries.extend(items.filter_map(|(n, item)| entry(list, scope, item, n + 1, of_list)));
    entries
}

/// One item; `of_list` is where it comes from when it does not say so itself.
fn entry<'a>(
    list: &'a EntryList,
    scope: &'a Scope<'a>,
    item: View<'a>,
    n: usize,
    of_list: impl Fn() -> Rc<str>,
) -> Option<Entry> {
    let record = Record::from(item);
    let n = record.step_number(scope).unwrap_or(n);
    let own = record.trust();
    let origin = record.origin().map_or_else(of_list, Rc::from);
    let mut text = String::new();
    // A record of a stranger's stands inside its boundary even when the profile's own words fill its blanks.
    let mut foreign = own.is_foreign().then_some(own);
    for piece in list.entry.render(&Frame::of_item(scope, record, n)) {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Data(piece, _) => text.push_str(piece.as_str()),
            Piece::Foreign(piece, _) => {
                foreign = Some(foreign.map_or(piece.trust(), |trust| trust.join(piece.trust())));
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
    let origin = Origin::Named(origin);
    Some(Entry { text, origin, trust: foreign.unwrap_or(own), foreign: foreign.is_some() })
}
