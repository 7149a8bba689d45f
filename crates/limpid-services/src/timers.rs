//! Waking the scheduler when something changed: in this process at once, in another one through a socket in the home
//! folder. Where there is no such socket, the other process looks again within a minute.

use std::io;
use std::path::{Path, PathBuf};

use tokio::sync::Notify;

/// Wakes the scheduler of this process or of the one that serves this home.
#[derive(Debug)]
pub struct SchedulerWaker {
    here: Notify,
    socket: PathBuf,
}

impl SchedulerWaker {
    /// `socket` is where another process that serves the same home listens.
    pub fn new(socket: PathBuf) -> Self {
        Self { here: Notify::new(), socket }
    }

    /// Something changed that may be due earlier than what was due before.
    pub fn wake(&self) {
        self.here.notify_one();
        // Nobody need be listening there.
        let _ = send(&self.socket);
    }

    /// Whether a process serves this home; where there are no such sockets, one is taken to.
    pub fn is_served(&self) -> bool {
        send(&self.socket).is_ok()
    }

    /// Waits until something changed here.
    pub async fn woken(&self) {
        self.here.notified().await;
    }

    /// Listens for other processes.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn listen(&self) -> io::Result<Listening> {
        listen(&self.socket)
    }
}

#[cfg(unix)]
mod unix {
    use tokio::net::UnixDatagram;

    use super::{Path, PathBuf, io};

    /// What other processes send; the socket goes when this does.
    #[derive(Debug)]
    pub struct Listening {
        datagrams: UnixDatagram,
        path: PathBuf,
    }

    impl Listening {
        /// Waits until another process changed something.
        pub async fn woken(&self) {
            if self.datagrams.recv(&mut [0; 1]).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Listens at a path of the home.
    pub(crate) fn listen(path: &Path) -> io::Result<Listening> {
        // What a killed process left cannot be bound again.
        let _ = std::fs::remove_file(path);
        Ok(Listening { datagrams: UnixDatagram::bind(path)?, path: path.to_owned() })
    }

    /// Wakes whoever listens there.
    pub(crate) fn send(path: &Path) -> io::Result<()> {
        let socket = std::os::unix::net::UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to(&[1], path).map(drop)
    }
}

#[cfg(unix)]
pub use unix::Listening;
#[cfg(unix)]
pub(crate) use unix::{listen, send};

#[cfg(not(unix))]
mod elsewhere {
    use super::{Path, io};

    /// Nothing is heard of other processes here.
    #[derive(Debug)]
    pub struct Listening;

    impl Listening {
        /// Waits for ever.
        pub async fn woken(&self) {
            std::future::pending().await
        }
    }

    /// Nothing to listen at here.
    pub(crate) fn listen(_: &Path) -> io::Result<Listening> {
        Ok(Listening)
    }

    /// Nobody can be woken here.
    pub(crate) fn send(_: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
pub use elsewhere::Listening;
#[cfg(not(unix))]
pub(crate) use elsewhere::{listen, send};
