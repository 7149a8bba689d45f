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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    // SUR-024
    #[test]
    fn what_is_brought_back_stands_as_it_did_and_makes_up_for_nothing() {
        let now: Timestamp = "2026-04-11T12:00:00Z".parse().unwrap();
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        let daily = Trigger::cron("0 9 * * *", "UTC").unwrap();
        let stood = |on, next: Option<&str>| Stood { on, next_ms: next.map(|next| at(next).as_millisecond()) };
        let again = |stood: &Stood, trigger: &Trigger| stood.again(trigger, now).map(|it| (it.status, it.next));
        let tomorrow = Some(at("2026-04-12T09:00:00Z"));
        let snoozed = "2026-04-20T10:00:00Z";
        assert_eq!(again(&stood(true, Some(snoozed)), &daily), Some((TaskStatus::Pending, Some(at(snoozed)))));
        let missed = stood(true, Some("2026-04-11T09:00:00Z"));
        assert_eq!(again(&missed, &daily), Some((TaskStatus::Pending, tomorrow)), "what was missed stays missed");
        assert_eq!(again(&stood(false, None), &daily), Some((TaskStatus::Disabled, tomorrow)));
        assert_eq!(again(&stood(true, None), &Trigger::Heartbeat), Some((TaskStatus::Pending, None)));
        let passed = Trigger::Once(at("2026-04-11T11:59:59Z"));
        assert_eq!(again(&stood(true, Some("2026-04-11T11:59:59Z")), &passed), None);
        // Nothing runs of which it is not known that it was on.
        for unknown in ["", "{}", "[]", "{\"on\": 5}"] {
            assert_eq!(again(&Stood::read(unknown), &daily), Some((TaskStatus::Disabled, tomorrow)), "{unknown}");
        }
        assert_eq!(Stood::read(&stood(true, Some(snoozed)).to_text()), stood(true, Some(snoozed)));
    }
}
