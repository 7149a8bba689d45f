//! An error in one line.

use std::error::Error;

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
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}
