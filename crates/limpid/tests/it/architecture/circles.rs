//! Circles of imports within a crate: files that can only be read together.
//!
//! Seen are `use` lines and paths that the code writes out; a name that another file re-exports leads to the file that
//! defines it. Not seen are methods (an `impl` in another file makes no import), what a macro writes, and names that come
//! in by `*`. Whatever stands below the first `#[cfg(test)]` of a file is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{code_lines, folders, root};

/// Files that may import each other in a circle.
const MOST: usize = 3;

#[test]
fn no_more_than_three_files_import_each_other_in_a_circle() {
    let circles =
        folders(&root().join("crates")).into_iter().map(|krate| (Krate::read(&krate).largest_circle(), krate));
    let wrong: Vec<String> = circles
        .filter(|(circle, _)| circle.len() > MOST)
        .map(|(circle, krate)| format!("{krate}, {} files: {}", circle.len(), circle.join(" ")))
        .collect();
    assert_eq!(wrong, [""; 0], "give what they share a file of its own");
}

/// A path of names: `["turn", "running"]` is the file `turn/running.rs`.
type Path = Vec<String>;

/// The files of a crate.
struct Krate(BTreeMap<Path, File>);

/// What a file says of others.
#[derive(Default)]
struct File {
    /// What it imports or re-exports, by the name that it has here.
    uses: Vec<(String, Path)>,
    /// Paths and names in the rest of its code.
    words: BTreeSet<Path>,
}

impl Krate {
    fn read(krate: &str) -> Self {
        let mut files: BTreeMap<Path, File> = BTreeMap::new();
        let mut statement = String::new();
        for (place, line) in code_lines(krate) {
            let file = place.trim_start_matches(krate).rsplit_once(".rs:").map_or("", |(file, _)| file);
            let names = file.split('/').filter(|name| !matches!(*name, "" | "lib" | "main" | "mod"));
            let file = files.entry(names.map(str::to_owned).collect()).or_default();
            let line = line.trim();
            let bare = line.strip_prefix("pub").map_or(line, |rest| rest.split_once(' ').map_or("", |(_, rest)| rest));
            if !statement.is_empty() || bare.starts_with("use ") {
                statement.push_str(if statement.is_empty() { &bare[4..] } else { line });
                if statement.ends_with(';') {
                    expand(&mut Path::new(), statement.trim_end_matches(';'), &mut file.uses);
                    statement.clear();
                }
            } else if !bare.starts_with("mod ") {
                let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                let words = words.map(|word| word.trim_matches(':')).filter(|word| !word.is_empty());
                file.words.extend(words.map(|word| word.split("::").map(str::to_owned).collect::<Path>()));
            }
        }
        Self(files)
    }

    /// The most files that can all be reached from each other.
    fn largest_circle(&self) -> Vec<String> {
        let needs: BTreeMap<&Path, BTreeSet<Path>> = self.0.keys().map(|file| (file, self.needs(file))).collect();
        let reached = |file| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![file]);
            while let Some(next) = open.pop() {
                open.extend(needs[next].iter().filter(|needed| seen.insert((*needed).clone())));
            }
            seen
        };
        let reached: BTreeMap<&Path, BTreeSet<Path>> = needs.keys().map(|file| (*file, reached(*file))).collect();
        let circle = |file: &Path| {
            let back = reached[file].iter().filter(|other| reached[*other].contains(file));
            back.map(|other| other.join("::")).collect::<Vec<String>>()
        };
        reached.keys().map(|file| circle(file)).max_by_key(Vec::len).unwrap_or_default()
    }

    /// The files whose definitions a file uses.
    fn needs(&self, file: &Path) -> BTreeSet<Path> {
        let File { uses, words } = &self.0[file];
        let is_used = |name: &String| words.iter().any(|word| word.contains(name));
        let imported = uses.iter().filter(|(name, _)| is_used(name)).map(|(_, path)| path);
        let written_out = words.iter().filter(|word| word.len() > 1);
        let paths = imported.chain(written_out).filter_map(|path| self.absolute(file, path));
        paths.filter_map(|path| self.home(&path, 0)).filter(|home| home != file).collect()
    }

    /// A path from the root of the crate; none when it leads out of the crate.
    fn absolute(&self, file: &Path, path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        let base = match first.as_str() {
            "crate" => Path::new(),
            "self" => file.clone(),
            "super" => file[..file.len().checked_sub(1)?].to_vec(),
            name => {
                let child = [file.as_slice(), &[name.to_owned()]].concat();
                if self.0.contains_key(&child) {
                    child
                } else {
                    let (_, path) = self.0[file].uses.iter().find(|(own, path)| own == name && path[0] != *name)?;
                    self.absolute(file, path)?
                }
            }
        };
        if rest.first().is_some_and(|next| next == "super") {
            return self.absolute(&base, rest);
        }
        Some([base, rest.to_vec()].concat())
    }

    /// The file that defines what a path names; none for a file itself, which is needed only for what is in it.
    fn home(&self, path: &Path, depth: u8) -> Option<Path> {
        let known = (0..=path.len()).rev().find(|end| self.0.contains_key(&path[..*end]))?;
        let (file, rest) = path.split_at(known);
        let name = rest.first()?;
        let file = file.to_vec();
        let passed_on = self.0[&file].uses.iter().find(|(own, _)| own == name);
        match passed_on.and_then(|(_, path)| self.absolute(&file, path)) {
            Some(next) if depth < 8 => self.home(&[next, rest[1..].to_vec()].concat(), depth + 1),
            _ => Some(file),
        }
    }
}

/// The paths of a `use`, each with the name that it gives: `a::{b, c::d as e}` is `a::b` and `a::c::d`, called `e`.
fn expand(before: &mut Path, text: &str, found: &mut Vec<(String, Path)>) {
    let (head, list) = text.split_once('{').map_or((text, None), |(head, list)| (head, Some(list)));
    let (head, alias) = head.split_once(" as ").map_or((head, None), |(head, alias)| (head, Some(alias.trim())));
    let names = head.trim().split("::").map(str::trim).filter(|name| !matches!(*name, "" | "self"));
    let length = before.len();
    before.extend(names.map(str::to_owned));
    if head.trim_start().starts_with("self::") {
        before.insert(length, "self".to_owned());
    }
    match list.and_then(|list| list.rsplit_once('}')) {
        Some((list, _)) => {
            let mut depth = 0;
            let parts = list.split(|c: char| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                c == ',' && depth == 0
            });
            for part in parts.filter(|part| !part.trim().is_empty()) {
                expand(before, part, found);
            }
        }
        None => {
            if let Some(last) = before.last() {
                found.push((alias.unwrap_or(last).to_owned(), before.clone()));
            }
        }
    }
    before.truncate(length);
}
