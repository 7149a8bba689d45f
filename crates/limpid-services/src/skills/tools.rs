//! Tools about skills: one reads them, two write them.

mod create;
mod group;
mod load;
mod update;

use std::sync::Arc;

use limpid_tools::Tool;

use crate::skills::service::Skills;
pub(crate) use group::GROUP;
pub(crate) use load::LOAD_SKILL;

/// Every tool about skills.
pub fn tools(skills: &Arc<Skills>) -> Vec<Arc<dyn Tool>> {
    let skills = || Arc::clone(skills);
    vec![
        Arc::new(load::LoadSkill::new(skills())),
        Arc::new(create::CreateSkill::new(skills())),
        Arc::new(update::UpdateSkill::new(skills())),
    ]
}
