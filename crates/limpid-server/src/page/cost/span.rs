//! The days that the screen is about.

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::Deserialize;

use crate::page::trouble::Trouble;

/// What the address asks for: the last days, or one day.
#[derive(Deserialize)]
pub(super) struct Asked {
    days: Option<String>,
    day: Option<String>,
}

/// Days without a gap.
pub(super) struct Span {
    pub(super) first: Date,
    pub(super) last: Date,
    /// Whether it is one day that was asked for as such.
    pub(super) is_day: bool,
}

/// A link to other days.
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) is_here: bool,
}

impl Span {
    /// # Errors
    /// When it is not one of the spans that there are, or no day.
    pub(super) fn read(asked: &Asked, today: Date) -> Result<Self, Trouble> {
        if let Some(day) = asked.day.as_deref() {
            let day = day.parse().map_err(|_| Trouble::invalid("Write a day as 2026-04-11."))?;
            return Ok(Self { first: day, last: day, is_day: true });
        }
        let days: i64 = match asked.days.as_deref() {
            Some("7") => 7,
            None | Some("30") => 30,
            Some("90") => 90,
            Some(_) => return Err(Trouble::invalid("There are 7, 30 and 90 days.")),
        };
        Ok(Self { first: today.saturating_sub((days - 1).days()), last: today, is_day: false })
    }

    /// How many days it has.
    pub(super) fn days(&self) -> usize {
        usize::try_from((self.last - self.first).get_days() + 1).unwrap_or(1)
    }

    /// What stands above its sum.
    pub(super) fn name(&self) -> String {
        if self.is_day { long(self.first) } else { format!("{} days", self.days()) }
    }

    /// The spans that can be chosen.
    pub(super) fn choices(&self, today: Date) -> Vec<Choice> {
        let day = |name: &str, day: Date| Choice {
            name: name.to_owned(),
            link: link_of(day),
            is_here: self.is_day && self.first == day,
        };
        let last = |days: usize| Choice {
            name: format!("{days} days"),
            link: format!("/cost?days={days}"),
            is_here: !self.is_day && self.days() == days,
        };
        vec![day("Today", today), day("Yesterday", today.saturating_sub(1.day())), last(7), last(30), last(90)]
    }

    /// The days beside this one.
    pub(super) fn beside(&self, today: Date) -> Vec<Choice> {
        let link = |day: Date| Choice { name: long(day), link: link_of(day), is_here: false };
        let (before, after) = (self.first.saturating_sub(1.day()), self.first.saturating_add(1.day()));
        std::iter::once(before).chain((after <= today).then_some(after)).filter(|_| self.is_day).map(link).collect()
    }
}

/// The address of one day.
pub(super) fn link_of(day: Date) -> String {
    format!("/cost?day={day}")
}

/// A day as `Friday, 10 April`.
fn long(day: Date) -> String {
    day.strftime("%A, %-d %B").to_string()
}
