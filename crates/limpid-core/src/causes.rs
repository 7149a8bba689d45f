//! An error in one line.

use std::error::Error;
use std::io::{self, ErrorKind};

/// An error with its causes, which say what the error itself leaves out; a cause that it quotes is not said again.
///
/// ```
/// # use std::{error::Error, fmt};
/// # #[derive(Debug)]
/// # struct NoAnswer(std::io::Error);
/// # impl fmt::Display for NoAnswer {
/// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("no answer") }
/// # }
/// # impl Error for NoAnswer {
/// #     fn source(&self) -> Option<&(dyn Error + 'static)> { Some(&self.0) }
/// # }
/// let error = NoAnswer(std::io::Error::other("the line is cut"));
/// assert_eq!(limpid_core::causes(&error), "no answer: the line is cut");
/// ```
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let all = || std::iter::successors(Some(error), |&error| error.source());
    // What lies at the bottom says it all: the layers above only say that something was sent.
    if let Some(plain) = all().filter_map(|error| error.downcast_ref()).find_map(of_connection) {
        return plain.to_owned();
    }
    let mut text = error.to_string();
    for next in all().skip(1).map(|error| match error.downcast_ref() {
        Some(io) => io_cause(io),
        None => error.to_string(),
    }) {
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
    }
    text
}

/// What the system says of a file or a connection, without its number.
///
/// ```
/// let error = std::fs::read("/no/such/file").unwrap_err();
/// assert_eq!(limpid_core::io_cause(&error), "there is no such file or folder");
/// ```
pub fn io_cause(error: &io::Error) -> String {
    let plain = match error.kind() {
        ErrorKind::NotFound => Some("there is no such file or folder"),
        ErrorKind::PermissionDenied => Some("permission is denied"),
        ErrorKind::StorageFull => Some("the disk is full"),
        ErrorKind::ReadOnlyFilesystem => Some("the disk cannot be written to"),
        _ => of_connection(error),
    };
    plain.map_or_else(
        || {
            let said = error.to_string();
            said.split_once(" (os error ").map_or(said.clone(), |(words, _)| words.to_owned())
        },
        str::to_owned,
    )
}

/// What is wrong with a connection, where that is known.
fn of_connection(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        ErrorKind::ConnectionRefused => "the connection was refused, so nothing listens there",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => "the connection was cut by the other side",
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            "the network does not reach it"
        }
        _ if error.to_string().starts_with("failed to lookup address information") => {
            "there is no server of that name, or names cannot be looked up"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_at_the_bottom_says_it_all() {
        #[derive(Debug)]
        struct Sending(io::Error);
        impl std::fmt::Display for Sending {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("error sending request")
            }
        }
        impl Error for Sending {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let told = |number| causes(&Sending(io::Error::from_raw_os_error(number)));
        assert_eq!(told(111), "the connection was refused, so nothing listens there");
        assert_eq!(told(104), "the connection was cut by the other side");
        assert_eq!(told(28), "error sending request: the disk is full");
        assert_eq!(told(40), "error sending request: Too many levels of symbolic links");
        let name = io::Error::other("failed to lookup address information: Name or service not known");
        assert_eq!(causes(&Sending(name)), "there is no server of that name, or names cannot be looked up");
    }
}
