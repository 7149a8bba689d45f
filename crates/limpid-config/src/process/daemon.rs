//! The process that serves a home: what it is and what it goes by, for every other process to read.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::is_dead;
use crate::error::FileError;
use crate::home::{Home, read_text};
use crate::private_file;

/// A process that serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Daemon {
    /// Who holds its leases.
    pub holder: String,
    /// Its number.
    pub pid: u32,
    /// The program's version.
    pub version: String,
    /// Since when it serves, in milliseconds since 1970.
    pub since_ms: i64,
    /// What it goes by.
    pub standing: Standing,
    /// The file that says so.
    #[serde(skip)]
    pub path: PathBuf,
}

/// What a process that serves goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The hash of the limpid.toml that it has taken over; none when it follows none.
    pub config: Option<String>,
    /// Why it did not take over the newest one.
    pub problem: Option<String>,
    /// Keys that act after a restart.
    pub restart: Vec<String>,
}

impl Standing {
    /// The hash of a limpid.toml, as [`Standing::config`] has it.
    pub fn hash(text: &str) -> String {
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Daemon {
    /// This process, as one that serves a home from now on.
    pub fn here(home: &Home, holder: &str, now_ms: i64) -> Self {
        Self {
            holder: holder.to_owned(),
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            since_ms: now_ms,
            standing: Standing::default(),
            path: home.served_by(),
        }
    }

    /// The process that serves a home; none when none does, or it is not known which.
    pub fn of(home: &Home) -> Option<Self> {
        let daemon = Self::last(home)?;
        (!is_dead(&daemon.holder)).then_some(daemon)
    }

    /// The one that served last.
    fn last(home: &Home) -> Option<Self> {
        let path = home.served_by();
        let text = read_text(&path).ok().flatten()?;
        serde_json::from_str(&text).ok().map(|daemon| Self { path, ..daemon })
    }

    /// Tells every other process.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self) -> Result<(), FileError> {
        let text = serde_json::to_string(self).map_err(|error| FileError::io(&self.path)(error.into()))?;
        private_file::write(&self.path, &text)
    }

    /// Nobody serves the home any more.
    pub fn remove(&self) {
        // What stays behind is known by its process, which is gone.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Why a home cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A file of it cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process serves it.
    #[error("{}", served(home, *pid))]
    Served {
        /// The home's folder.
        home: PathBuf,
        /// The other process, where it is known.
        pid: Option<u32>,
    },
}

fn served(home: &Path, pid: Option<u32>) -> String {
    let (which, stop) = match pid {
        Some(pid) => (format!("process {pid}"), format!("kill {pid}")),
        None => ("another process".to_owned(), "end that process".to_owned()),
    };
    format!(
        "`limpid serve` already runs for {}: {which}. It applies changes of limpid.toml by itself. To start another one, \
         stop it first: {stop}",
        home.display()
    )
}

/// The right to serve a home. The system takes it back when the process ends, however it ends.
pub struct ServeLock {
    file: File,
}

impl Drop for ServeLock {
    fn drop(&mut self) {
        // A program that is just being started still shares the file, and with it the lock.
        let _ = self.file.unlock();
    }
}

impl ServeLock {
    /// Takes it.
    ///
    /// # Errors
    /// When another process serves the home, or the home cannot be written.
    pub fn take(home: &Home) -> Result<Self, ServeError> {
        let path = home.serve_lock();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(FileError::io(folder))?;
        }
        #[expect(clippy::disallowed_methods, reason = "it is locked, and never read")]
        let file = File::options().create(true).append(true).open(&path).map_err(FileError::io(&path))?;
        match file.try_lock() {
            // A file system that knows no locks keeps nobody from serving.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                let pid = Daemon::of(home).map(|daemon| daemon.pid);
                Err(ServeError::Served { home: home.path().to_owned(), pid })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_serves_a_home_and_the_next_is_told_which() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        let daemon = Daemon::here(&home, &crate::process::holder("1"), 7);
        let lock = ServeLock::take(&home).unwrap();
        daemon.write().unwrap();
        assert_eq!(Daemon::of(&home), Some(daemon.clone()));
        let refused = ServeLock::take(&home).map(drop).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(lock);
        ServeLock::take(&home).unwrap();
        daemon.remove();
        assert_eq!(Daemon::of(&home), None);
    }
}
