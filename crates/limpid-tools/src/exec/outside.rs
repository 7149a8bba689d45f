//! What a program that may be a stranger's sees of `outside/`: the folders there that it starts in or names, and the files beside them. A
//! yes to it is bound to the same, so it does not matter where a tool looks for modules and settings on its way up.

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::path::{Component, Path, PathBuf};

use super::command::Command;
use super::confinement::Confinement;
use super::places::Kind;
use super::programs::Programs;
use super::view::View;

/// What a call names in `outside/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedOutside {
    /// Whether it names anything there.
    any: bool,
    /// Whether it names `outside/` itself, or more than one folder there in a way that is not followed.
    whole: bool,
    /// The folders directly in `outside/` that it names, or something in them.
    folders: BTreeSet<PathBuf>,
}

impl NamedOutside {
    /// Adds a place by its way from `outside/`; none where the way isn't known.
    pub(super) fn add(&mut self, outside: &Path, way: Option<&Path>) {
        self.any = true;
        match way.and_then(|way| way.components().next()) {
            Some(Component::Normal(name)) => {
                let folder = outside.join(name);
                // A file there needs no name to be seen.
                let is_folder = folder.symlink_metadata().is_ok_and(|about| about.is_dir());
                self.folders.extend(is_folder.then_some(folder));
            }
            _ => self.whole = true,
        }
    }
}

/// What a program that may be a stranger's sees of `outside/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InOutside {
    /// The folders there that it sees: it starts in them, or names something in them.
    pub(super) folders: Vec<PathBuf>,
    /// `outside/` itself, when it sees the files there beside these folders, and a program that it starts may look for some there.
    pub(super) files: Option<PathBuf>,
    /// The folders there that it does not see.
    covered: Vec<PathBuf>,
}

/// What a program may touch in this view, without what it does not see though it lies in a folder of the view.
///
/// # Errors
/// A sentence, when a granted folder was moved, or not all that it must not see can be covered.
pub(super) fn confinement(
    programs: &Programs,
    command: &Command,
    view: View,
    modes: (bool, bool),
) -> Result<Confinement, String> {
    let mut confinement = programs.confinement(command, view, modes)?;
    let Confinement { write, read, hidden, .. } = &confinement;
    // Of a place in a hidden folder, or the other way round, the inner one counts.
    let depth = |path: &Path, folder: &Path| path.starts_with(folder).then(|| folder.components().count());
    let is_seen = |path: &Path| {
        let place = write.iter().chain(read).filter_map(|place| depth(path, &place.path)).max();
        place.is_some_and(|place| hidden.iter().filter_map(|hidden| depth(path, hidden)).all(|hidden| hidden <= place))
    };
    let mut covered = in_outside(programs, command).map(|outside| outside.covered).unwrap_or_default();
    covered.retain(|folder| is_seen(folder));
    are_text(&covered)?;
    // A program needs a folder to start in: this one is empty.
    covered.extend((!is_seen(&command.folder)).then(|| command.folder.clone()));
    confinement.covered.extend(covered);
    Ok(confinement)
}

/// What a program that may be a stranger's sees of `outside/`, and so what a yes to it is bound to there; none for a program of the
/// owner's.
pub(super) fn in_outside(programs: &Programs, command: &Command) -> Option<InOutside> {
    let named = programs.named(command);
    let outside = programs.folders().find(|(_, kind)| *kind == Kind::Outside).map(|([_, real], _)| real.to_owned());
    let outside = outside.filter(|_| named.low || programs.runs_unasked(command))?;
    let NamedOutside { any, whole, folders } = named.outside;
    let is_folder = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let entries = outside.read_dir().into_iter().flatten().flatten().filter(is_folder).map(|entry| entry.path());
    Some(if whole {
        InOutside { folders: vec![outside], files: None, covered: Vec::new() }
    } else {
        let covered = entries.filter(|folder| !folders.contains(folder)).collect();
        InOutside { folders: folders.into_iter().collect(), files: any.then_some(outside), covered }
    })
}

/// A place is handed to the sandbox as text.
fn are_text(covered: &[PathBuf]) -> Result<(), String> {
    covered.iter().find(|folder| folder.to_str().is_none()).map_or(Ok(()), |folder| {
        Err(format!(
            "{} has a name that is no text, so it cannot be kept from a program that may be a stranger's; the owner has to rename it",
            folder.display()
        ))
    })
}
