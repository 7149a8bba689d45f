//! What is handed from one process of the sandbox to the next over the stream that is its standard input: open handles, and what a
//! program may touch, in a sealed file without a name. A program reads the words of the first process of its namespaces in `/proc`, so
//! nothing of that stands in words.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Seek as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;

/// What is said together with a handle, as none goes alone.
const HANDLE: u8 = b'h';

/// Hands over a text, whoever reads it and whenever: however long it is, nobody waits.
pub(super) fn give(stream: impl AsFd, text: &str) -> io::Result<()> {
    let mut file = File::from(nameless()?);
    file.write_all(text.as_bytes())?;
    fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    send(stream, &file)
}

/// Takes what a text says that was handed over.
///
/// # Errors
/// A sentence, when there is none or it says something else.
pub(super) fn take<T: DeserializeOwned>(stream: impl AsFd) -> Result<T, String> {
    let failed = |error: &dyn std::fmt::Display| format!("what it may do was not handed over: {error}");
    let mut file = File::from(receive(stream).map_err(|error| failed(&error))?);
    let mut text = String::new();
    // Whoever wrote it left the place in the file at its end.
    file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// A file in memory that no path leads to.
fn nameless() -> rustix::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create("sandbox", flags | MemfdFlags::NOEXEC_SEAL) {
        // A kernel older than Linux 6.3 doesn't know the last flag, which newer ones may insist on.
        Err(Errno::INVAL) => memfd_create("sandbox", flags),
        other => other,
    }
}

/// Sends an open handle.
pub(super) fn send(stream: impl AsFd, handle: impl AsFd) -> io::Result<()> {
    let handles = [handle.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&handles));
    sendmsg(stream, &[IoSlice::new(&[HANDLE])], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Takes the handle that the other process sent.
///
/// # Errors
/// What that says instead.
pub(super) fn receive(stream: impl AsFd) -> Result<OwnedFd, String> {
    let stream = stream.as_fd();
    let mut text = [0; 4096];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        retry_on_intr(|| recvmsg(stream, &mut [IoSliceMut::new(&mut text)], &mut control, RecvFlags::CMSG_CLOEXEC));
    let count = received.map_err(|error| format!("it said nothing: {error}"))?.bytes;
    let handle = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
        _ => None,
    });
    match handle {
        Some(handle) => Ok(handle),
        None if count == 0 => Err("it ended before it began".to_owned()),
        None => Err(String::from_utf8_lossy(&text[..count]).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    // SEC-079
    #[test]
    fn a_text_of_any_length_is_handed_over_before_anybody_reads_it() {
        let (here, there) = UnixStream::pair().unwrap();
        let words = vec!["x".repeat(4 << 20), "tea\0".to_owned()];
        give(&here, &serde_json::to_string(&words).unwrap()).unwrap();
        assert_eq!(take::<Vec<String>>(&there).unwrap(), words);
        give(&here, "no list").unwrap();
        assert!(take::<Vec<String>>(&there).is_err());
        drop(here);
        let why = take::<Vec<String>>(&there).unwrap_err();
        assert_eq!(why, "what it may do was not handed over: it ended before it began");
    }

    // SEC-079
    #[test]
    fn what_was_handed_over_is_changed_by_nobody() {
        let (here, there) = UnixStream::pair().unwrap();
        give(&here, "[]").unwrap();
        let mut file = File::from(receive(&there).unwrap());
        assert!(file.rewind().and_then(|()| file.write_all(b"x")).is_err() && file.set_len(9).is_err());
    }
}
