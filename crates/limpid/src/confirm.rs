//! A question that is answered by yes or no at a terminal, or by the hash of what was looked at before.

use std::io::{self, Write as _};

use limpid_core::{SEEN_DIGITS, is_seen_hash};

use crate::failure::{ExitStatus, Failure};
use crate::output;

/// What the owner says yes to as it was shown to them.
pub(crate) struct Approval<'a> {
    /// The hash of all that is shown.
    pub(crate) hash: &'a str,
    /// What it is called.
    pub(crate) name: &'a str,
    /// The command that shows it and asks.
    pub(crate) command: &'a str,
    /// What a yes does with it, as a question at the terminal.
    pub(crate) question: &'a str,
    /// What is told where there was no yes, without its full stop.
    pub(crate) refused: &'a str,
}

impl Approval<'_> {
    /// Whether the owner says yes: by the hash that they were told, or else at the terminal, once it was shown.
    ///
    /// # Errors
    /// When it is not what had the hash, and when there is neither a hash nor a terminal: whoever called goes on as if it had been done.
    pub(crate) fn ask(
        &self,
        seen: Option<&str>,
        can_ask: bool,
        show: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let Self { hash, name, command, question, refused } = self;
        match seen {
            Some(seen) if is_seen_hash(seen, hash) => return Ok(true),
            Some(_) => {
                let why = output::named(&[("", name)], " is not what you looked at");
                return Err(Failure::new(ExitStatus::Usage, why).advise(format!("Look at it: {command}")));
            }
            None => show()?,
        }
        if !can_ask {
            let yes = format!("{question} Then: {command} --hash {}", &hash[..SEEN_DIGITS]);
            return Err(Failure::new(ExitStatus::Usage, *refused).advise(yes));
        }
        let is_yes = confirmed(question, false)?;
        if !is_yes {
            output::tell(&format!("{refused}."));
        }
        Ok(is_yes)
    }
}

/// Asks, and waits for a line; an empty one is `usual`. What was typed before the question was there answers nothing.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) fn confirmed(question: &str, usual: bool) -> io::Result<bool> {
    // Where it fails there is no terminal whose keys could wait.
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(rustix::stdio::stdin(), rustix::termios::QueueSelector::IFlush);
    let choice = if usual { "[Y/n]" } else { "[y/N]" };
    output::tell_on(&format!("{question} {choice} "));
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(match answer.trim().to_lowercase().as_str() {
        "" => usual,
        "y" | "yes" => true,
        _ => false,
    })
}
