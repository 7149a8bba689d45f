//! Folders that settings name. Each is opened part by part, over no link that somebody else could have laid, and what was opened is what is
//! used: whatever its path leads to by then.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat, readlinkat};
use rustix::io::Errno;

/// Links that are followed for one folder, as the system does.
const LINKS: usize = 40;

/// The usual name of Limpid's home, in the owner's.
const USUAL_HOME: &str = ".limpid";

/// Folders in which only the system lays links.
const SYSTEM: [&str; 8] = ["/bin", "/etc", "/lib", "/lib64", "/nix/store", "/opt", "/sbin", "/usr"];

/// A folder that settings name, open.
#[derive(Debug)]
pub struct NamedFolder {
    /// Its path without links, when it was opened.
    pub path: PathBuf,
    /// The folder itself, for asking what it is and for opening what is in it, not for listing it.
    pub handle: OwnedFd,
}

/// Why a folder that settings name is not used.
#[derive(Debug)]
pub enum NotUsed {
    /// Nothing is there.
    Missing,
    /// The way there leads over a link that somebody else could have laid, which lies at this path.
    Link(PathBuf),
    /// It is no folder, or the system does not open it.
    Cannot(io::Error),
}

/// Opens folders that settings name.
///
/// A link on the way is followed where nobody but the owner or the system lays one: in Limpid's home, in folders around it, in the owner's
/// folders for settings (`~/.local` and the like), and wherever one is root's; nowhere in a granted folder, for programs and repositories
/// lay links there. To whoever can change a folder around Limpid's home, nothing is barred anyway.
#[derive(Clone, Debug)]
pub struct FolderResolver {
    home: PathBuf,
    granted: Vec<PathBuf>,
}

impl FolderResolver {
    /// `home` is Limpid's, and `granted` are the folders that tools, programs or repositories may write.
    pub fn new(home: impl Into<PathBuf>, granted: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { home: home.into(), granted: granted.into_iter().collect() }
    }

    /// Opens a folder.
    ///
    /// # Errors
    /// Why it is not used.
    pub fn open(&self, folder: &Path) -> Result<NamedFolder, NotUsed> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = || open("/", flags | OFlags::DIRECTORY, Mode::empty()).map_err(NotUsed::from);
        let (mut at, mut handle) = (PathBuf::from("/"), root()?);
        let (mut left, mut links) = (parts(folder), 0);
        while let Some(part) = left.pop_front() {
            let next = openat(&handle, &part, flags, Mode::empty())?;
            let about = fstat(&next)?;
            match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory if part == ".." => drop(at.pop()),
                FileType::Directory => at.push(&part),
                FileType::Symlink => {
                    links += 1;
                    if links > LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    if !self.is_laid_by_owner(&at, about.st_uid) {
                        return Err(NotUsed::Link(at.join(part)));
                    }
                    // Of the very link that was looked at.
                    let target = PathBuf::from(OsString::from_vec(readlinkat(&next, "", Vec::new())?.into_bytes()));
                    if target.is_absolute() {
                        (at, handle) = (PathBuf::from("/"), root()?);
                    }
                    parts(&target).into_iter().rev().for_each(|part| left.push_front(part));
                    continue;
                }
                _ => return Err(Errno::NOTDIR.into()),
            }
            handle = next;
        }
        Ok(NamedFolder { path: at, handle })
    }

    /// A folder's path without links; none where it is not used.
    pub fn path(&self, folder: &Path) -> Option<PathBuf> {
        self.open(folder).ok().map(|opened| opened.path)
    }

    /// Whether a link in a folder, whose path has no links, was laid by the owner or the system. `user` is whose link it is.
    fn is_laid_by_owner(&self, folder: &Path, user: u32) -> bool {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let depth = |around: &PathBuf| folder.starts_with(around).then(|| around.components().count());
        let home = real(&self.home);
        // Of folders in each other the innermost says who writes there: the workspace lies in the home.
        let granted = self.granted.iter().map(real).filter_map(|granted| depth(&granted)).max();
        match (granted, depth(&home)) {
            (None, None) => {}
            (granted, own) => return own > granted,
        }
        let is_systems = || SYSTEM.iter().any(|system| folder.starts_with(system));
        let is_roots = user == 0 && (!rustix::process::geteuid().is_root() || is_systems());
        home.starts_with(folder) || is_roots || is_for_settings(&home, folder)
    }
}

impl From<Errno> for NotUsed {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::Missing,
            other => Self::Cannot(other.into()),
        }
    }
}

