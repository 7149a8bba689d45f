//! How a task stood before it was cancelled, as it is written down.

use jiff::Timestamp;
use limpid_core::TaskId;
use limpid_core::task::{Standing, TaskStatus, Trigger};
use limpid_store::Task;
use serde::{Deserialize, Serialize};

/// How a task stood. When that is not known, it was off, so that nothing runs that the owner had switched off.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Stood {
    on: bool,
    /// When it was due, in milliseconds since 1970.
    next_ms: Option<i64>,
}

impl Stood {
    /// The name of the setting that holds it.
    pub(super) fn name(id: TaskId) -> String {
        format!("task-before-cancel-{id}")
    }

    pub(super) fn of(task: &Task) -> Self {
        let next_ms = task.standing.next.map(Timestamp::as_millisecond);
        Self { on: task.standing.status == TaskStatus::Pending, next_ms }
    }

    pub(super) fn to_text(&self) -> String {
        // Plain data always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// How it stands once that is taken back; none when it would never be due again.
    pub(super) fn again(&self, trigger: &Trigger, now: Timestamp) -> Option<Standing> {
        let was = self.next_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let next = was.filter(|next| *next > now).or_else(|| trigger.first(now).filter(|next| *next > now));
        if next.is_none() && *trigger != Trigger::Heartbeat {
            return None;
        }
        let status = if self.on { TaskStatus::Pending } else { TaskStatus::Disabled };
        Some(Standing { status, next, failures: 0 })
    }
}
