//! Whether a summary is one (OLLM-094).

use std::fmt;

use super::Count;

/// Characters that a summary has at least.
const LEAST: usize = 20;

/// Characters of the instruction that no summary would repeat by chance.
const ECHO: usize = 40;

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
    let telling = |line: &&str| line.chars().count() >= ECHO;
    if instruction.lines().map(str::trim).filter(telling).any(|line| answer.contains(line)) {
        return Err(Rejected::Echo);
    }
    if count(answer) * 10 > source * 9 {
        return Err(Rejected::TooLong);
    }
    Ok(answer.to_owned())
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
}
