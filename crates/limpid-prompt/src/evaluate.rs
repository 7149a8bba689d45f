//! What compiled texts come to over the names of one prompt.

mod descriptions;
mod filters;
mod walk;

pub use walk::Piece;
pub(crate) use walk::piece;
