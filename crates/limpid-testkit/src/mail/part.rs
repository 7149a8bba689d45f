//! The programs that stand behind these servers.

use std::ffi::OsString;

/// The program that a variable names.
pub(super) fn part(name: &str) -> Option<OsString> {
    #[allow(clippy::disallowed_methods, reason = "the parts of tests are named by the environment")]
    std::env::var_os(name).filter(|value| !value.is_empty())
}
