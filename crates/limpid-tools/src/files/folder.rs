//! A granted folder as an open handle. Everything in it is opened relative to that handle.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::AsRawFd;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, MetadataExt as _, OpenOptions, OpenOptionsExt as _, Permissions};
use limpid_config::named_folder::{NamedFolder, NotUsed};
use limpid_config::regular_file::{leave_no_trace, opened};
use limpid_config::{RandomIds, hex};
use limpid_core::{Sentence, sentence};

use super::grants::{Grants, Place};
use super::lock;
use crate::tool::echoed;
use crate::written::Written;

/// Bytes of a file that are read at most.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Bytes of a file up to which adding to it writes it anew.
const WRITTEN_ANEW: u64 = 1024 * 1024;

/// Names that are tried for a new file.
const TRIES: u32 = 3;

/// Links that are followed at most, as the system does.
const MAX_LINKS: u32 = 40;

/// `O_PATH`: what lies there is found and not opened, so that nobody at the other end of a named pipe knows of it. Elsewhere `O_NONBLOCK`:
/// whoever opens such a pipe does not wait.
#[cfg(target_os = "linux")]
const FINDS: i32 = 0o10_000_000;
#[cfg(not(target_os = "linux"))]
const FINDS: i32 = 0x4;

/// A place whose folder is open.
pub(super) struct Opened<'a> {
    folder: Dir,
    place: Place<'a>,
    grants: &'a Grants,
}

/// A file that is about to be changed: its folder is open, and nobody else may change files in it, so that changes of the same folder come one after
/// another, in this process and in others.
pub(super) struct Changing<'a> {
    opened: Opened<'a>,
    folder: Dir,
    name: PathBuf,
    /// What the call that changes it was judged by; none where it is no call.
    call: Option<Written>,
    _lock: std::fs::File,
}

impl<'a> Opened<'a> {
    /// Opens the folder that a path lies in.
    pub(super) fn new(grants: &'a Grants, place: Place<'a>) -> Result<Self, Sentence> {
        let folder = &place.root.folder;
        if place.root == grants.workspace() {
            std::fs::create_dir_all(folder)
                .map_err(|error| sentence!("the workspace cannot be made: {}", echoed(error)))?;
        }
        if grants.is_apart(&place) {
            return Err(grants.outside(&place.asked));
        }
        let called = || grants.name_of(place.root);
        let cannot = |error| sentence!("`{}` cannot be opened: {}", echoed(called()), echoed(error));
        let opened = if grants.is_granted(place.root) {
            if folder.is_symlink() {
                return Err(sentence!(
                    "`{}` is a link; the owner has to grant the folder that it leads to",
                    echoed(called())
                ));
            }
            match grants.open_named(folder) {
                Ok(named) => listed(&named),
                Err(NotUsed::Missing) => Err(ErrorKind::NotFound.into()),
                Err(NotUsed::Cannot(error)) => Err(error),
                Err(NotUsed::Link(_)) => {
                    return Err(sentence!(
                        "`{}` lies behind a link that somebody else could have laid; the owner has to grant the folder \
                         that it leads to",
                        echoed(called())
                    ));
                }
            }
        } else {
            Dir::open_ambient_dir(folder, ambient_authority())
        };
        let opened = opened.map_err(cannot)?;
        let about = opened.dir_metadata().map_err(cannot)?;
        if !grants.is_what_was_granted(place.root, (about.dev(), about.ino())) {
            return Err(sentence!(
                "`{}`: another folder is in the place of the one that the owner granted; nothing was touched. \
                 The owner grants it by starting Limpid again.",
                echoed(&place.asked)
            ));
        }
        Ok(Self { folder: opened, place, grants })
    }

    /// Reads a text file whole.
    pub(super) fn text(&self) -> Result<String, Sentence> {
        let mut options = OpenOptions::new();
        let found = self.folder.open_with(&self.place.path, options.read(true).custom_flags(FINDS));
        let found = found.map_err(|error| self.trouble(&error))?;
        self.stays_apart(&found)?;
        self.read(found)
    }

    /// Refuses what was opened in the folder that is kept apart: what a path leads to may have changed since it was looked at.
    fn stays_apart(&self, opened: &impl AsRawFd) -> Result<(), Sentence> {
        match real_path(opened) {
            Some(real) if self.grants.keeps_apart(self.place.root, &real) => {
                Err(self.grants.outside(&self.place.asked))
            }
            _ => Ok(()),
        }
    }

