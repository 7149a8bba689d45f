//! The files of one skill: read, hashed, and written so that nothing is half there.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use limpid_config::open_folder::{EntryKind, OpenFolder};
use limpid_config::{Ids, regular_file};
use limpid_store::{FileContent, FileHash};
use sha2::{Digest, Sha256};

use crate::error::AgentError;
use crate::skills::data_files::{endings, is_data};
use crate::skills::place::SkillPlace;

/// Files, bytes and levels that a skill may have at most.
const MAX_FILES: usize = 500;
const MAX_BYTES: u64 = 8 * 1024 * 1024;
const MAX_DEPTH: usize = 8;

/// The file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// What is said of a folder in the workspace that is a link to one elsewhere.
const LEADS_OUT: &str = "it leads out of the workspace, so nothing of it was touched; remove the link, or move what it leads to \
                         here";

/// Where Python keeps what it has compiled, and looks before it reads a source.
const COMPILED: &str = "__pycache__";

/// The files of a skill by their paths inside its folder. Hidden files are no part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    files: BTreeMap<String, File>,
}

/// One file of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct File {
    bytes: Vec<u8>,
    /// Whether it may be run.
    runs: bool,
}

/// One file as a reviewer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFile {
    /// Its path inside the skill's folder.
    pub path: String,
    /// Its size.
    pub bytes: usize,
    /// Whether it may be run.
    pub runs: bool,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub hash: String,
    /// All that it holds. Of what reads like a script and is no text, bytes that are no letters of one are written out:
    /// `\x00`. None for any other binary file: nobody reads a font, and its hash says which one it is.
    pub text: Option<String>,
    /// Whether it is a text, so that nothing is written out.
    pub is_text: bool,
}

impl ReviewFile {
    /// A text as a reviewer sees it.
    pub(crate) fn of_text(path: &str, text: &str) -> Self {
        Self::of(path, &File { bytes: text.as_bytes().to_vec(), runs: false })
    }

    fn of(path: &str, File { bytes, runs }: &File) -> Self {
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        Self {
            path: path.to_owned(),
            bytes: bytes.len(),
            runs: *runs,
            hash: hex(&Sha256::digest(bytes)),
            text: text.map(str::to_owned).or_else(|| is_read(bytes).then(|| written_out(bytes))),
            is_text: text.is_some(),
        }
    }
}

