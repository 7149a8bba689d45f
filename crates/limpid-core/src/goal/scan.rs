//! Which lines of a reply may hold markers: not those in code fences (an unclosed one runs to the end), in
//! quotes, or inside inline code. A reply that arrives in pieces gives the same lines as the whole.

use super::marker::{Marker, Rejected, may_become, read};

/// One line of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line as it came, with its end when it has one.
    pub text: String,
    /// The marker in it, or why it is none; nothing for text.
    pub marker: Option<Result<Marker, Rejected>>,
}

/// Reads a reply as it comes, in pieces of any size.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    /// What came of the line that is not over.
    open: String,
    /// The fence that is open: its character and length.
    fence: Option<(char, usize)>,
    /// Lines of the paragraph from the one on in which a backtick is open that may begin inline code.
    held: Vec<Line>,
    /// The length of the run of backticks that is open.
    ticks: Option<usize>,
}

impl Scanner {
    /// Takes in a piece and gives the lines that are decided by it.
    pub fn push(&mut self, piece: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.open.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.open);
                self.take(&line, &mut lines);
            }
        }
        lines
    }

    /// The reply is over; gives the lines that are left.
    pub fn finish(mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() {
            self.take(&open, &mut lines);
        }
        lines.append(&mut self.held);
        lines
    }

    /// The beginning of the line that is not over, when it is certain to be text.
    pub fn certain_text(&self) -> Option<&str> {
        let is_text = self.fence.is_some() || !may_become(&self.open);
        (is_text && self.held.is_empty()).then_some(self.open.as_str())
    }

    fn take(&mut self, text: &str, lines: &mut Vec<Line>) {
        let content = text.trim_end_matches(['\n', '\r']);
        let line = |marker| Line { text: text.to_owned(), marker };
        if self.is_fenced(content) {
            self.end_paragraph(lines);
            return lines.push(line(None));
        }
        let is_quote = content.trim_start_matches(' ').starts_with('>') && !content.starts_with("    ");
        if content.trim().is_empty() || is_quote {
            self.end_paragraph(lines);
            return lines.push(line(None));
        }
        let line = line(read(content));
        let was_open = self.ticks.is_some();
        let closed = self.follow_ticks(content);
        if was_open && closed {
            // The run was closed: everything in between was code.
            lines.extend(self.held.drain(..).map(|held| Line { marker: None, ..held }));
            return lines.push(Line { marker: None, ..line });
        }
        if was_open {
            return self.held.push(line);
        }
        lines.push(line);
    }

    /// A run of backticks that nothing closed in its paragraph is text, and the lines after it are what they seem.
    fn end_paragraph(&mut self, lines: &mut Vec<Line>) {
        self.ticks = None;
        lines.append(&mut self.held);
    }

    /// Follows the runs of backticks in a line. Says whether the run that was open before it was closed.
    fn follow_ticks(&mut self, content: &str) -> bool {
        let mut closed = false;
        let mut rest = content;
        while let Some(at) = rest.find('`') {
            let from = &rest[at..];
            rest = from.trim_start_matches('`');
            let run = from.len() - rest.len();
            match self.ticks {
                None => self.ticks = Some(run),
                Some(open) if open == run => {
                    self.ticks = None;
                    closed = true;
                }
                Some(_) => {}
            }
        }
        closed
    }

    /// Whether a line belongs to a code fence, its first and last line included.
    fn is_fenced(&mut self, content: &str) -> bool {
        let inner = content.trim_start_matches([' ', '\t']);
        match self.fence {
            Some((mark, length)) => {
                let run = inner.len() - inner.trim_start_matches(mark).len();
                if run >= length && inner[run..].trim().is_empty() {
                    self.fence = None;
                }
                true
            }
            None => {
                self.fence = fence(inner).or_else(|| fence(after_bullet(inner)));
                self.fence.is_some()
            }
        }
    }
}

/// Every line of a whole reply.
pub fn scan(reply: &str) -> Vec<Line> {
    let mut scanner = Scanner::default();
    let mut lines = scanner.push(reply);
    lines.extend(scanner.finish());
    lines
}

fn fence(text: &str) -> Option<(char, usize)> {
    ['`', '~'].into_iter().find_map(|mark| {
        let rest = text.trim_start_matches(mark);
        let run = text.len() - rest.len();
        (run >= 3 && (mark == '~' || !rest.contains('`'))).then_some((mark, run))
    })
}

/// A fence may open right behind the bullet of a list.
fn after_bullet(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(['-', '*', '+', '.', ')']).map_or(text, |rest| rest.trim_start_matches([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn markers(reply: &str) -> Vec<String> {
        let read = |line: Line| match line.marker? {
            Ok(marker) => Some(format!("{marker:?}")),
            Err(rejected) => Some(rejected.to_string()),
        };
        scan(reply).into_iter().filter_map(read).collect()
    }

    // OLLM-079
    #[test]
    fn fences_quotes_and_inline_code_are_no_place_for_markers() {
        let replies = [
            "```\n[GOAL] x\n```",
            "~~~ text\n[GOAL] x\n```\n[GOAL] x\n~~~",
            "````\n```\n[GOAL] x\n````",
            "```rust\n[GOAL] x\nnever closed\n\n[GOAL] x",
            "1. ```\n   [GOAL] x\n   ```",
            "> [GOAL] x\n> [NEXT] y",
            "> ```\n> [GOAL] x",
            "`[GOAL] x`",
            "`begins here\n[GOAL] x\nends here`",
            "``a ` b\n[GOAL] x\nc``",
            "    [GOAL] x",
        ];
        for reply in replies {
            assert_eq!(markers(reply), [""; 0], "{reply}");
        }
    }

    // OLLM-079
    #[test]
    fn what_follows_them_counts_again() {
        let replies = [
            "```\ncode\n```\n[GOAL] x",
            "> quoted\n\n[GOAL] x",
            "use `this`\n[GOAL] x",
            "a stray ` tick\n[GOAL] x",
            "a stray ` tick\n\nand `more\n[GOAL] x",
            "```inline``` is no fence\n[GOAL] x",
            "text\r\n[GOAL] x\r\n",
        ];
        for reply in replies {
            assert_eq!(markers(reply), [r#"Goal("x")"#], "{reply}");
        }
    }

    /// Replies made of what the scanner looks at.
    fn replies() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "[GOAL] Größe",
            "[NEXT] b",
            "[CHECKPOINT] c - DONE",
            "**",
            "`",
            "```",
            "~~~",
            "\n",
            "\n\n",
            "\r\n",
            "> ",
            "- ",
            "    ",
            " ",
            "text",
            "é",
            "🦀",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        // OLLM-084
        #[test]
        fn pieces_of_any_size_give_the_lines_of_the_whole(reply in replies(), cuts in prop::collection::vec(0_usize..120, 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|at| reply.is_char_boundary(*at)).collect();
            cuts.extend([0, reply.len()]);
            cuts.sort_unstable();
            let mut scanner = Scanner::default();
            let mut lines = Vec::new();
            for ends in cuts.windows(2) {
                lines.extend(scanner.push(&reply[ends[0]..ends[1]]));
            }
            lines.extend(scanner.finish());
            let whole: String = lines.iter().map(|line| line.text.as_str()).collect();
            prop_assert_eq!(&whole, &reply);
            prop_assert_eq!(lines, scan(&reply));
        }
    }
}
