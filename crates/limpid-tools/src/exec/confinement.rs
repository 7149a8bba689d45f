//! What a program may touch and use, as one value that the agent hands to the sandbox.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a program may touch and use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The folder that it runs in.
    pub folder: PathBuf,
    /// Folders that it may change.
    pub write: Vec<PathBuf>,
    /// Folders that it may read, besides the system's.
    pub read: Vec<PathBuf>,
    /// Whether the kernel is to hold it to these folders; otherwise it only has limits.
    pub confined: bool,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it may change modes of files.
    pub modes: bool,
    /// What it may use.
    pub limits: Limits,
}

/// What a program and everything that it starts may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds until it is ended.
    pub seconds: u64,
    /// Bytes of memory, all processes together.
    pub memory_bytes: u64,
    /// Processes at a time.
    pub processes: u32,
    /// Bytes of one file that it writes.
    pub file_bytes: u64,
    /// Bytes of output after which it is ended.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// A minute, 2 GiB, 64 processes, files of 1 GiB, 64 MiB of output.
    fn default() -> Self {
        let gib = 1024 * 1024 * 1024;
        Self { seconds: 60, memory_bytes: 2 * gib, processes: 64, file_bytes: gib, output_bytes: 64 * 1024 * 1024 }
    }
}
