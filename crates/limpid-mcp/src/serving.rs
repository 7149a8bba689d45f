//! Serving: what is lent to clients of the protocol, over standard input and output or over HTTP.
//!
//! Both revisions are spoken, on one connection too: with a handshake (2025-11-25 and older), and without (2026-07-28), where
//! each request says for itself which revision it is in. What there is to lend is behind [`Lends`]; who may ask over HTTP is
//! for `limpid-server` to say.

mod answering;
mod http;
mod lends;
mod stdio;

pub use answering::Answering;
pub use http::{Endpoint, HttpOptions, endpoint, service, settings};
pub use lends::{Lends, Lent, LentAnswer, LentPrompt, LentResource, LentTool, Refusal};
pub use stdio::serve_stdio;
