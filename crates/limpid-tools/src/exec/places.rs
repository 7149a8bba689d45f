//! The folders of a program's view, each resolved once to a handle that stays open.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use limpid_config::named_folder::{NamedFolder, NotUsed};
use limpid_core::Trust;

use super::command::Command;
use super::confinement::{Confinement, Network, Place};
use super::given::NotGiven;
use super::installed::{installed, is_in_system, is_put_into_system, package_of};
use super::kept::kept;
use super::named_places::Named;
use super::programs::Programs;
use super::remade::is_nothing_at;
use super::stand_in::StandIn;
use super::toolchains::{Parts, TooLarge};
use super::view::View;
use crate::files::Root;
use crate::files::grants::without_links;

/// The usual name of Limpid's home, in the owner's.
const USUAL: &str = ".limpid";

/// The folders of programs, resolved when the first program runs and the same from then on.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<OnceLock<Resolved>>);

/// What was found of the folders.
#[derive(Debug)]
struct Resolved {
    folders: Vec<Folder>,
    /// Sentences about folders that are not used.
    left_out: Vec<String>,
}

/// One folder, with the handle that keeps its number from being given to another one.
#[derive(Debug)]
struct Folder {
    place: Place,
    kind: Kind,
    handle: File,
}

/// Which part of which view a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The owner's, and whether it may be changed.
    High { write: bool },
    /// Where strangers' text may be.
    Low,
    /// The low place that programs write.
    Outside,
    /// Programs, which both views read.
    Programs,
    /// What a language needs, which both views read, but for files with credentials.
    Toolchain,
}

impl Folder {
    /// Whether a call names it, if it is a stranger's.
    fn is_named(&self, named: &Named) -> bool {
        match self.kind {
            Kind::Low => named.low_folders.contains(&self.place.path),
            Kind::Outside => named.outside.any,
            Kind::High { .. } | Kind::Programs | Kind::Toolchain => true,
        }
    }

    /// That it was moved, if it was. Where it is now, a view may show it that must not.
    fn moved(&self) -> Option<String> {
        let now = std::fs::read_link(format!("/proc/self/fd/{}", self.handle.as_raw_fd())).ok()?;
        let is_gone = now.to_string_lossy().ends_with(" (deleted)");
        (now != self.place.path && !is_gone).then(|| {
            let (named, now) = (self.place.named.display(), now.display());
            format!(
                "`{named}` is not the one any more that was granted: that one is at `{now}` now. Nothing was run. Put it \
                 back, or change the folders in limpid.toml"
            )
        })
    }
}

impl Kind {
    pub(super) fn is_low(self) -> bool {
        matches!(self, Self::Low | Self::Outside)
    }

    /// Whether a view shows folders of this kind.
    pub(super) fn is_seen(self, view: View) -> bool {
        match self {
            // Of the owner's own scripts a program sees the one that it is.
            Self::High { .. } | Self::Programs => view.reads_high(),
            Self::Low | Self::Outside => view.reads_low(),
            Self::Toolchain => true,
        }
    }

    /// Whether a program in this view may change what is in folders of this kind.
    fn is_written(self, view: View) -> bool {
        match self {
            Self::High { write } => write && view.writes_high(),
            Self::Outside => view.writes_outside(),
            Self::Low | Self::Programs | Self::Toolchain => false,
        }
    }
}

impl Programs {
    /// The folders, each by the path that the owner wrote and the one without links, and what kind each is of.
    pub(super) fn folders(&self) -> impl Iterator<Item = ([&Path; 2], Kind)> {
        let folders = self.resolved().folders.iter();
        folders.map(|folder| ([folder.place.named.as_path(), folder.place.path.as_path()], folder.kind))
    }

    /// Sentences about granted folders that programs do not get.
    pub fn left_out(&self) -> Vec<String> {
        self.resolved().left_out.clone()
    }

