//! Files that instruct the agent and that a program may have changed: nothing is made from them before the owner accepts them.

mod below;
mod former;
mod put_back;

use std::cell::{Cell, LazyCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};

use limpid_config::{FilesConfig, Home};
use limpid_core::policy::Followed;
use limpid_store::{
    FileContent, FileHash, NewProgramRun, ProgramRun, ProgramRunId, Store, StoreError, WaitingFile, file_key,
    path_of_key,
};

pub(super) use self::put_back::forget_put_back;
use self::put_back::is_put_back;
use super::entries::{entry, entry_hash, link_target, of_file, of_run, of_waiting};
use super::kept::KeptFiles;
use super::names::{FileNames, added};
use super::opened::hash_of;
use crate::command_word::as_word;
use crate::tools::policy::{PartsLeft, PathResolver, Way, links_on, real, real_by, way};

/// Lines of a difference that a notice shows.
const LINES: usize = 3;

/// How often the files of one prompt are read again because a program began, or a file came to wait, meanwhile.
const MOST_LOOKS: u32 = 8;

/// What the owner is told to have changed a file that holds again what waited for them.
const UNDO: &str = "an undo";

/// What the owner has not accepted yet.
pub struct UnacceptedFiles {
    waiting: Vec<WaitingFile>,
    /// Where each is among them, by its key.
    by_key: HashMap<String, usize>,
    runs: Vec<ProgramRun>,
    names: FileNames,
    paths: PathResolver,
    /// How far ways below the folders that are asked about are followed, in all.
    parts_left: PartsLeft,
    /// What files held of which the store keeps no text.
    kept: KeptFiles,
    /// How many programs had ever begun.
    begun: i64,
    /// How many looks at the files were made in vain before.
    looks: u32,
}

/// Device, inode, size and time of change of a file. It proves nothing of its content.
type Stamp = (u64, u64, u64, i64, i64);

/// Files that wait and that the owner was told of, by their keys: their stamps, and the hashes of what they held before and when the owner
/// was told.
pub(super) type Told = BTreeMap<String, (Stamp, Option<FileHash>, Option<FileHash>)>;

/// What of the files that wait is worth a notice, or nothing any more.
pub(super) struct NotTold {
    /// Those that the owner was not told of.
    pub(super) new: Vec<UnacceptedFile>,
    /// Those that hold again what they held before.
    pub(super) put_back: Vec<WaitingFile>,
}

/// Where a path led before a program started.
struct EndBefore {
    path: PathBuf,
    /// Whether a part of the path lies where the program may write.
    passes: bool,
}

/// A file by the place that it is asked for at, before any link is followed: a link that waits is known by its own place alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    /// The same with the links of the folder followed, and none of the name.
    own: PathBuf,
}

impl Place {
    /// A name in a folder of the home, neither of which was followed anywhere.
    pub fn of(folder: &Path, name: impl AsRef<Path>) -> Self {
        Self { path: folder.join(&name), own: real(folder).join(name) }
    }

    /// Where a call leads. What a link on the way says is asked by the path that the call named.
    pub(super) fn followed(path: &Followed) -> Self {
        Self { path: path.as_path().to_owned(), own: path.as_path().to_owned() }
    }

    /// The path, to be opened.
    pub fn as_path(&self) -> &Path {
        &self.path
    }
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
    /// Whether the owner was told of what it holds.
    pub is_told: bool,
    /// Whether it was removed.
    pub is_gone: bool,
    /// The key of its path with every link followed, and what it holds.
    pub(super) now: (String, FileHash),
    /// What it said, where that is known. What it says now is read when a difference is shown.
    was: Option<String>,
}

impl UnacceptedFile {
    /// What the owner is told of it. Whoever made the file may have named it, so its name is one word or stands in
    /// quotes, also at the beginning: it neither reads as a sentence of ours nor does anything in a shell.
    pub fn notice(&self) -> String {
        let (name, cause) = (as_word(&self.name), &self.cause);
        let lines: String = self.difference().iter().map(|line| format!("\n  {line}")).collect();
        if self.is_gone {
            return format!(
                "{name} was removed by {cause}; put it back, or accept that it is gone: limpid file accept {name}{lines}"
            );
        }
        format!("{name} was changed by {cause} and is not used before you accept it: limpid file accept {name}{lines}")
    }

