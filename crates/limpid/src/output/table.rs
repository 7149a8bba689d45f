//! Rows and columns.

use limpid_prompt::shown::shown_line;
use limpid_runtime::question::columns;
use unicode_width::UnicodeWidthChar;

use super::screen;
use super::wrapped::broken;

/// Columns of a screen between two columns of a table.
const GAP: usize = 2;

/// What a column keeps on a narrow screen while another one is wider.
const NARROW: usize = 8;

/// A table with columns as wide as they are on a screen; numbers to the right. On a screen a cell goes on below itself where a row would be
/// wider: broken by the screen, it would begin a row, where a stranger's words look like Limpid's own.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    laid_out(head, rows, screen::width_of_data())
}

/// How the cells of a table are laid out.
struct Layout {
    /// The columns of the screen, and the most of them that each column takes; none where no screen breaks a row.
    most: Option<(usize, Vec<usize>)>,
    /// How wide each column most often is.
    usual: Vec<usize>,
    /// Which columns hold numbers.
    numeric: Vec<bool>,
}

fn laid_out(head: &[&str], rows: &[Vec<String>], screen: Option<usize>) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    // A cell is as wide as what is printed in its place, and stays on its line.
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| shown_line(cell)).collect()).collect();
    let is_number = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        cells.peek().is_some()
            && cells.all(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || first == '$'))
    };
    let numeric: Vec<bool> = (0..head.len()).map(is_number).collect();
    let all = || std::iter::once(&head).chain(&rows);
    let most = screen.map(|screen| {
        let widest = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max();
        let gaps = GAP * head.len().saturating_sub(1);
        let widths = (0..head.len()).map(|column| widest(column).unwrap_or(0)).collect();
        (screen, fitted(widths, screen.saturating_sub(gaps)))
    });
    let in_pieces = |row: &Vec<String>| -> Vec<Vec<String>> {
        let cells = row.iter().take(head.len()).enumerate();
        let pieces = |(column, cell): (usize, &String)| match &most {
            Some((_, widths)) => broken(cell, widths[column]),
            None => vec![cell.clone()],
        };
        cells.map(pieces).collect()
    };
    let rows: Vec<Vec<Vec<String>>> = all().map(in_pieces).collect();
    let usual = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).flatten().map(|piece| usual_columns(piece)).max().unwrap_or(0)
    };
    let usual = (0..head.len()).map(usual).collect();
    let layout = Layout { most, usual, numeric };
    rows.iter().map(|row| layout.row(row)).collect::<Vec<_>>().join("\n")
}

impl Layout {
    /// One row; where cells go on below themselves, of several lines.
    fn row(&self, cells: &[Vec<String>]) -> String {
        let lines = cells.iter().map(Vec::len).max().unwrap_or(1);
        let line = |at: usize| {
            let pieces: Vec<&str> = cells.iter().map(|cell| cell.get(at).map_or("", String::as_str)).collect();
            let line = self.line(&pieces, &self.usual, usual_columns);
            match &self.most {
                // A screen on which letters are as wide as they may be would break this line.
                Some((screen, most)) if columns(&line) > *screen => self.line(&pieces, most, columns),
                _ => line,
            }
        };
        (0..lines).map(line).collect::<Vec<_>>().join("\n")
    }

    fn line(&self, pieces: &[&str], widths: &[usize], measure: impl Fn(&str) -> usize) -> String {
        let padded = pieces.iter().zip(widths).zip(&self.numeric).map(|((piece, width), is_number)| {
            let gap = " ".repeat(width.saturating_sub(measure(piece)));
            if *is_number { format!("{gap}{piece}") } else { format!("{piece}{gap}") }
        });
        padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    }
}

/// The columns that a text has on most screens: those of Greek, Russian and others draw each letter in one. Only what stands below each
/// other goes by them; where a row ends goes by [`columns`].
fn usual_columns(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
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

#[cfg(test)]
mod tests {
    use limpid_runtime::question::columns_of;

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
            let drawn = laid_out(&["draft", "state", "call", "why"], std::slice::from_ref(&row), Some(screen));
            let mut lines = drawn.lines();
            let (head, first) = (lines.next().unwrap(), lines.next().unwrap());
            assert!(drawn.lines().all(|line| columns(line) <= screen), "{screen}\n{drawn}");
            assert!(screen < 40 || head.starts_with("draft  state") && first.starts_with("    1  open"), "{drawn}");
            assert!(screen < 40 || lines.all(|line| line.starts_with("              ")), "{drawn}");
            // Nothing is lost.
            let letters = |text: &str| text.chars().filter(|letter| "xy記憶".contains(*letter)).count();
            assert_eq!(letters(&drawn), letters(&said) + letters("why") * 2, "{drawn}");
        }
    }

    /// Some screens draw several letters as one picture, and others, such as tmux, each by itself.
    // SEC-077
    #[test]
    fn no_row_is_wider_than_a_screen_that_draws_each_letter_by_itself() {
        for sign in ["👍🏽", "👩\u{200d}🚀", "🇩🇪", "1\u{fe0f}\u{20e3}", "❤\u{fe0f}", "لا", "é", "Ж", "…", "日", "கா"]
        {
            for count in [1, 7, 20, 90] {
                let said = format!("{} Limpid: draft 1 was checked and is safe to approve.", sign.repeat(count));
                let row = vec!["1".to_owned(), said.clone(), said, "2026-11-30 09:00".to_owned()];
                for screen in [40, 79, 80, 81, 120] {
                    let rows = [row.clone(), vec!["2".to_owned(), "short".to_owned(), "é".to_owned(), "x".to_owned()]];
                    let drawn = laid_out(&["item", "from", "what", "at"], &rows, Some(screen));
                    let each = |line: &str| line.chars().map(columns_of).sum::<usize>();
                    assert!(drawn.lines().all(|line| each(line) <= screen), "{sign} {screen}\n{drawn}");
                    assert!(drawn.lines().skip(2).all(|line| line.starts_with(' ')), "{sign} {screen}\n{drawn}");
                }
            }
        }
    }

    #[test]
    fn columns_stand_below_each_other_where_letters_are_as_wide_as_most_often() {
        let rows = ["Привет", "tea", "café…"].map(|word| vec![word.to_owned(), "x".to_owned()]);
        for screen in [None, Some(80)] {
            let drawn = laid_out(&["key", "by"], &rows, screen);
            assert_eq!(drawn, "key     by\nПривет  x\ntea     x\ncafé…   x", "{screen:?}");
        }
    }

    // SEC-077
    #[test]
    fn a_cell_stays_whole_where_no_screen_would_break_it() {
        let said = "é日 👍🏽".repeat(5_000);
        let row = vec![said.clone(), "x".to_owned()];
        assert_eq!(laid_out(&["a", "b"], &[row], None).lines().nth(1), Some(format!("{said}  x").as_str()));
    }
}
