//! Which places the words of a call name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::command::Command;
use super::installed::{is_around_what_people_installed, is_in_system, is_installed_by_people, seen_of_named};
use super::looks::{Looks, MayBePath};
use super::named_places::Named;
use super::places::Kind;
use super::programs::Programs;
use super::toolchains::HOMES;

/// Folders on the way from that of a language to one of its programs, at most: `versions/node/v20/bin`.
const DEEPEST_BIN: usize = 4;

impl Named {
    fn add(&mut self, kind: Kind) {
        self.low |= kind.is_low();
        self.high |= matches!(kind, Kind::High { .. });
    }
}

impl Programs {
    /// The places that a call names: as its folder, as its program, in one of its words, or by a link that one of these leads over.
    pub(super) fn find_named(&self, command: &Command) -> Named {
        let mut named = Named::default();
        for path in [&command.folder, &command.program].into_iter().chain(&command.script) {
            self.add_outside(&mut named, path);
            let Some((folder, kind)) = self.innermost(path) else { continue };
            match kind {
                Kind::High { .. } if path == &command.folder => named.starts_high = true,
                kind => named.add(kind),
            }
            named.low_folders.extend((kind == Kind::Low).then(|| folder.to_owned()));
        }
        // Whoever writes where a link lies chose what it leads to. A program that is called by its name alone is one that whoever runs
        // the machine installed, over whatever is granted to nobody; one that is called by its path is not.
        named.low |= command.found_over.iter().any(|link| self.is_low_place(link));
        named.low |= command.called.iter().flat_map(|path| &path.links).any(|link| self.is_nobodys(link));
        for MayBePath { said, real, links } in command.called.iter().chain(&command.paths) {
            // What a stranger's link leads to is shown to no program: nobody was told of it.
            let is_led = links.iter().any(|link| self.is_low_place(link) || self.is_nobodys(link));
            if let Some(path) = real {
                self.kind_of(path).into_iter().for_each(|kind| named.add(kind));
            }
            for path in real.iter().chain(links).filter(|path| self.is_among_installed(path)) {
                named.low = true;
                named.installed.extend((!is_led).then(|| path.clone()));
            }
            named.low |= links.iter().any(|link| self.is_low_place(link));
            let said = without_steps_back(said);
            let low = self.innermost(&said).filter(|(_, kind)| *kind == Kind::Low);
            named.low_folders.extend(low.map(|(path, _)| path.to_owned()));
            self.add_outside(&mut named, &said);
        }
        for word in command.words.iter().skip(1) {
            for (path, kind, rest) in self.within(word) {
                named.add(kind);
                match kind {
                    Kind::Low => drop(named.low_folders.insert(path.to_owned())),
                    Kind::Outside => named.outside.add(path, first_name(rest).map(Path::new)),
                    _ => {}
                }
            }
        }
        named.installed = seen_of_named(&named.installed);
        named
    }

    /// Whether a link lies where nobody granted anything: neither above a granted folder, nor among what is the system's.
    fn is_nobodys(&self, link: &Path) -> bool {
        let is_systems = is_in_system(link) || link.parent() == Some(Path::new("/"));
        let leads_over = |folder: &Path| {
            Looks::new().way(Path::new("/"), folder).is_ok_and(|way| way.links.iter().any(|on| on == link))
        };
        let is_above = || self.folders().any(|([written, _], _)| leads_over(written));
        !is_systems && self.innermost(link).is_none() && !is_above()
    }

    /// Whether a path without links is one of the things that people installed and that nobody granted.
    fn is_among_installed(&self, path: &Path) -> bool {
        self.innermost(path).is_none() && is_installed_by_people(path)
    }

    /// Adds a path to what is named in `outside/`, if it lies there.
    fn add_outside(&self, named: &mut Named, path: &Path) {
        for ([written, real], _) in self.folders().filter(|(_, kind)| *kind == Kind::Outside) {
            if let Ok(way) = path.strip_prefix(real).or_else(|_| path.strip_prefix(written)) {
                named.outside.add(real, Some(way));
            }
        }
    }

