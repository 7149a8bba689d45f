//! What the agent remembers: how it is written, by the owner and by models, and how it is found.

pub(crate) mod owner;
pub(crate) mod semantic;
pub(crate) mod tools;
pub(crate) mod writer;
