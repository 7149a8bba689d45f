//! Reads folders of profiles into values.

use std::io;
use std::path::Path;

use crate::source::{Layer, SourceFile};

/// Files larger than this are no prompt text; they are not read.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a regular file of at most so many bytes. Whoever calls has the function that neither waits for a pipe nor reads a device.
pub type Read<'a> = dyn Fn(&Path, u64) -> io::Result<Vec<u8>> + 'a;

/// Reads every file below a folder of profiles (`~/.limpid/profiles`). A folder that does not exist has no files.
///
/// # Errors
/// Whatever the file system says, with the path that it is about.
pub fn read_profiles(folder: &Path, layer: Layer, read: &Read<'_>) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    if folder.try_exists()? {
        read_below(folder, "", layer, read, &mut files)?;
    }
    Ok(files)
}

/// Reads one profile's folder; its name is the profile's.
///
/// # Errors
/// As [`read_profiles`]; also when the folder does not exist or has no name.
pub fn read_profile(folder: &Path, layer: Layer, read: &Read<'_>) -> io::Result<Vec<SourceFile>> {
    let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, format!("{} has no name", folder.display()));
    let name = folder.file_name().and_then(|name| name.to_str()).ok_or_else(unnamed)?;
    let mut files = Vec::new();
    read_below(folder, name, layer, read, &mut files)?;
    Ok(files)
}

fn read_below(folder: &Path, path: &str, layer: Layer, read: &Read<'_>, files: &mut Vec<SourceFile>) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    let mut entries: Vec<_> = std::fs::read_dir(folder).and_then(Iterator::collect::<io::Result<_>>).map_err(named)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        // A name that is not UTF-8 is no name of a profile's file.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
        let full = entry.path();
        // A profile's folder may be a link of the owner's. In it links would lead to files that nobody wrote for a prompt.
        let is_profile = !path.contains('/');
        let about = if is_profile { std::fs::metadata(&full) } else { std::fs::symlink_metadata(&full) };
        let about = about.map_err(named)?;
        if about.is_dir() && path.split('/').count() < 5 {
            read_below(&full, &path, layer, read, files)?;
        } else if about.is_file() && about.len() <= MAX_BYTES {
            files.push(SourceFile { path, bytes: read(&full, MAX_BYTES).map_err(named)?, layer });
        }
    }
    Ok(())
}
