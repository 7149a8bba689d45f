//! A message of a path before it is laid out.

use super::draft::Draft;
use super::laid::{Layer, Span};
use crate::profile::MessageSpec;
use crate::prompt::{Part, Place, PromptMessage};

/// A message of the path's list before it is laid out.
pub(super) struct Planned<'a> {
    pub(super) spec: &'a MessageSpec,
    pub(super) drafts: Vec<Draft<'a>>,
    /// Whether the message's gate is false.
    pub(super) closed: bool,
}

impl<'a> Planned<'a> {
    /// The message as it is after every cut.
    pub(super) fn lay(&self) -> Layer<'a> {
        self.lay_units(|at| self.drafts[at].units())
    }

    /// The message; `units` says how much of each section is wanted.
    pub(super) fn lay_units(&self, units: impl Fn(usize) -> usize) -> Layer<'a> {
        let mut out = Layer::with_room_for(self.drafts.len());
        for (at, draft) in self.drafts.iter().enumerate() {
            let units = units(at);
            if units > 0 {
                out.section(at, &self.spec.join, |out| draft.write(units, out));
            }
        }
        out.end(&self.spec.end);
        out
    }

    /// The message, unless it has no text.
    pub(super) fn finish(&self, laid: Layer<'a>) -> Option<PromptMessage> {
        if laid.text().is_empty() {
            return None;
        }
        let part = |span: &Span<'_>| {
            let section = self.drafts[span.section].section;
            let text = &laid.text()[span.range.clone()];
            Part {
                section: section.id.clone(),
                origin: span.origin.to_string(),
                text: text.to_owned(),
                bytes: text.len(),
                tokens: None,
                stability: section.stability,
                trust: span.trust,
                subject: section.subject,
            }
        };
        Some(PromptMessage {
            role: self.spec.role,
            parts: laid.spans().iter().map(part).collect(),
            text: laid.into_text(),
            calls: Vec::new(),
            state: Vec::new(),
            call_id: None,
            loads: Vec::new(),
            call_tokens: None,
            cache_mark: false,
            place: Place::Path,
        })
    }
}
