//! `[exec]`: whether and how the model may run programs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::files::absolute;

/// Whether and how the model may run programs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecConfig {
    /// Whether it may at all.
    pub enabled: bool,
    /// Whether a command may be one for a shell.
    pub shell: bool,
    /// Names of hosts that programs may reach, each with its port where that is neither 80 nor 443.
    #[serde(deserialize_with = "names")]
    pub network: Vec<String>,
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
            network: Vec::new(),
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

/// Names of hosts. A whole address or a pattern would not be found among them later, so it is refused now.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let is_name = |name: &str| {
        let (host, port) = name.rsplit_once(':').map_or((name, None), |(host, port)| (host, Some(port)));
        let letters = host.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_".contains(letter));
        !host.is_empty() && letters && port.is_none_or(|port| port.parse::<u16>().is_ok())
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(D::Error::custom(format!(
            "`{name}` is no name of a host; write `docs.example.com`, or `example.org:8080` for another port"
        ))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-087
    #[test]
    fn the_network_is_a_list_of_names() {
        let read = |text: &str| toml::from_str::<ExecConfig>(text).map(|config| config.network);
        assert_eq!(read("network = [\"docs.example.com\", \"a.example:8080\"]").unwrap().len(), 2);
        for wrong in ["true", "[\"https://docs.example.com\"]", "[\"*.example\"]", "[\"a.example:x\"]", "[\"\"]"] {
            assert!(read(&format!("network = {wrong}")).is_err(), "{wrong}");
        }
    }
}
