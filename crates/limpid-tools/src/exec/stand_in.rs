//! The empty folder that stands in the place of `outside/` for a program that reads the owner's folders and is the owner's, and for
//! one that may be a stranger's and names nothing in `outside/`: it sees nothing of what lies there, whatever it is told to open. What it
//! writes is laid into `outside/` when it has ended.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// An empty folder that no other program sees, until it is laid into `outside/` or, still empty, taken away.
#[derive(Debug)]
pub(super) struct StandIn {
    folder: PathBuf,
    outside: PathBuf,
}

impl StandIn {
    /// Makes one below a folder that no program sees.
    pub(super) fn make(hidden: &Path, outside: &Path) -> Result<Self, String> {
        let failed = |error| format!("a folder for what the program writes cannot be made: {error}");
        fs::create_dir_all(hidden).map_err(failed)?;
        recover(hidden, outside);
        let folder = first_free(hidden, &format!("program-{}-", std::process::id()), |new| fs::create_dir(new));
        Ok(Self { folder: folder.map_err(failed)?, outside: outside.to_owned() })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lays it into `outside/`, and says where it is; nothing when it was empty.
    pub(super) fn lay_down(self) -> Option<String> {
        Some(match self.laid()? {
            Ok(at) => format!("It saw `outside/` empty, and what it wrote there is in `{}` now.", at.display()),
            Err(error) => format!(
                "What it wrote could not be laid into `outside/` ({error}); it is in `{}`.",
                self.folder.display()
            ),
        })
    }

    /// Where it lies now; none when it was empty.
    fn laid(&self) -> Option<io::Result<PathBuf>> {
        if fs::remove_dir(&self.folder).is_ok() {
            return None;
        }
        // A program may have taken its rights away, without which it cannot be moved.
        let _ = fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700));
        // A file or a full folder of that name is nothing to write over.
        let lay = |new: &Path| fs::create_dir(new).and_then(|()| fs::rename(&self.folder, new));
        Some(first_free(&self.outside, "program-", lay))
    }
}

impl Drop for StandIn {
    /// Also when the call is given up.
    fn drop(&mut self) {
        if self.folder.exists() {
            // When that fails, it stays where it is.
            let _ = self.laid();
        }
    }
}

/// Lays down what programs wrote whose process was ended in the midst.
fn recover(hidden: &Path, outside: &Path) {
    for entry in fs::read_dir(hidden).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix("program-")?.split_once('-'));
        let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            drop(StandIn { folder: entry.path(), outside: outside.to_owned() });
        }
    }
}

/// The first name with a number that nothing has yet.
fn first_free(folder: &Path, name: &str, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let mut number = 1_u64;
    loop {
        let new = folder.join(format!("{name}{number}"));
        match make(&new) {
            Ok(()) => return Ok(new),
            Err(error) if [ErrorKind::AlreadyExists, ErrorKind::DirectoryNotEmpty].contains(&error.kind()) => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-058
    #[test]
    fn what_was_written_is_laid_into_outside_under_a_name_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let (hidden, outside) = (home.path().join("data/scratch"), home.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("program-1"), "a file").unwrap();
        let (empty, full, given_up) = (
            StandIn::make(&hidden, &outside).unwrap(),
            StandIn::make(&hidden, &outside).unwrap(),
            StandIn::make(&hidden, &outside).unwrap(),
        );
        assert_eq!(empty.lay_down(), None);
        fs::write(full.folder().join("page.html"), "tea").unwrap();
        let at = outside.join("program-2");
        assert_eq!(
            full.lay_down(),
            Some(format!("It saw `outside/` empty, and what it wrote there is in `{}` now.", at.display()))
        );
        assert_eq!(fs::read_to_string(at.join("page.html")).unwrap(), "tea");
        fs::write(given_up.folder().join("part"), "te").unwrap();
        drop(given_up);
        assert!(outside.join("program-3/part").exists());
        // No process has this number.
        fs::create_dir(hidden.join("program-4194305-1")).unwrap();
        fs::write(hidden.join("program-4194305-1/part"), "t").unwrap();
        fs::set_permissions(hidden.join("program-4194305-1"), fs::Permissions::from_mode(0o500)).unwrap();
        assert_eq!(StandIn::make(&hidden, &outside).unwrap().lay_down(), None);
        assert!(outside.join("program-4/part").exists());
        assert_eq!(fs::read_dir(hidden).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(outside.join("program-1")).unwrap(), "a file");
    }
}
