//! What links of the home lead to is the owner's alone, also where it lies in a folder that programs write, as one for settings of all
//! programs does. No program changes it, nor what lies beside a single file, and none sees folders of passwords.

use std::path::{Path, PathBuf};

use super::confinement::Place;
use crate::home_links::{HomeLinks, home_links, owners_places};

/// What is the owner's alone in the folders of a program's view.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Folders that stay as they are.
    pub(super) as_it_is: Vec<Place>,
    /// Folders that are not seen.
    pub(super) hidden: Vec<PathBuf>,
}

impl Kept {
    /// Takes what is not seen out of what a program is given, also where a grant is of the very folder; what stays as it is.
    pub(super) fn taken_out_of(
        self,
        write: &mut Vec<Place>,
        read: &mut Vec<Place>,
        hidden: &mut Vec<PathBuf>,
    ) -> Vec<Place> {
        for given in [write, read] {
            given.retain(|place| !self.hidden.contains(&place.path));
        }
        hidden.extend(self.hidden);
        self.as_it_is
    }
}

/// What links of the home lead to in folders that a program writes or reads.
///
/// # Errors
/// A sentence, when a file of the owner's has a second name, the way there is a link that the program could change,
/// nothing is there that could be kept, or a file lies right in a folder that the program is given.
pub(super) fn kept(home: &Path, write: &[Place], read: &[Place]) -> Result<Kept, String> {
    let is_in = |places: &[Place], path: &Path| places.iter().any(|place| path.starts_with(&place.path));
    let Some(HomeLinks { links, named_twice }) = home_links(home) else {
        return Err(format!("`{}` holds too many files to look for links. Nothing was run", home.display()));
    };
    if let Some(path) = named_twice.first().map(|path| path.display()) {
        return Err(format!(
            "`{path}` has a second name on the disk, by which programs could change it. Nothing was run. Make it a file of its own: \
             `cp -p {path} {path}.own && mv {path}.own {path}`"
        ));
    }
    let ends = links.iter().map(|link| (link.end.clone(), link.is_secret));
    let mut kept = within(&owners_places(home).chain(ends).collect::<Vec<_>>(), write, read);
    for link in links {
        if let Some(on_the_way) = link.links.iter().find(|link| is_in(write, link)) {
            return Err(format!(
                "`{}` leads through the link `{}`, which programs could change. Nothing was run. Have it lead to its end itself",
                link.path.display(),
                on_the_way.display()
            ));
        }
        let is_hidden = link.is_secret && (is_in(write, &link.end) || is_in(read, &link.end));
        // Whoever saves a file may put a new one in its place, which no mount goes with: its folder is kept.
        let (is_file, folder) = match link.end.symlink_metadata() {
            Ok(about) if about.is_dir() => (false, Some(link.end.as_path())),
            Ok(_) => (true, link.end.parent()),
            Err(_) => (false, None),
        };
        let Some(place) = folder.and_then(Place::of) else {
            if is_in(write, &link.end) {
                return Err(format!(
                    "`{}` leads to `{}`, which is not there, and programs could make it. Nothing was run. Make it, or remove the link",
                    link.path.display(),
                    link.end.display()
                ));
            }
            continue;
        };
        let is_given = |places: &[Place]| places.iter().any(|given| given.path == place.path);
        if is_file && (is_given(write) || is_hidden && is_given(read)) {
            return Err(format!(
                "`{}` leads to `{}`, a file right in a folder that programs get whole. Nothing keeps it from them once \
                 it is saved anew. Nothing was run. Move it into a folder within `{}` that holds nothing else for \
                 programs to change, and have the link lead there",
                link.path.display(),
                link.end.display(),
                place.path.display()
            ));
        }
        if is_hidden {
            kept.hidden.push(place.path);
        } else if is_in(write, &link.end) {
            kept.as_it_is.push(place);
        }
    }
    Ok(kept)
}

/// Folders that a program is given within what is the owner's alone: to grant one gives it to tools, and to no program.
fn within(owners: &[(PathBuf, bool)], write: &[Place], read: &[Place]) -> Kept {
    let mut kept = Kept::default();
    for (place, writes) in write.iter().map(|place| (place, true)).chain(read.iter().map(|place| (place, false))) {
        let around = owners.iter().filter(|(folder, _)| place.path.starts_with(folder));
        match around.map(|(_, is_secret)| *is_secret).max() {
            Some(true) => kept.hidden.push(place.path.clone()),
            Some(false) if writes => kept.as_it_is.push(place.clone()),
            Some(false) | None => {}
        }
    }
    kept
}
