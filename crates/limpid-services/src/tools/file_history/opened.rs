//! A file that the history opened, over no link. Besides the tools of files, which follow links only within a granted folder, this is the
//! only way in which the history reads what lies on the disk: whatever program exchanges the file or a folder above it for a link once its
//! place was judged, nothing of what the link leads to is hashed, told of or kept. Hash, text and copy are of the one file that was opened.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use limpid_config::regular_file::Opened;
use limpid_config::without_links;
use limpid_store::{FileContent, FileHash};
use sha2::{Digest, Sha256};

/// Bytes of the largest file that is read whole, which are those that are kept of all files.
pub(super) const MOST_BYTES: u64 = 200 * 1024 * 1024;

/// Bytes of a file up to which its text is kept, so that the owner can be shown what changed.
const KEPT: u64 = 256 * 1024;

/// Bytes of a text up to which tools of files read it.
const MOST_TEXT: u64 = 8 * 1024 * 1024;

/// Bytes that are copied at once.
const STEP: usize = 64 * 1024;

/// A regular file, open.
#[derive(Debug)]
pub(super) struct OpenedFile {
    file: File,
    bytes: u64,
}

impl OpenedFile {
    /// The file at a place, which is a path with every link followed; none when no regular file is there.
    ///
    /// # Errors
    /// When it cannot be opened, and when a link is in its place or on the way by now.
    pub(super) fn at(place: &Path) -> io::Result<Option<Self>> {
        Ok(without_links::file(place)?.map(Self::of))
    }

    /// One that was opened over no link.
    pub(super) fn of(opened: Opened) -> Self {
        let bytes = opened.about().len();
        Self { file: opened.into_file(), bytes }
    }

    /// How large it was when it was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The hash of what it holds. What is larger than everything that is kept is told apart by its size alone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn hash(&self) -> io::Result<FileHash> {
        if self.bytes > MOST_BYTES { Ok(self.hash_of_size()) } else { self.copy(io::sink()) }
    }

    /// What it holds; its text too unless it is large.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn content(&self) -> io::Result<FileContent> {
        if self.bytes > KEPT {
            return self.hash().map(FileContent::bytes);
        }
        // One that grows meanwhile is read to its end, so that the hash is that of a whole file.
        let bytes = self.read(MOST_BYTES)?;
        let hash = FileHash::of(&bytes);
        let text = String::from_utf8(bytes).ok().filter(|text| text.len() as u64 <= KEPT);
        Ok(FileContent { hash, text })
    }

    /// The whole text of what tools of files read as one; none of anything else.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn text(&self) -> io::Result<Option<String>> {
        if self.bytes > MOST_TEXT {
            return Ok(None);
        }
        let text = match self.read(MOST_TEXT) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => None,
            bytes => String::from_utf8(bytes?).ok(),
        };
        Ok(text.filter(|text| !text.contains('\0')))
    }

    /// Its bytes, from the first one; at most so many.
    ///
    /// # Errors
    /// When it cannot be read, and [`io::ErrorKind::FileTooLarge`] when it has more.
    pub(super) fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.rewound()?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    /// Copies at most as many bytes as are kept, and returns their hash.
    ///
    /// # Errors
    /// When it cannot be read, or the copy not be written.
    pub(super) fn copy(&self, mut to: impl Finish) -> io::Result<FileHash> {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; STEP]);
        let mut from = self.rewound()?.take(MOST_BYTES + 1);
        loop {
            let read = from.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hash.update(bytes);
            to.write_all(bytes)?;
        }
        to.finish()?;
        Ok(FileHash(hash.finalize().into()))
    }

    fn rewound(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }

    fn hash_of_size(&self) -> FileHash {
        FileHash::of(format!("{} bytes that were not read", self.bytes).as_bytes())
    }
}

/// The hash of what the file at a place holds; none when there is no regular file.
///
/// # Errors
/// As [`OpenedFile::at`], and when it cannot be read.
pub(super) fn hash_of(place: &Path) -> io::Result<Option<FileHash>> {
    OpenedFile::at(place)?.map(|file| file.hash()).transpose()
}

