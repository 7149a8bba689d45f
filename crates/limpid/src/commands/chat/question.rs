//! The question whether a call may run, asked at a terminal.

use limpid_runtime::ApprovalAnswer;
use reedline::{DefaultPrompt, DefaultPromptSegment, Reedline, Signal};

use crate::failure::{ExitStatus, Failure};

/// Waits for `y`, `always` or `n`; none when the person would rather stop the turn.
///
/// # Errors
/// When the terminal cannot be read.
pub(super) async fn answer() -> Result<Option<ApprovalAnswer>, Failure> {
    // On a thread of its own, so that nothing else stands still.
    let read = tokio::task::spawn_blocking(|| {
        let words = DefaultPromptSegment::Basic("y, always or n".to_owned());
        let prompt = DefaultPrompt::new(words, DefaultPromptSegment::Empty);
        let mut editor = Reedline::create();
        loop {
            match editor.read_line(&prompt)? {
                Signal::Success(line) => match meaning(&line) {
                    Some(answer) => return Ok(Some(answer)),
                    None => continue,
                },
                Signal::CtrlD => return Ok(Some(ApprovalAnswer::No)),
                _ => return Ok(None),
            }
        }
    });
    let read: std::io::Result<_> = read.await.map_err(|error| Failure::new(ExitStatus::Failed, error))?;
    Ok(read?)
}

/// What a line means; nothing when it is no answer.
fn meaning(line: &str) -> Option<ApprovalAnswer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(ApprovalAnswer::Once),
        "a" | "always" => Some(ApprovalAnswer::Always),
        "n" | "no" => Some(ApprovalAnswer::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-002
    #[test]
    fn only_a_clear_answer_counts() {
        let table = [
            ("y", Some(ApprovalAnswer::Once)),
            (" Yes ", Some(ApprovalAnswer::Once)),
            ("always", Some(ApprovalAnswer::Always)),
            ("N", Some(ApprovalAnswer::No)),
            ("", None),
            ("yn", None),
            ("ok", None),
        ];
        for (line, expected) in table {
            assert_eq!(meaning(line), expected, "{line:?}");
        }
    }
}
