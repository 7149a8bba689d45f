//! Whether a summary is one.

use std::collections::HashSet;
use std::fmt;

use super::Count;

/// Characters that a summary has at least.
const LEAST: usize = 20;

/// Words in a row that no summary shares with its instruction by chance.
const RUN: usize = 5;

/// Percent of an answer's words that may stand in such runs: a good summary may open with the goal as the instruction
/// names it.
const ECHO: usize = 50;

/// Why an answer is no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// It says nothing.
    Empty,
    /// It repeats what it was asked.
    Echo,
    /// It is as long as what it stands for.
    TooLong,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the summary was empty",
            Self::Echo => "the summary repeated its instruction",
            Self::TooLong => "the summary was as long as what it stands for",
        })
    }
}

/// Takes an answer as a summary of `source` tokens. `instruction` is the request's text without what it quotes.
///
/// # Errors
/// When it is none.
pub fn check(answer: &str, instruction: &str, source: usize, count: Count<'_>) -> Result<String, Rejected> {
    let answer = answer.trim();
    if answer.chars().count() < LEAST {
        return Err(Rejected::Empty);
    }
    if echo(answer, instruction) > ECHO {
        return Err(Rejected::Echo);
    }
    if count(answer) * 10 > source * 9 {
        return Err(Rejected::TooLong);
    }
    Ok(answer.to_owned())
}

/// Percent of the answer's words that stand in the instruction too, in runs of at least [`RUN`].
fn echo(answer: &str, instruction: &str) -> usize {
    let (answer, instruction) = (words(answer), words(instruction));
    let run = RUN.min(answer.len()).max(1);
    let known: HashSet<&[String]> = instruction.windows(run).collect();
    let mut is_echo = vec![false; answer.len()];
    for (at, words) in answer.windows(run).enumerate() {
        if known.contains(words) {
            is_echo[at..at + run].fill(true);
        }
    }
    is_echo.iter().filter(|is_echo| **is_echo).count() * 100 / answer.len().max(1)
}

/// Words in lower case; characters of scripts that do not part their words count one by one.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for piece in text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty()) {
        if piece.chars().any(is_unparted) {
            words.extend(piece.chars().map(String::from));
        } else {
            words.push(piece.to_lowercase());
        }
    }
    words
}

fn is_unparted(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-094
    #[test]
    fn empty_echoing_and_long_answers_are_no_summaries() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let instruction = "Summarise this part of a conversation for the agent that goes on with it.\nBe short.";
        let check = |answer: &str| check(answer, instruction, 100, &count);
        assert_eq!(check("  ok.  "), Err(Rejected::Empty));
        assert_eq!(check(&format!("Sure! {instruction}")), Err(Rejected::Echo));
        assert_eq!(check(&"word ".repeat(73)), Err(Rejected::TooLong));
        assert_eq!(check(" The build is red since Monday. \n"), Ok("The build is red since Monday.".to_owned()));
        assert!(check(&"word ".repeat(72)).is_ok(), "nine tenths");
        assert_eq!(check("nineteen characters"), Err(Rejected::Empty));
        assert!(check("twenty characters go").is_ok());
        assert!(check("Be short. And the port is 8080 everywhere.").is_ok(), "a short line may come up by chance");
    }

    const ASKED: &str = "Summarise this part of a conversation for the agent that goes on with it.\n\
        ACTIVE GOAL: Move the whole archive of the lighthouse to the new server by Friday\n\
        Preserve:\n- what the user asked for and why\n- decisions and their reasons\n- files and commands that matter\n\
        - errors and how they were solved\n- what is still open";

    // OLLM-094
    #[test]
    fn a_list_of_what_the_instruction_asks_for_is_no_summary() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        for answer in [
            "- what the user asked for and why\n- decisions and their reasons\n- files and commands that matter",
            "Preserve: what the user asked for and why, decisions and their reasons, errors and how they were solved.",
            "The summary:\nSummarise this part of a conversation for the agent that goes on with it.",
        ] {
            assert_eq!(check(answer, ASKED, 500, &count), Err(Rejected::Echo), "{answer}");
        }
    }

    // OLLM-094
    #[test]
    fn a_summary_that_opens_with_the_goal_or_names_what_it_keeps_is_taken() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        for answer in [
            "ACTIVE GOAL: Move the whole archive of the lighthouse to the new server by Friday\nThe user wants it there \
             because the old disk fails. They chose rsync over scp; 41 of 60 folders are copied, /srv/maps is still open.",
            "- what the user asked for and why: the port moves to 8080, since 80 needs root\n- decisions and their reasons: \
             nginx stays, because Ada knows it\n- what is still open: the certificate, which expires in May",
        ] {
            assert!(check(answer, ASKED, 500, &count).is_ok(), "{answer}");
        }
    }
}
