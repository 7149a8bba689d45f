//! A question that is answered by yes or no at a terminal.

use std::io::{self, Write as _};

use crate::output;

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