impl Folder {
    /// A skill that is one text.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::default().with_text(text)
    }

    /// Reads a folder, or one SKILL.md alone. Links in it are refused: they lead to what nobody reviewed.
    pub(crate) fn read(path: &Path) -> Result<Self, AgentError> {
        if !path.is_dir() {
            let bytes = regular_file::read(path, MAX_BYTES).map_err(AgentError::file(path))?;
            return Ok(Self { files: [(SKILL_FILE.to_owned(), File { bytes, runs: false })].into() });
        }
        Self::of(&OpenFolder::at(path).map_err(AgentError::file(path))?, path)
    }

    /// Reads a folder that may be a link to another one within `root`, and to none elsewhere.
    pub(crate) fn read_within(root: &Path, path: &Path) -> Result<Self, AgentError> {
        let real = |path: &Path| path.canonicalize().map_err(AgentError::file(path));
        let (root, real) = (real(root)?, real(path)?);
        let Ok(way) = real.strip_prefix(&root) else { return Err(refused(path, LEADS_OUT)) };
        // It has no link any more, unless one was laid there since.
        let folder = OpenFolder::at(&root).and_then(|root| root.below(way));
        Self::of(&folder.map_err(AgentError::file(path))?, path)
    }

    /// Reads the folder of a skill that is about to be written; nothing where there is none.
    pub(crate) fn read_at(place: &SkillPlace) -> Result<Self, AgentError> {
        match place.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            folder => Self::of(&folder.map_err(AgentError::file(place.path()))?, place.path()),
        }
    }

    fn of(opened: &OpenFolder, path: &Path) -> Result<Self, AgentError> {
        let mut folder = Self::default();
        let mut total = 0;
        for (inside, full) in walk(opened, path, "", 0)? {
            // What stood there as a file may be a link, or larger, by now.
            let file = opened.file(Path::new(&inside)).map_err(AgentError::file(&full))?;
            total += file.about().len();
            if folder.files.len() == MAX_FILES || total > MAX_BYTES {
                return Err(refused(&full, "a skill has at most 500 files and 8 MiB"));
            }
            let runs = may_run(file.about());
            let bytes = file.bytes(MAX_BYTES).map_err(AgentError::file(&full))?;
            folder.files.insert(inside, File { bytes, runs });
        }
        Ok(folder)
    }

    /// Reads the files of a skill from elsewhere, as [`Folder::read_without_compiled`] does. A file that nobody can read is refused
    /// where a language may load it.
    pub(crate) fn read_from_elsewhere(path: &Path) -> Result<Self, AgentError> {
        let folder = Self::read_without_compiled(path)?;
        let Some(file) = folder.unseen().map(|file| path.join(file)) else { return Ok(folder) };
        Err(refused(&file, &no_file_of_it()))
    }

    /// Reads the files that an install takes. What Python has compiled is no part of it: it would run in the place of the source
    /// that is shown.
    pub(crate) fn read_without_compiled(path: &Path) -> Result<Self, AgentError> {
        let mut folder = Self::read(path)?;
        folder.files.retain(|file, _| !file.split('/').any(|part| part == COMPILED));
        Ok(folder)
    }

    /// The first file that nobody can read and a language may load; none where everything is shown or holds data only.
    pub(crate) fn unseen(&self) -> Option<&str> {
        // What is compiled has such bytes, and what people write has none.
        let is_seen = |bytes: &[u8]| !bytes.contains(&0) && (std::str::from_utf8(bytes).is_ok() || is_read(bytes));
        let mut files = self.files.iter().map(|(path, file)| (path.as_str(), file.bytes.as_slice()));
        files.find(|(path, bytes)| !is_seen(bytes) && !is_data(path, bytes)).map(|(path, _)| path)
    }

    /// The hash of every path and every byte, and of what may be run, in hexadecimal digits.
    pub(crate) fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for (path, File { bytes, runs }) in &self.files {
            // No path is so long. Without such files the hash is that of versions which kept no permission.
            if *runs {
                hash.update(u64::MAX.to_le_bytes());
            }
            for part in [path.as_bytes(), bytes] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        hex(&hash.finalize())
    }

    /// The SHA-256 of SKILL.md, when there is one.
    pub(crate) fn text_sha256(&self) -> Option<String> {
        self.files.get(SKILL_FILE).map(|file| hex(&Sha256::digest(&file.bytes)))
    }

    /// The text of SKILL.md, when there is one. Bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> Option<String> {
        self.files.get(SKILL_FILE).map(|file| String::from_utf8_lossy(&file.bytes).into_owned())
    }

    /// The same files with another text as SKILL.md.
    pub(crate) fn with_text(mut self, text: &str) -> Self {
        self.files.entry(SKILL_FILE.to_owned()).or_default().bytes = text.as_bytes().to_vec();
        self
    }

    /// Each file with the hash of its bytes.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = (&str, FileHash)> {
        self.files.iter().map(|(path, file)| (path.as_str(), FileHash::of(&file.bytes)))
    }

    /// What a file holds, with its text where it is one; none where there is none of that path.
    pub(crate) fn content(&self, path: &str) -> Option<FileContent> {
        let bytes = &self.files.get(path)?.bytes;
        let text = String::from_utf8(bytes.clone());
        Some(text.map_or_else(|_| FileContent::bytes(FileHash::of(bytes)), FileContent::text))
    }

    /// The other files, by path.
    pub(crate) fn others(&self) -> Vec<String> {
        self.files.keys().filter(|path| *path != SKILL_FILE).cloned().collect()
    }

    /// Every file as a reviewer sees it, SKILL.md first.
    pub(crate) fn review(&self) -> Vec<ReviewFile> {
        let mut files: Vec<ReviewFile> = self.files.iter().map(|(path, file)| ReviewFile::of(path, file)).collect();
        files.sort_by_key(|file| file.path != SKILL_FILE);
        files
    }

    /// Makes a folder hold these files and no others. Files that are right already are not touched; each other one is
    /// there whole or not at all. What may be run stays so, for the owner. No link is followed.
    pub(crate) fn write(&self, place: &SkillPlace, ids: &dyn Ids) -> Result<(), AgentError> {
        let path = place.path();
        let folder = place.make().map_err(AgentError::file(path))?;
        let there = Self::of(&folder, path)?;
        for (name, File { bytes, runs }) in &self.files {
            let is_right = there.files.get(name).is_some_and(|file| file.bytes == *bytes && file.runs == *runs);
            if !is_right {
                let written = folder.write(Path::new(name), bytes, *runs, ids);
                written.map_err(AgentError::file(path.join(name)))?;
            }
        }
        for name in there.files.keys().filter(|name| !self.files.contains_key(*name)) {
            folder.remove(Path::new(name)).map_err(AgentError::file(path.join(name)))?;
        }
        Ok(())
    }
}

