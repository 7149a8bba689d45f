//! What of the folders one program gets in its view.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Folder, Kind};
use crate::exec::command::Command;
use crate::exec::confinement::{Confinement, Network, Place};
use crate::exec::installed::{installed, is_in_system, is_put_into_system, package_of, seen_of_named};
use crate::exec::kept::kept;
use crate::exec::programs::Programs;
use crate::exec::stand_in::StandIn;
use crate::exec::view::View;

/// The usual name of Limpid's home, in the owner's.
const USUAL: &str = ".limpid";

impl Programs {
    /// What a program may touch in this view.
    ///
    /// # Errors
    /// A sentence, when a granted folder was moved: its place and what is at the old one are not what was granted.
    pub(in crate::exec) fn confinement(
        &self,
        command: &Command,
        view: View,
        (read_only, spares_disk): (bool, bool),
    ) -> Result<Confinement, String> {
        let folders = &self.resolved().folders;
        if let Some(why) = folders.iter().find_map(Folder::moved).or_else(|| self.taken_for_the_owners()) {
            return Err(why);
        }
        // What could be run, sent, or left where it is sent later, is what the call names, and no other stranger's folder.
        let named = self.named(command);
        let is_named = |folder: &Folder| folder.kind != Kind::Low || named.low_folders.contains(&folder.place.path);
        let seen = |folder: &Folder| folder.kind.is_seen(view) && is_named(folder);
        let of = |write: bool| {
            let chosen = folders.iter().filter(|folder| seen(folder) && folder.kind != Kind::Toolchain);
            let chosen = chosen.filter(|folder| (folder.kind.is_written(view) && !read_only) == write);
            chosen.map(|folder| folder.place.clone()).collect::<Vec<_>>()
        };
        let (write, mut read) = (of(true), of(false));
        let inside = |path: &Path| {
            let mut around = write.iter().chain(&read);
            around.any(|place| path.starts_with(&place.path) && path != place.path)
        };
        let unseen = folders.iter().filter(|folder| !seen(folder));
        let unseen = unseen.filter(|folder| folder.place.path.symlink_metadata().is_ok());
        let toolchains =
            || folders.iter().filter(|folder| folder.kind == Kind::Toolchain).map(|folder| &folder.place.path);
        let in_toolchain = |path: &Path| toolchains().any(|folder| path.starts_with(folder) && path != folder);
        // Programs among those of the system, or of a language, are everybody's.
        let shown = |folder: &&Folder| {
            let path = &folder.place.path;
            inside(path) || folder.kind != Kind::Programs && (is_put_into_system(path) || in_toolchain(path))
        };
        let unseen: Vec<&Folder> = unseen.filter(shown).collect();
        let closed =
            unseen.iter().filter(|folder| folder.kind == Kind::Low).map(|folder| folder.place.path.clone()).collect();
        let unseen = unseen.into_iter().map(|folder| folder.place.path.clone());
        // A grant of a folder above Limpid's own gives away no settings, keys or conversations; nor does the system or a language, in whose
        // folder a home may lie.
        let shows_home = |home: &PathBuf| {
            let is_granted = || write.iter().chain(&read).any(|place| place.path == *home);
            inside(home) || is_in_system(home) || in_toolchain(home) || is_granted()
        };
        let home_itself = self.homes().filter(shows_home);
        let installed = installed(&self.used(command, &named.installed), view.reads_high());
        let mut hidden: Vec<PathBuf> = home_itself.chain(unseen).chain(installed.hidden).collect();
        // Of the folder of a language only what is given here is there, also where it lies in a granted one.
        let mut parts = self.toolchain_parts();
        let kept_out: Vec<&PathBuf> = hidden.iter().filter(|path| in_toolchain(path)).collect();
        parts.places.retain(|place| !kept_out.iter().any(|folder| place.path.starts_with(folder)));
        hidden.extend(toolchains().filter(|path| inside(path)).cloned());
        read.extend(parts.places);
        read.extend(installed.read);
        let own = folders
            .iter()
            .any(|folder| folder.kind == Kind::Programs && command.program.starts_with(&folder.place.path));
        if own && !view.reads_high() {
            read.extend(Place::of(&command.program));
        }
        let kept = kept(&self.home, &write, &read)?;
        hidden.extend(kept.hidden);
        Ok(Confinement {
            kept: kept.as_it_is,
            hidden,
            closed,
            covered: installed.covered,
            split: parts.split,
            links: parts.links,
            frozen: Vec::new(),
            skills: if view.reads_high() { self.skills() } else { Vec::new() },
            scratch: self.home.join("data").join("scratch"),
            write,
            read,
            network: if view.has_network() { self.network.clone() } else { Network::default() },
            limits: self.limits_in(&command.folder),
            folder: command.folder.clone(),
            spares_disk,
        })
    }

    /// Limpid's home, and the owner's where it lies in a folder of the system, as that of a user who was made for one service may.
    fn homes(&self) -> impl Iterator<Item = PathBuf> {
        let home = self.home.canonicalize().ok();
        let around = home.as_ref().filter(|home| home.file_name().is_some_and(|name| name == USUAL));
        let around = around.and_then(|home| home.parent()).filter(|around| is_put_into_system(around));
        around.map(Path::to_owned).into_iter().chain(home)
    }

    /// The folders, or single files, that a call uses of what people put into folders of the system.
    fn used(&self, command: &Command, named: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let known = self.folders().filter_map(|([_, real], kind)| match kind {
            Kind::Toolchain => Some(real.to_owned()),
            Kind::Programs => Some(package_of(real)),
            Kind::High { .. } | Kind::Low | Kind::Outside => None,
        });
        let program = command.program.parent().map(package_of);
        seen_of_named(named).into_iter().chain(known).chain(program).collect()
    }

    /// Gives a program an empty folder where `outside/` is.
    pub(in crate::exec) fn stand_in(&self, confinement: &mut Confinement) -> Result<StandIn, String> {
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
