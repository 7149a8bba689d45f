//! The only place that reads the environment: everything else gets what it needs as values.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use crate::failure::{ExitStatus, Failure};

/// What the program takes from the environment.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The folder that holds everything Limpid keeps.
    pub home: PathBuf,
    /// The variables, by name; keys of providers are looked up here by the names that the presets give.
    pub variables: BTreeMap<String, String>,
    /// This program's own file.
    pub program: Option<PathBuf>,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
}

impl Environment {
    /// Reads the environment once, at the start. `home` is what `--home` or `LIMPID_HOME` said.
    ///
    /// # Errors
    /// When no home was given and the owner's home folder is unknown.
    pub fn read(home: Option<PathBuf>) -> Result<Self, Failure> {
        let variables: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".limpid"))).ok_or_else(|| {
            Failure::new(ExitStatus::Usage, "your home folder is unknown")
                .advise("Say where Limpid's folder is: --home DIR, or LIMPID_HOME.")
        })?;
        Ok(Self {
            home: std::path::absolute(&home).unwrap_or(home),
            variables,
            program: std::env::current_exe().ok(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        })
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether colours may be used on a stream that is a terminal or not.
    pub fn colours(&self, is_terminal: bool) -> bool {
        is_terminal && self.variable("NO_COLOR").is_none() && self.variable("TERM") != Some("dumb")
    }

    /// The editor: `$VISUAL`, `$EDITOR`, else `vi`.
    pub fn editor(&self) -> &str {
        self.variable("VISUAL").or_else(|| self.variable("EDITOR")).unwrap_or("vi")
    }
}
