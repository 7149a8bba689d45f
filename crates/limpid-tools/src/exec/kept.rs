//! What links of the home lead to is the owner's alone, also where it lies in a folder that programs write, as one for settings of all
//! programs does. No program changes it, and what holds passwords or conversations none sees.

use std::path::{Path, PathBuf};

use super::confinement::Place;
use crate::home_links::home_links;

/// What is the owner's alone in the folders of a program's view.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// What stays as it is.
    pub(super) as_it_is: Vec<Place>,
    /// What is not seen.
    pub(super) hidden: Vec<PathBuf>,
}

/// What links of the home lead to in folders that a program writes or reads.
///
/// # Errors
/// A sentence, when the way there is a link that the program could change, or nothing is there that could be kept.
pub(super) fn kept(home: &Path, write: &[Place], read: &[Place]) -> Result<Kept, String> {
    let is_in = |places: &[Place], path: &Path| places.iter().any(|place| path.starts_with(&place.path));
    let Some(links) = home_links(home) else {
        return Err(format!("`{}` holds too many files to look for links. Nothing was run", home.display()));
    };
    let mut kept = Kept::default();
    for link in links {
        if let Some(on_the_way) = link.links.iter().find(|link| is_in(write, link)) {
            return Err(format!(
                "`{}` leads through the link `{}`, which programs could change. Nothing was run. Have it lead to its end itself",
                link.path.display(),
                on_the_way.display()
            ));
        }
        let Some(place) = Place::of(&link.end) else {
            if is_in(write, &link.end) {
                return Err(format!(
                    "`{}` leads to `{}`, which is not there, and programs could make it. Nothing was run. Make it, or remove the link",
                    link.path.display(),
                    link.end.display()
                ));
            }
            continue;
        };
        if link.is_secret && (is_in(write, &link.end) || is_in(read, &link.end)) {
            kept.hidden.push(link.end);
        } else if is_in(write, &link.end) {
            kept.as_it_is.push(place);
        }
    }
    Ok(kept)
}
