//! What a call would change in a file that is there, line by line. It stands above the question.

use limpid_config::regular_file;
use limpid_runtime::compare::{ChangedLines, changed_lines};
use limpid_runtime::question::block;
use limpid_runtime::{Agent, QuestionPart};

/// Bytes of the largest file of which a difference is shown.
const LARGEST: u64 = 1024 * 1024;

/// Lines of a difference that are shown, unless the question is opened.
pub(super) const LINES: usize = 40;

/// The difference that a call would make, at most so many lines of it; none where it writes no file that is there.
pub(super) fn difference(agent: &Agent, part: &QuestionPart, width: usize, most: usize) -> Option<String> {
    let tool = agent.tool(&part.name)?;
    let arguments = serde_json::from_str(&part.arguments).ok()?;
    let paths = tool.paths(&arguments);
    let [path] = &paths[..] else { return None };
    if !path.write {
        return None;
    }
    let base = agent.config().files.base.clone().unwrap_or_else(|| agent.home().workspace());
    let before = regular_file::read_text(&base.join(&path.path), LARGEST).ok()?;
    let after = tool.leaves(&arguments, Some(&before))?;
    drawn(&before, &after, width, most)
}

fn drawn(before: &str, after: &str, width: usize, most: usize) -> Option<String> {
    if before == after {
        return None;
    }
    let ChangedLines { lines, go, come } = changed_lines(before, after);
    let mut rows = vec![format!("  {go} {} removed, {come} added", if go == 1 { "line" } else { "lines" })];
    rows.extend(block(&lines[..lines.len().min(most)].join("\n"), width));
    if lines.len() > most {
        rows.push(format!("│ … and {} more lines: open", lines.len() - most));
    }
    Some(rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-077
    #[test]
    fn lines_that_go_and_come_are_shown_and_counted() {
        let shown = drawn("a\nb\n\n", "a\nB\n\nd\n", 80, LINES).unwrap();
        let counted = "  1 line removed, 2 added";
        let wanted = format!("{counted}\n│   @@ -1,3 +1,4 @@\n│    a\n│   -b\n│   +B\n│   \n│   +d");
        assert_eq!(shown, wanted);
        assert_eq!(drawn("a\n", "a\n", 80, LINES), None);
    }

    // SEC-077
    #[test]
    fn lines_are_counted_and_shown_one_by_one_however_they_end() {
        let shown = drawn("one\ntwo\n", "one\ra\rb\ntwo\n", 80, LINES).unwrap();
        assert!(shown.starts_with("  1 line removed, 3 added\n"), "{shown}");
        assert_eq!(shown.matches("\n│   +").count(), 3, "{shown}");
        let shown = drawn("a\r\nb\r\n", "a\r\nc\r\n", 80, LINES).unwrap();
        assert!(shown.ends_with("\n│    a\n│   -b\n│   +c"), "{shown}");
    }

    // SEC-077
    #[test]
    fn what_is_cut_of_a_difference_is_counted() {
        let after: String = (0..100).map(|line| format!("{line}\n")).collect();
        let shown = drawn("", &after, 80, LINES).unwrap();
        assert!(shown.ends_with("│ … and 61 more lines: open"), "{shown}");
        assert!(shown.starts_with("  0 lines removed, 100 added\n"), "{shown}");
        assert!(!drawn("", &after, 80, usize::MAX).unwrap().contains("more lines"));
    }
}
