//! What all strict providers look at and answer with.

use serde_json::Value;

/// An answer that was given, and the request that it was given to.
pub(super) struct Issued {
    pub(super) content: Vec<Value>,
    pub(super) request: Value,
}

/// A status and what is said about it.
pub(super) type Refusal = (u16, String);

/// Events of a stream.
pub(super) fn events(events: impl IntoIterator<Item = Value>) -> String {
    events.into_iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// The items of a list, which may be absent.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}
