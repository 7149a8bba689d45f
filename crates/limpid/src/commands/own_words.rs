//! Words on the command line, and whether they are longer than anybody types there: a shell puts whole files among them.

use limpid_core::pasted::{LINE, SHORT, is_long, lines, rows};

use crate::failure::{ExitStatus, Failure};

/// Lines of eighty columns that one argument fills which counts as typed: who puts quotation marks around words may write a long one.
const ONE: usize = 12;

/// Whether words were copied from somewhere, each as the shell gave it.
pub(super) fn are_copied(words: &[String]) -> bool {
    match words {
        [one] => lines(one.trim()).count() > SHORT || rows(one) > ONE,
        several => is_long(&several.join(" ")),
    }
}

/// The words of a command that makes them the owner's: what they ask for is done, now or later. `mine` says that they are.
///
/// # Errors
/// When they are longer than what counts as typed.
pub(super) fn own(words: &[String], mine: bool) -> Result<String, Failure> {
    if !mine && are_copied(words) {
        let why = format!(
            "words of more than {SHORT} lines, or {} letters, may be somebody else's, and here they would count as yours",
            ONE * LINE
        );
        return Err(Failure::new(ExitStatus::Usage, why)
            .advise("Say --mine if they are yours. Hand in what others wrote in a chat: limpid chat \"sum this up\" < letter.txt"));
    }
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-053
    #[test]
    fn words_that_a_shell_made_of_a_file_are_copied() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let one = |text: &str| vec![text.to_owned()];
        let letter = "Dear Ada, the hotel is full that day. ".repeat(12);
        assert!(are_copied(&words(&letter)) && !are_copied(&one(&letter)));
        assert!(are_copied(&one(&letter.repeat(3))) && are_copied(&one("a\rb\rc\rd")));
        assert!(!are_copied(&words("write me a poem about the sea")) && !are_copied(&[]));
    }
}
