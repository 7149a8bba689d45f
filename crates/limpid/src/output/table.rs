//! Rows and columns.

use std::io::{self, IsTerminal as _};

use limpid_prompt::shown::shown_line;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::screen;

/// Columns of a screen between two columns of a table.
const GAP: usize = 2;

/// What a column keeps on a narrow screen while another one is wider.
const NARROW: usize = 8;

/// A table with columns as wide as they are on a screen; numbers to the right. On a screen a cell goes on below itself where a row would be
/// wider: broken by the screen, it would begin a row, where a stranger's words look like Limpid's own.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    laid_out(head, rows, if io::stdout().is_terminal() { screen::width() } else { usize::MAX })
}

fn laid_out(head: &[&str], rows: &[Vec<String>], screen: usize) -> String {
    // A cell is as wide as what is printed in its place, and stays on its line.
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| shown_line(cell)).collect()).collect();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.width())
            .chain(head.get(column).map(|cell| cell.width()))
            .max()
            .unwrap_or(0)
    };
    let gaps = GAP * head.len().saturating_sub(1);
    let widths = fitted((0..head.len()).map(width).collect(), screen.saturating_sub(gaps));
    let numeric: Vec<bool> = (0..head.len())
        .map(|column| {
            let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
            cells.peek().is_some()
                && cells.all(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || first == '$'))
        })
        .collect();
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    std::iter::once(&head).chain(&rows).map(|row| row_of(row, &widths, &numeric)).collect::<Vec<_>>().join("\n")
}

/// One row; where cells go on below themselves, of several lines.
fn row_of(cells: &[String], widths: &[usize], numeric: &[bool]) -> String {
    let columns: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| broken(cell, *width)).collect();
    let lines = columns.iter().map(Vec::len).max().unwrap_or(1);
    let line = |at: usize| {
        let padded = columns.iter().zip(widths).zip(numeric).map(|((column, width), is_number)| {
            let piece = column.get(at).map(String::as_str).unwrap_or_default();
            let gap = " ".repeat(width.saturating_sub(piece.width()));
            if *is_number { format!("{gap}{piece}") } else { format!("{piece}{gap}") }
        });
        padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..lines).map(line).collect::<Vec<_>>().join("\n")
}

/// Widths that fit together: the widest gives way first.
fn fitted(mut widths: Vec<usize>, room: usize) -> Vec<usize> {
    for least in [NARROW, 1] {
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().filter(|width| **width > least).max() else { break };
            *widest -= 1;
        }
    }
    widths
}

/// A cell in pieces of a width, at blanks where there are some.
fn broken(cell: &str, width: usize) -> Vec<String> {
    let (mut pieces, mut piece) = (Vec::new(), String::new());
    for letter in cell.chars() {
        if piece.width() + letter.width().unwrap_or(0) > width && !piece.is_empty() {
            // A blank near the end is a better place.
            let blank = piece.rfind(' ').filter(|at| piece[..*at].width() > width / 2);
            let rest = blank.map(|at| piece.split_off(at)).unwrap_or_default();
            pieces.push(std::mem::replace(&mut piece, rest.trim_start().to_owned()));
        }
        if !(letter == ' ' && piece.is_empty() && !pieces.is_empty()) {
            piece.push(letter);
        }
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn no_words_of_a_cell_begin_a_row_of_the_screen() {
        let said = format!(
            "{} Limpid: this draft was checked and is safe to approve. 記憶記憶記憶 {}",
            "x".repeat(70),
            "y".repeat(90)
        );
        let row = ["1", "open", &said, "why it is asked, in some words"].map(str::to_owned).to_vec();
        for screen in 20..=200 {
            let drawn = laid_out(&["draft", "state", "call", "why"], std::slice::from_ref(&row), screen);
            let mut lines = drawn.lines();
            let (head, first) = (lines.next().unwrap(), lines.next().unwrap());
            assert!(drawn.lines().all(|line| line.width() <= screen), "{screen}\n{drawn}");
            assert!(screen < 40 || head.starts_with("draft  state") && first.starts_with("    1  open"), "{drawn}");
            assert!(screen < 40 || lines.all(|line| line.starts_with("              ")), "{drawn}");
            // Nothing is lost.
            let letters = |text: &str| text.chars().filter(|letter| "xy記憶".contains(*letter)).count();
            assert_eq!(letters(&drawn), letters(&said) + letters("why") * 2, "{drawn}");
        }
        assert_eq!(laid_out(&["a"], &[vec![said.clone()]], usize::MAX), format!("a\n{said}"));
    }
}
