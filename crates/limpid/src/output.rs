//! Where words go: data to standard output, everything else to standard error.

mod fields;
mod named;
mod screen;
mod table;
mod wrapped;

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use limpid_prompt::shown::{isolated, shown_json};
use limpid_runtime::question::lines_behind_margin;
use serde::Serialize;

use crate::failure::{ExitStatus, Failure};

pub use fields::{beside, fields};
pub use limpid_prompt::shown::{shown, shown_line};
pub use named::{failed, named};
pub use screen::{Below, Edited};
pub use table::table;
use wrapped::{each_further_in, further_in, wrapped};

/// The version of every JSON shape that this program prints.
pub const JSON_VERSION: u32 = 1;

/// Whether data goes out as it is.
static RAW: AtomicBool = AtomicBool::new(false);

/// Lets data go out as it is, to a program that reads it.
///
/// # Errors
/// When it would go to a terminal, which would follow what a stranger wrote in it.
pub fn go_raw() -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        let what = "--raw prints to a pipe or a file, not to a terminal, which would follow codes in the text";
        return Err(Failure::new(ExitStatus::Usage, what).advise("Leave --raw out, or add `> FILE`"));
    }
    RAW.store(true, Ordering::Relaxed);
    Ok(())
}

/// Prints data without adding anything. What a terminal would follow is written out, for a program too: what it prints may come
/// to a screen. With `--raw` the data is as it is.
///
/// A reader that went away (`limpid … | head`) is no error: the program ends quietly.
///
/// # Errors
/// When standard output cannot be written.
pub fn data(text: &str) -> Result<(), Failure> {
    let text = if RAW.load(Ordering::Relaxed) { Cow::Borrowed(text) } else { shown(text) };
    let text = if io::stdout().is_terminal() { isolated(&text) } else { Cow::Borrowed(&*text) };
    let text = &*text;
    let write = || {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
    match screen::around(text, screen::Stream::Data, write) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::from),
    }
}

/// Prints one line of data.
///
/// # Errors
/// When standard output cannot be written.
pub fn line(text: &str) -> Result<(), Failure> {
    data(&format!("{text}\n"))
}

/// Prints sentences for a person as data; on a screen their lines are broken at spaces, and go on further in than they begin.
///
/// # Errors
/// When standard output cannot be written.
pub fn text(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() { line(&each_further_in(text, screen::width())) } else { line(text) }
}

/// Prints a line of JSON. What a terminal would follow is written as JSON writes letters, so that it is the same value.
///
/// # Errors
/// When standard output cannot be written.
pub fn json_line(json: &str) -> Result<(), Failure> {
    line(&shown_json(json))
}

/// Prints a value as JSON, with the version of its shape first.
///
/// # Errors
/// When it cannot be serialised or written.
pub fn json(name: &str, value: &impl Serialize) -> Result<(), Failure> {
    let mut shape = serde_json::Map::new();
    shape.insert("version".to_owned(), JSON_VERSION.into());
    let value = serde_json::to_value(value).map_err(|error| Failure::from(io::Error::from(error)))?;
    shape.insert(name.to_owned(), value);
    json_line(&serde_json::to_string_pretty(&shape).unwrap_or_default())
}

/// Prints the fields of a struct as one JSON object, with the version of its shape first.
///
/// # Errors
/// When it cannot be serialised or written.
pub fn json_shape(fields: &impl Serialize) -> Result<(), Failure> {
    let mut shape = serde_json::Map::new();
    shape.insert("version".to_owned(), JSON_VERSION.into());
    let fields = serde_json::to_value(fields).map_err(|error| Failure::from(io::Error::from(error)))?;
    if let serde_json::Value::Object(fields) = fields {
        shape.extend(fields);
    }
    json_line(&serde_json::to_string_pretty(&shape).unwrap_or_default())
}