    /// Files with credentials that programs do not get, though they lie in a folder of `[exec] toolchains`.
    ///
    /// # Errors
    /// A sentence for the owner, when such a folder is too large to be looked through.
    pub fn kept_back(&self) -> Result<Vec<PathBuf>, String> {
        self.toolchain_parts().map(|parts| parts.kept_back)
    }

    /// What programs get of the toolchains now: other files may be in them than at the last call.
    fn toolchain_parts(&self) -> Result<Parts, String> {
        let mut parts = Parts::default();
        for folder in self.resolved().folders.iter().filter(|folder| folder.kind == Kind::Toolchain) {
            parts.add(&folder.place.path, &folder.handle).map_err(|TooLarge| {
                format!(
                    "`{}` of [exec] toolchains holds too much to look through for credentials, so no program runs. Name only folders in it \
                     that programs need, in limpid.toml",
                    folder.place.named.display()
                )
            })?;
        }
        Ok(parts)
    }

    /// Resolves the folders now, so that nothing can be put in their place before the first program. In a home that is
    /// still being made this is left to the first program.
    pub fn resolve(&self) {
        if self.grants.workspace().folder.exists() && self.outside.exists() {
            self.resolved();
        }
    }

    /// What a program may touch in this view.
    ///
    /// # Errors
    /// A sentence, when a granted folder was moved: its place and what is at the old one are not what was granted. When a toolchain is too
    /// large.
    pub(super) fn confinement(
        &self,
        command: &Command,
        view: View,
        (read_only, spares_disk): (bool, bool),
    ) -> Result<Confinement, String> {
        let folders = &self.resolved().folders;
        if let Some(why) = folders.iter().find_map(Folder::moved).or_else(|| self.mistaken()) {
            return Err(why);
        }
        // What could be run, sent, or left where it is sent later, is what the call names, and no other stranger's folder.
        let seen = |folder: &Folder| folder.kind.is_seen(view) && folder.is_named(&command.named);
        let of = |write: bool| {
            let chosen = folders.iter().filter(|folder| seen(folder) && folder.kind != Kind::Toolchain);
            let chosen = chosen.filter(|folder| (folder.kind.is_written(view) && !read_only) == write);
            chosen.map(|folder| folder.place.clone()).collect::<Vec<_>>()
        };
        let (mut write, mut read) = (of(true), of(false));
        let inside = |path: &Path| {
            let mut around = write.iter().chain(&read);
            around.any(|place| path.starts_with(&place.path) && path != place.path)
        };
        let toolchains =
            || folders.iter().filter(|folder| folder.kind == Kind::Toolchain).map(|folder| &folder.place.path);
        let in_toolchain = |path: &Path| toolchains().any(|folder| path.starts_with(folder) && path != folder);
        // Programs among those of the system, or of a language, are everybody's.
        let shown = |folder: &&Folder| {
            let path = &folder.place.path;
            inside(path) || folder.kind != Kind::Programs && (is_put_into_system(path) || in_toolchain(path))
        };
        let unseen = folders.iter().filter(|folder| !seen(folder)).filter(shown);
        let (unseen, gone): (Vec<&Folder>, Vec<&Folder>) =
            unseen.partition(|folder| folder.place.path.symlink_metadata().is_ok());
        let gone = gone.into_iter().map(|folder| folder.place.path.clone());
        let absent = gone.chain(self.not_yet_made().filter(|path| inside(path))).collect();
        let closed =
            unseen.iter().filter(|folder| folder.kind == Kind::Low).map(|folder| folder.place.clone()).collect();
        let unseen = unseen.into_iter().map(|folder| folder.place.path.clone());
        // A grant of a folder above Limpid's own gives away no settings, keys or conversations; nor does the system or a language, in whose
        // folder a home may lie.
        let shows_home = |home: &PathBuf| {
            let is_granted = || write.iter().chain(&read).any(|place| place.path == *home);
            inside(home) || is_in_system(home) || in_toolchain(home) || is_granted()
        };
        let home_itself = self.homes().filter(shows_home);
        let installed = installed(&self.used(command), view.reads_high());
        let mut hidden: Vec<PathBuf> = home_itself.chain(unseen).chain(installed.hidden).collect();
        // Of the folder of a language only what is given here is there, also where it lies in a granted one.
        let mut parts = self.toolchain_parts()?;
        let kept_out: Vec<&PathBuf> = hidden.iter().filter(|path| in_toolchain(path)).collect();
        parts.places.retain(|place| !kept_out.iter().any(|folder| place.path.starts_with(folder)));
        hidden.extend(toolchains().filter(|path| inside(path)).cloned());
        read.extend(parts.places);
        read.extend(installed.read);
        if !view.reads_high() {
            read.extend(self.own_program(command));
        }
        let kept = kept(&self.home, &write, &read)?.taken_out_of(&mut write, &mut read, &mut hidden);
        Ok(Confinement {
            kept,
            hidden,
            closed,
            absent,
            covered: installed.covered,
            split: parts.split,
            links: parts.links,
            frozen: Vec::new(),
            skills: if view.reads_high() { self.skills() } else { Vec::new() },
            scratch: self.home.join("data").join("scratch"),
            write,
            read,
            network: if view.has_network() { self.network.clone() } else { Network::default() },
            watch: !view.reads_low(),
            limits: self.limits_in(&command.folder),
            folder: command.folder.clone(),
            start: None,
            spares_disk,
        })
    }

