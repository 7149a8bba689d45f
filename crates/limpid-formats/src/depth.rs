//! How deep the texts of strangers may nest.

/// How deep elements and parts may nest.
pub(crate) const MOST_DEPTH: usize = 512;

/// Something nests deeper than is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;
