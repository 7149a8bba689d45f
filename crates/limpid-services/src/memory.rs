//! What the agent remembers: how it is written, by the owner and by models, and how it is found.

mod owner;
mod recall;
mod semantic;
mod tools;
mod writer;

pub use owner::Memories;
pub use recall::{Recalled, recall};
pub use semantic::{Indexed, SemanticIndex, SemanticState, probe};
pub use tools::{MemoryQuery, MemoryStoreTool, PROMOTE_LEARNING, tools};
pub use writer::{MemoryNote, MemoryWriter, WriteSource};
