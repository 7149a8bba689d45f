//! The tools of memory.

mod feedback;
mod forget;
mod learn;
mod promote;
mod query;
mod store;
mod update;
mod which;

pub use promote::PROMOTE_LEARNING;
pub use query::MemoryQuery;
pub use store::MemoryStoreTool;

use std::sync::Arc;

use limpid_tools::Tool;

use crate::memory::tools::feedback::MemoryFeedback;
use crate::memory::tools::forget::MemoryForget;
use crate::memory::tools::learn::MemoryLearn;
use crate::memory::tools::promote::PromoteLearning;
use crate::memory::tools::update::MemoryUpdate;
use crate::memory::{MemoryWriter, SemanticIndex};

/// The tools of memory, in the order in which they are declared.
pub fn tools(writer: &MemoryWriter, semantics: Option<&Arc<SemanticIndex>>) -> Vec<Arc<dyn Tool>> {
    let query = MemoryQuery::new(Arc::clone(writer.database())).by_meaning(semantics.cloned());
    let writer = || writer.clone();
    vec![
        Arc::new(MemoryStoreTool::new(writer())),
        Arc::new(query),
        Arc::new(MemoryLearn::new(writer())),
        Arc::new(MemoryUpdate::new(writer())),
        Arc::new(MemoryFeedback::reinforce(writer())),
        Arc::new(MemoryFeedback::demote(writer())),
        Arc::new(MemoryForget::new(writer())),
        Arc::new(PromoteLearning::new(writer())),
    ]
}
