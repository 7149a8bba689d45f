//! What runs said beside their silence.

use limpid_services::heartbeat::HeartbeatPart;

/// What the parts have left to say once, as a mark for each: said again of the same, it is meant.
pub(super) struct LeftToSay(Vec<String>);

impl LeftToSay {
    pub(super) fn read(stored: Option<&str>) -> Self {
        Self(stored.unwrap_or_default().split_whitespace().map(str::to_owned).collect())
    }

    pub(super) fn has(&self, mark: &str) -> bool {
        self.0.iter().any(|known| known == mark)
    }

    /// The marks for the store, with another one of a part.
    pub(super) fn with(self, part: &HeartbeatPart, mark: Option<String>) -> Option<String> {
        let of_part = format!("{}:", part.name());
        let others = self.0.into_iter().filter(|known| !known.starts_with(&of_part));
        let marks: Vec<String> = others.chain(mark).collect();
        (!marks.is_empty()).then(|| marks.join(" "))
    }
}
