//! A pattern as people say it.

use super::{CronPattern, MONTH, WEEKDAY, has};

/// Times of a day that are named one by one.
const NAMED: usize = 4;

impl CronPattern {
    /// The pattern in words: `daily at 9:00`, `every 15 minutes`, `on the 1st at 8:00`; none when no short sentence says it.
    pub fn words(&self) -> Option<String> {
        let days = self.day_words()?;
        if let Some(times) = self.clock_words() {
            return Some(format!("{} at {times}", days.as_deref().unwrap_or("daily")));
        }
        let pace = self.pace_words()?;
        Some(days.map_or(pace.clone(), |days| format!("{pace}, {days}")))
    }

    /// A few times on the clock.
    fn clock_words(&self) -> Option<String> {
        let [minute] = members(self.minutes, 0, 59)[..] else { return None };
        let hours = members(self.hours, 0, 23);
        let times: Vec<String> = hours.iter().map(|hour| format!("{hour}:{minute:02}")).collect();
        (times.len() <= NAMED).then(|| listed(&times))
    }

    /// The same time again and again, through the whole day or some hours of it.
    fn pace_words(&self) -> Option<String> {
        let hours = members(self.hours, 0, 23);
        let minutes = members(self.minutes, 0, 59);
        let every = |step: u8, unit: &str| if step == 1 { unit.to_owned() } else { format!("{step} {unit}s") };
        if let Some(step) = step_of(&minutes, 60).filter(|_| minutes.len() > 1) {
            let pace = format!("every {}", every(step, "minute"));
            return match (hours.as_slice(), step_of(&hours, 24)) {
                (_, Some(1)) => Some(pace),
                ([first, .., last], _) if usize::from(last - first) + 1 == hours.len() => {
                    Some(format!("{pace} from {first}:00 to {last}:{:02}", minutes.last()?))
                }
                _ => None,
            };
        }
        let [minute] = minutes[..] else { return None };
        let pace = format!("every {}", every(step_of(&hours, 24)?, "hour"));
        Some(if minute == 0 { pace } else { format!("{pace} at {minute} past") })
    }

    /// Which days; inside: none when it is every day.
    fn day_words(&self) -> Option<Option<String>> {
        let (days, months) = (members(self.days, 1, 31), members(self.months, 1, 12));
        let weekdays = members(self.weekdays, 0, 6);
        let month_names = || listed(&names(&months, MONTH.names, 1));
        match (days.len() == 31, months.len() == 12, weekdays.len() == 7) {
            _ if self.either_day => None,
            (true, true, true) => Some(None),
            (true, true, false) => Some(Some(weekday_words(&weekdays))),
            (true, false, true) => Some(Some(format!("every day in {}", month_names()))),
            (false, true, true) => {
                let days: Vec<String> = days.iter().map(|day| format!("{day}{}", ordinal(*day))).collect();
                (days.len() <= NAMED).then(|| Some(format!("on the {}", listed(&days))))
            }
            (false, false, true) => match days[..] {
                [day] => Some(Some(format!("on {day} {}", month_names()))),
                _ => None,
            },
            _ => None,
        }
    }
}

fn weekday_words(days: &[u8]) -> String {
    match days {
        [1, 2, 3, 4, 5] => "on weekdays".to_owned(),
        [0, 6] => "at weekends".to_owned(),
        // A week is named from Monday on.
        [0, rest @ ..] => format!("on {}", listed(&names(&[rest, &[0]].concat(), WEEKDAY.names, 0))),
        _ => format!("on {}", listed(&names(days, WEEKDAY.names, 0))),
    }
}

fn names(numbers: &[u8], names: &[&str], from: u8) -> Vec<String> {
    let name = |number: &u8| {
        let name = names.get(usize::from(number - from)).copied().unwrap_or_default();
        let (first, rest) = name.split_at(name.len().min(1));
        format!("{}{rest}", first.to_uppercase())
    };
    numbers.iter().map(name).collect()
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The step of numbers that go from 0 evenly around a clock of so many; one number is a step of the whole clock.
fn step_of(numbers: &[u8], around: u8) -> Option<u8> {
    let count = u8::try_from(numbers.len()).ok().filter(|count| around.is_multiple_of(*count))?;
    let step = around / count;
    numbers.iter().zip(0..).all(|(number, at): (_, u8)| *number == at * step).then_some(step)
}

fn ordinal(number: u8) -> &'static str {
    match (number / 10, number % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

fn members(set: u64, from: u8, to: u8) -> Vec<u8> {
    (from..=to).filter(|number| has(set, *number)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    // SUR-024
    #[test]
    fn patterns_are_said_as_people_say_them() {
        let told = [
            ("0 9 * * *", Some("daily at 9:00")),
            ("30 9,17 * * *", Some("daily at 9:30 and 17:30")),
            ("0 9 * * 1-5", Some("on weekdays at 9:00")),
            ("0 9 * * sat,sun", Some("at weekends at 9:00")),
            ("0 9 * * mon,wed,sun", Some("on Mon, Wed and Sun at 9:00")),
            ("0 8 1 * *", Some("on the 1st at 8:00")),
            ("0 8 1,15,22 * *", Some("on the 1st, 15th and 22nd at 8:00")),
            ("0 9 29 2 *", Some("on 29 Feb at 9:00")),
            ("0 7 * jun-aug *", Some("every day in Jun, Jul and Aug at 7:00")),
            ("*/15 * * * *", Some("every 15 minutes")),
            ("* * * * *", Some("every minute")),
            ("*/30 9-17 * * 1-5", Some("every 30 minutes from 9:00 to 17:30, on weekdays")),
            ("0 * * * *", Some("every hour")),
            ("20 */2 * * *", Some("every 2 hours at 20 past")),
            ("0 0 * * *", Some("daily at 0:00")),
            // What takes a long sentence is shown as it was written.
            ("0 9 1 * 1", None),
            ("7,23 9 * * *", None),
            ("*/7 * * * *", None),
            ("0 1-20/3 * * *", None),
            ("0 9 1-20 * *", None),
        ];
        for (pattern, words) in told {
            assert_eq!(CronPattern::parse(pattern).unwrap().words().as_deref(), words, "{pattern}");
        }
    }
}
