//! Clients that show conversations: while one is open, the owner needs no notification (KAI-068).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::agent::{Agent, Inner};
use crate::process;
use crate::world::hex;

/// A client that is open until this is dropped.
#[derive(Debug)]
pub struct OpenClient(PathBuf);

impl Drop for OpenClient {
    fn drop(&mut self) {
        // What stays behind is known by its process, which is gone.
        let _ = fs::remove_file(&self.0);
    }
}

impl Agent {
    /// Says that a client which shows conversations is open, to every process of this home, until the result is dropped.
    ///
    /// # Errors
    /// When the home cannot be written.
    pub fn open_client(&self) -> io::Result<OpenClient> {
        let inner = &self.inner;
        let folder = inner.home.clients();
        fs::create_dir_all(&folder)?;
        let file = folder.join(hex(&*inner.ids));
        fs::write(&file, &inner.holder)?;
        Ok(OpenClient(file))
    }
}

impl Inner {
    /// Whether any process has a client open. Traces of processes that are gone are taken away.
    pub(crate) fn is_client_open(&self) -> bool {
        let Ok(entries) = fs::read_dir(self.home.clients()) else { return false };
        entries.flatten().any(|entry| is_open(&entry.path()))
    }
}

fn is_open(file: &Path) -> bool {
    let Ok(holder) = fs::read_to_string(file) else { return false };
    let open = !process::is_dead(&holder);
    if !open {
        let _ = fs::remove_file(file);
    }
    open
}
