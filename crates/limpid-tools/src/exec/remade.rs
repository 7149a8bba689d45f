//! Whether what a program must not see is still what it was when the program began. A cover lies over the very folder that was there: whoever
//! removes that folder outside of the sandbox and makes it anew, as `git checkout` does, takes the cover away with it.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::confinement::Confinement;
use super::places::Kind;
use super::programs::Programs;

/// Between two looks, at least.
const LOOK: Duration = Duration::from_millis(20);

/// Looking takes no more than this part of the time.
const SHARE: u32 = 10;

/// What was at the places that a program must not see or change, before it began.
#[derive(Debug)]
pub(super) struct AsBegun {
    places: Vec<(PathBuf, Found)>,
    /// The first place that was seen to be another one.
    remade: OnceLock<PathBuf>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A link, there or on the way.
    Link,
    /// A file or folder. Numbers of what was removed are given again, so it is also known by when it was made, where that is kept.
    One {
        device: u64,
        inode: u64,
        made: Option<SystemTime>,
    },
    /// It cannot be looked at; neither can the program.
    Unknown,
}

impl AsBegun {
    /// Looks at the places. It has to be called before they are covered.
    pub(super) fn of(confinement: &Confinement) -> Self {
        let Confinement { closed, kept, hidden, absent, .. } = confinement;
        let meant = closed.iter().chain(kept).map(|place| (place.path.clone(), found(&place.path)));
        let meant = meant.filter(|(_, found)| *found != Found::Unknown);
        // Where nothing is, the sandbox makes an empty folder itself.
        let hidden = hidden.iter().map(|path| (path.clone(), found(path)));
        let hidden = hidden.filter(|(_, found)| matches!(found, Found::One { .. }));
        let absent = absent.iter().map(|path| (path.clone(), Found::Nothing));
        Self { places: meant.chain(hidden).chain(absent).collect(), remade: OnceLock::new() }
    }

    /// The first place that is another one now, or was when somebody looked.
    pub(super) fn remade(&self) -> Option<&Path> {
        if self.remade.get().is_none() {
            let is_other = |(path, before): &&(PathBuf, Found)| {
                let now = found(path);
                now != Found::Unknown && now != *before
            };
            if let Some((path, _)) = self.places.iter().find(is_other) {
                // Somebody else may have seen another one first.
                let _ = self.remade.set(path.clone());
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

fn found(path: &Path) -> Found {
    let opened = match openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NOTDIR) => return Found::Nothing,
        Err(Errno::LOOP) => return Found::Link,
        Err(_) => return Found::Unknown,
    };
    File::from(opened).metadata().map_or(Found::Unknown, |about| Found::One {
        device: about.dev(),
        inode: about.ino(),
        made: about.created().ok(),
    })
}

/// That what a program must not see became another one while it ran, if it did.
pub(super) fn told_of_remade(programs: &Programs, begun: &AsBegun) -> Option<String> {
    let called = programs.called(begun.remade()?);
    Some(format!("`{called}` was made anew or taken away while it ran, so what it said counts as somebody else's."))
}

/// Where folders of `[files]` would be that are not there and were not when Limpid was started, as far as they lie in folders of the other
/// kind: what is made there is not what is around it.
pub(super) fn not_yet_made(programs: &Programs) -> impl Iterator<Item = PathBuf> {
    let is_known = move |folder: &Path| programs.folders().any(|([named, _], _)| named == folder);
    programs.grants.roots().filter(move |root| !is_known(&root.folder)).filter_map(move |root| {
        let path = without_links(&root.folder)?;
        let around = programs.kind_of(&path)?;
        let is_other = match root.trust.is_foreign() {
            true => !around.is_low(),
            false => !matches!(around, Kind::High { .. }),
        };
        (is_other && found(&path) == Found::Nothing).then_some(path)
    })
}

/// A path at which nothing is, with the links followed of what there is on the way.
fn without_links(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|around| Some(around.canonicalize().ok()?.join(path.strip_prefix(around).ok()?)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn begun(path: &Path) -> AsBegun {
        AsBegun { places: vec![(path.to_owned(), found(path))], remade: OnceLock::new() }
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
    }
}
