//! One measure's table: printed, as JSON, and as a page with the machine and the date.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// A table of numbers with what they are to be.
pub(crate) struct Table {
    /// The id and name: `MEA-01 Tokens of the first turn`.
    pub title: &'static str,
    /// How it was got, in a sentence or two.
    pub how: String,
    /// The target, as the spec says it.
    pub target: &'static str,
    /// Names of the columns.
    pub head: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Prints the table and writes `docs/measures/NAME.md`. `answer` is what `--json` prints in place of the rows.
    pub(crate) fn publish(&self, root: &Path, name: &str, json: bool, answer: Option<Value>) -> Result<(), String> {
        write(root, name, &format!("{}{}", self.section("#"), foot(name)))?;
        self.print(json, answer)
    }

    /// Prints the table. `answer` is what `--json` prints in place of the rows.
    pub(crate) fn print(&self, json: bool, answer: Option<Value>) -> Result<(), String> {
        #[expect(clippy::print_stdout, reason = "this is a command-line program")]
        if json {
            println!("{}", answer.unwrap_or_else(|| self.json()));
        } else {
            println!("{}\n\n{}\nTarget: {}", self.title, self.grid(), self.target);
        }
        Ok(())
    }

    /// Title, text and table, under a heading of this level.
    fn section(&self, level: &str) -> String {
        format!("{level} {}\n\n{}\n\nTarget: {}\n\n{}\n", self.title, self.how, self.target, self.grid())
    }

    fn grid(&self) -> String {
        let mut text = format!("| {} |\n|{}|\n", self.head.join(" | "), vec!["---"; self.head.len()].join("|"));
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text
    }

    fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let cells = self.head.iter().zip(row).map(|(head, cell)| {
                let value = cell.parse::<f64>().map_or_else(|_| Value::from(cell.as_str()), Value::from);
                ((*head).to_owned(), value)
            });
            Value::Object(cells.collect::<Map<_, _>>())
        });
        Value::Array(rows.collect())
    }
}

/// Prints the tables of one measure and writes them as one page, on which the later ones are sections of the first.
pub(crate) fn publish_all(tables: &[Table], root: &Path, name: &str, json: bool, answer: Value) -> Result<(), String> {
    let sections = tables.iter().enumerate().map(|(at, table)| table.section(if at == 0 { "#" } else { "##" }));
    write(root, name, &format!("{}{}", sections.collect::<String>(), foot(name)))?;
    print_all(tables, json, answer)
}

/// Prints the tables of one measure; with `--json`, only the answer.
pub(crate) fn print_all(tables: &[Table], json: bool, answer: Value) -> Result<(), String> {
    match tables {
        [first, ..] if json => first.print(true, Some(answer)),
        tables => tables.iter().try_for_each(|table| table.print(false, None)),
    }
}

fn write(root: &Path, name: &str, page: &str) -> Result<(), String> {
    let folder = root.join("docs/measures");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join(format!("{name}.md"));
    fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))
}

/// Where, when and how it was measured.
fn foot(name: &str) -> String {
    let date = jiff::Zoned::now().date();
    format!("Machine: {}. Date: {date}. Command: `cargo run --release -p xtask -- measure {name}`\n", machine())
}

/// Processor, cores and system, as far as the system tells.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|line| line.split_once(':'))
        .map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{model}, {cores} cores, {}", std::env::consts::OS)
}

/// The middle value; with an even count the upper of the two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
