//! Settings, the soul and profiles of the home that are links: what they lead to is the owner's word, so no program changes it, also
//! where it lies in a folder that programs write, as one for settings of all programs does.

use std::fs;
use std::path::{Path, PathBuf};

use super::confinement::Place;

/// What of the home is used as it stands. Skills and prompts are not: what a program changed of them waits for the owner.
const USED: [&str; 4] = ["limpid.toml", "soul.md", "safety.md", "profiles"];

/// Folders in each other below `profiles`.
const DEPTH: usize = 4;

/// Links that a path may lead through.
const LINKS: usize = 40;

/// What links of the home lead to in folders that a program writes.
///
/// # Errors
/// A sentence, when the way there is a link that the program could change.
pub(super) fn kept(home: &Path, write: &[Place]) -> Result<Vec<Place>, String> {
    let is_written = |path: &Path| write.iter().any(|place| path.starts_with(&place.path));
    let mut kept = Vec::new();
    for path in USED.iter().flat_map(|name| links_below(&home.join(name), DEPTH)) {
        let (links, end) = followed(&path);
        if let Some(link) = links.iter().find(|link| is_written(link)) {
            return Err(format!(
                "`{}` leads through the link `{}`, which programs could change. Nothing was run. Have it lead to its end itself",
                path.display(),
                link.display()
            ));
        }
        kept.extend(Place::of(&end).filter(|_| is_written(&end)));
    }
    Ok(kept)
}

/// The links at a path and below it.
fn links_below(path: &Path, depth: usize) -> Vec<PathBuf> {
    if path.is_symlink() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten().filter(|_| depth > 0);
    entries.flat_map(|entry| links_below(&entry.path(), depth - 1)).collect()
}

/// The links that a path leads through, each by its place without links, and where it ends.
fn followed(path: &Path) -> (Vec<PathBuf>, PathBuf) {
    let (mut links, mut path) = (Vec::new(), path.to_owned());
    while links.len() < LINKS {
        let mut around: Vec<&Path> = path.ancestors().collect();
        around.reverse();
        let Some(link) = around.into_iter().find(|part| part.is_symlink()).map(Path::to_owned) else { break };
        let (Some(folder), Ok(target)) = (link.parent(), fs::read_link(&link)) else { break };
        let rest = path.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        // A blank way would leave a slash behind a file.
        path = folder.join(target);
        path.extend(rest.components());
        links.push(link.file_name().map(|name| folder.join(name)).unwrap_or(link));
    }
    let end = path.canonicalize().unwrap_or(path);
    (links, end)
}
