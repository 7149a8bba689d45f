//! What every listing of records shows in the same way.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_store::Broken;

use crate::output;

/// Says which records could not be read; the others were.
pub(super) fn tell_broken(broken: &[Broken]) {
    for record in broken {
        let left_out = format!("A record of {} cannot be read and is left out: ", record.table);
        output::tell(&output::named(&[(&left_out, &record.id), (" (", &record.reason)], ")"));
    }
}

/// A moment as the owner's clock shows it.
pub(super) fn in_zone(at_ms: i64, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(at_ms)
        .map(|at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