    /// Where folders of `[files]` would be that are not there and were not when Limpid was started, as far as they lie in folders of the
    /// other kind: what is made there is not what is around it.
    fn not_yet_made(&self) -> impl Iterator<Item = PathBuf> {
        let is_known = |folder: &Path| self.folders().any(|([named, _], _)| named == folder);
        self.grants.roots().filter(move |root| !is_known(&root.folder)).filter_map(|root| {
            let path = without_links(&root.folder)?;
            let around = self.kind_of(&path)?;
            let is_other = match root.trust.is_foreign() {
                true => !around.is_low(),
                false => !matches!(around, Kind::High { .. }),
            };
            (is_other && is_nothing_at(&path)).then_some(path)
        })
    }

    /// The program of a command, where it lies in a folder of programs.
    fn own_program(&self, command: &Command) -> Option<Place> {
        let is_in = |folder: &Folder| command.program.starts_with(&folder.place.path);
        let own = self.resolved().folders.iter().any(|folder| folder.kind == Kind::Programs && is_in(folder));
        own.then(|| Place::of(&command.program)).flatten()
    }

    /// Limpid's home, and the owner's where it lies in a folder of the system, as that of a user who was made for one service may.
    fn homes(&self) -> impl Iterator<Item = PathBuf> {
        let home = self.home.canonicalize().ok();
        let around = home.as_ref().filter(|home| home.file_name().is_some_and(|name| name == USUAL));
        let around = around.and_then(|home| home.parent()).filter(|around| is_put_into_system(around));
        around.map(Path::to_owned).into_iter().chain(home)
    }

    /// The folders, or single files, that a call uses of what people put into folders of the system.
    pub(super) fn used(&self, command: &Command) -> Vec<PathBuf> {
        let known = self.folders().filter_map(|([_, real], kind)| match kind {
            Kind::Toolchain => Some(real.to_owned()),
            Kind::Programs => package_of(real),
            Kind::High { .. } | Kind::Low | Kind::Outside => None,
        });
        let program = command.program.parent().and_then(package_of).or_else(|| Some(command.program.clone()));
        command.named.installed.iter().cloned().chain(known).chain(program).collect()
    }

    /// Gives a program an empty folder where `outside/` is.
    pub(super) fn stand_in(&self, confinement: &mut Confinement) -> Result<StandIn, String> {
        let made = StandIn::make(&confinement.scratch, &self.outside)?;
        let outside = self.resolved().folders.iter().find(|folder| folder.kind == Kind::Outside);
        let at = outside.map_or_else(|| self.outside.clone(), |folder| folder.place.path.clone());
        let failed = |error| format!("the folder for what the program writes cannot be used: {error}");
        let path = made.folder().canonicalize().map_err(failed)?;
        let about = path.symlink_metadata().map_err(failed)?;
        let named = self.outside.clone();
        confinement.write.push(Place { named, path, at, device: about.dev(), inode: about.ino() });
        Ok(made)
    }

