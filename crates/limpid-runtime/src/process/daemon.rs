//! The process that serves a home: what it is and what it goes by, for every other process to read.

use std::fs::{File, TryLockError};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::is_dead;
use crate::error::AgentError;
use crate::home::{Home, read_text};
use crate::private_file;

/// A process that serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Daemon {
    /// Who holds its leases.
    pub(crate) holder: String,
    /// Its number.
    pub(crate) pid: u32,
    /// The program's version.
    pub(crate) version: String,
    /// Since when it serves, in milliseconds since 1970.
    pub(crate) since_ms: i64,
    /// What it goes by.
    pub(crate) standing: Standing,
    #[serde(skip)]
    pub(crate) path: PathBuf,
}

/// What a process that serves goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The hash of the limpid.toml that it has taken over; none when it follows none.
    pub(crate) config: Option<String>,
    /// Why it did not take over the newest one.
    pub(crate) problem: Option<String>,
    /// Keys that act after a restart.
    pub(crate) restart: Vec<String>,
}

impl Standing {
    pub(crate) fn hash(text: &str) -> String {
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Daemon {
    /// This process, as one that serves a home from now on.
    pub(crate) fn here(home: &Home, holder: &str, now_ms: i64) -> Self {
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
    pub(crate) fn of(home: &Home) -> Option<Self> {
        let daemon = Self::last(home)?;
        (!is_dead(&daemon.holder)).then_some(daemon)
    }

    /// The one that served last.
    fn last(home: &Home) -> Option<Self> {
        let path = home.served_by();
        let text = read_text(&path).ok().flatten()?;
        serde_json::from_str(&text).ok().map(|daemon| Self { path, ..daemon })
    }

    pub(crate) fn write(&self) -> Result<(), AgentError> {
        let text = serde_json::to_string(self).map_err(|error| AgentError::Invalid(error.to_string()))?;
        private_file::write(&self.path, &text)
    }

    pub(crate) fn remove(&self) {
        // What stays behind is known by its process, which is gone.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The right to serve a home. The system takes it back when the process ends, however it ends.
pub(crate) struct ServeLock {
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
    pub(crate) fn take(home: &Home) -> Result<Self, AgentError> {
        let path = home.serve_lock();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(AgentError::file(folder))?;
        }
        let file = File::options().create(true).append(true).open(&path).map_err(AgentError::file(&path))?;
        match file.try_lock() {
            // A file system that knows no locks keeps nobody from serving.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                let other = Daemon::of(home).map(|daemon| daemon.pid);
                let (which, stop) = match other {
                    Some(pid) => (format!("process {pid}"), format!("kill {pid}")),
                    None => ("another process".to_owned(), "end that process".to_owned()),
                };
                Err(AgentError::Invalid(format!(
                    "`limpid serve` already runs for {}: {which}. It applies changes of limpid.toml by itself. To start \
                     another one, stop it first: {stop}",
                    home.path().display()
                )))
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
