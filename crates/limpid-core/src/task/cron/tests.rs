use super::*;

// KAI-128 KAI-080 LES-094
#[test]
fn clock_changes_neither_drop_nor_double_what_has_a_fixed_hour() {
    let vectors: [(&str, &str, &[&str]); 7] = [
        ("2026-10-23", "0 9 * * 1", &["2026-10-26T09:00:00+01:00"]),
        ("2026-10-01", "0 9 1 * *", &["2026-11-01T09:00:00+01:00"]),
        ("2026-03-28", "30 0 * * 1", &["2026-03-30T00:30:00+02:00"]),
        ("2026-03-28", "30 2 * * *", &["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]),
        ("2026-10-24", "30 2 * * *", &["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]),
        // Everything that is skipped runs at the change, and once with what is due then anyway.
        ("2026-03-28", "0,30 2,3 * * *", &["2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"]),
        (
            "2026-10-24",
            "*/30 2 * * *",
            &["2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:00:00+01:00"],
        ),
    ];
    for (from, pattern, wanted) in vectors {
        assert_eq!(fires(pattern, &format!("{from}T12:00"), wanted.len()), wanted, "{pattern} from {from}");
    }
}

// KAI-080 LES-094
#[test]
fn hourly_patterns_go_by_elapsed_time() {
    assert_eq!(
        fires("30 * * * *", "2026-03-29T01:00", 3),
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-29T04:30:00+02:00",]
    );
    assert_eq!(
        fires("0,30 */2 * * *", "2026-10-25T01:00", 5),
        [
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25T04:00:00+01:00",
        ]
    );
    assert_eq!(fires("30 */2 * * *", "2026-03-29T01:00", 1), ["2026-03-29T04:30:00+02:00"]);
}

// KAI-079
#[test]
fn restricted_days_are_either_and_others_are_both() {
    let wanted = ["2026-11-23T09:00:00+01:00", "2026-11-30T09:00:00+01:00", "2026-12-01T09:00:00+01:00"];
    assert_eq!(fires("0 9 1 * 1", "2026-11-21T00:00", 3), wanted);
    // Odd days that are Mondays.
    let wanted = ["2026-11-23T09:00:00+01:00", "2026-12-07T09:00:00+01:00", "2026-12-21T09:00:00+01:00"];
    assert_eq!(fires("0 9 */2 * 1", "2026-11-21T00:00", 3), wanted);
    assert_eq!(fires("0 9 1 * */3", "2026-11-21T00:00", 1), ["2027-05-01T09:00:00+02:00"]);
}

// KAI-079
#[test]
fn lists_ranges_steps_and_names_are_read() {
    let same = [
        ("0 9 * * sun", "0 9 * * 0"),
        ("0 9 * * 7", "0 9 * * 0"),
        ("0 9 * * Mon-FRI", "0 9 * * 1,2,3,4,5"),
        ("0 9 * * sat-sun", "0 9 * * 0,6"),
        ("0 9 * * 5-7", "0 9 * * 0,5,6"),
        ("0 9 1 jan,jul *", "0 9 1 1,7 *"),
        ("*/20 8-10 * * *", "0,20,40 8,9,10 * * *"),
        ("10-50/20 8 * * *", "10,30,50 8 * * *"),
    ];
    for (one, other) in same {
        assert_eq!(fires(one, "2026-11-21T00:00", 12), fires(other, "2026-11-21T00:00", 12), "{one}");
    }
    assert_eq!(fires("0 0 29 2 *", "2096-03-01T00:00", 1), ["2104-02-29T00:00:00+01:00"]);
    assert_eq!(CronPattern::parse(" 0  9 * * 1 ").unwrap().to_string(), "0 9 * * 1");
}

// KAI-127 KAI-079 LES-095
#[test]
fn what_is_unreadable_or_never_due_is_refused() {
    let bad = [
        "",
        "x",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "99 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "*/60 * * * *",
        "* */24 * * *",
        "10-20/11 * * * *",
        "5/10 * * * *",
        "20-10 * * * *",
        "1, * * * *",
        "-1 * * * *",
        "+1 * * * *",
        "1- * * * *",
        "** * * * *",
        "* * L * *",
        "* * * * 5L",
        "* * * * 1#2",
        "* * 15W * *",
        "? * * * *",
        "@daily",
        "* * * * mondays",
        "0 0 30 2 *",
        "0 0 31 4,6,9,11 *",
        "0 0 30 2 */2",
        "999 * * * *",
        "٣ * * * *",
    ];
    let told: Vec<String> = bad
        .into_iter()
        .map(|text| match CronPattern::parse(text) {
            Ok(pattern) => panic!("`{text}` was taken: {pattern:?}"),
            Err(error) => format!("{text:20} {error}"),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    // Either day makes it due, also where the date never comes.
    assert!(CronPattern::parse("0 0 30 2 1").is_ok());
}

// LES-093
#[test]
fn the_zones_are_in_the_binary() {
    let bundled = jiff::tz::TimeZoneDatabase::bundled();
    for zone in ["Europe/Berlin", "America/New_York", "Asia/Kathmandu"] {
        assert!(bundled.get(zone).is_ok(), "{zone}");
    }
}

// LES-093
#[test]
fn nine_oclock_is_nine_oclock_in_every_zone() {
    let pattern = CronPattern::parse("0 9 * * *").unwrap();
    let after = "2026-11-21T12:00:00Z".parse().unwrap();
    let at = |zone: &str| pattern.next_after(after, &crate::zone::named(zone).unwrap()).unwrap().to_string();
    let zones = ["Europe/Berlin", "America/New_York", "Asia/Kathmandu"].map(at);
    assert_eq!(zones, ["2026-11-22T08:00:00Z", "2026-11-21T14:00:00Z", "2026-11-22T03:15:00Z"]);
}

proptest::proptest! {
    // LES-101
    #[test]
    fn the_next_time_is_later_and_nothing_lies_between(
        seconds in 1_700_000_000i64..1_900_000_000,
        pattern in proptest::sample::select(vec!["*/7 * * * *", "0 2 * * *", "15,45 */3 * * 2-4", "0 9 13 * 5"]),
    ) {
        let zone = crate::zone::named("Europe/Berlin").unwrap();
        let pattern = CronPattern::parse(pattern).unwrap();
        let after = Timestamp::from_second(seconds).unwrap();
        let next = pattern.next_after(after, &zone).unwrap();
        proptest::prop_assert!(next > after);
        let between = Timestamp::from_second(seconds.midpoint(next.as_second())).unwrap();
        if between < next {
            proptest::prop_assert_eq!(pattern.next_after(between, &zone).unwrap(), next);
        }
    }
}

/// When a pattern fires in Berlin after a time on its clock.
fn fires(pattern: &str, after: &str, count: usize) -> Vec<String> {
    let zone = crate::zone::named("Europe/Berlin").unwrap();
    let pattern = CronPattern::parse(pattern).unwrap();
    let after: DateTime = after.parse().unwrap();
    let mut at = after.to_zoned(zone.clone()).unwrap().timestamp();
    let mut fires = Vec::new();
    for _ in 0..count {
        at = pattern.next_after(at, &zone).unwrap();
        fires.push(at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
    }
    fires
}
