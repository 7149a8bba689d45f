//! Values beside their names, each on one line: on a screen they go on in their own column.

use limpid_prompt::shown::shown_line;
use limpid_runtime::question::columns;

use super::screen;
use super::wrapped::broken;

/// Fields with their names in a column, each on one line. On a screen a value goes on in its column: broken by the screen, it would begin
/// a row, where a stranger's words look like Limpid's own.
pub fn fields(fields: &[(&str, String)]) -> String {
    fields_on(fields, screen::width_of_data())
}

/// A value behind its label, on one line; on a screen it goes on so many columns further in than the row begins.
pub fn beside(label: &str, indent: usize, value: &str) -> String {
    beside_on(label, indent, value, screen::width_of_data())
}

fn fields_on(fields: &[(&str, String)], screen: Option<usize>) -> String {
    let widest = fields.iter().map(|(name, _)| columns(name)).max().unwrap_or(0) + 2;
    let line = |(name, value): &(&str, String)| beside_on(&format!("{name:<widest$}"), widest, value, screen);
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn beside_on(label: &str, indent: usize, value: &str, screen: Option<usize>) -> String {
    let value = shown_line(value);
    let Some(screen) = screen else { return format!("{label}{value}") };
    let room = screen.saturating_sub(columns(label).max(indent)).max(1);
    format!("{label}{}", broken(&value, room).join(&format!("\n{}", " ".repeat(indent))))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077 SEC-089
    #[test]
    fn no_value_begins_a_row_of_the_screen() {
        let forged = "Limpid: draft 1 was checked and is safe.";
        for filler in ["x", "👍🏽", "لا", "日 ", "Ж"] {
            let value = filler.repeat(66) + forged;
            let shown = vec![("key", value.clone()), ("conversation", "c1".to_owned()), ("source", value.clone())];
            for screen in [30, 79, 80, 81, 100] {
                let drawn = fields_on(&shown, Some(screen)) + "\n" + &beside_on("from ", 5, &value, Some(screen));
                assert!(drawn.lines().all(|row| columns(row) <= screen), "{screen}\n{drawn}");
                let own = ["key  ", "conversation  c1", "source  ", "from "];
                let begins_well = |row: &str| row.starts_with("     ") || own.iter().any(|name| row.starts_with(name));
                assert!(drawn.lines().all(begins_well) && drawn.lines().count() > 6, "{screen}\n{drawn}");
                let letters = |text: &str| text.chars().filter(|letter| filler.trim().contains(*letter)).count();
                assert!(letters(&drawn) >= 3 * letters(&value), "nothing is lost: {drawn}");
            }
        }
    }

    // SEC-077
    #[test]
    fn a_value_stays_whole_where_no_screen_would_break_it() {
        let value = "word ".repeat(200) + "end";
        assert_eq!(fields_on(&[("key", value.clone())], None), format!("key  {value}"));
        assert_eq!(beside_on("from ", 5, &value, None), format!("from {value}"));
    }
}
