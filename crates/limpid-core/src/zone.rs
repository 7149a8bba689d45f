//! Time zones by the names that texts give them.

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

/// The zones that the program itself holds.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The zone of that name, of those that the program itself holds. The system's are files: which of them was opened, every program sees by
/// its time of access, a stranger's too.
pub fn named(name: &str) -> Option<TimeZone> {
    ZONES.get(name).ok()
}

/// The same for a zone that the owner gave, or that was stored: it may be one that only the system has.
#[expect(clippy::disallowed_methods, reason = "no stranger's text names this zone")]
pub fn stored(name: &str) -> Option<TimeZone> {
    named(name).or_else(|| TimeZone::get(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-058
    #[test]
    fn a_zone_is_found_by_its_name_alone() {
        let zone = named("Europe/Berlin").unwrap();
        assert_eq!(zone.iana_name(), Some("Europe/Berlin"));
        assert_eq!(named("Europe/Nowhere"), None);
        assert_eq!(named("../../etc/passwd"), None);
    }
}
