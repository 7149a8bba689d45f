//! One message as every protocol gets it.

use std::borrow::Cow;

use limpid_core::Role;
use limpid_core::state::{Piece, Span, in_order};
use limpid_prompt::inputs::CallInput;
use serde_json::value::RawValue;

/// One message as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct WireMessage<'a> {
    pub(crate) role: Role,
    pub(crate) text: Cow<'a, str>,
    pub(crate) calls: Cow<'a, [CallInput]>,
    pub(crate) state: Vec<WireState<'a>>,
    pub(crate) call_id: Option<Cow<'a, str>>,
    /// The tool whose result this is.
    pub(crate) tool: Option<Cow<'a, str>>,
    /// The tools whose declarations are read here.
    pub(crate) loads: Vec<Cow<'a, str>>,
    pub(crate) cache_mark: bool,
    /// Whether what is marked is to be kept for an hour.
    pub(crate) cache_hour: bool,
}

/// What the provider gets back with a message.
#[derive(Clone, Debug)]
pub(crate) struct WireState<'a> {
    pub(crate) json: &'a RawValue,
    pub(super) span: Span,
}

impl WireMessage<'_> {
    /// Texts, calls and state in the order in which they came.
    pub(crate) fn pieces(&self) -> Vec<Piece<'_, WireState<'_>>> {
        in_order(&self.text, self.calls.len(), &self.state, |state| state.span.clone())
    }
}
