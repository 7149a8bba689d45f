//! Where a path leads when every link and `..` in it is followed.

use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

/// Links that are followed for one path; more than that leads nowhere.
pub(super) const LINKS: usize = 40;

/// Bytes of the longest path that a call may name. To follow its parts one by one takes time.
pub(crate) const LONGEST_PATH: usize = 4096;

/// Parts that are followed for one path of a call, those of the links on it too: many more than any has that people made.
const PARTS: usize = 4096;

/// A path with every `..` and every link in it followed; what does not exist is where it would be made. One that no call may name,
/// or that has more links than are followed, stands for the root, where nothing is low and nothing is written.
pub(crate) fn real(path: &Path) -> PathBuf {
    let root = PathBuf::from(MAIN_SEPARATOR_STR);
    if path.as_os_str().len() > 2 * LONGEST_PATH {
        return root;
    }
    follow(root.clone(), path, (&mut Vec::new(), &mut { usize::MAX }), &today).unwrap_or(root)
}

/// Whether a path is too long to follow: links of a stranger's can make a short one lead over many thousands of parts.
pub(crate) fn is_too_long(path: &Path) -> bool {
    let mut left = PARTS;
    // Where it leads is of no matter here.
    let _ = follow(PathBuf::from(MAIN_SEPARATOR_STR), path, (&mut Vec::new(), &mut left), &today);
    left == 0
}

/// Where a path leads by what is known of its links: `target` says where the one at a place leads, which has every other link followed
/// in the same way, and nothing of what is no link. None when there are more than are followed.
pub(crate) fn real_by(path: &Path, target: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    follow(PathBuf::from(MAIN_SEPARATOR_STR), path, (&mut Vec::new(), &mut { usize::MAX }), target)
}

/// The links that a path leads over, each at its own place with every other link followed, in the order in which they are followed.
pub(crate) fn links_on(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    // What is not followed to its end is nothing, but the links up to there are.
    let _ = follow(PathBuf::from(MAIN_SEPARATOR_STR), path, (&mut links, &mut { usize::MAX }), &today);
    links
}

/// Where a path leads from a folder.
pub(crate) struct Way {
    /// The path with every link followed; the root where it has more than are followed.
    pub(crate) end: PathBuf,
    /// The links, each at its own place with every other link followed, in the order in which they are followed.
    pub(crate) links: Vec<PathBuf>,
}

/// Where a path leads from a folder that has every link followed. Whether there is a link at a place is looked at while
/// `may_look` lets it be: each look takes as long as the place's path is.
pub(crate) fn way(folder: &Path, path: &Path, may_look: &dyn Fn(&Path) -> bool) -> Way {
    let mut links = Vec::new();
    let target = |place: &Path| if may_look(place) { today(place) } else { None };
    let end = follow(folder.to_owned(), path, (&mut links, &mut { usize::MAX }), &target);
    Way { end: end.unwrap_or_else(|| PathBuf::from(MAIN_SEPARATOR_STR)), links }
}

/// Where the link at a place leads now; none where there is no link.
fn today(place: &Path) -> Option<PathBuf> {
    std::fs::read_link(place).ok()
}

/// Where a path leads; `links` are those that were followed, and `left` are the parts that may be. None when there are more of either.
fn follow(
    mut at: PathBuf,
    path: &Path,
    (links, left): (&mut Vec<PathBuf>, &mut usize),
    target: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Option<PathBuf> {
    for part in path.components() {
        match part {
            Component::Prefix(prefix) => at = PathBuf::from(prefix.as_os_str()),
            Component::RootDir => at.push(MAIN_SEPARATOR_STR),
            Component::CurDir => {}
            Component::ParentDir => drop(at.pop()),
            Component::Normal(name) => {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    return None;
                }
                let next = at.join(name);
                at = match target(&next) {
                    Some(_) if links.len() == LINKS => return None,
                    Some(way) => {
                        links.push(next);
                        follow(at, &way, (links, left), target)?
                    }
                    None => next,
                };
            }
        }
    }
    Some(at)
}

/// A path as it reads: each `..` takes back the part before it.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}