    /// The entries of a folder: name, and whether it is a folder.
    pub(super) fn entries(&self) -> Result<Vec<(PathBuf, bool)>, Sentence> {
        let about = self.folder.metadata(&self.place.path).map_err(|error| self.trouble(&error))?;
        if !about.is_dir() {
            return Err(sentence!("`{}` is a file, no folder; read it with read_file", echoed(&self.place.asked)));
        }
        let folder = self.folder.open_dir(&self.place.path).map_err(|error| self.trouble(&error))?;
        self.stays_apart(&folder)?;
        let mut entries = Vec::new();
        for name in names_in(&folder).map_err(|error| self.trouble(&error))? {
            // A link that leads out is no folder to be entered.
            let is_folder = folder.metadata(&name).is_ok_and(|about| about.is_dir());
            entries.push((name, is_folder));
        }
        entries.sort();
        Ok(entries)
    }

    /// The place with links within the granted folder followed, so that the file is changed and the link stays. Links
    /// are read one by one: where a file is being replaced, asking the system for the path of an open one gives the
    /// name of what is gone.
    fn behind_links(&self) -> Result<PathBuf, Sentence> {
        let mut path = self.place.path.clone();
        for _ in 0..MAX_LINKS {
            match self.folder.symlink_metadata(&path) {
                Ok(about) if about.is_symlink() => {
                    let target = self.folder.read_link(&path).map_err(|error| self.trouble(&error))?;
                    path = path.parent().unwrap_or(Path::new("")).join(target);
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(self.trouble(&error)),
                _ => return Ok(path),
            }
        }
        Err(sentence!("`{}` leads through more than {} links", echoed(&self.place.asked), MAX_LINKS))
    }

    fn read(&self, found: File) -> Result<String, Sentence> {
        let asked = &self.place.asked;
        let about = found.metadata().map_err(|error| self.trouble(&error))?;
        if about.is_dir() {
            return Err(sentence!("`{}` is a folder; list it with list_dir", echoed(asked)));
        }
        if !about.is_file() {
            return Err(sentence!("`{}` is no regular file", echoed(asked)));
        }
        let too_many = || sentence!("`{}` has {} bytes; at most {} are read", echoed(asked), about.len(), MAX_BYTES);
        // Of a film not even the beginning is read.
        if about.len() > MAX_BYTES {
            return Err(too_many());
        }
        let file = opened(&found.into_std(), std::fs::OpenOptions::new().read(true));
        let file = file.map_err(|error| self.trouble(&error))?;
        leave_no_trace(&file);
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| self.trouble(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_many());
        }
        let binary = |_| sentence!("`{}` is no text: {} bytes that are not UTF-8", echoed(asked), about.len());
        let text = String::from_utf8(bytes).map_err(binary)?;
        if text.contains('\0') {
            return Err(sentence!("`{}` is no text: {} bytes, zeros among them", echoed(asked), about.len()));
        }
        Ok(text)
    }

    /// What went wrong, for the model.
    fn trouble(&self, error: &io::Error) -> Sentence {
        let asked = &self.place.asked;
        match error.kind() {
            // The system gives a refusal a number; one without was made by the handle that the path tried to leave.
            ErrorKind::PermissionDenied if error.raw_os_error().is_none() => self.grants.outside(asked),
            ErrorKind::PermissionDenied => sentence!("`{}`: the system does not permit it", echoed(asked)),
            ErrorKind::NotFound => match self.grants.elsewhere(asked) {
                Some(other) => sentence!(
                    "`{}` does not exist; `{}` does, which was written after foreign text was read",
                    echoed(asked),
                    echoed(other)
                ),
                None => sentence!("`{}` does not exist", echoed(asked)),
            },
            ErrorKind::NotADirectory => sentence!("`{}` leads through a file as if it were a folder", echoed(asked)),
            ErrorKind::IsADirectory => sentence!("`{}` is a folder", echoed(asked)),
            _ => sentence!("`{}`: {}", echoed(asked), echoed(limpid_core::io_cause(error))),
        }
    }
}

impl<'a> Changing<'a> {
    /// Opens and locks the folder that the file is in. `make` makes the folders on the way; after `until` nothing is begun any
    /// more.
    pub(super) fn new(opened: Opened<'a>, make: bool, until: Instant) -> Result<Self, Sentence> {
        let asked = &opened.place.asked;
        let path = opened.behind_links()?;
        let name = path.file_name().map(PathBuf::from).ok_or_else(|| sentence!("`{}` is a folder", echoed(asked)))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if make {
            opened.folder.create_dir_all(parent).map_err(|error| opened.trouble(&error))?;
        }
        let folder = opened.folder.open_dir(parent).map_err(|error| opened.trouble(&error))?;
        Self::locked(opened, folder, name, until)
    }

