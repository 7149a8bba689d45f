//! A message as it is laid out: its text, and the origin of every stretch of it.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use crate::boundary;
use crate::inputs::TrustName;
use crate::source::SourceRef;

/// Where a stretch comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin<'a> {
    /// Lines of a profile's file.
    Lines(&'a SourceRef),
    /// A record or an input.
    Named(Rc<str>),
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(source) => source.fmt(f),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// A stretch of a message that comes from one place.
#[derive(Clone, Debug)]
pub(super) struct Span<'a> {
    /// The section's place in its message.
    pub(super) section: usize,
    pub(super) range: Range<usize>,
    pub(super) origin: Origin<'a>,
    pub(super) trust: TrustName,
    fenced: bool,
}

/// The text of a message as it grows, section by section.
#[derive(Debug, Default)]
pub(super) struct Layer<'a> {
    text: String,
    spans: Vec<Span<'a>>,
    /// The section that is being written, and where it starts.
    section: usize,
    start: usize,
    /// Up to where the section's end is not the profile's own white space.
    solid: usize,
    /// Whether a boundary was closed and no line break follows yet.
    closed: bool,
}

impl<'a> Layer<'a> {
    /// An empty message of so many sections.
    pub(super) fn with_room_for(sections: usize) -> Self {
        Self { text: String::with_capacity(2048), spans: Vec::with_capacity(sections), ..Self::default() }
    }

    /// What stands behind a join.
    pub(super) fn behind(join: &str) -> Self {
        Self { text: join.to_owned(), start: join.len(), ..Self::default() }
    }

    /// Ends a message that has text.
    pub(super) fn end(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.gap(text);
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn spans(&self) -> &[Span<'a>] {
        &self.spans
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Writes a section behind a join; one without text leaves nothing behind.
    pub(super) fn section(&mut self, at: usize, join: &str, write: impl FnOnce(&mut Self)) {
        let (end, spans, closed) = (self.text.len(), self.spans.len(), self.closed);
        if end > 0 {
            self.gap(join);
        }
        (self.section, self.start, self.solid) = (at, self.text.len(), self.text.len());
        write(self);
        self.trim();
        if self.text[self.start..].trim().is_empty() {
            self.text.truncate(end);
            self.spans.truncate(spans);
            self.closed = closed;
        }
    }

    /// Words of the profile. Line breaks with which a section begins or ends belong to blocks that left no text.
    pub(super) fn own(&mut self, text: &str, origin: &Origin<'a>, trust: TrustName) {
        let text = if self.text.len() == self.start { text.trim_start_matches('\n') } else { text };
        let end = self.text.len();
        self.push(text, origin, trust);
        let solid = text.trim_end_matches('\n').len();
        if solid > 0 {
            self.solid = self.text.len() - (text.len() - solid);
        } else {
            self.solid = self.solid.min(end);
        }
    }

    /// Data, which stay as they are.
    pub(super) fn data(&mut self, text: &str, origin: &Origin<'a>, trust: TrustName) {
        self.push(text, origin, trust);
        self.solid = self.text.len();
    }

    /// What stands between parts.
    pub(super) fn gap(&mut self, text: &str) {
        self.reopen(text);
        self.text.push_str(text);
    }

    /// A stranger's words inside a boundary, on lines of their own.
    pub(super) fn fenced(&mut self, texts: &[&str], join: &str, tag: &str, origin: &Origin<'a>, trust: TrustName) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        let start = self.text.len();
        self.text.push_str(&boundary::open(tag));
        for (n, text) in texts.iter().enumerate() {
            self.text.push_str(if n > 0 { join } else { "" });
            self.text.push_str(text);
        }
        self.text.push_str(&boundary::close(tag));
        let range = start..self.text.len();
        self.spans.push(Span { section: self.section, range, origin: origin.clone(), trust, fenced: true });
        self.solid = self.text.len();
        self.closed = true;
    }

    /// How many paragraphs the section has; blank lines part them, except inside a boundary or a code block.
    pub(super) fn paragraphs(&self) -> usize {
        self.borders().len() + 1
    }

    /// Keeps the first paragraphs of the section.
    pub(super) fn cut_paragraphs(&mut self, keep: usize) {
        if let Some(end) = keep.checked_sub(1).and_then(|last| self.borders().get(last).copied()) {
            self.end_at(end);
        }
    }

    fn push(&mut self, text: &str, origin: &Origin<'a>, trust: TrustName) {
        if text.is_empty() {
            return;
        }
        self.reopen(text);
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        match self.spans.last_mut() {
            Some(last) if last.section == self.section && last.range.end == start && last.origin == *origin => {
                last.range.end = end;
            }
            _ => {
                let (section, origin) = (self.section, origin.clone());
                self.spans.push(Span { section, range: start..end, origin, trust, fenced: false });
            }
        }
    }

    /// Puts a line break after a closed boundary unless what follows begins with one.
    fn reopen(&mut self, next: &str) {
        if self.closed && !next.is_empty() {
            if !next.starts_with('\n') {
                self.text.push('\n');
            }
            self.closed = false;
        }
    }

    /// Takes the line breaks away with which the profile's own words end the section.
    fn trim(&mut self) {
        let end = self.solid.max(self.start);
        let own = self.text.len() - end;
        let trimmed = self.text.trim_end_matches('\n').len().max(end);
        if own > 0 && trimmed < self.text.len() {
            self.end_at(trimmed);
        }
    }

    /// Cuts the text, and the parts with it.
    fn end_at(&mut self, end: usize) {
        self.text.truncate(end);
        while self.spans.last().is_some_and(|span| span.range.start >= end) {
            self.spans.pop();
        }
        if let Some(last) = self.spans.last_mut() {
            last.range.end = last.range.end.min(end);
            self.closed = last.fenced && last.range.end == end;
        }
        self.solid = self.solid.min(end);
    }

    /// Where paragraphs of the section end, the last one excepted.
    fn borders(&self) -> Vec<usize> {
        let mut borders = Vec::new();
        let mut code = false;
        let mut at = self.start;
        let mut border = None;
        for line in self.text[self.start..].split_inclusive('\n') {
            let blank = line.trim().is_empty();
            code ^= line.trim_start().starts_with("```");
            let inside = code || self.spans.iter().any(|span| span.fenced && span.range.contains(&at));
            if blank && !inside && at > self.start {
                border.get_or_insert(self.text[..at].trim_end_matches('\n').len());
            } else if !blank {
                borders.extend(border.take());
            }
            at += line.len();
        }
        borders
    }
}
