//! Opening files that others may have made: a named pipe does not make the reader wait, a device does not make it read for
//! ever, and what is larger than a bound is not read. Whoever decides something about a file opens it once, and asks and reads
//! that handle: its path may lead to another file by then.

#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The bytes of a regular file, at most so many of them. Links are followed; what they lead to must be regular as well.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for a pipe, a device, a socket or a folder, and
/// [`io::ErrorKind::FileTooLarge`] for a file with more bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    Opened::at(path)?.bytes(most)
}

/// The text of such a file.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read(path, most)?).map_err(not_text)
}

/// A regular file, open for reading.
///
/// # Errors
/// As the system says, and [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(Opened::at(path)?.into_file())
}

/// Has what is read through a handle leave no time of access, by which a program that sees the file would know that it was read. The
/// system permits this to the file's owner alone; for others the time changes as ever.
#[cfg(target_os = "linux")]
pub fn leave_no_trace(opened: impl std::os::fd::AsFd) {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    if let Ok(flags) = fcntl_getfl(&opened) {
        let _ = fcntl_setfl(&opened, flags | OFlags::NOATIME);
    }
}

/// Other systems have no such handles.
#[cfg(not(target_os = "linux"))]
pub fn leave_no_trace<T>(_: T) {}

/// The paths of what lies directly in a folder, at most so many; the folder keeps its time of access.
///
/// # Errors
/// As the system says.
#[cfg(target_os = "linux")]
pub fn paths_in(folder: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let handle = openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(names_in(handle, most)?.into_iter().map(|name| folder.join(name)).collect())
}

/// The names of what lies directly in an open folder, at most so many; the folder keeps its time of access.
///
/// # Errors
/// As the system says.
#[cfg(target_os = "linux")]
pub fn names_in(folder: impl std::os::fd::AsFd, most: usize) -> io::Result<Vec<OsString>> {
    use std::os::unix::ffi::OsStringExt as _;

    use rustix::fs::{Dir, Mode, OFlags, openat};
    let handle = openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    leave_no_trace(&handle);
    let mut names = Vec::new();
    for entry in Dir::new(handle)? {
        if names.len() >= most {
            break;
        }
        let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
        names.extend((name != "." && name != "..").then_some(name));
    }
    Ok(names)
}

/// The paths of what lies directly in a folder, at most so many.
///
/// # Errors
/// As the system says.
#[cfg(not(target_os = "linux"))]
pub fn paths_in(folder: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.take(most).map(|entry| Ok(entry?.path())).collect()
}

/// Opens what was found by its path alone (`O_PATH`), once it is known to be a regular file. It is the very file that was found. To open a
/// pipe at once would tell whoever waits at its other end that somebody came.
///
/// # Errors
/// As the system says.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "this is the function that everything else uses")]
pub fn opened(found: &File, how: &mut OpenOptions) -> io::Result<File> {
    use std::os::fd::AsRawFd as _;
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    how.open(&path).map_err(|error| match Path::new(&path).symlink_metadata() {
        // Nobody is to take the file for one that is not there.
        Err(_) => io::Error::other("/proc is not mounted, without which no file is opened"),
        Ok(_) => error,
    })
}

/// Other systems find no file without opening it, and the options are those that it was opened with.
///
/// # Errors
/// As the system says.
#[cfg(not(target_os = "linux"))]
pub fn opened(found: &File, _: &mut OpenOptions) -> io::Result<File> {
    found.try_clone()
}

/// A regular file that was opened once. What is asked of it and what is read of it are of this very file, whatever its path
/// leads to by then.
#[derive(Debug)]
pub struct Opened {
    file: File,
    about: Metadata,
}

impl Opened {
    /// The file at a path; links are followed.
    ///
    /// # Errors
    /// As [`open`].
    pub fn at(path: &Path) -> io::Result<Self> {
        Self::with(path, true)
    }

    /// The file at a path that is no link itself.
    ///
    /// # Errors
    /// As [`open`], and for a link.
    pub fn at_no_link(path: &Path) -> io::Result<Self> {
        Self::with(path, false)
    }

    /// The file at a path within a folder. Links may be on the way, but none that leads out of the folder.
    ///
    /// # Errors
    /// As [`open`], and for a path that leads out.
    #[cfg(target_os = "linux")]
    pub fn below(folder: &Path, path: &Path) -> io::Result<Self> {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
        let folder = openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        Self::regular(&openat2(folder, path, flags, Mode::empty(), resolve)?.into())
    }

    /// The file at a path within a folder that is no link itself.
    ///
    /// # Errors
    /// As [`open`], and for a link.
    #[cfg(not(target_os = "linux"))]
    pub fn below(folder: &Path, path: &Path) -> io::Result<Self> {
        Self::at_no_link(&folder.join(path))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the function that everything else uses")]
    fn with(path: &Path, links: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use rustix::fs::OFlags;
            use std::os::unix::fs::OpenOptionsExt as _;
            #[cfg(target_os = "linux")]
            let flags = OFlags::PATH;
            // A pipe that nobody writes to would be waited for.
            #[cfg(not(target_os = "linux"))]
            let flags = OFlags::NONBLOCK;
            let flags = if links { flags } else { flags | OFlags::NOFOLLOW };
            options.custom_flags(flags.bits().cast_signed());
        }
        #[cfg(not(unix))]
        let _ = links;
        Self::regular(&options.open(path)?)
    }

