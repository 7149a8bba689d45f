//! `[exec]`: whether and how the model may run programs.

use std::path::PathBuf;

use serde::Deserialize;

use super::files::absolute;

/// Whether and how the model may run programs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecConfig {
    /// Whether it may at all.
    pub enabled: bool,
    /// Whether a command may be one for a shell.
    pub shell: bool,
    /// Whether programs may use the network.
    pub network: bool,
    /// Folders with programs besides the system's.
    #[serde(deserialize_with = "absolute")]
    pub path: Vec<PathBuf>,
    /// Folders that languages are in, `~/.cargo` and the like, which programs may read, but for files with credentials.
    #[serde(deserialize_with = "absolute")]
    pub toolchains: Vec<PathBuf>,
    /// Names of environment variables that programs get besides the language and the zone.
    pub environment: Vec<String>,
    /// Seconds until a program and everything that it started is ended.
    pub seconds: u64,
    /// Megabytes of memory, all its processes together.
    pub memory_megabytes: u64,
    /// Processes at a time.
    pub processes: u32,
    /// Megabytes of disk that one call may add.
    pub disk_megabytes: u64,
    /// Files that one call may add.
    pub files: u64,
}

impl Default for ExecConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            shell: false,
            network: false,
            path: Vec::new(),
            toolchains: Vec::new(),
            environment: Vec::new(),
            seconds: 60,
            memory_megabytes: 2048,
            processes: 64,
            disk_megabytes: 1024,
            files: 20_000,
        }
    }
}