/// Prints several lists as one JSON object, with the version of its shape first.
///
/// # Errors
/// When it cannot be written.
pub fn json_parts(parts: &[(&str, Vec<serde_json::Value>)]) -> Result<(), Failure> {
    let mut shape = serde_json::Map::new();
    shape.insert("version".to_owned(), JSON_VERSION.into());
    shape.extend(parts.iter().map(|(name, rows)| ((*name).to_owned(), rows.clone().into())));
    json_line(&serde_json::to_string_pretty(&shape).unwrap_or_default())
}

/// Tells the person something that is no data.
pub fn tell(text: &str) {
    talk(&format!("{}\n", told(text, wrapped)));
}

/// Tells the person something that may say what somebody else said: on a screen each row but the first is further in.
pub fn tell_further_in(text: &str) {
    talk(&format!("{}\n", told(text, further_in)));
}

/// Tells the person something whose lines are as long as they may be.
pub fn tell_as_laid_out(text: &str) {
    talk(&format!("{}\n", turned(shown(text))));
}

/// Tells a program that reads what is told a line of JSON.
pub fn tell_json(json: &str) {
    talk(&format!("{}\n", shown_json(json)));
}

/// Columns of the screen.
pub fn width() -> usize {
    screen::width()
}

/// Rows of the screen.
pub fn height() -> usize {
    screen::height()
}

/// The same as [`tell_further_in`] in faint letters.
pub fn tell_faintly(text: &str) {
    talk(&format!("{FAINT}{}{PLAIN}\n", told(text, further_in)));
}

/// Tells the person more on the same line, in faint letters.
pub fn tell_on_faintly(text: &str) {
    talk(&format!("{FAINT}{}{PLAIN}", turned(shown(text))));
}

/// Tells the person more on the same line.
pub fn tell_on(text: &str) {
    talk(&turned(shown(text)));
}

/// Starts faint letters. Codes of this program stand outside of what [`shown`] has written out.
const FAINT: &str = "\u{1b}[2m";

/// Ends them.
const PLAIN: &str = "\u{1b}[0m";

/// What is told, in rows where it goes to a screen.
fn told(text: &str, in_rows: fn(&str, usize) -> String) -> String {
    let text = shown(text);
    turned(if io::stderr().is_terminal() { in_rows(&text, screen::width()).into() } else { text })
}

/// What is shown, with runs from right to left isolated where it goes to a screen.
fn turned(shown: Cow<'_, str>) -> String {
    if io::stderr().is_terminal() { isolated(&shown).into_owned() } else { shown.into_owned() }
}

/// Prints what was made ready to be shown.
#[expect(clippy::print_stderr, reason = "this is the place that talks to the person")]
fn talk(text: &str) {
    screen::around(text, screen::Stream::Talk, || eprint!("{text}"));
}

/// A text in one line of at most so many characters.
pub fn one_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// A text of somebody else's behind a margin, so that no line of it looks like one of the program's own, nor what a screen makes one of.
/// For a program its lines stay whole.
pub fn behind_margin(text: &str) -> String {
    lines_behind_margin(text, screen_of_margin().unwrap_or(usize::MAX))
}

/// Columns of the screen that something is printed on; none where all goes to a program.
fn screen_of_margin() -> Option<usize> {
    let is_on_screen = io::stdout().is_terminal() || io::stderr().is_terminal();
    is_on_screen.then(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need() {
        let rows = [vec!["soul".to_owned(), "412".to_owned()], vec!["honesty".to_owned(), "79".to_owned()]];
        insta::assert_snapshot!(table(&["section", "bytes"], &rows), @r"
        section  bytes
        soul       412
        honesty     79
        ");
    }

    // SEC-077 SEC-089
    #[test]
    fn no_name_and_no_text_of_others_draws_a_line_of_the_programs_own() {
        assert_eq!(
            fields(&[("key", "a\ntrust  owner".to_owned()), ("trust", "outside".to_owned())]),
            "key    a\\ntrust  owner\ntrust  outside"
        );
        assert_eq!(behind_margin("a\ntrust  owner"), "│ a\n│ trust  owner");
        assert_eq!(table(&["key"], &[vec!["a\nb".to_owned()]]), "key\na\\nb");
    }
}
