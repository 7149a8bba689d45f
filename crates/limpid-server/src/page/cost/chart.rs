//! Days as bars, drawn here: what is seen, what is read out, and the table behind both.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::Spent;
use super::span::link_of;

/// How wide a day is, in the chart's own units.
const DAY: usize = 10;

/// How high the chart is.
const HEIGHT: u64 = 1000;

/// The looks of series, the lowest first.
const LOOKS: [&str; 5] = ["fixed", "session", "turn", "tools", "history"];

/// How a value is said, and a whole day.
type Words<'a> = (fn(u64) -> String, &'a dyn Fn(&str) -> String);

/// A part of each day.
pub(super) struct Series {
    pub(super) name: String,
    /// How much of it there is in all.
    pub(super) note: String,
    pub(super) values: Vec<u64>,
}

/// A chart.
pub(super) struct Chart {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) about: String,
    pub(super) width: usize,
    pub(super) legend: Vec<(&'static str, String, String)>,
    pub(super) days: Vec<Day>,
    pub(super) y: Vec<String>,
    pub(super) x: Vec<String>,
    /// The table: what its columns are called, and its lines.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Row>,
    is_empty: bool,
}

/// A day in the table.
pub(super) struct Row {
    pub(super) name: String,
    /// The screen of this day alone.
    pub(super) link: String,
    pub(super) cells: Vec<String>,
}

/// A day in a chart.
pub(super) struct Day {
    pub(super) link: String,
    pub(super) words: String,
    pub(super) bars: Vec<Bar>,
}

/// A part of a day.
pub(super) struct Bar {
    pub(super) look: &'static str,
    pub(super) x: usize,
    pub(super) y: u64,
    pub(super) height: u64,
}

impl Chart {
    /// Series one upon the other; `show` says a value, `words` a whole day.
    pub(super) fn stacked(
        (id, title): (&'static str, &'static str),
        spent: &Spent<'_>,
        series: &[Series],
        (show, words): Words<'_>,
    ) -> Self {
        let sums: Vec<u64> = (0..spent.names.len())
            .map(|at| {
                series.iter().filter_map(|one| one.values.get(at)).fold(0, |sum: u64, value| sum.saturating_add(*value))
            })
            .collect();
        let most = sums.iter().copied().max().unwrap_or_default();
        let names: Vec<String> =
            (0..spent.names.len()).map(|at| day(spent, at).strftime("%-d %b").to_string()).collect();
        let at_most = sums.iter().position(|sum| *sum == most && most > 0);
        let order = series.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
        let about = match at_most {
            Some(at) => format!(
                "From the bottom: {order}. The most is {} on {}. The table below has every day.",
                show(most),
                names[at]
            ),
            None => "There is nothing in these days.".to_owned(),
        };
        let line = |(at, name): (usize, &String)| {
            let cells = series.iter().map(|one| one.values.get(at).map_or(String::new(), |value| show(*value)));
            let sum = spent.names.get(at).map_or(String::new(), |day| words(day));
            Row { name: name.clone(), link: link_of(day(spent, at)), cells: cells.chain([sum]).collect() }
        };
        let columns = series.iter().map(|one| one.name.clone()).chain(["the day".to_owned()]).collect();
        let rows = names.iter().enumerate().filter(|(at, _)| sums[*at] > 0).map(line).rev().collect();
        let last = names.len().saturating_sub(1);
        let mut chart = Self {
            id,
            title,
            about,
            width: names.len() * DAY,
            legend: LOOKS.iter().zip(series).map(|(look, one)| (*look, one.name.clone(), one.note.clone())).collect(),
            days: Vec::new(),
            y: [most, most / 2, 0].map(show).to_vec(),
            x: [0, last / 2, last].into_iter().filter_map(|at| names.get(at).cloned()).collect(),
            columns,
            rows,
            is_empty: most == 0,
        };
        for (at, name) in names.iter().enumerate() {
            let words = spent.names.get(at).map_or(String::new(), |day| words(day));
            let bars = bars(series, at, most);
            if !bars.is_empty() {
                chart.days.push(Day { link: link_of(day(spent, at)), words: format!("{name}: {words}"), bars });
            }
        }
        chart
    }

    /// The same up to a value that stands for all, whatever there is.
    pub(super) fn up_to(mut self, all: u64) -> Self {
        let most = self.y.first().and_then(|most| most.split(' ').next()?.parse::<u64>().ok()).unwrap_or(all);
        for bar in self.days.iter_mut().flat_map(|day| &mut day.bars) {
            bar.height = bar.height.saturating_mul(most) / all.max(1);
            bar.y = HEIGHT.saturating_sub(bar.height);
        }
        self.y = [all, all / 2, 0].map(|share| format!("{share} %")).to_vec();
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }
}

/// The bars of a day, one upon the other.
fn bars(series: &[Series], at: usize, most: u64) -> Vec<Bar> {
    let (mut y, mut bars) = (HEIGHT, Vec::new());
    for (one, look) in series.iter().zip(LOOKS) {
        let value = one.values.get(at).copied().unwrap_or_default();
        let height = u64::try_from(u128::from(value) * u128::from(HEIGHT) / u128::from(most.max(1))).unwrap_or(HEIGHT);
        if height > 0 {
            y = y.saturating_sub(height);
            bars.push(Bar { look, x: at * DAY + 1, y, height });
        }
    }
    bars
}

/// A day of the span.
fn day(spent: &Spent<'_>, at: usize) -> Date {
    spent.first.saturating_add((at as i64).days())
}
