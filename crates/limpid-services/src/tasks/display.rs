//! Tasks and their times as people say them.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use limpid_core::task::{TaskStatus, Trigger};
use limpid_store::Task;

use crate::tasks::requester::{zone_name, zone_of};

/// A moment as somebody says it who knows what day it is: `today 09:00`, `tomorrow 09:00`, `Mon 23 Nov 09:00`.
pub fn time_words(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let day = |days: i64| now.date().checked_add(jiff::Span::new().days(days)).ok();
    let date = Some(at.date());
    let words = |form: &str| at.strftime(form).to_string();
    if date == day(0) {
        words("today %H:%M")
    } else if date == day(1) {
        words("tomorrow %H:%M")
    } else if date == day(-1) {
        words("yesterday %H:%M")
    } else if is_near(&at, &now) {
        words("%a %-d %b %H:%M")
    } else {
        words("%a %-d %b %Y %H:%M")
    }
}

/// What makes a task run, in words.
pub fn trigger_words(trigger: &Trigger, now: Timestamp, zone: &TimeZone) -> String {
    match trigger {
        Trigger::Once(at) => format!("once, {}", time_words(*at, now, zone)),
        Trigger::Every { period, .. } => format!("every {}", span_words(period.as_secs())),
        Trigger::Cron { pattern, .. } => {
            pattern.words().unwrap_or_else(|| format!("at the times of the cron pattern {pattern}"))
        }
        Trigger::Heartbeat => "at every heartbeat".to_owned(),
    }
}

/// The same in words that do not change while time passes: a question about a task stands for hours, and a yes is bound to them.
pub(crate) fn lasting_words(trigger: &Trigger, zone: &str, own: &TimeZone) -> String {
    let words = match trigger {
        Trigger::Once(at) => at.to_zoned(own.clone()).strftime("once, on %a %-d %b %Y at %H:%M").to_string(),
        other => trigger_words(other, Timestamp::UNIX_EPOCH, own),
    };
    // By whose clock goes without saying only where nobody wonders which one the machine has.
    match trigger {
        Trigger::Once(_) => format!("{words} ({})", zone_name(own)),
        Trigger::Cron { .. } => format!("{words} ({zone})"),
        Trigger::Every { .. } | Trigger::Heartbeat => words,
    }
}

/// What makes a task run, by the owner's clock; a pattern goes by the clock of the task's zone, which is named when it is
/// another one.
pub fn when_words(task: &Task, now: Timestamp, own: &TimeZone) -> String {
    on_clock(trigger_words(&task.new.trigger, now, own), &task.new.trigger, &task.new.zone, own)
}

/// Names the zone whose clock a pattern goes by, where it is not the owner's.
fn on_clock(words: String, trigger: &Trigger, zone: &str, own: &TimeZone) -> String {
    let other = matches!(trigger, Trigger::Cron { zone, .. } if zone != own);
    if other { format!("{words} ({zone})") } else { words }
}

/// A time by the owner's clock, and behind it by that of the task's zone when it shows another time.
pub fn on_both_clocks(task: &Task, at: Timestamp, now: Timestamp, own: &TimeZone) -> String {
    let words = time_words(at, now, own);
    let there = at.to_zoned(zone_of(&task.new));
    if there.offset() == own.to_offset(at) {
        return words;
    }
    format!("{words} ({} {})", there.strftime("%H:%M"), task.new.zone)
}

/// The next times of a task that waits: what is set, then what follows by itself.
pub fn next_times(task: &Task, now: Timestamp, most: usize) -> Vec<Timestamp> {
    if task.standing.status != TaskStatus::Pending {
        return Vec::new();
    }
    let Some(next) = task.standing.next else { return Vec::new() };
    std::iter::successors(Some(next), |at| task.new.trigger.next_after((*at).max(now))).take(most).collect()
}

/// How a task stands, and how often it failed in a row.
pub fn status_words(task: &Task) -> String {
    match task.standing.failures {
        0 => task.standing.status.to_string(),
        1 => format!("{}, failed once", task.standing.status),
        failures => format!("{}, failed {failures} times in a row", task.standing.status),
    }
}

/// A number of seconds in the largest unit that it is a whole number of, as it stands behind "every".
pub fn span_words(seconds: i64) -> String {
    match in_units(seconds) {
        (1, unit) => unit.to_owned(),
        _ => count_words(seconds),
    }
}

/// The same with its number, as it stands before "after": `1 hour`, `90 minutes`.
pub(crate) fn count_words(seconds: i64) -> String {
    let (count, unit) = in_units(seconds);
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

fn in_units(seconds: i64) -> (i64, &'static str) {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(length, _)| seconds % length == 0);
    let (length, name) = unit.unwrap_or((1, "second"));
    (seconds / length, name)
}

/// Whether the year goes without saying.
fn is_near(at: &Zoned, now: &Zoned) -> bool {
    at.timestamp().duration_since(now.timestamp()).as_hours().abs() < 24 * 300
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        let zone = limpid_core::zone::named("Europe/Berlin").unwrap();
        let now: Timestamp = "2026-11-21T22:30:00Z".parse().unwrap();
        let told = [
            "2026-11-21T22:45:00Z",
            "2026-11-21T23:15:00Z",
            "2026-11-20T12:00:00Z",
            "2026-11-30T08:00:00Z",
            "2027-11-21T08:00:00Z",
        ]
        .map(|at| time_words(at.parse().unwrap(), now, &zone));
        let wanted = ["today 23:45", "tomorrow 00:15", "yesterday 13:00", "Mon 30 Nov 09:00", "Sun 21 Nov 2027 09:00"];
        assert_eq!(told, wanted);
        let every = [60, 90, 7_200, 86_400, 172_800]
            .map(|seconds| trigger_words(&Trigger::every_seconds(seconds, now).unwrap(), now, &zone));
        assert_eq!(every, ["every minute", "every 90 seconds", "every 2 hours", "every day", "every 2 days"]);
    }
}