/// Whether a folder lies where the owner's programs keep settings and languages: in one of their own folder whose name begins with a dot.
fn is_for_settings(home: &Path, folder: &Path) -> bool {
    let owners = home.parent().filter(|_| home.file_name().is_some_and(|name| name == USUAL_HOME));
    let way = owners.and_then(|owners| folder.strip_prefix(owners).ok());
    let first = way.and_then(|way| way.components().next());
    first.is_some_and(|first| first.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// The names that a path leads over, and steps back.
fn parts(path: &Path) -> VecDeque<OsString> {
    let is_part = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(is_part).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A home in the owner's folder, a granted folder and one of a stranger's beside it, and links.
    struct Disk {
        folder: tempfile::TempDir,
        resolver: FolderResolver,
    }

    impl Disk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
            let folders = ["ada/.limpid/workspace/in", "ada/site/sub", "ada/.local/tool", "ada/theirs/sub", "far/sub"];
            folders.iter().for_each(|name| fs::create_dir_all(at(name)).unwrap());
            fs::write(at("far/file"), "").unwrap();
            for (to, link) in [
                ("../far", "ada/way"),
                ("ada", "owner"),
                ("loop", "ada/loop"),
                ("gone", "ada/dangling"),
                ("../../far", "ada/.limpid/mine"),
                ("../../../far", "ada/.limpid/workspace/laid"),
                ("../../far", "ada/site/laid"),
                ("sub", "ada/site/inner"),
                ("tool", "ada/.local/now"),
                ("../../far", "ada/theirs/laid"),
                ("site/laid/sub", "ada/over"),
            ] {
                symlink(to, at(link)).unwrap();
            }
            let granted = ["ada/.limpid/workspace", "ada/site"].map(at);
            Self { resolver: FolderResolver::new(at("ada/.limpid"), granted), folder }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        /// Where a folder is found, from the folder of the test.
        fn found(&self, name: &str) -> String {
            let short = |path: &Path| path.strip_prefix(self.at("")).unwrap_or(path).display().to_string();
            match self.resolver.open(&self.at(name)) {
                Ok(opened) => {
                    let handle = fs::read_link(format!("/proc/self/fd/{}", opened.handle.as_raw_fd())).unwrap();
                    assert_eq!(handle, opened.path, "the handle is of what the path says");
                    short(&opened.path)
                }
                Err(NotUsed::Link(link)) => format!("link {}", short(&link)),
                Err(NotUsed::Missing) => "missing".to_owned(),
                Err(NotUsed::Cannot(error)) => error.kind().to_string(),
            }
        }
    }

    // SEC-058 SEC-088
    #[test]
    #[cfg(target_os = "linux")]
    fn a_link_is_followed_where_only_the_owner_lays_one() {
        let disk = Disk::new();
        let table = [
            ("ada/site/sub", "ada/site/sub"),
            ("ada/site/../site/./sub", "ada/site/sub"),
            ("ada/way/sub", "far/sub"),
            ("owner/way/sub", "far/sub"),
            ("ada/.limpid/mine/sub", "far/sub"),
            ("ada/.local/now", "ada/.local/tool"),
            ("ada/way/gone", "missing"),
            ("ada/dangling", "missing"),
            ("ada/way/file", "not a directory"),
            ("ada/site/laid", "link ada/site/laid"),
            ("ada/site/laid/sub", "link ada/site/laid"),
            // Also one that stays within.
            ("ada/site/inner", "link ada/site/inner"),
            ("ada/.limpid/workspace/laid/sub", "link ada/.limpid/workspace/laid"),
            ("ada/theirs/laid/sub", "link ada/theirs/laid"),
            ("ada/over", "link ada/site/laid"),
        ];
        let found: Vec<_> = table.iter().map(|(name, _)| (*name, disk.found(name))).collect();
        assert_eq!(found, table.map(|(name, expected)| (name, expected.to_owned())));
        assert!(matches!(disk.resolver.open(&disk.at("ada/loop")), Err(NotUsed::Cannot(_))), "it ends");
        let mut granted = disk.resolver.granted.clone();
        granted.push(disk.at("ada"));
        let resolver = FolderResolver::new(disk.at("ada/.limpid"), granted);
        assert!(matches!(resolver.open(&disk.at("ada/way")), Err(NotUsed::Link(_))), "programs write there");
        assert_eq!(resolver.path(&disk.at("ada/.limpid/mine")), Some(disk.at("far")), "but not in the home");
    }
    // SEC-058 SEC-088
    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_that_is_swapped_for_a_link_meanwhile_is_itself_or_none() {
        use std::os::unix::fs::MetadataExt as _;
        use std::sync::atomic::{AtomicBool, Ordering};

        use rustix::fs::{CWD, RenameFlags, renameat_with};

        let disk = Disk::new();
        let (folder, link) = (disk.at("ada/site/sub"), disk.at("ada/site/laid"));
        let is = folder.metadata().unwrap().ino();
        let exchange = || renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE);
        // Twice, so that all is as before: where no disk can do it the test would not end.
        exchange().and_then(|()| exchange()).unwrap();
        let stop = AtomicBool::new(false);
        let (mut itself, mut refused, mut other) = (0, 0, 0);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let _ = exchange();
                }
            });
            // Until both were met often enough.
            while (itself < 50 || refused < 50) && other == 0 {
                match disk.resolver.open(&folder) {
                    Ok(opened) if fstat(&opened.handle).is_ok_and(|about| about.st_ino == is) => itself += 1,
                    Err(NotUsed::Link(_)) => refused += 1,
                    _ => other += 1,
                }
            }
            stop.store(true, Ordering::SeqCst);
        });
        assert_eq!(other, 0);
    }
}
