//! The tools of files, over the folders that the owner granted.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::{FilesConfig, Home};
use limpid_core::Trust;
use limpid_tools::files::{self, Grants, NamedTexts, Root};

use crate::tools::Tool;

/// How prompts call the folder of a skill, wherever it stands.
const SKILLS: &str = "~/skills";

/// How the folder for what strangers wrote is called.
pub(crate) const OUTSIDE: &str = "outside";

/// The tools in the order in which they are declared; files are read with these texts among them.
pub fn tools(home: &Home, config: &FilesConfig, named: Arc<dyn NamedTexts>) -> Vec<Arc<dyn Tool>> {
    files::tools(&Arc::new(grants(home, config)), Some(named))
}

/// The workspace, the folder for what strangers wrote, the folders of skills for reading, and what the owner granted besides.
pub(crate) fn grants(home: &Home, config: &FilesConfig) -> Grants {
    let own = |folder: PathBuf| Root { folder, write: false, trust: Trust::File };
    let granted = |folder: &PathBuf, write| {
        let trust = if config.trusted.contains(folder) { Trust::File } else { Trust::Outside };
        Root { folder: folder.clone(), write, trust }
    };
    let skills = [own(home.skills()), own(home.builtin_skills())];
    let all_skills = [home.workspace_skills(), home.skills(), home.builtin_skills()];
    let write = config.grants.iter().map(|folder| granted(folder, true));
    let read = config.read.iter().map(|folder| granted(folder, false));
    let own = Grants::new(home.workspace(), home.folder_locks()).apart_from(home.path());
    let own = skills.into_iter().fold(own, Grants::with);
    let grants = write.chain(read).fold(own, Grants::with_granted);
    let grants = config.named().fold(grants, |grants, (name, folder)| grants.with_name(name, folder.clone()));
    let grants = grants.with_base(config.base.clone());
    let outside = Root { folder: home.outside(), write: true, trust: Trust::Outside };
    grants.with(outside).with_short(SKILLS, all_skills).with_short(OUTSIDE, [home.outside()])
}
