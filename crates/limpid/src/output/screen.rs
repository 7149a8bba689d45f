//! What shares the screen with what is printed: a line editor that waits for input, or rows below an answer that streams.
//! Whoever prints need not know of them.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use limpid_prompt::shown::shown_line;
use limpid_runtime::question::columns_of;
use unicode_width::UnicodeWidthChar as _;

/// Where a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output.
    Data,
    /// Standard error.
    Talk,
}

/// Who else uses the screen.
enum Screen {
    Nobody,
    /// The line editor prints whole lines above itself.
    Editor {
        lines: SyncSender<String>,
        has_data: bool,
    },
    /// Rows below the cursor, which stays where the next text begins.
    Below {
        rows: Vec<String>,
        column: usize,
        has_data: bool,
    },
}

static SCREEN: Mutex<Screen> = Mutex::new(Screen::Nobody);

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this lives the line editor has the screen: what is printed goes through it.
#[derive(Debug)]
pub struct Edited(());

impl Edited {
    /// `has_data` says whether standard output is on the screen too.
    pub fn begin(lines: SyncSender<String>, has_data: bool) -> Self {
        *screen() = Screen::Editor { lines, has_data };
        Self(())
    }
}

impl Drop for Edited {
    fn drop(&mut self) {
        *screen() = Screen::Nobody;
    }
}

/// While this lives rows can be shown below what is printed.
#[derive(Debug)]
pub struct Below(());

impl Below {
    /// `has_data` says whether standard output is on the screen too.
    pub fn begin(has_data: bool) -> Self {
        *screen() = Screen::Below { rows: Vec::new(), column: 0, has_data };
        Self(())
    }

    /// Shows these rows in place of those before.
    pub fn show(&self, new: Vec<String>) {
        let new = newest(new, height() - 1);
        if let Screen::Below { rows, column, .. } = &mut *screen()
            && *rows != new
        {
            erase(rows);
            *rows = new;
            draw(rows, column);
        }
    }
}

impl Drop for Below {
    fn drop(&mut self) {
        let mut screen = screen();
        if let Screen::Below { rows, .. } = &*screen {
            erase(rows);
        }
        *screen = Screen::Nobody;
    }
}

/// Prints a text so that nothing else on the screen is damaged.
pub(super) fn around<T: Printed>(text: &str, stream: Stream, print: impl FnOnce() -> T) -> T {
    let mut screen = screen();
    let is_shown = |has_data: bool| stream == Stream::Talk || has_data;
    match &mut *screen {
        Screen::Editor { lines, has_data } if is_shown(*has_data) => {
            match lines.send(text.strip_suffix('\n').unwrap_or(text).to_owned()) {
                Ok(()) => T::done(),
                // The editor is gone, and with it what it drew.
                Err(_) => print(),
            }
        }
        Screen::Below { rows, column, has_data } if is_shown(*has_data) => {
            erase(rows);
            let printed = print();
            *column = moved(*column, text, width());
            draw(rows, column);
            printed
        }
        _ => print(),
    }
}

/// What printing gives.
pub(super) trait Printed {
    /// What it gives when it went well.
    fn done() -> Self;
}

impl Printed for () {
    fn done() -> Self {}
}

impl Printed for io::Result<()> {
    fn done() -> Self {
        Ok(())
    }
}

/// Columns of the screen; 80 where there is none, or where it does not say.
pub(super) fn width() -> usize {
    match crossterm::terminal::size() {
        Ok((columns @ 1.., _)) => usize::from(columns).max(2),
        _ => 80,
    }
}

/// Columns of the screen that data goes to; none where it goes to a pipe or a file, in which nothing breaks a line.
pub(super) fn width_of_data() -> Option<usize> {
    io::stdout().is_terminal().then(width)
}

/// Rows of the screen; 24 where there is none, or where it does not say.
pub(super) fn height() -> usize {
    match crossterm::terminal::size() {
        Ok((_, rows @ 1..)) => usize::from(rows).max(2),
        _ => 24,
    }
}

/// The last of the rows, as many as the screen has room for, with everything written out that a terminal would follow; a row says how many
/// there are above them.
fn newest(rows: Vec<String>, most: usize) -> Vec<String> {
    let mut rows: Vec<String> = rows.into_iter().map(|row| shown_line(&row)).collect();
    if rows.len() <= most {
        return rows;
    }
    let hidden = rows.len() - most.saturating_sub(1);
    rows.splice(..hidden, [format!("… {hidden} more")]);
    rows
}

