//! Files of the home that hold secrets: nobody but the owner may read them.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use crate::error::FileError;
use crate::home::{marking, open_if_there};

/// The text of such a file; none when it does not exist.
///
/// # Errors
/// When it cannot be read, or others may read it.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    let Some(file) = open_if_there(path)? else { return Ok(None) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.about().permissions().mode();
        if mode & 0o077 != 0 {
            return Err(FileError::Exposed { path: path.to_owned(), mode: mode & 0o777 });
        }
    }
    Ok(Some(marking(file, path)?.text))
}

/// Writes such a file beside the old one and puts it in its place, so that there is always a whole one. A folder that is
/// missing is made for the owner alone.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), FileError> {
    put(path, text.as_bytes()).map_err(FileError::io(path))
}

/// The same for bytes.
///
/// # Errors
/// As the file system says.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    // Another process may write the same file: each has its own part.
    let (process, thread) = (std::process::id(), std::thread::current().id());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{process}-{thread:?}.new"));
    // What a crash left there may have a mode that others can read.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[expect(clippy::disallowed_methods, reason = "it is made here, and fails where something is")]
    let mut file = options.open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(new, path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    // SEC-094
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_swapped_while_it_is_read_is_judged_by_the_mode_of_the_one_that_is_used() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let home = tempfile::tempdir().unwrap();
        let (path, kept) = (home.path().join("secret"), home.path().join("kept"));
        let make = |path: &Path, text: &str, mode: u32| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        make(&path, "private", 0o600);
        make(&kept, "of everybody", 0o644);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    // Both names are there at every moment.
                    let exchange = rustix::fs::RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(rustix::fs::CWD, &path, rustix::fs::CWD, &kept, exchange).unwrap();
                }
            });
            let (mut used, mut refused) = (0, 0);
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                while used < 1000 || refused < 1000 {
                    match read(&path) {
                        Ok(text) => {
                            assert_eq!(text.as_deref(), Some("private"));
                            used += 1;
                        }
                        Err(_) => refused += 1,
                    }
                }
            }));
            is_over.store(true, Ordering::SeqCst);
            read.unwrap();
        });
    }

    // SEC-032
    #[test]
    fn nobody_else_may_read_it_and_one_that_others_may_read_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("mail/a.secret");
        assert_eq!(read(&path).unwrap(), None);
        fs::create_dir(home.path().join("mail")).unwrap();
        // A crash of an earlier program, or somebody's trap.
        fs::write(home.path().join("mail/a.secret.new"), "old").unwrap();
        write(&path, "word").unwrap();
        write(&path, "other").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), read(&path).unwrap().as_deref()), (0o600, Some("other")));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.ends_with(&format!("chmod 600 {}", path.display())), "{error}");
    }
}