    /// What a granted folder is called in what tools say: strangers may have chosen its name on the disk.
    pub(super) fn called(&self, real: &Path) -> String {
        let mut roots = self.grants.roots();
        let root = roots.find(|root| self.grants.real(root).is_some_and(|folder| folder == *real));
        root.map_or_else(|| real.display().to_string(), |root| self.grants.name_of(root))
    }

    /// Whether a path without links lies where strangers' text may be.
    pub(super) fn is_low_place(&self, path: &Path) -> bool {
        self.kind_of(path).is_some_and(Kind::is_low)
    }

    /// What kind the innermost folder around a path without links is of.
    pub(super) fn kind_of(&self, path: &Path) -> Option<Kind> {
        self.innermost(path).map(|(_, kind)| kind)
    }

    /// The innermost folder around a path, by the one that the owner wrote or the one without links.
    pub(super) fn innermost(&self, path: &Path) -> Option<(&Path, Kind)> {
        let around = self.folders().filter(|(paths, _)| paths.iter().any(|folder| path.starts_with(folder)));
        // Of one folder by two names what is less trusted counts.
        let innermost = around.max_by_key(|([_, real], kind)| (real.components().count(), kind.is_low()));
        innermost.map(|([_, real], kind)| (real, kind))
    }

    /// Who may have written what a program prints: whoever wrote what it can read and, where the call names a package, whoever
    /// published that.
    pub fn trust(&self, view: View, command: &Command) -> Trust {
        match view {
            View::Low { .. } | View::Apart | View::Enclosed { .. } | View::Reading { .. } => Trust::Outside,
            View::High { .. } if self.names_package(command) => Trust::Outside,
            View::High { .. } => {
                let own = self.grants.roots().map(|root| root.trust).filter(|trust| !trust.is_foreign());
                own.fold(Trust::Owner, Trust::join)
            }
        }
    }

