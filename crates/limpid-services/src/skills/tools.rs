//! Tools about skills: one reads them, two write them.

mod create;
mod load;
mod update;

use std::sync::Arc;

use limpid_tools::Tool;

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
