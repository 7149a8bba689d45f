//! Copies of the files that a yes is bound to: what was hashed is what runs, whatever lies in its place by then.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use limpid_config::regular_file::Opened;
use sha2::{Digest as _, Sha256};

/// Copies in a folder of their own, which goes with this value.
#[derive(Debug)]
pub struct Snapshot {
    folder: PathBuf,
    files: Vec<(PathBuf, PathBuf)>,
}

impl Snapshot {
    /// Makes the folder, which must not be there.
    ///
    /// # Errors
    /// As the file system says.
    pub fn new(folder: PathBuf) -> io::Result<Self> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Some(parent) = folder.parent() {
            builder.create(parent)?;
        }
        builder.recursive(false).create(&folder)?;
        Ok(Self { folder, files: Vec::new() })
    }

    /// Keeps a file and returns the SHA-256 of the bytes that were kept, and their number; none with more than `most`. A file
    /// that may be run stays so.
    ///
    /// # Errors
    /// When it cannot be read, or the copy not be written.
    pub fn keep(&mut self, path: &Path, file: Opened, most: u64) -> io::Result<Option<([u8; 32], u64)>> {
        let copy = self.folder.join(self.files.len().to_string());
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
            let runs = file.about().permissions().mode() & 0o111 != 0;
            options.mode(if runs { 0o500 } else { 0o400 });
        }
        #[expect(clippy::disallowed_methods, reason = "it is made here, and fails where something is")]
        let mut to = options.open(&copy)?;
        let Some(hash) = hash_of(file, most, Some(&mut to))? else { return Ok(None) };
        self.files.push((path.to_owned(), copy));
        Ok(Some(hash))
    }

    /// Each file that was kept: its path, and that of the copy.
    pub fn files(&self) -> &[(PathBuf, PathBuf)] {
        &self.files
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // What is left takes room, and nothing more.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The SHA-256 of a file's bytes and their number, in one reading in which they are copied too; none with more than `most`.
///
/// # Errors
/// When it cannot be read, or the copy not be written.
pub fn hash_of(file: Opened, most: u64, mut copy: Option<&mut File>) -> io::Result<Option<([u8; 32], u64)>> {
    let (mut hash, mut buffer, mut size) = (Sha256::new(), vec![0; 64 << 10], 0);
    let mut file = file.into_file();
    loop {
        let count = match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if count == 0 {
            return Ok(Some((hash.finalize().into(), size)));
        }
        size += count as u64;
        if size > most {
            return Ok(None);
        }
        hash.update(&buffer[..count]);
        if let Some(copy) = &mut copy {
            copy.write_all(&buffer[..count])?;
        }
    }
}
