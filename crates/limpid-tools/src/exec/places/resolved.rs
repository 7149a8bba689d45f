//! How the folders are resolved, and which of them programs do not get.

use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{Folder, Kind, Resolved};
use crate::exec::confinement::Place;
use crate::exec::programs::Programs;
use crate::files::Root;

impl Programs {
    /// The folders, resolved by whoever asks first.
    pub(super) fn resolved(&self) -> &Resolved {
        self.places.0.get_or_init(|| {
            let mut resolved = Resolved { folders: Vec::new(), left_out: Vec::new() };
            let workspace = self.grants.workspace();
            for own in [&workspace.folder, &self.outside] {
                // What cannot be made is left out below, with the reason.
                let _ = std::fs::create_dir_all(own);
            }
            let own = |folder: &Path| folder.starts_with(&self.home);
            for root in self.grants.roots().filter(|root| root.folder != self.outside) {
                let high = Kind::High { write: root.write };
                let kind = if root.trust.is_foreign() { Kind::Low } else { high };
                if kind == Kind::Low && !root.folder.exists() && self.is_in_own(root) {
                    resolved.left_out.push(format!(
                        "`{}` is not there. If it was moved, what it holds counts as yours where it is now, until [files] in limpid.toml \
                         names that folder",
                        self.grants.name_of(root)
                    ));
                }
                let link = if own(&root.folder) { None } else { self.link_to(&root.folder) };
                match link {
                    Some(link) => resolved.leave_out(&self.grants.name_of(root), root, &link),
                    None => resolved.add_called(&self.grants.name_of(root), &root.folder, kind),
                }
            }
            resolved.add(&self.outside, Kind::Outside);
            for (folders, kind) in [(&self.path, Kind::Programs), (&self.toolchains, Kind::Toolchain)] {
                folders.iter().for_each(|folder| resolved.add(folder, kind));
            }
            resolved
        })
    }

    /// Why no program runs, where one would take for the owner's what `[files]` says is a stranger's: that lies in a folder of the
    /// owner's, and no view can leave it out, since it was none that lasts when the folders were resolved.
    pub(super) fn taken_for_the_owners(&self) -> Option<String> {
        let folders = &self.resolved().folders;
        let is_known = |root: &Root| folders.iter().any(|folder| folder.place.named == root.folder);
        let mut roots = self.grants.roots().filter(|root| root.trust.is_foreign() && !is_known(root));
        roots.find_map(|root| {
            let real = root.folder.canonicalize().ok()?;
            self.kind_of(&real).filter(|kind| !kind.is_low())?;
            let called = self.grants.name_of(root);
            let (why, remedy) = if self.link_to(&root.folder).is_some() {
                let why = format!("leads through a link to `{}`", real.display());
                (why, "Name that folder itself in [files] in limpid.toml")
            } else if real.is_dir() {
                ("was made after Limpid was started".to_owned(), "Start Limpid again")
            } else {
                ("is a single file".to_owned(), "Name a folder in [files] in limpid.toml, or move the file out of yours")
            };
            Some(format!(
                "`{called}` {why}. It lies in a folder of yours, and a program would take what somebody else wrote there for yours. \
                 Nothing was run. {remedy}"
            ))
        })
    }

    /// Whether a folder lies in one of the owner's.
    fn is_in_own(&self, root: &Root) -> bool {
        let mut own = self.grants.roots().filter(|own| !own.trust.is_foreign());
        own.any(|own| root.folder.starts_with(&own.folder))
    }

    /// The link by which a path leads to a granted folder: itself, or one within another granted folder, where programs
    /// may change it. Links above are the system's.
    fn link_to(&self, named: &Path) -> Option<PathBuf> {
        let roots = self.grants.roots().filter_map(|root| root.folder.canonicalize().ok()).collect::<Vec<_>>();
        let is_granted = |link: &Path| {
            let around = link.parent().and_then(|parent| parent.canonicalize().ok());
            around.is_some_and(|around| roots.iter().any(|root| around.starts_with(root)))
        };
        let mut links = named.ancestors().filter(|part| part.is_symlink());
        links.find(|link| *link == named || is_granted(link)).map(Path::to_owned)
    }
}

impl Resolved {
    /// Says that a folder is not used, because a path with a link in it may lead elsewhere at any time.
    fn leave_out(&mut self, called: &str, root: &Root, link: &Path) {
        let why = match (root.folder.is_symlink(), root.trust.is_foreign()) {
            (true, _) => "is a link".to_owned(),
            (false, true) => "leads through a link".to_owned(),
            (false, false) => format!("leads through the link `{}`", link.display()),
        };
        self.left_out.push(format!("`{called}` {why}; programs do not get it. Grant the folder that it leads to."));
    }

    /// Adds a folder of ours.
    fn add(&mut self, named: &Path, kind: Kind) {
        self.add_called(&named.display().to_string(), named, kind);
    }

    /// Adds a folder by the name that is told of it.
    fn add_called(&mut self, called: &str, named: &Path, kind: Kind) {
        // A folder that does not exist is nothing to tell of.
        let Ok(path) = named.canonicalize() else { return };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[expect(clippy::disallowed_methods, reason = "a handle to a place; what it holds is not read")]
        let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(&path);
        match opened.and_then(|handle| Ok((handle.metadata()?, handle))) {
            Ok((about, handle)) => self.folders.push(Folder {
                place: Place {
                    named: named.to_owned(),
                    at: path.clone(),
                    path,
                    device: about.dev(),
                    inode: about.ino(),
                },
                kind,
                handle,
            }),
            Err(error) => self.left_out.push(format!("`{called}` cannot be opened ({error}); programs do not get it.")),
        }
    }
}
