//! Who asks for a task, when and where.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::{ConversationId, Trust, zone};
use limpid_store::{NewTask, Task};

use crate::host::Host;

/// Who asks, when and where.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    /// The zone of times that name none.
    pub(crate) zone: TimeZone,
    /// The time.
    pub(crate) now: Timestamp,
    /// Who wrote the least trusted text that led to the request.
    pub(crate) trust: Trust,
    /// Whether it is in the owner's own words.
    pub(crate) typed: bool,
    /// The only conversation whose tasks may be seen and changed; none: all may be.
    pub(crate) only: Option<ConversationId>,
}

impl Requester {
    /// The owner, asking at this moment.
    pub(crate) fn owner(host: &Host) -> Self {
        Self { zone: host.zone(), now: host.now(), trust: Trust::Owner, typed: true, only: None }
    }

    pub(super) fn may_see(&self, task: &Task) -> bool {
        self.only.is_none() || self.only == task.new.conversation
    }
}

/// The name of a zone; one without a name counts as UTC, as in prompts.
pub(crate) fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

/// The zone of a task.
pub fn zone_of(new: &NewTask) -> TimeZone {
    zone::stored(&new.zone).unwrap_or(TimeZone::UTC)
}