/// Takes the rows away; the cursor stands where the text ended.
fn erase(rows: &[String]) {
    if !rows.is_empty() {
        write("\x1b[J");
    }
}

/// Draws the rows below the cursor and goes back to it. Going down and up again first makes room at the bottom of the
/// screen without losing the column.
fn draw(rows: &[String], column: &mut usize) {
    if rows.is_empty() {
        return;
    }
    let width = width();
    let mut bytes = String::new();
    if *column == width {
        // Behind a full row the terminal waits to wrap, and would forget that: wrap now.
        bytes.push_str(" \r");
        *column = 0;
    }
    bytes.push_str(&"\x0b".repeat(rows.len()));
    bytes.push_str(&"\x1bM".repeat(rows.len()));
    bytes.push_str("\x1b7");
    for row in rows {
        bytes.push_str(&format!("\x0b\r\x1b[2K{}", end_of(row, width - 1)));
    }
    bytes.push_str("\x1b8");
    write(&bytes);
}

fn write(bytes: &str) {
    let mut error = io::stderr().lock();
    // A terminal that is gone shows nothing.
    let _ = error.write_all(bytes.as_bytes()).and_then(|()| error.flush());
}

/// The column after a text, from 0 to the width: behind a full row the cursor waits at the width.
fn moved(column: usize, text: &str, width: usize) -> usize {
    let mut column = column;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\r' => column = 0,
            '\t' => column = ((column / 8 + 1) * 8).min(width - 1),
            // The codes that are printed here end with a letter and take no room.
            '\u{1b}' => drop(letters.by_ref().find(char::is_ascii_alphabetic)),
            _ => {
                // Where the cursor is, and not the most that the letter may take: a place that is no edge is overwritten.
                let wide = letter.width().unwrap_or(0);
                column = if column + wide > width { wide } else { column + wide };
            }
        }
    }
    column
}

/// The end of a row that fits on every screen, with a mark when something is left out before it.
fn end_of(row: &str, width: usize) -> String {
    let mut left = width;
    let mut from = row.len();
    for (at, letter) in row.char_indices().rev() {
        let wide = columns_of(letter);
        let reserved = usize::from(at > 0);
        if wide + reserved > left {
            return format!("…{}", &row[from..]);
        }
        left -= wide;
        from = at;
    }
    row.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // TERM-003
    #[test]
    fn the_column_is_known_behind_wide_letters_full_rows_and_colours() {
        let table = [
            ("", 0),
            ("abc", 3),
            ("abc\nde", 2),
            ("a\tb", 9),
            ("0123456789", 10),
            ("0123456789a", 1),
            ("012345678日", 2),
            ("\u{1b}[2mabc\u{1b}[0m", 3),
            ("e\u{301}", 1),
        ];
        for (text, column) in table {
            assert_eq!(moved(0, text, 10), column, "{text:?}");
        }
    }

    // TERM-003
    #[test]
    fn more_rows_than_the_screen_has_are_counted() {
        let rows = |from: usize, to: usize| (from..=to).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(newest(rows(1, 3), 3), rows(1, 3));
        assert_eq!(newest(rows(1, 9), 3), [vec!["… 7 more".to_owned()], rows(8, 9)].concat());
        assert_eq!(newest(rows(1, 9), 1), ["… 9 more"]);
    }

    // SEC-089
    #[test]
    fn a_row_holds_nothing_that_a_terminal_follows() {
        let pasted = "queued » a\u{202e}b\u{2066}c\u{200b}d\u{9b}31m\u{1b}[2J\re\nf".to_owned();
        let rows = newest(vec![pasted], 3);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(row, "queued » a\\u{202e}b\\u{2066}c\\u{200b}d\\u{9b}31m\\u{1b}[2J\\u{d}e\\nf");
    }

    // TERM-003 TERM-014
    #[test]
    fn a_row_that_is_too_long_shows_its_end() {
        let table = [("abc", "abc"), ("abcde", "abcde"), ("abcdef", "…cdef"), ("日本語日本", "…日本"), ("", "")];
        for (row, shown) in table {
            assert_eq!(end_of(row, 5), shown, "{row:?}");
        }
    }
}
