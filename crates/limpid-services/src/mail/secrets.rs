//! Where the secrets of accounts are: a variable, a program that asks the system's keyring or a password store, or a file
//! that only the owner may read. Never the database.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use limpid_channels::mail::Secret;
use limpid_config::{Environment, private_file};
use tokio::process::Command;

use crate::mail::accounts::AccountFiles;
use crate::mail::settings::{AccountSettings, LoginKind};

/// How long a program may take that gives out a secret; it may ask the owner to unlock something.
const TIME: Duration = Duration::from_secs(60);

/// Characters of what such a program complains that an error repeats.
const SAID: usize = 200;

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In an environment variable.
    Variable(String),
    /// On the first line of what a program prints. No shell is between.
    Program(Vec<String>),
    /// In a file.
    File(PathBuf),
}

impl Source {
    /// What is named: a variable goes before a program.
    pub(crate) fn named(variable: Option<&String>, program: &[String]) -> Option<Self> {
        match variable {
            Some(variable) => Some(Self::Variable(variable.clone())),
            None => (!program.is_empty()).then(|| Self::Program(program.to_vec())),
        }
    }

    /// The secret; none when the file is missing or empty.
    ///
    /// # Errors
    /// A sentence: why it cannot be had. It repeats nothing of what a program prints.
    pub(crate) async fn read(&self, environment: &Environment) -> Result<Option<Secret>, String> {
        let text = match self {
            Self::Variable(_) | Self::File(_) => return self.glance(environment),
            Self::Program(words) => printed(words).await?,
        };
        Ok(Some(Secret::new(text)))
    }

    /// The same, but no program is run for it: then there is none here.
    pub(crate) fn glance(&self, environment: &Environment) -> Result<Option<Secret>, String> {
        let text = match self {
            Self::Variable(name) => {
                let value = environment.get(name).ok_or_else(|| format!("the variable {name} is not set"))?;
                Some(value.to_owned())
            }
            Self::File(path) => private_file::read(path).map_err(|error| error.to_string())?,
            Self::Program(_) => None,
        };
        Ok(text.map(Secret::new).filter(|secret| !secret.reveal().is_empty()))
    }
}

/// The first line that a program prints.
async fn printed(words: &[String]) -> Result<String, String> {
    let [program, arguments @ ..] = words else { return Err("no program is named".to_owned()) };
    let mut command = Command::new(program);
    // Limpid may be started in a stranger's folder, and some programs load what lies there.
    command.current_dir("/");
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let late = |_| format!("`{program}` gave no secret within {} s", TIME.as_secs());
    let output = tokio::time::timeout(TIME, command.output()).await.map_err(late)?;
    let output = output.map_err(|error| format!("`{program}` cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SAID).collect();
        return Err(format!("`{program}` failed ({}): {said}", output.status));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| format!("`{program}` prints no text"))?;
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(format!("`{program}` printed no secret on its first line"));
    }
    Ok(line.to_owned())
}

impl AccountFiles {
    /// The password, token or refresh token of an account. From here on no text repeats it.
    ///
    /// # Errors
    /// A sentence: why there is none, and what to do.
    pub(crate) async fn secret(&self, settings: &AccountSettings) -> Result<Secret, String> {
        let secret = self.source(settings)?.read(&self.environment).await?;
        let secret = secret.ok_or_else(|| waits(&settings.address))?;
        self.learn(settings, &secret);
        Ok(secret)
    }

    /// No text repeats a secret of an account from here on. A token is what its provider chose, also where the owner has put it in, and the
    /// file holds the one that was given last.
    fn learn(&self, settings: &AccountSettings, secret: &Secret) {
        match settings.login {
            LoginKind::Password => self.redactor.learn(&settings.address, secret.reveal()),
            LoginKind::Token | LoginKind::OAuth => self.redactor.learn_given(&settings.address, secret.reveal()),
        }
    }

    /// Why an account has no secret, as far as that is known without running a program.
    pub(crate) fn lacks_secret(&self, settings: &AccountSettings) -> Option<String> {
        match self.source(settings) {
            Ok(Source::Program(_)) => None,
            Ok(source) => match source.glance(&self.environment) {
                Ok(Some(_)) => None,
                Ok(None) => Some(waits(&settings.address)),
                Err(why) => Some(why),
            },
            Err(why) => Some(why),
        }
    }

    /// No text repeats the secrets of the accounts from here on, as far as no program has to be run for them.
    pub(crate) fn learn_all(&self) {
        for settings in self.settings() {
            if let Ok(Ok(Some(secret))) = self.source(&settings).map(|source| source.glance(&self.environment)) {
                self.learn(&settings, &secret);
            }
        }
    }

    pub(crate) fn source(&self, settings: &AccountSettings) -> Result<Source, String> {
        match Source::named(settings.secret_env.as_ref(), &settings.secret_command) {
            Some(source) => Ok(source),
            None => Ok(Source::File(self.file(&settings.address, "secret").map_err(|error| error.to_string())?)),
        }
    }
}

fn waits(address: &str) -> String {
    format!("{address} waits for its password; enter it with `limpid inbox mail add {address}`")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn program(script: &str) -> Source {
        Source::Program(["sh", "-c", script].map(str::to_owned).to_vec())
    }

    // SEC-032
    #[tokio::test]
    async fn a_program_gives_the_secret_on_its_first_line() {
        let none = Environment::default();
        let secret = program("echo 'two words'; echo note").read(&none).await.unwrap().unwrap();
        assert_eq!(secret.reveal(), "two words");
        assert_eq!(program("echo x").glance(&none), Ok(None), "a glance runs nothing");
        let failures = [
            ("echo hunter2; echo locked >&2; exit 3", "`sh` failed (exit status: 3): locked"),
            ("exit 0", "`sh` printed no secret on its first line"),
            ("printf '\\377'", "`sh` prints no text"),
        ];
        for (script, why) in failures {
            assert_eq!(program(script).read(&none).await, Err(why.to_owned()));
        }
        let missing = Source::Program(vec!["/no/such/program".to_owned()]).read(&none).await.unwrap_err();
        assert!(missing.starts_with("`/no/such/program` cannot be run: "), "{missing}");
    }

    // SEC-032
    #[test]
    fn a_variable_goes_before_a_program() {
        let (variable, words) = ("SECRET".to_owned(), vec!["pass".to_owned()]);
        assert_eq!(Source::named(Some(&variable), &words), Some(Source::Variable(variable.clone())));
        assert_eq!(Source::named(None, &words), Some(Source::Program(words.clone())));
        assert_eq!(Source::named(None, &[]), None);
        let unset = Source::Variable(variable).glance(&Environment::default());
        assert_eq!(unset, Err("the variable SECRET is not set".to_owned()));
    }
}
