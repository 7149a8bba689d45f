//! Links of the home to what is the owner's alone: settings, profiles, accounts of mail, Limpid's own data. What a program or a tool
//! changed there would be used as it stands.

use std::fs;
use std::path::{Path, PathBuf};

/// What of the home is the owner's alone. Of the rest, what a program changed waits for them, or counts as a stranger's.
const OWNERS: [&str; 8] = ["limpid.toml", "soul.md", "safety.md", "models.toml", "profiles", "mail", "models", "data"];

/// Folders of it with files that the owner wrote, which may be links too.
const SETTINGS: [&str; 2] = ["profiles", "mail"];

/// What no program reads either: passwords, tokens, conversations.
const SECRET: [&str; 2] = ["mail", "data"];

/// Entries that are looked at; no home has so many.
const LOOKED_AT: usize = 4096;

/// Links that a path may lead through.
const LINKS: usize = 40;

/// A link of the home, or of a folder that one leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HomeLink {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The links that it leads through, itself too, each by its place without links.
    pub(crate) links: Vec<PathBuf>,
    /// Where it ends, whether something is there or not.
    pub(crate) end: PathBuf,
    /// Whether programs may not read it either.
    pub(crate) is_secret: bool,
}

/// What of a home is the owner's alone, with every link followed, and whether programs may not read it either.
pub(crate) fn owners_places(home: &Path) -> impl Iterator<Item = (PathBuf, bool)> {
    OWNERS.iter().filter_map(|name| Some((home.join(name).canonicalize().ok()?, SECRET.contains(name))))
}

/// What of the owner's alone is written elsewhere too.
#[derive(Debug, Default)]
pub(crate) struct HomeLinks {
    /// The links.
    pub(crate) links: Vec<HomeLink>,
    /// Files with a second name on the disk, by which they may be written.
    pub(crate) named_twice: Vec<PathBuf>,
}

/// The links of a home; none when there is too much to look at.
pub(crate) fn home_links(home: &Path) -> Option<HomeLinks> {
    let (mut found, mut looked_at) = (HomeLinks::default(), 0_usize);
    let mut open: Vec<(PathBuf, bool, bool)> =
        OWNERS.map(|name| (home.join(name), SETTINGS.contains(&name), SECRET.contains(&name))).into();
    while let Some((path, descends, is_secret)) = open.pop() {
        looked_at += 1;
        if looked_at > LOOKED_AT {
            return None;
        }
        let mut folder = path.clone();
        if path.is_symlink() {
            let (links, end) = followed(&path);
            folder.clone_from(&end);
            found.links.push(HomeLink { path, links, end, is_secret });
        }
        if is_named_twice(&folder) {
            found.named_twice.push(folder.clone());
        }
        if descends {
            open.extend(entries(&folder).map(|path| (path, true, is_secret)));
        }
    }
    Some(found)
}

/// Whether a file has a second name, by which a program of this user could write it.
#[cfg(unix)]
pub fn is_named_twice(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is_ours =
        |about: &fs::Metadata| about.uid() == rustix::process::geteuid().as_raw() || about.mode() & 0o022 != 0;
    path.symlink_metadata().is_ok_and(|about| about.is_file() && about.nlink() > 1 && is_ours(&about))
}

/// Whether a file has a second name, by which a program of this user could write it.
#[cfg(not(unix))]
pub fn is_named_twice(_: &Path) -> bool {
    false
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The links that a path leads through, and where it ends.
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    // SEC-061
    #[test]
    fn links_are_found_wherever_the_owner_keeps_settings() {
        let disk = tempfile::tempdir().unwrap();
        let at = |path: &str| disk.path().canonicalize().unwrap().join(path);
        for folder in ["home/mail", "home/data", "home/workspace", "far/profiles", "dots/mine"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("dots/a.toml"), "").unwrap();
        fs::write(at("dots/limpid.toml"), "").unwrap();
        symlink(at("dots/limpid.toml"), at("home/limpid.toml")).unwrap();
        symlink("../../dots/a.toml", at("home/mail/a.toml")).unwrap();
        symlink(at("far/profiles"), at("home/profiles")).unwrap();
        symlink(at("dots/mine"), at("far/profiles/mine")).unwrap();
        symlink(at("dots"), at("home/workspace/dots")).unwrap();
        symlink(at("dots"), at("home/skills")).unwrap();
        fs::hard_link(at("dots/limpid.toml"), at("dots/named.toml")).unwrap();
        let found = home_links(&at("home")).unwrap();
        assert_eq!(found.named_twice, [at("dots/limpid.toml")]);
        let mut found: Vec<_> = found.links.into_iter().map(|link| (link.end, link.is_secret)).collect();
        found.sort();
        let expected = ["dots/a.toml", "dots/limpid.toml", "dots/mine", "far/profiles"];
        assert_eq!(found, expected.map(|path| (at(path), path == "dots/a.toml")));
    }
}
