//! The tools of files, over the folders that the owner granted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_config::{FilesConfig, Home};
use limpid_core::Trust;
use limpid_tools::files::{self, Grants, NamedTexts, Root};

use crate::tools::{Tool, real};

/// How prompts call the folder of a skill, wherever it stands.
const SKILLS: &str = "~/skills";

/// How the folder for what strangers wrote is called.
pub(crate) const OUTSIDE: &str = "outside";

/// The tools in the order in which they are declared; files are read with these texts among them.
pub fn tools(home: &Home, config: &FilesConfig, named: Arc<dyn NamedTexts>) -> Vec<Arc<dyn Tool>> {
    files::tools(&Arc::new(grants(home, config)), Some(named))
}

/// Whether what is written to a path, every link followed, counts as the owner's from then on: tools read it so, or it lies in the
/// home beside the folder for what strangers wrote. A relative path begins where the program runs.
pub fn counts_as_owners(home: &Home, config: &FilesConfig, path: &Path) -> bool {
    let real_path = std::path::absolute(path).map(|path| real(&path));
    // Nobody knows whose a place is that cannot be named.
    let Some((real_path, name)) = real_path.as_deref().ok().and_then(|path| Some((path, path.to_str()?))) else {
        return true;
    };
    // In an editor's session all that lies in a folder which the owner trusts is theirs, also where no tool reads it elsewhere.
    if config.trusted.iter().any(|trusted| real_path.starts_with(real(trusted))) {
        return true;
    }
    match grants(home, config).place(name) {
        Ok(place) => !place.root.trust.is_foreign(),
        Err(_) => real_path.starts_with(real(home.path())),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-004
    #[test]
    fn what_is_written_among_the_owners_files_counts_as_theirs_over_links_too() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let home = Home::new(at("home"));
        for folder in ["home/workspace", "home/outside", "mine", "mine/vendor", "read", "theirs", "else", "edited"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        let config = FilesConfig {
            grants: vec![at("mine"), at("mine/vendor"), at("theirs")],
            read: vec![at("read")],
            trusted: vec![at("mine"), at("read"), at("edited")],
            ..FilesConfig::default()
        };
        let table = [
            ("home/workspace/new.md", true),
            ("home/soul.md", true),
            ("home/outside/new.md", false),
            ("mine/deep/new.md", true),
            ("mine/vendor/new.md", true),
            ("mine/../else/new.md", false),
            ("else/../mine/new.md", true),
            ("read/new.md", true),
            ("edited/new.md", true),
            ("theirs/new.md", false),
            ("else/new.md", false),
        ];
        for (path, is_owners) in table {
            assert_eq!(counts_as_owners(&home, &config, &at(path)), is_owners, "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("home/workspace/new.md"), at("else/new.md")).unwrap();
            std::os::unix::fs::symlink(at("mine"), at("theirs/link")).unwrap();
            for path in ["else/new.md", "theirs/link/new.md"] {
                assert!(counts_as_owners(&home, &config, &at(path)), "{path}");
            }
        }
    }
}
