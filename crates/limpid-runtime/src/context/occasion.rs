//! What a prompt is made for.

use jiff::Timestamp;
use limpid_core::{Entry, Trust};
use limpid_model::ModelCard;
use limpid_store::Conversation;

use crate::context::window_state::WindowState;

/// What a prompt is for.
#[derive(Clone, Copy)]
pub struct Occasion<'a> {
    pub(crate) conversation: Option<&'a Conversation>,
    pub(crate) profile: &'a str,
    pub(crate) path: Option<&'a str>,
    pub(crate) mode: &'a str,
    /// The model, with the window that it has.
    pub(crate) card: &'a ModelCard,
    /// Tier and window of the conversation, before this prompt.
    pub(crate) window: &'a WindowState,
    /// The newest message, as it was typed.
    pub(crate) text: &'a str,
    pub(crate) trust: Trust,
    /// The tag around the newest message, where one was made for it.
    pub(crate) boundary: Option<&'a str>,
    /// Messages before the newest that are answered with it.
    pub(crate) unanswered: &'a [Entry],
    /// When the turn began: the one reading of the clock.
    pub(crate) now: Timestamp,
    pub(crate) fit: Fit,
}

/// Whether a prompt is only measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// What there is, at whatever size.
    AsIs,
    /// What would be sent.
    ToWindow,
}
