//! Clients that show conversations. While one is open the owner needs no notification, and it hears at once what any
//! process of this home delivers: the bus of its own process tells it.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use limpid_config::{MAX_FILE, process, regular_file};
use limpid_prompt::boundary::for_readers;
use limpid_store::DeliveryId;
use tokio::task::AbortHandle;

use crate::deliveries::visible_text;
use crate::error::AgentError;
use crate::events::EventKind;
use crate::notifications::service::Notifications;
use crate::timers::{Listening, listen, send};

/// How soon a client looks by itself for what other processes delivered, where nobody can wake it.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The ending of the sockets at which clients are woken.
const SOCKET: &str = "sock";

/// The ending of a client's file until it is locked.
const UNLOCKED: &str = "new";

/// A client that is open until this is dropped.
#[derive(Debug)]
pub struct OpenClient {
    file: PathBuf,
    /// The system takes the lock back however the process ends, also when its number is given to another one.
    _lock: File,
    watching: AbortHandle,
}

impl Drop for OpenClient {
    fn drop(&mut self) {
        self.watching.abort();
        // What stays behind is known by its lock, which nobody holds.
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(self.file.with_extension(SOCKET));
    }
}

impl Notifications {
    /// Says that a client which shows conversations is open, to every process of this home, until the result is dropped.
    /// From here on this process's bus also tells what other processes deliver.
    ///
    /// # Errors
    /// When the home cannot be written or the store cannot be read.
    pub async fn open_client(&self) -> Result<OpenClient, AgentError> {
        let unread = self.store.unread_deliveries().await?.rows;
        for delivery in &unread {
            self.presence.is_first_told(delivery.id);
        }
        let folder = &self.presence.folder;
        let file = folder.join(self.host.tag());
        let lock = lock(folder, &file, self.host.holder()).map_err(AgentError::file(&file))?;
        // A path that is too long for a socket is no reason to fail: the client then looks by itself.
        let woken = listen(&file.with_extension(SOCKET)).ok();
        let watching = tokio::spawn(watch(self.clone(), woken)).abort_handle();
        Ok(OpenClient { file, _lock: lock, watching })
    }
}

/// Makes the file of a client, which nobody sees before it is locked.
fn lock(folder: &Path, file: &Path, holder: &str) -> io::Result<File> {
    fs::create_dir_all(folder)?;
    let unlocked = file.with_extension(UNLOCKED);
    fs::write(&unlocked, holder)?;
    #[expect(clippy::disallowed_methods, reason = "it is locked, and never read")]
    let lock = File::options().append(true).open(&unlocked)?;
    // A file system that knows no locks has the name of the process.
    let _ = lock.try_lock();
    fs::rename(&unlocked, file)?;
    Ok(lock)
}

/// Tells on the bus what other processes delivered.
async fn watch(own: Notifications, woken: Option<Listening>) {
    loop {
        let wake = async {
            match &woken {
                Some(woken) => woken.woken().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = wake => {}
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
        // A store that fails now is looked at again.
        let unread = own.store.unread_deliveries().await.map(|listed| listed.rows).unwrap_or_default();
        for delivery in unread.into_iter().filter(|delivery| own.presence.is_first_told(delivery.id)) {
            let change = EventKind::Delivered {
                origin: delivery.new.origin.to_string(),
                title: visible_text(&own.redactor, delivery.new.title),
                text: visible_text(&own.redactor, for_readers(&delivery.new.text).into_owned()),
                delivery: delivery.id.0,
            };
            own.events.send(Some(&delivery.new.conversation), change);
        }
    }
}

/// The clients that are open, in every process of a home.
#[derive(Clone)]
pub(crate) struct Presence {
    /// The folder with a file for each client.
    folder: PathBuf,
    /// Deliveries that this process has told on its bus, or that were unread before anybody listened.
    told: Arc<Mutex<HashSet<DeliveryId>>>,
}

impl Presence {
    /// Takes the folder with a file for each client.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, told: Arc::default() }
    }

    /// Whether any process has a client open. Traces of processes that are gone are taken away.
    pub(crate) fn is_client_open(&self) -> bool {
        self.clients().iter().any(|file| is_open(file))
    }

    /// Wakes every open client, so that it shows what was delivered.
    pub(crate) fn wake_clients(&self) {
        for file in self.clients() {
            // One that cannot be woken looks by itself.
            let _ = send(&file.with_extension(SOCKET));
        }
    }

    /// Notes that this process's bus tells a delivery; false when it has told it before.
    pub(crate) fn is_first_told(&self, delivery: DeliveryId) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(delivery)
    }

    /// The file of each client.
    fn clients(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        entries.flatten().map(|entry| entry.path()).filter(|file| file.extension().is_none()).collect()
    }
}

fn is_open(file: &Path) -> bool {
    let open = is_locked(file).unwrap_or_else(|| {
        let holder = regular_file::read_text(file, MAX_FILE).unwrap_or_default();
        !holder.is_empty() && !process::is_dead(&holder)
    });
    if !open {
        let _ = fs::remove_file(file);
        let _ = fs::remove_file(file.with_extension(SOCKET));
    }
    open
}

/// Whether a process holds the lock of a client's file; none where the file system knows no locks.
fn is_locked(file: &Path) -> Option<bool> {
    match regular_file::open(file).map(|file| file.try_lock_shared()) {
        Ok(Ok(())) => Some(false),
        Ok(Err(TryLockError::WouldBlock)) => Some(true),
        Ok(Err(TryLockError::Error(_))) => None,
        // It went in the meantime.
        Err(_) => Some(false),
    }
}
