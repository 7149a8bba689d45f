//! The hidden sub-command that parses: it gives up everything, reads one question, answers it, and ends.

use std::ffi::OsString;
use std::io::{self, Write as _};

use crate::question::{answer, read};

/// The sub-command.
pub const PARSE: &str = "__parse";

/// Seconds that an answer may take.
pub const SECONDS: u64 = 10;

/// The exit code when there was no answer.
const NO_ANSWER: u8 = 1;

/// Answers one question when the words of the command line are the hidden sub-command, with the seconds that it may compute
/// behind it; returns its exit code. It must be called before the program starts any thread, since what is given up is given
/// up for one thread.
pub fn main(words: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut words = words.into_iter();
    words.next()?;
    if words.next()? != PARSE {
        return None;
    }
    let seconds =
        words.next().and_then(|word| word.to_str()?.parse().ok()).map_or(SECONDS, |most: u64| most.min(SECONDS));
    // Whoever asks hears of a failure by the missing answer.
    Some(if answer_one(seconds).is_ok() { 0 } else { NO_ANSWER })
}

fn answer_one(seconds: u64) -> io::Result<()> {
    #[cfg(unix)]
    crate::restrict::restrict(seconds);
    #[cfg(not(unix))]
    let _ = seconds;
    let (question, bodies) = read(io::stdin().lock())?;
    let answer = serde_json::to_vec(&answer(question, &bodies))?;
    let mut out = io::stdout().lock();
    out.write_all(&answer)?;
    out.flush()
}