/// Why a file is none of a skill from elsewhere: [`Folder::unseen`] finds it.
pub(crate) fn no_file_of_it() -> String {
    format!(
        "nobody could read it before a program loads it: a skill from elsewhere holds texts, and files of these kinds: {}; \
         take it out of the folder, then install the skill",
        endings()
    )
}

/// The paths of the files of a skill besides SKILL.md, by name; they are not read.
pub(crate) fn others_in(path: &Path) -> Result<Vec<String>, AgentError> {
    let folder = OpenFolder::at(path).map_err(AgentError::file(path))?;
    let mut files: Vec<String> = walk(&folder, path, "", 0)?.into_iter().map(|(inside, _)| inside).collect();
    files.retain(|file| file != SKILL_FILE);
    files.sort();
    Ok(files)
}

/// Bytes with those that are no plain letters, tabs or line ends written out, so that nothing of them goes unseen.
fn written_out(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        b'\n' | b'\t' | b' '..=b'~' => char::from(*byte).to_string(),
        other => format!("\\x{other:02x}"),
    };
    bytes.iter().map(one).collect()
}

/// Whether a reviewer reads what is no text: a script is read whole, whatever hides in it; a shell runs one without its first line and
/// its mode too.
fn is_read(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#!") || is_mostly_letters(bytes)
}

/// Whether at least three bytes of four are plain letters, as in a text with some odd bytes put into it.
fn is_mostly_letters(bytes: &[u8]) -> bool {
    let letters = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')).count();
    letters * 4 >= bytes.len() * 3
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
fn may_run(about: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn may_run(_: &Metadata) -> bool {
    false
}

/// Every file below a folder that is not hidden: its path inside, and where it is.
fn walk(folder: &OpenFolder, path: &Path, prefix: &str, depth: usize) -> Result<Vec<(String, PathBuf)>, AgentError> {
    let mut files = Vec::new();
    for (name, kind) in folder.entries().map_err(AgentError::file(path))? {
        let full = path.join(&name);
        let Some(name) = name.to_str() else { return Err(refused(&full, "its name is not UTF-8")) };
        if name.starts_with('.') {
            continue;
        }
        let inside = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        match kind {
            EntryKind::Link => return Err(refused(&full, "a skill may not hold links")),
            EntryKind::Folder if depth + 1 == MAX_DEPTH => {
                return Err(refused(&full, "folders stand too deep in one another"));
            }
            EntryKind::Folder => {
                let inner = folder.below(Path::new(name)).map_err(AgentError::file(&full))?;
                files.extend(walk(&inner, &full, &inside, depth + 1)?);
            }
            EntryKind::File => files.push((inside, full)),
            EntryKind::Other => {}
        }
    }
    Ok(files)
}

fn refused(path: &Path, why: &str) -> AgentError {
    AgentError::file(path)(io::Error::other(why.to_owned()))
}

#[cfg(test)]
mod tests;
