//! Texts of a question at the page: what is sent is what is seen. Each of them is drawn in a grid, where a blank takes its place like any other
//! letter, so no two texts are the same picture.

use std::fmt;

use limpid_prompt::shown::{exact_line_to_isolate, exact_to_isolate, isolated};

/// A text of a question, as markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Exact(String);

impl Exact {
    /// A text with its line breaks, which are seen.
    pub(super) fn text(text: &str) -> Self {
        let text = exact_to_isolate(text);
        let lines: Vec<String> = text.split('\n').map(line).collect();
        Self(lines.join("<i class=\"eol\"></i>\n"))
    }

    /// A text on one line.
    pub(super) fn line(text: &str) -> Self {
        Self(line(&exact_line_to_isolate(text)))
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Exact {}

/// A line, in which words from right to left turn nothing around that stands beside them: a number before such a word and one behind it
/// would be the same picture.
fn line(text: &str) -> String {
    let turned = isolated(text);
    // A line of such words alone is one run, with its numbers and signs.
    let is_plain =
        |letter: char| letter.is_alphabetic() && isolated(letter.encode_utf8(&mut [0; 4])).chars().count() == 1;
    let turned = match turned.contains('\u{2068}') && !text.contains(is_plain) {
        true => format!("\u{2068}{text}\u{2069}"),
        false => turned.into_owned(),
    };
    let mut out = String::with_capacity(turned.len());
    for letter in turned.chars() {
        match letter {
            '\u{2068}' => out.push_str("<bdi>"),
            '\u{2069}' => out.push_str("</bdi>"),
            '&' => out.push_str("&#38;"),
            '<' => out.push_str("&#60;"),
            '>' => out.push_str("&#62;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn what_a_text_holds_is_seen() {
        for (text, expected) in [
            ("a  b <i>&\"'", "a  b &#60;i&#62;&#38;&#34;&#39;"),
            ("def f():\n    return\n", "def f():<i class=\"eol\"></i>\n    return<i class=\"eol\"></i>\n"),
            ("2 אורן (red); ברוש 3", "2 <bdi>אורן</bdi> (red); <bdi>ברוש</bdi> 3"),
            ("שלום, 3 ברוש.\nx", "<bdi>שלום, 3 ברוש.</bdi><i class=\"eol\"></i>\nx"),
            ("日本語 です", "日本語 です"),
            ("\u{2068}", "\\u{2068}"),
        ] {
            assert_eq!(Exact::text(text).to_string(), expected);
        }
        assert_eq!(Exact::line("a\nb").to_string(), "a\\u{a}b");
    }
}
