//! Looks at what the words of a command may name. A stranger's text may choose the words, and a stranger's folder may hold links that
//! take long to follow, so each place is looked at once, and all of them together within bounds.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use super::path_words::{parts, pieces};

/// Words that a command may have.
const WORDS: usize = 2000;

/// What all looks for one command may cost. Each look costs the bytes of the place, since the kernel goes through all of them, and
/// [`LOOK`] besides. A thousand paths, each five folders deep, are half of it.
const COST: usize = 2 * 1024 * 1024;

/// What a look costs at any place.
const LOOK: usize = 64;

/// Links that are followed for one path, as the kernel does.
const LINKS: usize = 40;

/// Bytes of the longest name that a file can have.
const LONGEST_NAME: usize = 255;

/// What a word may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MayBePath {
    /// The path as it is said, from the folder of the command.
    pub(super) said: PathBuf,
    /// Where it leads, without links; none where nothing is there.
    pub(super) real: Option<PathBuf>,
    /// The links on its way, each where it lies.
    pub(super) links: Vec<PathBuf>,
}

/// What there is at a place.
#[derive(Clone, Debug)]
enum Entry {
    Nothing,
    Folder,
    Other,
    Link(PathBuf),
}

/// The looks for one command.
#[derive(Debug)]
pub(super) struct Looks {
    left: usize,
    known: HashMap<PathBuf, Entry>,
}

impl Looks {
    pub(super) fn new() -> Self {
        Self { left: COST, known: HashMap::new() }
    }

    /// What the words of a command may name from its folder, which has no link in it.
    ///
    /// # Errors
    /// A sentence for the model, when there is too much to look at.
    pub(super) fn at_words(&mut self, words: &[String], folder: &Path) -> Result<Vec<MayBePath>, String> {
        if words.len() > WORDS {
            return Err(format!(
                "the command has too many words, {}; at most {WORDS} are run. Name a folder, or put the list into a file",
                words.len()
            ));
        }
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        for part in words.iter().flat_map(|word| pieces(word)).flat_map(parts) {
            self.pay(part.len())?;
            if seen.insert(part) {
                found.push(self.way(folder, part.as_ref())?);
            }
        }
        Ok(found)
    }

    /// Where a path leads from a folder without links, and over which links.
    ///
    /// # Errors
    /// As [`Looks::at_words`].
    pub(super) fn way(&mut self, folder: &Path, path: &Path) -> Result<MayBePath, String> {
        let mut links = Vec::new();
        let real = self.follow(folder.to_owned(), path, &mut links)?;
        Ok(MayBePath { said: folder.join(path), real, links })
    }

    fn follow(&mut self, mut at: PathBuf, path: &Path, links: &mut Vec<PathBuf>) -> Result<Option<PathBuf>, String> {
        for part in path.components() {
            match part {
                Component::Prefix(_) | Component::CurDir => {}
                Component::RootDir => at = PathBuf::from("/"),
                Component::ParentDir => match self.look(&at)? {
                    Entry::Folder => drop(at.pop()),
                    _ => return Ok(None),
                },
                Component::Normal(name) if name.len() > LONGEST_NAME => return Ok(None),
                Component::Normal(name) => {
                    at.push(name);
                    match self.look(&at)? {
                        Entry::Nothing => return Ok(None),
                        Entry::Folder | Entry::Other => {}
                        Entry::Link(_) if links.len() == LINKS => return Ok(None),
                        Entry::Link(way) => {
                            links.push(at.clone());
                            at.pop();
                            match self.follow(at, &way, links)? {
                                Some(next) => at = next,
                                None => return Ok(None),
                            }
                        }
                    }
                }
            }
        }
        Ok(Some(at))
    }

    fn look(&mut self, place: &Path) -> Result<Entry, String> {
        self.pay(LOOK + place.as_os_str().len())?;
        if let Some(found) = self.known.get(place) {
            return Ok(found.clone());
        }
        let found = match place.symlink_metadata() {
            Err(_) => Entry::Nothing,
            Ok(about) if about.is_symlink() => place.read_link().map_or(Entry::Nothing, Entry::Link),
            Ok(about) if about.is_dir() => Entry::Folder,
            Ok(_) => Entry::Other,
        };
        self.known.insert(place.to_owned(), found.clone());
        Ok(found)
    }

    fn pay(&mut self, cost: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(cost).ok_or_else(too_many)?;
        Ok(())
    }
}

fn too_many() -> String {
    "the command has too many words that may be paths, or they lead over too many links; nothing was run. Put what is long into a file"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    // SEC-058
    #[test]
    fn a_path_leads_where_the_system_says() {
        let there = tempfile::tempdir().unwrap();
        let folder = there.path().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::write(folder.join("file"), "").unwrap();
        for (to, at) in [
            ("a/b", "link"),
            ("../link/..", "a/up"),
            ("/usr", "far"),
            ("loop", "loop"),
            ("gone", "dangling"),
            ("file/..", "wrong"),
            ("", "x"),
        ] {
            drop(symlink(to, folder.join(at)));
        }
        let paths = "a|a/b/../..|link|link/..|a/up|a/up/b|far/bin|/usr/../etc|loop|dangling|gone|file|file/..|file/x|wrong|./a/./b|..|/|a//b|a/b/\
                     ../../../..|link/../../file|/proc/self";
        for path in paths.split('|') {
            let real = Looks::new().way(&folder, path.as_ref()).unwrap().real;
            assert_eq!(real, folder.join(path).canonicalize().ok(), "{path}");
        }
        let links = |path: &str| Looks::new().way(&folder, path.as_ref()).unwrap().links;
        let at = |names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        assert_eq!((links("file"), links("a/up/b")), (at(&[]), at(&["a/up", "link"])));
        assert_eq!(links("link/../b/../../dangling"), at(&["link", "dangling"]), "also where nothing is there");
    }

    // SEC-093
    #[test]
    fn all_words_together_are_looked_at_within_bounds() {
        let there = tempfile::tempdir().unwrap();
        let folder = there.path().canonicalize().unwrap();
        let look = |words: &[String]| Looks::new().at_words(words, &folder);
        // As a long command may be.
        let files: Vec<String> = (0..1000).map(|n| format!("crates/one/src/of/them/file{n}.rs")).collect();
        assert_eq!(look(&files).unwrap().len(), 1000);
        let text = "A sentence of a message: it has words, and signs; ".repeat(60);
        assert!(look(&[text.clone(), format!("x{text}")]).is_ok());
        let is_refused = |words: &[String]| look(words).is_err_and(|why| why.contains("too many words"));
        assert!(is_refused(&vec!["a".to_owned(); WORDS + 1]));
        // Behind each comma a path may begin.
        let commas = |word: usize| (0..90).map(|n| format!("{word}{n:039},")).collect::<String>();
        assert!(is_refused(&(0..40).map(commas).collect::<Vec<_>>()));
        // Each of these is followed over sixty thousand parts.
        std::fs::create_dir(folder.join("a")).unwrap();
        for n in 0..38 {
            symlink("a/../".repeat(800) + &format!("l{}", n + 1), folder.join(format!("l{n}"))).unwrap();
        }
        assert!(is_refused(&["l0".to_owned()]));
        assert!(look(&["l37".to_owned()]).is_ok());
    }
}
