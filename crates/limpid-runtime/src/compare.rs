//! Two texts side by side, and prompts as texts that can be compared.

use limpid_prompt::Prompt;
use limpid_prompt::show::frames::{Framed, Frames};
use limpid_services::line_diff::line_diff;
use similar::{ChangeTag, DiffTag};

/// Lines around a change that are shown.
const AROUND: usize = 2;

/// A row of two texts side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// Lines that are the same in both, and are left out.
    Folded(usize),
    /// A line of both.
    Same(String),
    /// A line that one has and the other has not, or has another in its place.
    Changed {
        /// Its older form.
        old: Option<String>,
        /// Its newer form.
        new: Option<String>,
    },
}

/// Two texts, line by line, with what is the same in both folded.
pub fn side_by_side(old: &str, new: &str) -> Vec<DiffRow> {
    let diff = line_diff(old, new);
    let line = |text: Option<&str>| text.map(|line| line.trim_end_matches(['\n', '\r']).to_owned());
    let mut rows = Vec::new();
    let mut shown = 0;
    for op in diff.grouped_ops(AROUND).into_iter().flatten() {
        let (tag, olds, news) = op.as_tag_tuple();
        if olds.start > shown {
            rows.push(DiffRow::Folded(olds.start - shown));
        }
        shown = olds.end;
        for at in 0..olds.len().max(news.len()) {
            let old = line(olds.clone().nth(at).and_then(|at| diff.old_slice(at)));
            let new = line(news.clone().nth(at).and_then(|at| diff.new_slice(at)));
            rows.push(match (tag, old) {
                (DiffTag::Equal, Some(old)) => DiffRow::Same(old),
                (_, old) => DiffRow::Changed { old, new },
            });
        }
    }
    if diff.old_len() > shown {
        rows.push(DiffRow::Folded(diff.old_len() - shown));
    }
    rows
}

/// What changes between two texts, as a unified difference says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedLines {
    /// Heads of parts, and lines with a sign before them. A line may hold a carriage return, but no line feed.
    pub lines: Vec<String>,
    /// How many lines go.
    pub go: usize,
    /// How many lines come.
    pub come: usize,
}

/// What changes between two texts, with three lines around each change. A carriage return alone ends a line too.
pub fn changed_lines(old: &str, new: &str) -> ChangedLines {
    // Where all lines end as Windows has them, these ends say nothing.
    let of_windows = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
    let end = if of_windows(old) && of_windows(new) { "\r\n" } else { "\n" };
    let diff = line_diff(old, new);
    let mut changed = ChangedLines::default();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        changed.lines.push(hunk.header().to_string());
        for change in hunk.iter_changes() {
            let line = change.value();
            let line = line.strip_suffix(end).or_else(|| line.strip_suffix('\n')).unwrap_or(line);
            changed.lines.push(match change.tag() {
                // Of an empty line only its margin would be left, which is shown as a sign that nobody wrote.
                ChangeTag::Equal if line.is_empty() => String::new(),
                ChangeTag::Equal => format!(" {line}"),
                ChangeTag::Delete => format!("-{line}"),
                ChangeTag::Insert => format!("+{line}"),
            });
            changed.go += usize::from(change.tag() == ChangeTag::Delete);
            changed.come += usize::from(change.tag() == ChangeTag::Insert);
        }
    }
    changed
}

/// Two prompts as texts that can be compared: each message under a line that says who speaks, with its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeTexts {
    /// What is said before they are shown; none where no text in them looks like these lines.
    pub notice: Option<String>,
    /// The older one.
    pub old: String,
    /// The newer one.
    pub new: String,
}

impl WholeTexts {
    /// Those of two prompts. Their lines look the same, so that only what differs is a difference.
    pub fn of(old: &Prompt, new: &Prompt) -> Self {
        let (old, new) = (framed(old), framed(new));
        let frames = Frames::around(old.iter().chain(&new));
        let text = |framed: &[Framed<'_>]| framed.iter().map(|one| frames.draw(one)).collect();
        Self { notice: frames.notice(), old: text(&old), new: text(&new) }
    }
}

fn framed(prompt: &Prompt) -> Vec<Framed<'_>> {
    prompt.messages().iter().map(|message| Framed::message(message.role().to_string(), message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // PRO-056
    #[test]
    fn what_is_the_same_is_folded_and_what_changed_stands_beside_what_it_was() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let changed = |old: Option<&str>, new: Option<&str>| DiffRow::Changed {
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        let same = |line: &str| DiffRow::Same(line.to_owned());
        assert_eq!(
            side_by_side(old, "a\nb\nc\nd\nE\nE2\nf\ng\nh\n"),
            [
                DiffRow::Folded(2),
                same("c"),
                same("d"),
                changed(Some("e"), Some("E")),
                changed(None, Some("E2")),
                same("f"),
                same("g"),
                DiffRow::Folded(1),
            ]
        );
        assert_eq!(side_by_side(old, old), [DiffRow::Folded(8)]);
        assert_eq!(side_by_side("", "x"), [changed(None, Some("x"))]);
        assert_eq!(side_by_side("x", ""), [changed(Some("x"), None)]);
    }
}
