//! What starts a server of an editor besides its words: the bytes of the files that these name, and of what lies beside them in a folder
//! of the session, which may be somebody else's. What is different later is asked about again.

use std::fs;
use std::path::{Path, PathBuf};

use limpid_config::{McpServerConfig, regular_file};
use sha2::{Digest as _, Sha256};

/// Files of a folder that are looked at; of more than that, and of what is larger, only how large it is and when it was changed.
const FILES: usize = 4000;
const BYTES: u64 = 16 * 1024 * 1024;

/// Takes in all that a server is started from, in folders of a session.
pub(crate) fn hash_files(hash: &mut Sha256, server: &McpServerConfig, folders: &[PathBuf]) {
    let words = server.command.iter().chain(&server.args).chain(server.env.values());
    let mut named: Vec<PathBuf> = words.flat_map(|word| files_in(word, folders)).collect();
    named.sort_unstable();
    named.dedup();
    // What lies elsewhere is the owner's own.
    named.retain(|file| folders.iter().any(|folder| file.starts_with(folder)));
    for file in &named {
        hash_file(hash, file, true);
        file.parent().into_iter().for_each(|beside| hash_folder(hash, beside));
    }
}

/// The files that a word names, whole or behind a sign, as in `--config=x.json` or `a.jar:b.jar`.
fn files_in(word: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
    let parts = std::iter::once(word).chain(word.split(['=', ':', ',', ';', ' ']));
    let places = parts.filter(|part| !part.is_empty()).flat_map(|part| {
        let within = folders.iter().map(move |folder| folder.join(part));
        within.filter_map(|path| path.canonicalize().ok())
    });
    places.filter(|path| path.is_file()).collect()
}

fn hash_folder(hash: &mut Sha256, folder: &Path) {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A link is taken for what it leads to where that is a file.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
    }
    files.sort_unstable();
    let reads = files.len() <= FILES;
    files.iter().for_each(|file| hash_file(hash, file, reads));
}

fn hash_file(hash: &mut Sha256, path: &Path, reads: bool) {
    hash.update(path.as_os_str().as_encoded_bytes());
    let Ok(metadata) = fs::metadata(path) else { return };
    hash.update(metadata.len().to_le_bytes());
    if reads && metadata.is_file() && metadata.len() <= BYTES {
        // What cannot be read starts nothing.
        hash.update(regular_file::read(path, BYTES).unwrap_or_default());
    } else if let Ok(changed) = metadata.modified() {
        hash.update(format!("{changed:?}"));
    }
}
