//! The words by which people name the day when something was said.

use super::stem;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const MS_PER_DAY: i64 = 86_400_000;

/// Year, month and day of the month of a time (UTC), as words of a query: the month in English.
pub(super) fn date_words(at_ms: i64) -> [String; 3] {
    let (year, month, day) = civil(at_ms.div_euclid(MS_PER_DAY));
    let name = MONTHS.get(month).copied().unwrap_or_default();
    [year.to_string(), stem(name.to_owned()), day.to_string()]
}

/// Year, month from 0 and day of the month of a day counted from 1 January 1970, in the Gregorian calendar.
///
/// Years are taken from March on, so that the leap day is the last one of a year, and eras are the 400 years after which
/// the calendar repeats.
fn civil(days: i64) -> (i64, usize, i64) {
    const DAYS_OF_ERA: i64 = 146_097;
    let from_march = days + 719_468; // since 1 March of the year 0
    let (era, of_era) = (from_march.div_euclid(DAYS_OF_ERA), from_march.rem_euclid(DAYS_OF_ERA));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month < 2);
    (year, usize::try_from(month).unwrap_or_default(), day)
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEA-10
    #[test]
    fn days_have_the_names_that_people_use() {
        let cases = [
            (0, "1970 januari 1"),
            (-1, "1969 decemb 31"),
            (951_782_400_000, "2000 februari 29"),
            (951_868_800_000, "2000 march 1"),
            (1_709_164_800_000, "2024 februari 29"),
            (1_683_072_000_000, "2023 may 3"),
            (4_107_542_400_000, "2100 march 1"),
        ];
        for (at_ms, words) in cases {
            assert_eq!(date_words(at_ms).join(" "), words, "{at_ms}");
        }
        date_words(i64::MIN);
        date_words(i64::MAX);
    }
}
