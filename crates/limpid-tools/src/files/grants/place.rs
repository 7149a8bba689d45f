//! The place that a path means, by its words, and whether it is kept apart, also where a link of the home leads.

use std::path::{Component, Path, PathBuf};

use limpid_core::{Sentence, sentence};

use super::{FileId, Grants, Place, Root, id, without_links};
use crate::home_links::{HomeLinks, home_links};
use crate::tool::echoed;

impl Grants {
    /// The place that a path means: an absolute path within a granted folder, or one from where relative paths begin.
    ///
    /// Only words are looked at, but for folders of strangers; that no link leads out is seen to when the place is opened.
    ///
    /// # Errors
    /// A sentence for the model when it is in no granted folder.
    pub fn place(&self, path: &str) -> Result<Place<'_>, Sentence> {
        self.place_named(path, path)
    }

    /// The place that a path means which stands for the one that the call wrote: what is said of the place names it as the call did.
    fn place_named(&self, path: &str, asked: &str) -> Result<Place<'_>, Sentence> {
        if path.trim().is_empty() {
            return Err("`path` must not be blank".into());
        }
        if let Some(long) = self.written_out(path) {
            return self.place_named(&long, asked);
        }
        // A shell would read it as the home folder, and that is what whoever writes it means.
        if path.starts_with('~') {
            return Err(self.outside(asked));
        }
        let whole = plain(&self.workspace.folder.join(path));
        let within = |root: &Root| {
            let real = self.real(root);
            let folders = [Some(plain(&root.folder)), real];
            folders.into_iter().flatten().find_map(|folder| whole.strip_prefix(&folder).map(Path::to_path_buf).ok())
        };
        // The shortest way is that of the innermost folder.
        let found = self.roots().filter_map(|root| Some((within(root)?, root))).chain(self.strangers_by_number(&whole));
        let Some((way, root)) = found.min_by_key(|(way, _)| way.components().count()) else {
            return Err(self.outside(asked));
        };
        let way = if way.as_os_str().is_empty() { PathBuf::from(".") } else { way };
        Ok(Place { root, path: way, asked: asked.to_owned() })
    }

    /// The place of something that is to be changed.
    ///
    /// # Errors
    /// As [`Grants::place`], and when the folder may only be read.
    pub fn place_to_write(&self, path: &str) -> Result<Place<'_>, Sentence> {
        let place = self.place(path)?;
        if !place.root.write {
            return Err(sentence!("`{}` may be read but not changed; nothing was touched", echoed(path)));
        }
        Ok(place)
    }

    /// Whether tools of files may read what lies at a path that has every link followed.
    pub fn reads(&self, real: &Path) -> bool {
        let place = real.to_str().and_then(|path| self.place(path).ok());
        place.is_some_and(|place| !self.is_apart(&place))
    }

    /// The innermost folder of a stranger's around a path, whatever letters it is called by: some disks know a folder by small letters
    /// and by capitals, or by letters composed in two ways.
    fn strangers_by_number(&self, path: &Path) -> Option<(PathBuf, &Root)> {
        let strangers = self.roots().filter(|root| root.trust.is_foreign());
        let numbered: Vec<(FileId, &Root)> =
            strangers.filter_map(|root| Some((id(&root.folder.metadata().ok()?)?, root))).collect();
        if numbered.is_empty() {
            return None;
        }
        path.ancestors().find_map(|folder| {
            let is = id(&folder.symlink_metadata().ok()?)?;
            let (_, root) = numbered.iter().find(|(number, _)| *number == is)?;
            Some((path.strip_prefix(folder).ok()?.to_owned(), *root))
        })
    }
}

/// A path without `.` and `..`, by its words alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

impl Grants {
    /// Whether a place of a grant is in the folder that is kept apart, and in no folder of ours there.
    pub(in crate::files) fn is_apart(&self, place: &Place<'_>) -> bool {
        let whole = place.root.folder.join(&place.path);
        without_links(&whole).is_none_or(|real| self.keeps_apart(place.root, &real))
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
        let Some(HomeLinks { links, .. }) = home_links(home) else { return true };
        let own =
            self.others.iter().filter(|other| other.is.is_none()).map(|other| &other.root).chain([&self.workspace]);
        let own: Vec<PathBuf> = own.filter_map(|own| own.folder.canonicalize().ok()).collect();
        let is_ours_in = |end: &Path| own.iter().any(|own| own.starts_with(end) && real.starts_with(own));
        links.iter().any(|link| real.starts_with(&link.end) && !is_ours_in(&link.end))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use limpid_core::Trust;

    use super::*;
    use crate::files::grants::tests::grants;

    // SEC-053
    #[test]
    #[cfg(unix)]
    fn a_strangers_folder_is_one_by_whatever_name_the_disk_knows_it() {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("app/Vendor/lib/deep")).unwrap();
        // As a disk does that ignores case.
        std::os::unix::fs::symlink("Vendor", folder.join("app/vendor")).unwrap();
        let own = Root { folder: folder.join("app"), write: true, trust: Trust::File };
        let theirs = Root { folder: folder.join("app/Vendor/lib"), write: false, trust: Trust::Outside };
        let grants = Grants::new(folder.join("workspace"), folder.join("locks")).with_granted(own).with_granted(theirs);
        let place = |path: &str| {
            let place = grants.place(&folder.join(path).display().to_string()).unwrap();
            (place.root.trust, place.path.display().to_string())
        };
        let of = |trust, way: &str| (trust, way.to_owned());
        for path in ["app/vendor/lib/deep/new.md", "app/Vendor/lib/deep/new.md"] {
            assert_eq!(place(path), of(Trust::Outside, "deep/new.md"), "{path}");
        }
        assert_eq!(place("app/vendor/lib"), of(Trust::Outside, "."));
        assert_eq!(place("app/vendor/own.md"), of(Trust::File, "vendor/own.md"));
    }

    // PICO-081 LES-137
    #[test]
    fn a_path_means_a_place_in_a_granted_folder_or_nothing() {
        let grants = grants();
        let told = [
            "a.md",
            "./b/../a.md",
            ".",
            "/none/home/workspace/a.md",
            "/none/notes/a.md",
            "/none/notes/old/a.md",
            "../skills/write/SKILL.md",
            "..",
            "../../secret",
            "/none/home/workspace-2/a.md",
            "/etc/passwd",
            "~/.ssh/id_rsa",
            " ",
        ]
        .map(|path| match grants.place(path) {
            Ok(place) => format!("{path}: {} of {}", place.path.display(), place.root.folder.display()),
            Err(error) => format!("{path}: {}", error.text()),
        });
        insta::assert_snapshot!(told.join("\n"));
    }

    // SEC-065
    #[test]
    fn what_is_said_of_a_place_names_it_as_the_call_did() {
        let grants = grants().with_short("shelf", ["/none/notes".into()]).with_short("gone", ["/none/away".into()]);
        assert_eq!(grants.place("shelf/a.md").unwrap().asked, "shelf/a.md");
        let refused = grants.place("gone/a.md").unwrap_err();
        assert!(refused.text().starts_with("`gone/a.md` is outside"), "{refused:?}");
    }

    // PICO-031
    #[test]
    fn what_may_only_be_read_is_not_changed() {
        let grants = grants();
        assert!(grants.place_to_write("/none/notes/a.md").is_ok());
        let refused = grants.place_to_write("/none/home/skills/write/SKILL.md").unwrap_err();
        assert!(refused.text().contains("may be read but not changed"), "{refused:?}");
        assert!(grants.read_only().place_to_write("a.md").is_err());
    }

    // SEC-061
    #[test]
    #[cfg(unix)]
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
