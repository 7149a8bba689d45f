//! `[exec]`: whether and how the model may run programs.

use std::io::ErrorKind;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::files::absolute;

/// Whether and how the model may run programs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExecConfig {
    /// Whether the agent may run programs.
    pub enabled: bool,
    /// Whether commands may use a shell.
    pub shell: bool,
    /// Hosts that programs may reach, with the port unless it is 80 or 443. An address of your own network (`also` under `[web]`) must be
    /// listed itself; a name that leads to it is not enough. A program that may be a stranger's needs your yes, or a rule that names this
    /// call and these hosts.
    #[serde(deserialize_with = "names")]
    pub network: Vec<String>,
    /// Hosts of `network` whose answers you trust like your own files. Programs that may reach no others can still read and write your
    /// folders.
    #[serde(deserialize_with = "names")]
    pub trusted_network: Vec<String>,
    /// Folders with programs besides the system's. One in somebody else's folder, or behind a link that somebody else could have made, is
    /// ignored.
    #[serde(deserialize_with = "absolute")]
    pub path: Vec<PathBuf>,
    /// Folders of languages, such as `~/.cargo`, that programs may read, but for credentials. `path` names the folder of their programs.
    /// The same folders are ignored as there.
    #[serde(deserialize_with = "absolute")]
    pub toolchains: Vec<PathBuf>,
    /// Environment variables that programs get besides those for language and time zone.
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
    /// What holds for programs that start in a folder.
    pub folders: Vec<ExecFolder>,
}

/// What holds for programs that start in a granted folder, or below it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecFolder {
    /// The folder.
    #[serde(deserialize_with = "absolute_one")]
    pub folder: PathBuf,
    /// In somebody else's folder: programs that run there without a question even after a stranger's text was read. They have no network,
    /// see nothing of yours, and write only temporary files. No effect in your own folders.
    #[serde(default, deserialize_with = "program_names")]
    pub programs: Vec<String>,
    /// Seconds, in place of the usual ones.
    #[serde(default)]
    pub seconds: Option<u64>,
    /// Megabytes of disk, in place of the usual ones.
    #[serde(default)]
    pub disk_megabytes: Option<u64>,
    /// Files, in place of the usual ones.
    #[serde(default)]
    pub files: Option<u64>,
}

impl Default for ExecConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            shell: false,
            network: Vec::new(),
            trusted_network: Vec::new(),
            path: Vec::new(),
            toolchains: Vec::new(),
            environment: Vec::new(),
            seconds: 60,
            memory_megabytes: 2048,
            processes: 64,
            disk_megabytes: 1024,
            files: 20_000,
            folders: Vec::new(),
        }
    }
}

impl ExecConfig {
    /// What is wrong with the folders of `path` and `toolchains`, a sentence each. Nothing where no program runs.
    pub fn troubles(&self) -> Vec<String> {
        if !self.enabled {
            return Vec::new();
        }
        let named = self.path.iter().map(|folder| ("path", "no program in it is found", folder));
        let named =
            named.chain(self.toolchains.iter().map(|folder| ("toolchains", "programs find nothing there", folder)));
        let trouble = |(key, so, folder): (&str, &str, &PathBuf)| {
            let why = match folder.metadata() {
                Ok(there) if there.is_dir() => return None,
                Ok(_) => format!("is not a folder, so {so}. Name the folder that it is in."),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    format!("is not there, so {so}. Make the folder, or take it out.")
                }
                Err(error) => format!("cannot be looked at: {error}. Open it to yourself, or take it out."),
            };
            Some(format!("`{key}` under [exec] in limpid.toml: {} {why}", folder.display()))
        };
        named.filter_map(trouble).collect()
    }
}

/// One folder by its whole path.
fn absolute_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let folder = PathBuf::deserialize(deserializer)?;
    if folder.is_absolute() {
        return Ok(folder);
    }
    Err(D::Error::custom(format!("`{}` is no whole path; write it from `/` on", folder.display())))
}

/// Names of programs. A path would be compared with the name of a program, and never be it, so it is refused now.
fn program_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| name.is_empty() || name.contains('/') || name.contains(char::is_whitespace)) {
        Some(name) => {
            Err(D::Error::custom(format!("`programs` takes program names only, such as `make`; `{name}` is not one")))
        }
        None => Ok(names),
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

    // SUR-004
    #[test]
    fn a_folder_of_programs_that_cannot_be_used_is_told() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::create_dir(at("bin")).unwrap();
        std::fs::write(at("file"), "x").unwrap();
        let (path, toolchains) = (vec![at("bin"), at("gone")], vec![at("file"), at("bin")]);
        let mut exec = ExecConfig { path, toolchains, ..ExecConfig::default() };
        let troubles = exec.troubles();
        let [gone, file] = &troubles[..] else { panic!("{troubles:?}") };
        assert!(gone.starts_with("`path` under [exec]") && gone.contains("gone is not there, so no program"), "{gone}");
        assert!(file.starts_with("`toolchains` under [exec]") && file.contains("file is not a folder"), "{file}");
        exec.enabled = false;
        assert_eq!(exec.troubles(), [""; 0]);
    }

    // SEC-087
    #[test]
    fn the_network_is_a_list_of_names() {
        let read = |text: &str| toml::from_str::<ExecConfig>(text).map(|config| config.network);
        assert_eq!(read("network = [\"docs.example.com\", \"a.example:8080\"]").unwrap().len(), 2);
        for wrong in ["true", "[\"https://docs.example.com\"]", "[\"*.example\"]", "[\"a.example:x\"]", "[\"\"]"] {
            assert!(read(&format!("network = {wrong}")).is_err(), "{wrong}");
        }
    }

    // SEC-085
    #[test]
    fn a_folder_may_have_more_and_names_programs_without_their_paths() {
        let read = |text: &str| toml::from_str::<ExecConfig>(text).map(|config| config.folders);
        let folder = "[[folders]]\nfolder = \"/src/theirs\"\n";
        let found = read(&format!("{folder}programs = [\"make\"]\nseconds = 600\n")).unwrap();
        assert_eq!(
            (found[0].programs.as_slice(), found[0].seconds, found[0].files),
            (&["make".to_owned()][..], Some(600), None)
        );
        for wrong in ["programs = [\"/bin/make\"]", "programs = [\"make x\"]", "programs = [\"\"]", "network = true"] {
            assert!(read(&format!("{folder}{wrong}\n")).is_err(), "{wrong}");
        }
        assert!(read("[[folders]]\nfolder = \"src\"\n").is_err());
    }
}