    /// The regular files that the words of a call name and the script that a shell is called for, and the folders that they name where
    /// tools and programs may write, all without links. What a yes is bound to is found by the very parts that decide what is seen.
    pub(super) fn named_paths(&self, command: &Command) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let paths = command.paths.iter().filter_map(|path| path.real.clone());
        let named: BTreeSet<PathBuf> = command.script.iter().cloned().chain(paths).collect();
        let (folders, files): (Vec<_>, Vec<_>) = named.into_iter().partition(|path| path.is_dir());
        let is_in_reach = |folder: &PathBuf| *folder != command.folder && self.innermost(folder).is_some();
        (files.into_iter().filter(|path| path.is_file()).collect(), folders.into_iter().filter(is_in_reach).collect())
    }

    /// The folders whose paths stand somewhere in a word, each with what follows: in a text for a shell nobody looks for words.
    fn within<'a>(&'a self, word: &'a str) -> Vec<(&'a Path, Kind, &'a str)> {
        let mut found = Vec::new();
        for (paths, kind) in self.folders() {
            for name in paths.map(|path| path.display().to_string()) {
                let places = word.match_indices(name.as_str()).map(|(at, _)| (at, &word[at + name.len()..]));
                // The path of another folder may begin alike.
                let ends = |(_, rest): &(usize, &str)| !rest.starts_with(is_plain);
                found.extend(places.filter(ends).map(|(at, rest)| (at, name.len(), (paths[1], kind, rest))));
            }
        }
        // Of a folder within another one only the inner one is named.
        longest(found)
    }

    /// Whether a call names something in the folder of a toolchain, where packages of strangers lie, by its path or its variable, or a folder
    /// around whatever people put among those of the system. A program that is called by its path is named too, unless it lies where those of
    /// the language do.
    pub(super) fn names_package(&self, command: &Command) -> bool {
        let real = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let both = |folder: &PathBuf| [folder.clone(), real(folder)];
        let folders: Vec<PathBuf> = self.toolchains.iter().flat_map(both).collect();
        let is_there = |path: &Path| {
            folders.iter().any(|folder| path.starts_with(folder)) || is_around_what_people_installed(path)
        };
        let variables = || HOMES.iter().filter(|(name, _)| folders.iter().any(|folder| folder.ends_with(name)));
        let names = |word: &String| {
            let is_variable = || variables().any(|(_, variable)| word.contains(variable));
            folders.iter().any(|folder| word.contains(&folder.display().to_string())) || is_variable()
        };
        let of_path: Vec<PathBuf> =
            self.giver().given(&self.path).flat_map(|(written, opened)| [written.clone(), opened.path]).collect();
        let is_languages = |path: &Path| {
            let Some(around) = path.parent() else { return false };
            of_path.iter().any(|folder| around == folder) || folders.iter().any(|folder| is_bin_of(folder, around))
        };
        let is_package = |path: &Path| is_there(path) && !is_languages(path);
        let is_of_package = |path: &MayBePath| {
            is_package(&without_steps_back(&path.said)) || path.real.as_deref().is_some_and(is_package)
        };
        is_there(&command.folder)
            || command.called.iter().any(is_of_package)
            || command.paths.iter().any(|path| is_there(path.real.as_ref().unwrap_or(&path.said)))
            || command.words.iter().skip(1).any(names)
    }
}

/// Whether a folder holds the programs of a language itself, such as `bin` or `versions/3.12/bin` of its folder, and not those of a package.
fn is_bin_of(language: &Path, folder: &Path) -> bool {
    let Ok(way) = folder.strip_prefix(language) else { return false };
    let is_of_package = |part: &OsStr| part == "node_modules" || part == "site-packages" || part == "pkgs";
    folder.ends_with("bin") && way.components().count() <= DEEPEST_BIN && !way.iter().any(is_of_package)
}

/// Of what was found at a place of a word, each with its length, the longest.
fn longest<T>(found: Vec<(usize, usize, T)>) -> Vec<T> {
    // In one pass: a word may hold a path very often.
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, length, _) in &found {
        let longest = lengths.entry(*at).or_default();
        *longest = (*longest).max(*length);
    }
    let is_longest = |(at, length, _): &(usize, usize, T)| lengths.get(at) == Some(length);
    found.into_iter().filter(is_longest).map(|(_, _, found)| found).collect()
}

/// The first name behind the path of a folder in a word; none where what follows is no plain name.
fn first_name(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix('/')?;
    let (name, behind) = rest.split_at(rest.find(|letter| !is_plain(letter)).unwrap_or(rest.len()));
    let ends = |letter: char| letter.is_whitespace() || "/\"';,:&|<>()".contains(letter);
    Some(name).filter(|name| !matches!(*name, "" | "." | "..") && behind.chars().next().is_none_or(ends))
}

/// Whether a letter is one of plain names.
fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || "._-+@".contains(letter)
}

/// A path as it reads: each `..` takes back the part before it.
fn without_steps_back(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-058
    #[test]
    fn what_follows_the_path_of_a_folder_is_a_name_or_the_whole_folder() {
        let found = ["/tool/test.py", "/tool", "/tool; ls", "", "/", "/*", "/to?l", "/..", "/to\"ol\"$x", "2/tool"];
        let found = found.map(|rest| first_name(rest).unwrap_or("whole"));
        assert_eq!(found[..3], ["tool"; 3]);
        assert_eq!(found[3..], ["whole", "whole", "whole", "whole", "whole", "to", "whole"]);
    }

    // SEC-042 SEC-093
    #[test]
    fn of_paths_that_stand_in_a_word_very_often_the_inner_ones_are_found_in_one_pass() {
        let found = vec![(0, 5, "outer"), (9, 5, "other"), (0, 8, "inner"), (0, 8, "real")];
        assert_eq!(longest(found), ["other", "inner", "real"]);
        let often = (0..400_000).flat_map(|at| [(at, 5, at), (at, 8, at)]).collect();
        assert_eq!(longest(often), (0..400_000).collect::<Vec<_>>());
    }
}