    /// The first lines that changed; none where a text is not known, or the file is another one by now.
    fn difference(&self) -> Vec<String> {
        let (key, hash) = &self.now;
        let Some(was) = &self.was else { return Vec::new() };
        if self.is_gone {
            return difference(was, "");
        }
        let now = entry(&path_of_key(key)).ok().flatten().filter(|now| now.hash == *hash);
        now.and_then(|now| now.text).map(|now| difference(was, &now)).unwrap_or_default()
    }
}

impl UnacceptedFiles {
    /// Every one that is known.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read(store: &dyn Store, home: &Home, files: &FilesConfig) -> Result<Self, StoreError> {
        // In this order: a program that ends in between is in both, and never in none.
        let begun = store.programs_begun().await?;
        let runs = store.program_runs().await?.rows.into_iter().map(of_run).collect();
        let waiting = store.waiting_files().await?.rows.into_iter().map(of_waiting).collect();
        Ok(Self { begun, ..Self::new(waiting, runs, home, files) })
    }

    fn new(waiting: Vec<WaitingFile>, runs: Vec<ProgramRun>, home: &Home, files: &FilesConfig) -> Self {
        // Of two rows of one file the first counts.
        let by_key = waiting.iter().enumerate().rev().map(|(at, file)| (file.path.clone(), at)).collect();
        // Which files prompts quote is asked of it nowhere.
        let paths = PathResolver::new(home, Vec::new(), files);
        let (names, kept) = (FileNames::new(home), KeptFiles::new(home.kept_files()));
        Self { waiting, by_key, runs, names, paths, parts_left: PartsLeft::default(), kept, begun: 0, looks: 0 }
    }

    /// What to judge the files by instead, if a program began or a file came to wait since this was read; none if nothing did. After
    /// [`MOST_LOOKS`] times nothing is used that a program could have written.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read_again_if_changed(
        &self,
        store: &dyn Store,
        home: &Home,
        files: &FilesConfig,
    ) -> Result<Option<Self>, StoreError> {
        if self.looks == MOST_LOOKS {
            return Ok(None);
        }
        let mut newer = Self::read(store, home, files).await?;
        let waited = |file: &WaitingFile| self.waiting_at(&file.path).is_some_and(|known| known.before == file.before);
        // One that is over by now may have put back what it had laid.
        if newer.begun == self.begun && newer.waiting.iter().all(waited) {
            return Ok(None);
        }
        newer.looks = self.looks + 1;
        if newer.looks == MOST_LOOKS {
            let folders = newer.paths.writable().iter().map(|folder| file_key(folder)).collect();
            let (holder, tool, files) = (String::new(), String::new(), BTreeMap::new());
            let new = NewProgramRun { holder, tool, folders, files, now_ms: 0 };
            newer.runs.push(ProgramRun { id: ProgramRunId(i64::MAX), new, gone_ms: None });
        }
        Ok(Some(newer))
    }

    fn waiting_at(&self, key: &str) -> Option<&WaitingFile> {
        self.waiting.get(*self.by_key.get(key)?)
    }

    /// How many programs had ever begun, where none ran when this was read.
    pub(super) fn no_program_since(&self) -> Option<i64> {
        self.runs.is_empty().then_some(self.begun)
    }

    /// Whether a file with these bytes is one of them.
    pub fn contains(&self, place: &Place, bytes: &[u8]) -> bool {
        self.contains_hash(place, FileHash::of(bytes))
    }

    /// Whether a file would be one of them if it held this; it may be gone.
    pub(crate) fn contains_hash(&self, place: &Place, hash: FileHash) -> bool {
        self.has(place, |_| Some(hash))
    }

    /// Whether a link that a path leads over is one of them.
    pub(super) fn waits_at_link(&self, place: &Place) -> bool {
        let target = |link: &Path| entry_hash(link).ok().flatten();
        links_on(&place.path).iter().any(|link| self.is_new(link, || target(link)))
    }

    /// Whether a file as it is now is one of them.
    pub fn contains_now(&self, place: &Place) -> bool {
        // What is not there tells nobody anything.
        place.as_path().exists() && self.has(place, |end| hash_of(end).ok().flatten())
    }

    /// Whether a file that was listed is one of them, as it is now. One that is gone since may have got its name from a program.
    pub(crate) fn contains_listed(&self, place: &Place) -> bool {
        self.has(place, |end| hash_of(end).ok().flatten())
    }

    /// Whether a program that runs may write a file.
    pub(super) fn may_be_changing(&self, place: &Place) -> bool {
        self.writing(&file_key(&real(place.as_path()))).next().is_some()
    }

    /// The keys of every file that waits or that was there before a program which runs.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        let waiting = self.waiting.iter().map(|waiting| &waiting.path);
        waiting.chain(self.runs.iter().flat_map(|run| run.new.files.keys())).cloned()
    }

    /// What the owner knew last of a file, by the key of its path without links, where it holds something else now: before it waited, or
    /// before a program that runs. None where what it holds is theirs.
    pub(super) fn other_than(&self, key: &str, now: Option<FileHash>) -> Option<Option<&FileContent>> {
        let is_other = |before: Option<&FileContent>| before.map(|before| before.hash) != now;
        let waiting = self.waiting_at(key).map(|waiting| waiting.before.as_ref());
        let may_be = || self.writing(key).any(|run| is_other(run.new.files.get(key)));
        waiting.filter(|before| is_other(*before)).or_else(|| may_be().then(|| self.before_all(key)))
    }

    /// The programs that run and may write a file, by its key.
    fn writing<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a ProgramRun> {
        self.runs.iter().filter(move |run| run.new.may_write(key))
    }

    /// What a file held when it was the owner's last: what it holds now, or before it waited, or before the first program that runs and
    /// changed it.
    fn last_known(&self, place: &Place, now: Option<FileContent>) -> Option<FileContent> {
        if now.as_ref().is_none_or(|now| !self.contains_hash(place, now.hash)) {
            return now;
        }
        let key = file_key(&real(place.as_path()));
        let waiting = self.waiting_at(&key).map(|waiting| waiting.before.as_ref());
        waiting.unwrap_or_else(|| self.before_all(&key)).cloned()
    }

    /// What a file held before the first program that runs and found it.
    fn before_all(&self, key: &str) -> Option<&FileContent> {
        self.runs.iter().find_map(|run| run.new.files.get(key))
    }

    /// What waits once a file holds again what never was the owner's; one that waits already goes on with what it held first.
    pub(crate) fn waiting_again(
        &self,
        (place, path): (&Place, String),
        now: Option<FileContent>,
        at_ms: i64,
    ) -> WaitingFile {
        let before = self.last_known(place, now).map(of_file);
        WaitingFile { path, before, cause: UNDO.to_owned(), at_ms, told: None }
    }

    /// The names of files in a folder that wait, or that a program which runs may have removed.
    pub fn known_in(&self, folder: &Path) -> Vec<String> {
        let folder = real(folder);
        let inside = self.keys().map(|key| path_of_key(&key)).filter(|path| path.parent() == Some(&folder));
        inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
    }

    /// `hash` is that of what stands where a path leads.
    fn has(&self, place: &Place, hash: impl FnOnce(&Path) -> Option<FileHash>) -> bool {
        if self.waiting.is_empty() && self.runs.is_empty() {
            return false;
        }
        let target = |link: &Path| entry_hash(link).ok().flatten();
        // The way is followed once: a program that runs may lay links meanwhile.
        let Way { end, links } = way(Path::new(MAIN_SEPARATOR_STR), &place.path, &|_| true);
        let hash = LazyCell::new(|| hash(&end));
        self.is_new(&end, || *hash)
            || links.iter().any(|link| self.is_new(link, || target(link)))
            || self.runs.iter().any(|run| is_other_than_before(run, &place.path, || *hash))
    }

    /// Whether what stands at a place, which has every other link followed, is not what was known of it.
    fn is_new(&self, place: &Path, hash: impl FnOnce() -> Option<FileHash>) -> bool {
        let key = file_key(place);
        let is_known = |before: Option<&FileContent>, hash| before.map(|before| before.hash) == hash;
        let waiting = self.waiting_at(&key);
        let mut running = self.writing(&key).peekable();
        if waiting.is_none() && running.peek().is_none() {
            return false;
        }
        // What cannot be read is nothing that anybody knew.
        let Some(hash) = hash().map(Some) else { return true };
        waiting.is_some_and(|waiting| !is_known(waiting.before.as_ref(), hash))
            || running.any(|run| !is_known(run.new.files.get(&key), hash))
    }

    /// Those that wait for the owner, as they are now; one that is what it was before waits for nothing.
    pub fn list(&self) -> Vec<UnacceptedFile> {
        self.waiting.iter().filter_map(|waiting| self.as_it_is(waiting)).collect()
    }

    /// Those that the owner was not told of. What they were told of is read again only once its stamp is another one: this says what is
    /// worth a notice, and nothing of what is used.
    pub(super) fn not_told_of(&self, told: &mut Told) -> NotTold {
        let waiting: BTreeSet<&String> = self.waiting.iter().map(|file| &file.path).collect();
        told.retain(|key, _| waiting.contains(key));
        let (mut new, mut put_back) = (Vec::new(), Vec::new());
        for file in &self.waiting {
            let before = file.before.as_ref().map(|before| before.hash);
            // It is looked at before the file is read.
            let now = stamp(&path_of_key(&file.path)).map(|stamp| (stamp, before, file.told));
            if now.is_some() && told.get(&file.path) == now.as_ref() {
                continue;
            }
            match (self.as_it_is(file), now) {
                (Some(file), _) if !file.is_told => new.push(file),
                (None, _) if is_put_back(file) => put_back.push(file.clone()),
                (_, Some(now)) => drop(told.insert(file.path.clone(), now)),
                (_, None) => {}
            }
        }
        NotTold { new, put_back }
    }

    /// A file that waits, as it is now.
    fn as_it_is(&self, waiting: &WaitingFile) -> Option<UnacceptedFile> {
        let WaitingFile { path: key, before, cause, at_ms, told } = waiting;
        let path = path_of_key(key);
        let now = entry_hash(&path).ok().flatten();
        if before.as_ref().map(|before| before.hash) == now {
            return None;
        }
        let was = match before {
            Some(content) => content.text.clone(),
            None => Some(String::new()),
        };
        let (is_gone, now) = (now.is_none(), now.unwrap_or_else(gone));
        Some(UnacceptedFile {
            name: self.names.name(&path),
            cause: cause.clone(),
            at_ms: *at_ms,
            was,
            is_told: *told == Some(now),
            is_gone,
            now: (key.clone(), now),
        })
    }
}

