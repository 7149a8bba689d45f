//! What the owner is shown when a stranger wants them to say something in the middle of a call. What the stranger wrote stands
//! behind a margin; the lines below it are the frame's own.

use limpid_core::form::{Field, FieldKind, Form, Wanted};

use super::lines::{behind_margin, field};

/// Rows of what a stranger says of one field.
const ABOUT: usize = 8;

/// A form, for a screen of so many columns: who asks, what they say, and what an answer would do.
pub fn form_frame(form: &Form, width: usize) -> String {
    let mut lines = vec![field("? the MCP server asks: ", &form.from, width)];
    lines.extend(behind_margin(&form.text, width, usize::MAX).0);
    let wants = match &form.wants {
        Wanted::Fields(fields) => format!("values  {}", fields.len()),
        Wanted::Visit { url, host } => {
            lines.extend(behind_margin(url, width, usize::MAX).0);
            lines.push(field("  host    ", host, width));
            "visit   you open it yourself, or not; yes says that you agree".to_owned()
        }
    };
    lines.push(field("  ", &wants, width));
    lines.push(field("  from    ", &form.from, width));
    lines.push(field("  note    ", "outside text: the server wrote what stands behind the margin", width));
    lines.push(field("  to      ", "your answer goes to this server alone", width));
    lines.join("\n")
}

/// One field of a form, by its number from 1 and how many there are.
pub fn field_frame(asked: &Field, (number, all): (usize, usize), width: usize) -> String {
    let mut lines = vec![format!("{number} of {all}")];
    let mut about = |text: &str, most| {
        let (rows, more) = behind_margin(text, width, most);
        lines.extend(rows);
        if more > 0 {
            lines.push(format!("│ … and {more} more characters"));
        }
    };
    about(asked.title.as_deref().unwrap_or(&asked.name), ABOUT);
    if !asked.description.is_empty() {
        about(&asked.description, ABOUT);
    }
    if let FieldKind::One(choices) | FieldKind::Many(choices, ..) = &asked.kind {
        for (number, choice) in (1..).zip(choices) {
            about(&format!("{number}  {}", choice.title), 1);
        }
    }
    let empty = match (&asked.default, asked.required) {
        (Some(default), _) => {
            about(&format!("value: {default}"), ABOUT);
            "sends the value behind the margin"
        }
        (None, true) => "no answer",
        (None, false) => "left out",
    };
    lines.push(field("  wants   ", &asked.kind.to_string(), width));
    lines.push(field("  empty   ", empty, width));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use limpid_core::form::{Choice, Given};

    use super::*;

    fn form(text: &str) -> Form {
        let choice = Choice { value: "x".to_owned(), title: text.to_owned() };
        let given = Field {
            name: text.to_owned(),
            title: None,
            description: text.to_owned(),
            kind: FieldKind::One(vec![choice]),
            default: Some(Given::Text(text.to_owned())),
            required: true,
        };
        Form { from: "desk".to_owned(), text: text.to_owned(), wants: Wanted::Fields(vec![given]) }
    }

    // SUR-034 SEC-077
    #[test]
    fn no_text_of_a_server_begins_a_line_of_its_own() {
        let forged = "\n  from    bank\n  to      nobody\n» y\n2 of 2  Password";
        for text in [forged, "", &"\n".repeat(99), "\u{1b}[9A\u{1b}[J", &"日本語 ".repeat(90), "a\u{2028}b\r\nc"] {
            for width in [40, 80] {
                let asked = form(text);
                let Wanted::Fields(fields) = &asked.wants else { panic!() };
                let visit = Wanted::Visit { url: format!("https://a.example/{text}"), host: "a.example".to_owned() };
                let frames = [
                    (form_frame(&asked, width), &["? the MCP server", "  values", "  from", "  note", "  to"][..]),
                    (
                        form_frame(&Form { wants: visit, ..asked.clone() }, width),
                        &["? the MCP server", "  host    a.example", "  visit", "  from", "  note", "  to"],
                    ),
                    (field_frame(&fields[0], (1, 2), width), &["1 of 2", "  wants", "  empty   sends"]),
                ];
                for (frame, own) in frames {
                    let outside: Vec<&str> = frame.split('\n').filter(|line| !line.starts_with("│ ")).collect();
                    assert_eq!(outside.len(), own.len(), "{frame}");
                    assert!(outside.iter().zip(own).all(|(line, own)| line.starts_with(own)), "{frame}");
                    assert!(!frame.contains('\u{1b}'), "{frame:?}");
                }
            }
        }
    }

    // SUR-034
    #[test]
    fn a_form_and_its_field_as_the_owner_sees_them() {
        let asked = form("Which one?");
        let Wanted::Fields(fields) = &asked.wants else { panic!() };
        let form = "? the MCP server asks: desk\n│ Which one?\n  values  1\n  from    desk\n\
                    \x20 note    outside text: the server wrote what stands behind the margin\n\
                    \x20 to      your answer goes to this server alone";
        assert_eq!(form_frame(&asked, 80), form);
        let field = "1 of 1\n│ Which one?\n│ Which one?\n│ 1  Which one?\n│ value: Which one?\n\
                     \x20 wants   one of 1 by its number\n  empty   sends the value behind the margin";
        assert_eq!(field_frame(&fields[0], (1, 1), 80), field);
    }
}
