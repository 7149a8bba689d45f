//! Files that instruct the agent and that a program may have changed: nothing is made from them before the owner accepts them.

use std::path::Path;

use limpid_config::Home;
use limpid_store::{FileContent, FileHash, ProgramRun, Store, StoreError, WaitingFile};

use super::names::{FileNames, added};
use super::programs::{content, entry};
use crate::tools::policy::links_on;

/// Lines of a difference that a notice shows.
const LINES: usize = 3;

/// What the owner has not accepted yet.
pub struct UnacceptedFiles {
    waiting: Vec<WaitingFile>,
    runs: Vec<ProgramRun>,
    names: FileNames,
}

/// A file that waits for the owner, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnacceptedFile {
    /// The file as tools know it.
    pub name: String,
    /// What changed it.
    pub cause: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The first lines that went and came.
    pub difference: Vec<String>,
    /// Whether the owner was told of what it holds.
    pub is_told: bool,
    /// Its path with every link followed, and what it holds.
    pub(super) now: (String, FileHash),
}

impl UnacceptedFile {
    /// What the owner is told of it.
    pub fn notice(&self) -> String {
        let Self { name, cause, difference, .. } = self;
        let lines: String = difference.iter().map(|line| format!("\n  {line}")).collect();
        format!("{name} was changed by {cause} and is not used before you accept it: limpid file accept {name}{lines}")
    }
}

impl UnacceptedFiles {
    /// Every one that is known.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read(store: &dyn Store, home: &Home) -> Result<Self, StoreError> {
        let (waiting, runs) = (store.waiting_files().await?.rows, store.program_runs().await?.rows);
        Ok(Self { waiting, runs, names: FileNames::new(home) })
    }

    /// Whether a file with these bytes is one of them.
    pub fn contains(&self, path: &Path, bytes: &[u8]) -> bool {
        self.has(path, || Some(FileHash::of(bytes)))
    }

    /// Whether a file as it is now is one of them.
    pub fn contains_now(&self, path: &Path) -> bool {
        self.has(path, || content(path).ok().flatten().map(|content| content.hash))
    }

    fn has(&self, path: &Path, hash: impl FnOnce() -> Option<FileHash>) -> bool {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return false;
        }
        let Ok(real) = path.canonicalize() else { return false };
        let target = |link: &Path| entry(link).ok().flatten().map(|content| content.hash);
        self.is_new(&real, hash) || links_on(path).iter().any(|link| self.is_new(link, || target(link)))
    }

    /// Whether what stands at a place, which has every other link followed, is not what was known of it.
    fn is_new(&self, place: &Path, hash: impl FnOnce() -> Option<FileHash>) -> bool {
        let name = place.display().to_string();
        let is_known = |before: Option<&FileContent>, hash| before.map(|before| before.hash) == hash;
        let waiting = self.waiting.iter().find(|waiting| waiting.path == name);
        let running = self.runs.iter().filter(|run| run.new.folders.iter().any(|folder| place.starts_with(folder)));
        let mut running = running.peekable();
        if waiting.is_none() && running.peek().is_none() {
            return false;
        }
        // What cannot be read is nothing that anybody knew.
        let Some(hash) = hash().map(Some) else { return true };
        waiting.is_some_and(|waiting| !is_known(waiting.before.as_ref(), hash))
            || running.any(|run| !is_known(run.new.files.get(&name), hash))
    }

    /// Those that wait for the owner, as they are now; one that is gone, or what it was before, waits for nothing.
    pub fn list(&self) -> Vec<UnacceptedFile> {
        let file = |WaitingFile { path: real, before, cause, at_ms, told }: &WaitingFile| {
            let path = Path::new(real);
            let now = entry(path).ok().flatten()?;
            if before.as_ref().is_some_and(|before| before.hash == now.hash) {
                return None;
            }
            let was = before.as_ref().map_or(Some(""), |before| before.text.as_deref());
            let difference = match (was, &now.text) {
                (Some(was), Some(is_now)) => difference(was, is_now),
                _ => Vec::new(),
            };
            Some(UnacceptedFile {
                name: self.names.name(path),
                cause: cause.clone(),
                at_ms: *at_ms,
                difference,
                is_told: *told == Some(now.hash),
                now: (real.clone(), now.hash),
            })
        };
        self.waiting.iter().filter_map(file).collect()
    }
}

/// The first lines that went and the first that came.
fn difference(was: &str, is_now: &str) -> Vec<String> {
    let (gone, new) = (added(is_now, was), added(was, is_now));
    let some = |lines: &str, sign: char| {
        let lines: Vec<String> = lines.lines().map(|line| format!("{sign}{line}")).collect();
        let more = lines.len().saturating_sub(LINES);
        let rest = (more > 0).then(|| format!("{sign}… and {more} more lines"));
        lines.into_iter().take(LINES).chain(rest).collect::<Vec<_>>()
    };
    [some(&gone, '-'), some(&new, '+')].concat()
}
