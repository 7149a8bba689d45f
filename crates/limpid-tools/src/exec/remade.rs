//! Whether what a program must not see is still what it was when the program began. A cover lies over the very folder that was there: whoever
//! removes that folder outside of the sandbox and makes it anew, as `git checkout` does, takes the cover away with it.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::confinement::Confinement;
use super::installed::is_in_system;

/// Between two looks, at least.
const LOOK: Duration = Duration::from_millis(20);

/// Looking takes no more than this part of the time.
const SHARE: u32 = 10;

/// What was at the places that a program must not see or change, before it began.
#[derive(Debug)]
pub(super) struct AsBegun {
    places: Vec<BegunPlace>,
    /// The first place that was seen to be another one.
    remade: OnceLock<PathBuf>,
}

/// A place as it was before the program began.
#[derive(Debug)]
struct BegunPlace {
    path: PathBuf,
    before: Identity,
    /// Held open, since disks reuse the inode number of what was removed. The birth time cannot tell it apart: on overlayfs, as containers
    /// have it, a folder of a lower layer gets a new one when something in it is first written.
    handle: Option<File>,
}

/// Which file or folder is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Nothing,
    /// A link, there or on the way.
    Link,
    One {
        device: u64,
        inode: u64,
    },
    /// It cannot be looked at; neither can the program.
    Unknown,
}

impl AsBegun {
    /// Looks at the places. It has to be called before they are covered.
    pub(super) fn of(confinement: &Confinement) -> Self {
        let Confinement { closed, kept, hidden, absent, .. } = confinement;
        let meant = closed.iter().chain(kept).map(|place| BegunPlace::of(&place.path));
        let meant = meant.filter(|place| place.before != Identity::Unknown);
        // Where nothing is, the sandbox makes an empty folder itself.
        let hidden = hidden.iter().map(|path| {
            let place = BegunPlace::of(path);
            // Of folders of the system there may be hundreds, and nobody who isn't an administrator makes one anew.
            let handle = place.handle.filter(|_| !is_in_system(path));
            BegunPlace { handle, ..place }
        });
        let hidden = hidden.filter(|place| matches!(place.before, Identity::One { .. }));
        let absent = absent.iter().cloned();
        let absent = absent.map(|path| BegunPlace { path, before: Identity::Nothing, handle: None });
        Self { places: meant.chain(hidden).chain(absent).collect(), remade: OnceLock::new() }
    }

    /// The first place that is another one now, or was when somebody looked.
    pub(super) fn remade(&self) -> Option<&Path> {
        if self.remade.get().is_none() {
            let is_other = |place: &&BegunPlace| {
                let (now, _) = look(&place.path);
                now != Identity::Unknown && now != place.before
            };
            if let Some(place) = self.places.iter().find(is_other) {
                // Somebody else may have seen another one first.
                let _ = self.remade.set(place.path.clone());
            }
        }
        self.remade.get().map(PathBuf::as_path)
    }

    /// Looks again and again until one is another.
    pub(super) async fn until_remade(self: Arc<Self>) {
        loop {
            let (this, begun) = (Arc::clone(&self), Instant::now());
            // A disk may take its time.
            let looked = tokio::task::spawn_blocking(move || this.remade().is_some()).await;
            // What nobody looks at any more is as good as another one.
            if looked.unwrap_or(true) {
                return;
            }
            tokio::time::sleep(LOOK.max(begun.elapsed() * SHARE)).await;
        }
    }
}

impl BegunPlace {
    fn of(path: &Path) -> Self {
        let (before, handle) = look(path);
        Self { path: path.to_owned(), before, handle }
    }
}

/// What is at a path, and a handle of it.
fn look(path: &Path) -> (Identity, Option<File>) {
    let opened = match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => File::from(opened),
        Err(Errno::NOENT | Errno::NOTDIR) => return (Identity::Nothing, None),
        Err(Errno::LOOP) => return (Identity::Link, None),
        Err(_) => return (Identity::Unknown, None),
    };
    match opened.metadata() {
        Ok(about) => (Identity::One { device: about.dev(), inode: about.ino() }, Some(opened)),
        Err(_) => (Identity::Unknown, None),
    }
}

/// Whether nothing is at a path.
pub(super) fn is_nothing_at(path: &Path) -> bool {
    look(path).0 == Identity::Nothing
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn begun(path: &Path) -> AsBegun {
        AsBegun { places: vec![BegunPlace::of(path)], remade: OnceLock::new() }
    }

    // SEC-058 SEC-075
    #[test]
    fn a_place_is_another_one_once_it_was_removed_made_anew_or_led_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir(at("theirs")).unwrap();
        let (there, absent) = (begun(&at("theirs")), begun(&at("late")));
        fs::write(at("theirs/letter.md"), "Dear all").unwrap();
        assert_eq!((there.remade(), absent.remade()), (None, None), "what lies in it may change");
        fs::rename(at("theirs"), at("old")).unwrap();
        std::os::unix::fs::symlink(at("old"), at("theirs")).unwrap();
        fs::create_dir(at("late")).unwrap();
        assert_eq!((there.remade(), absent.remade()), (Some(&*at("theirs")), Some(&*at("late"))));
        fs::remove_file(at("theirs")).unwrap();
        fs::rename(at("old"), at("theirs")).unwrap();
        assert_eq!(there.remade(), Some(&*at("theirs")), "once seen it is not forgotten");
        let again = begun(&at("theirs"));
        fs::rename(at("theirs"), at("old")).unwrap();
        fs::create_dir(at("theirs")).unwrap();
        assert_eq!(again.remade(), Some(&*at("theirs")));
        let removed = begun(&at("theirs"));
        fs::remove_dir(at("theirs")).unwrap();
        fs::create_dir(at("theirs")).unwrap();
        assert_eq!(removed.remade(), Some(&*at("theirs")), "the number of what is open is not reused");
    }
}
