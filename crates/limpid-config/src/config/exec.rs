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
    /// Whether programs run only where the kernel can confine them.
    pub sandbox: SandboxChoice,
    /// Whether a command may be one for a shell.
    pub shell: bool,
    /// Whether programs may use the network.
    pub network: bool,
    /// Whether programs may change modes of files, as `git` does. No kernel keeps that within folders.
    pub modes: bool,
    /// Folders with programs besides the system's.
    #[serde(deserialize_with = "absolute")]
    pub path: Vec<PathBuf>,
    /// Names of environment variables that programs get besides the language and the zone.
    pub environment: Vec<String>,
    /// Seconds until a program and everything that it started is ended.
    pub seconds: u64,
    /// Megabytes of memory, all its processes together.
    pub memory_megabytes: u64,
    /// Processes at a time.
    pub processes: u32,
}

impl Default for ExecConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            sandbox: SandboxChoice::Required,
            shell: false,
            network: false,
            modes: false,
            path: Vec::new(),
            environment: Vec::new(),
            seconds: 60,
            memory_megabytes: 2048,
            processes: 64,
        }
    }
}

/// Whether programs run only where the kernel can confine them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxChoice {
    /// Where it cannot, `exec` is not offered.
    #[default]
    Required,
    /// They run with the rights of Limpid itself, under limits of time, memory and processes only.
    Off,
}
