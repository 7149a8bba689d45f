//! Keys that a command prints, because they live only for a while.

use std::fmt;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::process::Command;

use crate::key::ApiKey;

/// How long the command may take: some ask their provider for a new token first.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a key is used before the command is asked again. Tokens live for an hour or longer.
const FRESH: Duration = Duration::from_mins(5);

/// Bytes that a key may have; tokens of some providers have thousands.
const LONGEST: usize = 64 * 1024;

/// Who is told of each new key, so that it can be kept out of everything that is written.
type OnNew = Box<dyn Fn(&str) + Send + Sync>;

/// A command that prints a key. What it prints is shown nowhere.
pub struct KeyCommand {
    words: Vec<String>,
    on_new: OnNew,
    patience: Duration,
    last: Mutex<Option<(ApiKey, Instant)>>,
}

impl KeyCommand {
    /// Takes the command's words; nothing is run yet. `on_new` gets each new key before it is used.
    pub fn new(words: Vec<String>, on_new: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { words, on_new: Box::new(on_new), patience: PATIENCE, last: Mutex::default() }
    }

    /// Its words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The key: the last one as long as it is fresh, else a new one.
    ///
    /// # Errors
    /// When the command prints none in time. What it printed is not quoted.
    pub(crate) async fn key(&self) -> Result<ApiKey, String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((key, at)) = last
            && at.elapsed() < FRESH
        {
            return Ok(key);
        }
        let key = ApiKey::new(self.run().await?);
        (self.on_new)(key.reveal());
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((key.clone(), Instant::now()));
        Ok(key)
    }

    /// Forgets the key, because it was refused.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn run(&self) -> Result<String, String> {
        let failed = |why: String| {
            let shown = self.words.first().map_or("", String::as_str);
            format!("api_key_command `{shown} …` {why}; run it by hand to see what is wrong")
        };
        let (program, arguments) = self.words.split_first().ok_or_else(|| failed("has no words".to_owned()))?;
        let mut command = Command::new(program);
        // An editor starts Limpid in whatever folder is open, and some programs load what lies there.
        command.current_dir("/");
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let child = command.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
        let ended = tokio::time::timeout(self.patience, child.wait_with_output()).await;
        let ended = ended.map_err(|_| failed(format!("took longer than {:?}", self.patience)))?;
        let output = ended.map_err(|error| failed(format!("broke off: {error}")))?;
        if !output.status.success() {
            return Err(failed(format!("failed ({})", output.status)));
        }
        let text = String::from_utf8(output.stdout).map_err(|_| failed("printed what is not text".to_owned()))?;
        match text.trim() {
            "" => Err(failed("printed nothing".to_owned())),
            key if key.len() > LONGEST || key.contains(char::is_control) => {
                Err(failed("printed more than a key".to_owned()))
            }
            key => Ok(key.to_owned()),
        }
    }
}

impl fmt::Debug for KeyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may name secrets.
        f.debug_tuple("KeyCommand").field(&self.words.first()).finish()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn command(script: &str) -> (KeyCommand, Arc<Mutex<Vec<String>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        (
            KeyCommand::new(words, move |key| {
                hears.lock().unwrap_or_else(PoisonError::into_inner).push(key.to_owned());
            }),
            told,
        )
    }

    // MOD-125
    #[tokio::test]
    async fn a_key_is_told_used_while_it_is_fresh_and_asked_for_again_once_it_was_refused() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count").display().to_string();
        let (command, told) = command(&format!("echo x >> {count}; echo \"token-$(wc -l < {count} | tr -d ' ')\""));
        let keys = [command.key().await.unwrap(), command.key().await.unwrap()];
        assert_eq!(keys, [ApiKey::new("token-1"), ApiKey::new("token-1")]);
        command.forget();
        assert_eq!(command.key().await.unwrap(), ApiKey::new("token-2"));
        assert_eq!(*told.lock().unwrap(), ["token-1", "token-2"]);
        assert!(!format!("{command:?}").contains("token"));
    }

    // MOD-125
    #[tokio::test]
    async fn what_a_command_that_fails_printed_is_quoted_nowhere() {
        for script in ["echo secret-1; exit 3", "echo secret-1 >&2; true", "printf 'secret-1\\nsecret-1\\n'", "true"] {
            let error = command(script).0.key().await.unwrap_err();
            assert!(error.contains("run it by hand") && !error.contains("secret"), "{error}");
        }
        let missing = KeyCommand::new(vec!["/nowhere/at-all".to_owned()], |_| {});
        assert!(missing.key().await.unwrap_err().contains("cannot be started"));
    }

    // MOD-125
    #[tokio::test]
    async fn a_command_that_does_not_end_is_given_up() {
        let hanging = KeyCommand { patience: Duration::from_millis(30), ..command("exec sleep 1000").0 };
        let error = hanging.key().await.unwrap_err();
        assert!(error.contains("took longer than 30ms"), "{error}");
    }
}