    fn resolved(&self) -> &Resolved {
        self.places.0.get_or_init(|| {
            let mut resolved = Resolved { folders: Vec::new(), left_out: Vec::new() };
            let workspace = self.grants.workspace();
            for own in [&workspace.folder, &self.outside] {
                // What cannot be made is left out below, with the reason.
                let _ = std::fs::create_dir_all(own);
            }
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
                resolved.add_root((&self.grants.name_of(root), root, kind), self.open_root(root));
            }
            // What cannot be made is none.
            if let Ok(opened) = self.grants.open_named(&self.outside) {
                resolved.add(&self.outside, opened, Kind::Outside);
            }
            for (folders, key, kind) in
                [(&self.path, "path", Kind::Programs), (&self.toolchains, "toolchains", Kind::Toolchain)]
            {
                for folder in folders {
                    match self.giver().look_at(folder) {
                        Ok(opened) => resolved.add(folder, opened, kind),
                        Err(NotGiven::Missing) => {}
                        Err(NotGiven::Because(why)) => resolved.left_out.push(format!(
                            "`{}` of [exec] {key} {why}; programs do not get it. Name another folder in limpid.toml.",
                            folder.display()
                        )),
                    }
                }
            }
            resolved
        })
    }

    /// Opens a folder of `[files]`, or one of Limpid's own. One that is a link itself is none, wherever it leads; the owner may have what
    /// is Limpid's behind links.
    fn open_root(&self, root: &Root) -> Result<NamedFolder, NotUsed> {
        let is_limpids = root.folder.starts_with(&self.home);
        match root.folder.is_symlink() && !is_limpids {
            true => Err(NotUsed::Link(root.folder.clone())),
            false => self.grants.open_named(&root.folder),
        }
    }

    /// Why no program runs, where one would see as a language's or a stranger's what `[files]` says is the owner's, or take for the owner's
    /// what it says is a stranger's: that lies in a folder of the other kind, and no view can leave it out, since it was none that lasts
    /// when the folders were resolved.
    fn mistaken(&self) -> Option<String> {
        let folders = &self.resolved().folders;
        let is_known = |root: &Root| folders.iter().any(|folder| folder.place.named == root.folder);
        self.grants.roots().filter(|root| !is_known(root)).find_map(|root| {
            let real = self.grants.real(root)?;
            let is_foreign = root.trust.is_foreign();
            let is_other = |kind: &Kind| if is_foreign { !kind.is_low() } else { !matches!(kind, Kind::High { .. }) };
            self.kind_of(&real).filter(is_other)?;
            let called = self.grants.name_of(root);
            let (why, remedy) = if self.open_root(root).is_err_and(|why| matches!(why, NotUsed::Link(_))) {
                let why = format!("leads through a link to `{}`", real.display());
                (why, "Name that folder itself in [files] in limpid.toml")
            } else if real.is_dir() {
                ("was made after Limpid was started".to_owned(), "Start Limpid again")
            } else {
                (
                    "is a single file".to_owned(),
                    "Name a folder in [files] in limpid.toml, or move the file out of yours",
                )
            };
            let lies = match is_foreign {
                true => {
                    "It lies in a folder of yours, and a program would take what somebody else wrote there for yours"
                }
                false => {
                    "It lies in a folder that is not yours, and a program of somebody else's would see what is yours"
                }
            };
            Some(format!("`{called}` {why}. {lies}. Nothing was run. {remedy}"))
        })
    }

    /// Whether a folder lies in one of the owner's.
    fn is_in_own(&self, root: &Root) -> bool {
        let mut own = self.grants.roots().filter(|own| !own.trust.is_foreign());
        own.any(|own| root.folder.starts_with(&own.folder))
    }

    /// The skills by their names; of two with one name the first folder's.
    fn skills(&self) -> Vec<(String, PathBuf)> {
        let mut skills: Vec<(String, PathBuf)> = Vec::new();
        for folder in &self.scripts {
            let Ok(entries) = folder.read_dir() else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if !skills.iter().any(|(known, _)| *known == name) {
                    skills.push((name, entry.path()));
                }
            }
        }
        skills.sort();
        skills
    }
}

impl Resolved {
    /// Adds a folder of `[files]`, by the name that is told of it, or says why it is not used.
    fn add_root(&mut self, (called, root, kind): (&str, &Root, Kind), opened: Result<NamedFolder, NotUsed>) {
        let why = match opened {
            Ok(opened) => return self.add(&root.folder, opened, kind),
            // A folder that does not exist is nothing to tell of.
            Err(NotUsed::Missing) => return,
            Err(NotUsed::Cannot(error)) => {
                return self.left_out.push(format!("`{called}` cannot be opened ({error}); programs do not get it."));
            }
            Err(NotUsed::Link(link)) if link == root.folder => "is a link".to_owned(),
            // Others chose how what a link leads to is called; the path that the owner wrote is theirs.
            Err(NotUsed::Link(link)) if !root.trust.is_foreign() && root.folder.starts_with(&link) => {
                format!("leads through the link `{}`, which somebody else could have laid", link.display())
            }
            Err(NotUsed::Link(_)) => "leads through a link that somebody else could have laid".to_owned(),
        };
        self.left_out.push(format!("`{called}` {why}; programs do not get it. Grant the folder that it leads to."));
    }

    /// Adds a folder that was opened, by the path that the owner wrote.
    fn add(&mut self, named: &Path, opened: NamedFolder, kind: Kind) {
        let NamedFolder { path, handle } = opened;
        let handle = File::from(handle);
        match handle.metadata() {
            Ok(about) => self.folders.push(Folder {
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
            Err(error) => {
                let named = named.display();
                self.left_out.push(format!("`{named}` cannot be looked at ({error}); programs do not get it."));
            }
        }
    }
}
