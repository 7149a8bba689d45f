//! What a program that may be a stranger's sees of `outside/`: where it names or starts in something there, the folders that it names, and
//! the files beside them; else nothing. A yes to it is bound to the same, so it does not matter where a tool looks for modules and settings
//! on its way up.

use std::io;
use std::path::{Path, PathBuf};

use limpid_core::io_cause;

use super::command::Command;
use super::confinement::Confinement;
use super::named_places::NamedOutside;
use super::places::Kind;
use super::programs::Programs;
use super::view::View;

/// What a program that may be a stranger's sees of `outside/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InOutside {
    /// The folders there that it sees: it starts in them, or names something in them.
    pub(super) folders: Vec<PathBuf>,
    /// `outside/` itself, when it sees the files there beside these folders.
    pub(super) files: Option<PathBuf>,
    /// The folders there that it does not see.
    covered: Vec<PathBuf>,
}

/// What a program may touch in this view, without what it does not see though it lies in a folder of the view.
///
/// # Errors
/// A sentence, when a granted folder was moved, or not all that it must not see is known or can be covered.
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
    let mut covered = in_outside(programs, command)?.map(|outside| outside.covered).unwrap_or_default();
    covered.retain(|folder| is_seen(folder));
    are_text(&covered)?;
    // A program needs a folder to start in: this one is empty.
    let is_empty = !is_seen(&command.folder);
    covered.extend(is_empty.then(|| command.folder.clone()));
    let [folder, _] = &command.found;
    confinement.start = (!is_empty).then(|| folder.clone());
    confinement.covered.extend(covered);
    Ok(confinement)
}

/// What a program that may be a stranger's sees of `outside/`, and so what a yes to it is bound to there; none where it sees nothing of it,
/// and for a program of the owner's.
///
/// # Errors
/// A sentence, when `outside/` cannot be listed: what opens there by its name cannot be covered then.
pub(super) fn in_outside(programs: &Programs, command: &Command) -> Result<Option<InOutside>, String> {
    let outside = programs.folders().find(|(_, kind)| *kind == Kind::Outside).map(|([_, real], _)| real.to_owned());
    let outside = outside.filter(|_| command.named.low || command.is_listed);
    let Some(outside) = outside else { return Ok(None) };
    let NamedOutside { any, whole, folders } = &command.named.outside;
    if !any {
        return Ok(None);
    }
    if *whole {
        return Ok(Some(InOutside { folders: vec![outside], files: None, covered: Vec::new() }));
    }
    let closed = |error: io::Error| {
        format!(
            "`outside/` cannot be listed ({}), so nothing was run: what a program must not see there is not known; the \
             owner mends that with `chmod u+rx {}`",
            io_cause(&error),
            outside.display()
        )
    };
    let mut covered = folders_in(&outside).map_err(closed)?;
    covered.retain(|folder| !folders.contains(folder));
    Ok(Some(InOutside { folders: folders.iter().cloned().collect(), files: Some(outside), covered }))
}

/// The folders directly in a folder; none where that is not there.
fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match folder.read_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        match entry.file_type() {
            Ok(kind) => folders.extend(kind.is_dir().then(|| entry.path())),
            // One that went away meanwhile is seen by nobody.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(folders)
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
