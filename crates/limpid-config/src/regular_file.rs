//! Opening files that others may have made: a named pipe does not make the reader wait, a device does not make it read for
//! ever, and what is larger than a bound is not read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// The bytes of a regular file, at most so many of them. Links are followed; what they lead to must be regular as well.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for a pipe, a device, a socket or a folder, and
/// [`io::ErrorKind::FileTooLarge`] for a file with more bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    // One more byte than may be, so that a file which grows meanwhile is noticed.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(bytes)
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
#[expect(clippy::disallowed_methods, reason = "this is the function that everything else uses")]
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe that nobody writes to would be waited for.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    // The open file is asked, not its name, which may be another one's by now.
    let about = file.metadata()?;
    let what = if about.is_dir() { "it is a folder, not a file" } else { "it is not a regular file" };
    if about.is_file() { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, what)) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
