//! Hearing of changed files. Linux says so at once; elsewhere the files are looked at every few seconds.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(crate) use linux::Watch;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::Path;

    /// What happens to files of the folders that are watched.
    pub(crate) struct Watch(AsyncFd<OwnedFd>);

    impl Watch {
        pub(crate) fn new() -> io::Result<Self> {
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            #[expect(
                deprecated,
                reason = "its successor is unsafe; an owned descriptor is open as long as it is registered"
            )]
            let events = AsyncFd::with_interest(events, Interest::READABLE)?;
            Ok(Self(events))
        }

        /// Watches a folder: the file itself may be replaced by another one. Watching one again changes nothing.
        pub(crate) fn add(&self, folder: &Path) {
            // Not `MODIFY`: a file that somebody is still writing is of no use yet.
            let flags = WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::ATTRIB;
            // A folder that cannot be watched is looked at every minute.
            let _ = inotify::add_watch(self.0.get_ref(), folder, flags);
        }

        /// Waits until something happens to a file of one of these names.
        pub(crate) async fn happens(&self, is_ours: impl Fn(&[u8]) -> bool) {
            loop {
                let Ok(mut ready) = self.0.readable().await else { return std::future::pending().await };
                let mut buffer = [MaybeUninit::uninit(); 4096];
                let mut events = Reader::new(self.0.get_ref(), &mut buffer);
                let mut ours = false;
                while let Ok(event) = events.next() {
                    ours |= event.file_name().is_some_and(|name| is_ours(name.to_bytes()));
                }
                if ours {
                    return;
                }
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) struct Watch;

#[cfg(not(target_os = "linux"))]
impl Watch {
    #[expect(clippy::unnecessary_wraps, reason = "Linux may refuse")]
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "Linux watches it")]
    pub(crate) fn add(&self, _: &Path) {}

    #[expect(clippy::unused_self, reason = "Linux knows what happened")]
    pub(crate) async fn happens(&self, _: impl Fn(&[u8]) -> bool) {
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    }
}