    /// A file that was found, on Linux by its path alone (`O_PATH`).
    pub(crate) fn regular(found: &File) -> io::Result<Self> {
        let about = found.metadata()?;
        let what = if about.is_dir() { "it is a folder, not a file" } else { "it is not a regular file" };
        if !about.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let file = opened(found, OpenOptions::new().read(true))?;
        leave_no_trace(&file);
        Ok(Self { file, about })
    }

    /// What the system says of the file.
    pub fn about(&self) -> &Metadata {
        &self.about
    }

    /// The handle itself, which stands at the file's beginning.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Its bytes, at most so many.
    ///
    /// # Errors
    /// As the system says, and [`io::ErrorKind::FileTooLarge`] for a file with more bytes.
    pub fn bytes(self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // One more byte than may be, so that a file which grows meanwhile is noticed.
        self.file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-094
    #[cfg(unix)]
    #[test]
    fn what_was_opened_is_what_is_asked_and_read() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("file"), folder.path().join("other"));
        std::fs::write(&path, "first").unwrap();
        std::fs::write(&other, "another file").unwrap();
        let opened = Opened::at(&path).unwrap();
        let inode = std::fs::metadata(&path).unwrap().ino();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(opened.about().ino(), inode);
        assert_eq!(opened.bytes(9).unwrap(), b"first");
        std::os::unix::fs::symlink("file", &other).unwrap();
        assert!(Opened::at_no_link(&other).is_err() && Opened::at(&other).is_ok());
        assert!(Opened::below(folder.path(), Path::new("file")).is_ok());
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::os::unix::fs::symlink("../file", inner.join("out")).unwrap();
        assert!(Opened::below(&inner, Path::new("out")).is_err());
    }

    // SEC-058
    #[cfg(target_os = "linux")]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "what an ordinary open leaves is what this is compared with")]
    fn a_file_that_was_read_looks_as_it_did_before() {
        use std::fs::FileTimes;
        use std::time::{Duration, SystemTime};
        let folder = tempfile::tempdir().unwrap();
        // Older than the last change, so that any other read changes it.
        let (accessed, changed) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(9));
        let of = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "text").unwrap();
            let times = FileTimes::new().set_accessed(accessed).set_modified(changed);
            File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
            path
        };
        let is_as_before = |path: &Path| std::fs::metadata(path).unwrap().accessed().unwrap() == accessed;
        let (ours, below, others) = (of("ours"), of("below"), of("others"));
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("inner/file"), "").unwrap();
        let inner = folder.path().join("inner");
        File::open(&inner).unwrap().set_times(FileTimes::new().set_accessed(accessed).set_modified(changed)).unwrap();
        assert_eq!(paths_in(&inner, 9).unwrap(), [inner.join("file")]);
        assert!(is_as_before(&inner) && paths_in(&inner, 0).unwrap().is_empty() && paths_in(&ours, 9).is_err());
        assert_eq!(read(&ours, 9).unwrap(), b"text");
        assert_eq!(Opened::below(folder.path(), Path::new("below")).unwrap().bytes(9).unwrap(), b"text");
        assert_eq!([&ours, &below].map(|path| is_as_before(path)), [true; 2]);
        io::read_to_string(OpenOptions::new().read(true).open(&others).unwrap()).unwrap();
        if is_as_before(&others) {
            eprintln!("skipped: this disk keeps no times of access");
        }
    }

    // SEC-058 SEC-090
    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_at_the_other_end_of_a_pipe_knows_that_somebody_came() {
        use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
        use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, openat};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let events = inotify::init(CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&events, &pipe, WatchFlags::OPEN).unwrap();
        let is_opened = || rustix::io::read(&events, &mut [0_u8; 256]).is_ok();
        assert!(read(&pipe, 9).is_err() && Opened::at_no_link(&pipe).is_err());
        assert!(Opened::below(folder.path(), Path::new("pipe")).is_err());
        assert!(matches!(crate::without_links::standing(&pipe), Ok(None)));
        assert!(!is_opened());
        openat(CWD, &pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        assert!(is_opened(), "to open it is seen");
    }

    // SEC-090
    #[cfg(target_os = "linux")]
    #[test]
    fn only_regular_files_within_the_bound_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("text"), "12345").unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zeros")).unwrap();
        std::os::unix::fs::symlink("text", path("link")).unwrap();
        File::create(path("huge")).unwrap().set_len(1 << 31).unwrap();
        assert_eq!(read(&path("text"), 5).unwrap(), b"12345");
        assert_eq!(read(&path("link"), 5).unwrap(), b"12345");
        for (name, most) in
            [("text", 4), ("huge", 1 << 20), ("pipe", 9), ("zeros", 9), ("socket", 9), (".", 9), ("none", 9)]
        {
            assert!(read(&path(name), most).is_err(), "{name}");
        }
    }
}