/// Where a path led before a program started; none where there are too many links.
pub(super) fn end_before(run: &ProgramRun, path: &Path) -> Option<PathBuf> {
    way_before(run, path).map(|end| end.path)
}

/// The same, and whether the program may have changed it. Links that it may have changed lead where they led then.
fn way_before(run: &ProgramRun, path: &Path) -> Option<EndBefore> {
    let passes = Cell::new(false);
    let led = |link: &Path| {
        if !run.new.may_write(&file_key(link)) {
            return std::fs::read_link(link).ok();
        }
        passes.set(true);
        run.new.files.get(&file_key(link)).and_then(link_target)
    };
    let path = real_by(path, &led)?;
    Some(EndBefore { path, passes: passes.get() })
}

/// Whether what was found at a path is another content than the one that was known there before a program that runs.
fn is_other_than_before(run: &ProgramRun, path: &Path, hash: impl Fn() -> Option<FileHash>) -> bool {
    let Some(EndBefore { path: end, passes }) = way_before(run, path) else { return true };
    if !passes {
        return false;
    }
    let before = match run.new.may_write(&file_key(&end)) {
        true => run.new.files.get(&file_key(&end)).map(|before| before.hash),
        // The owner's own link leads out of where it writes.
        false => hash_of(&end).ok().flatten(),
    };
    // What cannot be read is nothing that anybody knew.
    let now = hash();
    now.is_none() || before != now
}

#[cfg(unix)]
fn stamp(path: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt as _;
    let about = path.symlink_metadata().ok()?;
    Some((about.dev(), about.ino(), about.size(), about.ctime(), about.ctime_nsec()))
}

#[cfg(not(unix))]
fn stamp(_: &Path) -> Option<Stamp> {
    None
}

/// What stands for the content of a file that is gone, where the owner was told of that or accepted it.
pub(super) fn gone() -> FileHash {
    FileHash::of(b"a file that is gone")
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

#[cfg(test)]
mod tests;