    /// The same for the very place that was asked for: a link there is no file, and one on the way no folder. Missing folders are made.
    pub(super) fn without_links(opened: Opened<'a>, until: Instant) -> Result<Self, Sentence> {
        let path = opened.place.path.clone();
        let name = path.file_name().map(PathBuf::from);
        let name = name.ok_or_else(|| sentence!("`{}` is a folder", echoed(&opened.place.asked)))?;
        let trouble = |error: io::Error| opened.trouble(&error);
        let mut folder = opened.folder.try_clone().map_err(trouble)?;
        for part in path.parent().into_iter().flat_map(Path::components).filter(|part| *part != Component::CurDir) {
            match folder.create_dir(part) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(trouble(error)),
                _ => folder = inner(&folder, part.as_os_str()).map_err(trouble)?,
            }
        }
        Self::locked(opened, folder, name, until)
    }

    fn locked(opened: Opened<'a>, folder: Dir, name: PathBuf, until: Instant) -> Result<Self, Sentence> {
        let asked = &opened.place.asked;
        opened.stays_apart(&folder)?;
        if folder.is_dir(&name) {
            return Err(sentence!("`{}` is a folder", echoed(asked)));
        }
        let about = folder.dir_metadata().map_err(|error| opened.trouble(&error))?;
        let lock = lock::lock(opened.grants.locks(), (about.dev(), about.ino()), until);
        let lock = lock.map_err(|error| {
            let why = echoed(limpid_core::io_cause(&error));
            sentence!("`{}` cannot be kept apart from other changes: {}", echoed(asked), why)
        })?;
        let busy =
            || sentence!("`{}`: another call is changing its folder; nothing was touched, call again", echoed(asked));
        let lock = lock.ok_or_else(busy)?;
        Ok(Self { opened, folder, name, call: None, _lock: lock })
    }

    /// The same for a call, which writes nowhere else than it was judged to.
    pub(super) fn of_call(self, call: &Written) -> Self {
        Self { call: Some(call.clone()), ..self }
    }

    /// The file's name, with links followed.
    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// The path as the call wrote it.
    pub(super) fn asked(&self) -> &str {
        &self.opened.place.asked
    }

    /// Whether there is something of that name.
    pub(super) fn is_there(&self) -> bool {
        self.folder.symlink_metadata(&self.name).is_ok()
    }

    /// The file's text.
    pub(super) fn text(&self) -> Result<String, Sentence> {
        let mut options = OpenOptions::new();
        let found = self.folder.open_with(&self.name, options.read(true).custom_flags(FINDS));
        self.opened.read(found.map_err(|error| self.opened.trouble(&error))?)
    }

    /// Puts bytes in the place of whatever the file holds: all of them or nothing. The file keeps its mode.
    pub(super) fn replace(&self, bytes: &[u8]) -> Result<(), Sentence> {
        let mode = self.folder.metadata(&self.name).ok().map(|about| about.permissions());
        self.replace_with_mode(bytes, mode)
    }

    /// The same, and nobody but its owner may read the file from then on.
    pub(super) fn replace_privately(&self, bytes: &[u8]) -> Result<(), Sentence> {
        self.replace_with_mode(bytes, private())
    }

    /// Takes the file away; that there is none is as good.
    pub(super) fn remove(&self) -> Result<(), Sentence> {
        match self.folder.remove_file(&self.name) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.opened.trouble(&error)),
            _ => Ok(()),
        }
    }

    fn replace_with_mode(&self, bytes: &[u8], mode: Option<Permissions>) -> Result<(), Sentence> {
        let (new, file) = self.beside()?;
        let filled = fill(file, bytes, mode).map_err(|error| self.opened.trouble(&error));
        // The last look comes right before the file is there.
        let written = filled.and_then(|()| self.check_place()).and_then(|()| {
            self.folder.rename(&new, &self.folder, &self.name).map_err(|error| self.opened.trouble(&error))
        });
        match &written {
            Ok(()) => self.note(),
            // What cannot be removed now is no worse than what went wrong before.
            Err(_) => drop(self.folder.remove_file(&new)),
        }
        written
    }

    /// Refuses to write where the call was not judged to, since a program moved folders or laid links meanwhile, and for a call that was
    /// given up.
    fn check_place(&self) -> Result<(), Sentence> {
        let Some(call) = &self.call else { return Ok(()) };
        if call.is_given_up() {
            return Err("it took too long, and nothing was written".into());
        }
        match real_path(&self.folder) {
            Some(folder) if !call.may_write(&folder.join(&self.name)) => Err(sentence!(
                "`{}` leads elsewhere than when this call was judged; nothing was written; call it again",
                echoed(&self.opened.place.asked)
            )),
            _ => Ok(()),
        }
    }

    /// Says where the file lies that was written: its folder may have been moved at the last moment.
    fn note(&self) {
        if let (Some(call), Some(folder)) = (&self.call, real_path(&self.folder)) {
            call.note(folder.join(&self.name));
        }
    }

    /// Adds a text to the end of the file, or makes it; tells how many bytes it has then. Up to a size it is written anew, so that no
    /// crash leaves half a text in it.
    pub(super) fn append(&self, text: &str) -> Result<u64, Sentence> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(FINDS);
        #[cfg(not(target_os = "linux"))]
        options.append(true);
        let found = match self.folder.open_with(&self.name, &options) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.replace_with_mode(text.as_bytes(), None)?;
                return Ok(text.len() as u64);
            }
            Err(error) => return Err(self.opened.trouble(&error)),
        };
        let before = found.metadata().map_err(|error| self.opened.trouble(&error))?;
        if !before.is_file() {
            return Err(sentence!("`{}` is no regular file", echoed(&self.opened.place.asked)));
        }
        let file = opened(&found.into_std(), std::fs::OpenOptions::new().read(true).append(true));
        let mut file = file.map_err(|error| self.opened.trouble(&error))?;
        if before.len() <= WRITTEN_ANEW {
            let mut read = Vec::new();
            file.read_to_end(&mut read).map_err(|error| self.opened.trouble(&error))?;
            let bytes = [read.as_slice(), text.as_bytes()].concat();
            self.replace_with_mode(&bytes, Some(before.permissions()))?;
        } else {
            self.check_place()?;
            let added = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
            if let Err(error) = added {
                // A full disk must not leave half a text behind.
                let _ = file.set_len(before.len());
                return Err(self.opened.trouble(&error));
            }
            self.note();
        }
        Ok(before.len() + text.len() as u64)
    }

    /// A new file beside this one.
    fn beside(&self) -> Result<(PathBuf, File), Sentence> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // Nobody knows the name beforehand, so nobody can have taken it.
        for _ in 0..TRIES {
            let mut name = std::ffi::OsString::from(".");
            name.push(&self.name);
            name.push(format!(".{}.new", hex(&RandomIds)));
            match self.folder.open_with(&name, &options) {
                Ok(file) => return Ok((PathBuf::from(name), file)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.opened.trouble(&error)),
            }
        }
        Err(sentence!("`{}`: no new file could be made beside it; call again", echoed(&self.opened.place.asked)))
    }
}