/// What the file at a place holds; its text too unless it is large. None when there is no file.
///
/// # Errors
/// As [`hash_of`].
pub(super) fn content(place: &Path) -> io::Result<Option<FileContent>> {
    OpenedFile::at(place)?.map(|file| file.content()).transpose()
}

/// What a file holds whose whole text was read, as [`content`] has it.
pub(super) fn of_text(text: String) -> FileContent {
    let hash = FileHash::of(text.as_bytes());
    FileContent { hash, text: (text.len() as u64 <= KEPT).then_some(text) }
}

/// Where bytes go, until they are safe there.
pub(super) trait Finish: io::Write {
    fn finish(&self) -> io::Result<()>;
}

impl Finish for File {
    fn finish(&self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Finish for io::Sink {
    fn finish(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What opens a file by its path.
    const OPENS: [&str; 11] = [
        "regular_file",
        "read_marking",
        "read_text",
        "read_within",
        "read_to_string",
        "fs::read(",
        "File::open(",
        "File::options(",
        "OpenOptions",
        "files::text",
        "files::revise",
    ];

    /// What opens a file by its path follows links.
    // SEC-058 SEC-088
    #[test]
    fn nothing_else_in_the_history_opens_a_file_by_its_path() {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tools");
        let mut left = vec![tools.join("file_history.rs"), tools.join("file_history")];
        let (mut found, mut looked_at) = (BTreeSet::new(), 0);
        while let Some(entry) = left.pop() {
            if entry.is_dir() {
                left.extend(std::fs::read_dir(entry).unwrap().map(|entry| entry.unwrap().path()));
            } else if !entry.ends_with("tests.rs") && !entry.ends_with("opened.rs") {
                let source = std::fs::read_to_string(&entry).unwrap();
                let shipped = source.split("mod tests {").next().unwrap();
                let name = entry.strip_prefix(&tools).unwrap().display().to_string();
                found
                    .extend(OPENS.iter().filter(|opens| shipped.contains(**opens)).map(|opens| (name.clone(), *opens)));
                looked_at += 1;
            }
        }
        let expected = [
            // The tools of files follow links only within a granted folder.
            ("file_history.rs", "files::text"),
            ("file_history/calls.rs", "files::revise"),
            ("file_history/known.rs", "files::text"),
            // What is opened here is written or locked, and not read.
            ("file_history/kept.rs", "OpenOptions"),
            ("file_history/locks.rs", "OpenOptions"),
        ];
        assert_eq!(found, BTreeSet::from(expected.map(|(name, opens)| (name.to_owned(), opens))));
        assert!(looked_at > 15, "{looked_at}");
    }

    // SEC-063
    #[test]
    fn hash_text_and_copy_are_of_the_file_that_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        std::fs::write(at("file"), "tea").unwrap();
        std::fs::write(at("other"), "coffee").unwrap();
        let opened = OpenedFile::at(&at("file")).unwrap().unwrap();
        std::fs::rename(at("other"), at("file")).unwrap();
        let tea = FileContent::text("tea");
        assert_eq!(opened.content().unwrap(), tea);
        assert_eq!(opened.text().unwrap().as_deref(), Some("tea"));
        assert_eq!((opened.hash().unwrap(), opened.bytes()), (tea.hash, 3));
        assert_eq!(opened.copy(File::create(at("copy")).unwrap()).unwrap(), tea.hash);
        assert_eq!(std::fs::read(at("copy")).unwrap(), b"tea");
        assert!(opened.read(3).is_ok() && opened.read(2).is_err());
        std::fs::write(at("bytes"), [b'a', 0, 255]).unwrap();
        let bytes = OpenedFile::at(&at("bytes")).unwrap().unwrap();
        let hash = FileHash::of(&[b'a', 0, 255]);
        assert_eq!(bytes.content().unwrap(), FileContent::bytes(hash));
        assert_eq!((bytes.text().unwrap(), bytes.hash().unwrap()), (None, hash));
        assert_eq!(hash_of(&at("gone")).unwrap(), None);
    }
}
