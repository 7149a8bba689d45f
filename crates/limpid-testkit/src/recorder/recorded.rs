//! A request as it was recorded.

use std::time::Duration;

use serde_json::{Value, json};

use crate::wire::{SentText, Wire};

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body's bytes.
    pub body: Vec<u8>,
    /// When it had arrived, counted from the server's start.
    pub at: Duration,
}

impl Recorded {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The protocol, by the path.
    pub fn wire(&self) -> Option<Wire> {
        Wire::of(&self.path)
    }

    /// The texts of the messages in their order, whatever the protocol.
    pub fn texts(&self) -> Vec<SentText> {
        self.wire().map(|wire| wire.texts(&self.json())).unwrap_or_default()
    }

    /// The system text; several are joined by a blank line.
    pub fn system(&self) -> String {
        let system: Vec<String> =
            self.texts().into_iter().filter(|sent| sent.role == "system").map(|sent| sent.text).collect();
        system.join("\n\n")
    }

    /// The text of the last user message.
    pub fn user(&self) -> String {
        self.texts().into_iter().rfind(|sent| sent.role == "user").map(|sent| sent.text).unwrap_or_default()
    }

    /// The request as one JSON object: what `record` prints a line of.
    pub fn to_json(&self) -> Value {
        json!({
            "at_us": u64::try_from(self.at.as_micros()).unwrap_or(u64::MAX),
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "body": self.text(),
            "protocol": self.wire().map(Wire::name),
            "texts": self.texts().iter().map(|sent| json!({"role": sent.role, "text": sent.text})).collect::<Vec<_>>(),
        })
    }
}
