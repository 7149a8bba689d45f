//! Messages of the conversation, as they were sent.

use limpid_core::Trust;
use limpid_core::message::trust_of_all;

use super::tag;
use crate::boundary;
use crate::inputs::{HistoryMessage, Inputs, RoleName};
use crate::prompt::{Part, Place, PromptMessage, StatePart};
use crate::section::{Stability, Subject};

/// The section id of earlier messages.
pub(crate) const PAST: &str = "history";
/// The section id of messages of the running turn.
pub(crate) const IN_FLIGHT: &str = "in-flight";

/// The earlier messages.
pub(super) fn past(inputs: &Inputs) -> Vec<PromptMessage> {
    let message = |(n, message)| as_sent(message, inputs, Place::History, n);
    inputs.history.iter().enumerate().map(message).collect()
}

/// The messages of the running turn, which follow everything else.
pub(super) fn in_flight(inputs: &Inputs) -> Vec<PromptMessage> {
    let message = |(n, message)| as_sent(message, inputs, Place::InFlight, n);
    inputs.in_flight.iter().enumerate().map(message).collect()
}

fn as_sent(message: &HistoryMessage, inputs: &Inputs, place: Place, n: usize) -> PromptMessage {
    let (section, stability) =
        if place == Place::InFlight { (IN_FLIGHT, Stability::Turn) } else { (PAST, Stability::Session) };
    let text = text(message, inputs);
    let origin = match message.id {
        Some(id) => format!("message:{id}"),
        None => format!("input:{}.{n}", section.replace('-', "_")),
    };
    let bytes = text.len();
    let part = |text: String| Part {
        section: section.to_owned(),
        origin,
        text,
        bytes,
        tokens: None,
        stability,
        trust: trust_of_all(message.role.into(), &message.content, message.trust.into()).into(),
        subject: Subject::default(),
    };
    PromptMessage {
        role: message.role,
        parts: if text.is_empty() { Vec::new() } else { vec![part(text.clone())] },
        text,
        calls: message.calls.clone(),
        state: message.state.iter().filter(|state| inputs.model.reads(state)).map(StatePart::new).collect(),
        call_id: message.call_id.clone(),
        loads: Vec::new(),
        call_tokens: None,
        cache_mark: false,
        place,
    }
}

/// What was said, a stranger's words inside their boundary.
///
/// The model's own words need none; a report that was delivered in the place of an answer has a tag. A message that was stored with its boundary already around the stranger's part is
/// left as it was sent; nobody but the program knew the tag when it was drawn.
fn text(message: &HistoryMessage, inputs: &Inputs) -> String {
    let own = message.role == RoleName::Assistant && message.boundary.is_none();
    let foreign = Trust::from(message.trust).is_foreign() && !own;
    if !foreign || message.content.is_empty() {
        return message.content.clone();
    }
    if let Some(tag) = message.boundary.as_deref().filter(|tag| boundary::is_tag(tag)) {
        let stored = message.content.contains(&boundary::open(tag)) && message.content.contains(&boundary::close(tag));
        if stored {
            return message.content.clone();
        }
    }
    boundary::fence(&message.content, &tag::of_message(message, inputs))
}