fn fill(mut file: File, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.write_all(bytes)?;
    file.sync_data()
}

/// The very folder that was found, open for listing it.
fn listed(folder: &NamedFolder) -> io::Result<Dir> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Dir::from_std_file(std::fs::File::from(openat(&folder.handle, ".", flags, Mode::empty())?)))
}

/// The names in a folder.
#[cfg(target_os = "linux")]
fn names_in(folder: &Dir) -> io::Result<Vec<PathBuf>> {
    let names = limpid_config::regular_file::names_in(folder, usize::MAX)?;
    Ok(names.into_iter().map(PathBuf::from).collect())
}

/// The names in a folder.
#[cfg(not(target_os = "linux"))]
fn names_in(folder: &Dir) -> io::Result<Vec<PathBuf>> {
    folder.entries()?.map(|entry| Ok(PathBuf::from(entry?.file_name()))).collect()
}

/// Opens a folder by its name in another one, but none that a link leads to.
fn inner(folder: &Dir, name: &OsStr) -> io::Result<Dir> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Dir::from_std_file(std::fs::File::from(openat(folder, name, flags, Mode::empty())?)))
}

/// Where something that is open lies now, without links; none where the system does not say.
fn real_path(opened: &impl AsRawFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok()
}

/// Reading and writing for the owner, nothing for anybody else.
fn private() -> Option<Permissions> {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt as _;
        Some(Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    None
}
