//! The time, by its parts.

use super::view::View;
use crate::inputs::TimeInfo;

/// Parts of the local time as they stand in `2026-04-11T02:00:05+02:00`; absent where the text is shaped differently.
pub(super) fn time<'a>(time: &'a TimeInfo, field: &str) -> View<'a> {
    let local = time.local.as_str();
    match field {
        "local" => View::file(local),
        "zone" => View::file(&time.zone),
        "utc" => View::file(&time.utc),
        "date" => View::optional_file(local.get(..10).filter(is_numeric)),
        "minute" => View::optional_file(local.get(11..16).filter(is_numeric)),
        "second" => View::optional_file(local.get(11..19).filter(is_numeric)),
        "offset" => View::optional_file(offset(local)),
        "weekday" => View::optional_file(local.get(..10).and_then(weekday)),
        _ => View::Absent,
    }
}

fn is_numeric(part: &&str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit() || b"-:".contains(&byte))
}

fn offset(local: &str) -> Option<&str> {
    let tail = local.get(19..)?;
    if tail.ends_with(['Z', 'z']) {
        return Some("+00:00");
    }
    tail.find(['+', '-']).and_then(|at| tail.get(at..))
}

fn weekday(date: &str) -> Option<&'static str> {
    const NAMES: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let date: jiff::civil::Date = date.parse().ok()?;
    NAMES.get(usize::try_from(date.weekday().to_monday_zero_offset()).ok()?).copied()
}
