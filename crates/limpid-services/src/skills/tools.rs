//! Tools about skills: one reads them, two write them.

mod create;
mod load;
mod update;

use crate::tools::trouble;
use limpid_core::Sentence;
use std::sync::Arc;

use limpid_tools::Tool;

use crate::error::AgentError;
use crate::skills::Skills;

/// The group that texts list these tools under.
const GROUP: &str = "skills";

/// Every tool about skills.
pub fn tools(skills: &Arc<Skills>) -> Vec<Arc<dyn Tool>> {
    let skills = || Arc::clone(skills);
    vec![
        Arc::new(load::LoadSkill::new(skills())),
        Arc::new(create::CreateSkill::new(skills())),
        Arc::new(update::UpdateSkill::new(skills())),
    ]
}

/// An error as the model reads it.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
fn said(error: AgentError) -> Sentence {
    trouble(error)
}
