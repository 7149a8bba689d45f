//! What of the folder that is kept apart is in no grant, also where a link of it leads.

use std::path::{Path, PathBuf};

use super::{Grants, Place, Root};
use crate::home_links::home_links;

impl Grants {
    /// Whether a place of a grant is in the folder that is kept apart, and in no folder of ours there.
    pub(in crate::files) fn is_apart(&self, place: &Place<'_>) -> bool {
        let whole = place.root.folder.join(&place.path);
        // What is not there yet lies where its nearest folder leads.
        let real = whole.ancestors().find_map(|path| path.canonicalize().ok());
        real.is_none_or(|real| self.keeps_apart(place.root, &real))
    }

    /// The same of what was opened in a root, by its path without links.
    pub(in crate::files) fn keeps_apart(&self, root: &Root, real: &Path) -> bool {
        let own = || self.others.iter().filter(|other| other.is.is_none()).map(|other| &other.root);
        let own = || own().chain([&self.workspace]);
        let holds = |folder: &Path| real.starts_with(folder.canonicalize().as_deref().unwrap_or(folder));
        let Some(home) = self.apart.as_deref() else { return false };
        let is_ours = || own().any(|own| own == root || holds(&own.folder));
        (holds(home) && !is_ours()) || self.is_linked(home, real)
    }

    /// Whether a link of the home leads there, or to a folder around it in which no folder of ours holds it. Where there is too much
    /// to look at, each place may be one.
    fn is_linked(&self, home: &Path, real: &Path) -> bool {
        let Some(links) = home_links(home) else { return true };
        let own =
            self.others.iter().filter(|other| other.is.is_none()).map(|other| &other.root).chain([&self.workspace]);
        let own: Vec<PathBuf> = own.filter_map(|own| own.folder.canonicalize().ok()).collect();
        let is_ours_in = |end: &Path| own.iter().any(|own| own.starts_with(end) && real.starts_with(own));
        links.iter().any(|link| real.starts_with(&link.end) && !is_ours_in(&link.end))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use limpid_core::Trust;

    use super::*;

    // SEC-061
    #[test]
    fn what_a_link_of_the_home_leads_to_is_in_no_grant() {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().canonicalize().unwrap();
        for name in ["home/workspace", "dotfiles/mail"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(folder.join("dotfiles/limpid.toml"), folder.join("home/limpid.toml")).unwrap();
        std::os::unix::fs::symlink("../dotfiles/mail", folder.join("home/mail")).unwrap();
        let dotfiles = Root { folder: folder.join("dotfiles"), write: true, trust: Trust::File };
        let grants = Grants::new(folder.join("home/workspace"), folder.join("home/data/locks"))
            .apart_from(folder.join("home"))
            .with_granted(dotfiles.clone());
        let is_apart = |name: &str| grants.keeps_apart(&dotfiles, &folder.join("dotfiles").join(name));
        assert!(is_apart("limpid.toml") && is_apart("mail/ada.toml"));
        assert!(!is_apart("other.toml") && !is_apart("limpid.toml.old"));
        // Nor in the workspace.
        std::os::unix::fs::symlink("workspace/soul.md", folder.join("home/soul.md")).unwrap();
        let workspace = grants.workspace();
        let is_apart = |name: &str| grants.keeps_apart(workspace, &workspace.folder.join(name));
        assert!(is_apart("soul.md") && !is_apart("tea.md"));
    }
}
