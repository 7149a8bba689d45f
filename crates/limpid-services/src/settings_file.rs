//! `limpid.toml` as its owner sees and changes it, key by key. Whatever else stands there stays as it is, comments too, and what could
//! not be read afterwards is not written.

mod change;
mod said;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_config::{Config, Redactor, private_file, read_text};

pub use said::{Said, SettingsText};

use crate::error::AgentError;

/// The file of the settings, and what this process changed last in it. Clones share both.
#[derive(Clone)]
pub struct SettingsFile {
    file: PathBuf,
    redactor: Redactor,
    last: Arc<Mutex<Option<LastChange>>>,
}

/// The last change: enough to take it back exactly.
#[derive(Clone)]
struct LastChange {
    key: String,
    before: String,
    after: String,
}

impl SettingsFile {
    /// A file; it need not be there.
    pub fn new(file: PathBuf, redactor: Redactor) -> Self {
        Self { file, redactor, last: Arc::default() }
    }

    /// Its name, without the folder.
    pub fn name(&self) -> String {
        self.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Where it is, or would be.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// What it says now.
    ///
    /// # Errors
    /// When it cannot be read, or is no TOML.
    pub fn read(&self) -> Result<SettingsText, AgentError> {
        let text = read_text(&self.file)?.unwrap_or_default();
        SettingsText::new(text, self.redactor.clone())
            .map_err(|why| AgentError::Invalid(format!("{}: {why}", self.file.display())))
    }

    /// Why it is not used as it stands, if it is not.
    pub fn wrong(&self) -> Option<String> {
        let text = self.there().ok()?;
        Config::parse(&text, &self.file.display().to_string()).err().map(|error| error.to_string())
    }

    /// Sets a setting to what somebody typed; none: to what it is when nothing is said.
    ///
    /// # Errors
    /// When there is no such setting, it is changed in the file alone, or the value cannot be; the file is as before then.
    pub fn set(&self, key: &str, words: Option<&str>) -> Result<(), AgentError> {
        let setting = Config::settings().into_iter().find(|setting| setting.key == key);
        let unknown = || AgentError::NotFound {
            what: "setting",
            name: key.to_owned(),
            advice: "docs/settings.md lists them".to_owned(),
        };
        let setting = setting.ok_or_else(unknown)?;
        if let Some(why) = &setting.by_hand {
            return Err(AgentError::Invalid(format!("`{key}` is changed in {} alone: {why}", self.name())));
        }
        let mut last = self.lock();
        let before = self.there()?;
        let after = change::set(&before, &setting, words).map_err(|why| self.refused(&why))?;
        self.check(&before, &after)?;
        write(&self.file, &before, &after)?;
        if before != after {
            *last = Some(LastChange { key: key.to_owned(), before, after });
        }
        Ok(())
    }

    /// The setting whose change [`Self::undo`] takes back: the last one, as long as the file is as that left it.
    pub fn undoable(&self) -> Option<String> {
        let now = self.there().ok()?;
        self.lock().as_ref().filter(|last| last.after == now).map(|last| last.key.clone())
    }

    /// Makes the file what it was before the last change of this process.
    ///
    /// # Errors
    /// When there is none, or the file was changed since.
    pub fn undo(&self) -> Result<String, AgentError> {
        let mut last = self.lock();
        let there = self.there()?;
        let Some(LastChange { key, before, .. }) = last.clone().filter(|last| last.after == there) else {
            let why = format!("nothing was undone: {} was changed since, or not from here", self.name());
            return Err(AgentError::Invalid(why));
        };
        changed(&self.file, &there, |_| Ok(before))?;
        *last = None;
        Ok(key)
    }

    /// Whoever set a value is told what is wrong with it, and not where it would have stood; a fault that was there before is theirs to
    /// find.
    fn check(&self, before: &str, after: &str) -> Result<(), AgentError> {
        let name = self.name();
        match Config::parse(after, &name) {
            Ok(_) => Ok(()),
            Err(error) if Config::parse(before, &name).is_ok() => Err(self.refused(error.message())),
            Err(error) => {
                Err(self.refused(&format!("line {} of {name} has a fault: {}", error.line(), error.message())))
            }
        }
    }

    fn refused(&self, why: &str) -> AgentError {
        AgentError::Invalid(format!("{why}. {} was not changed.", self.file.display()))
    }

    fn there(&self) -> Result<String, AgentError> {
        Ok(read_text(&self.file)?.unwrap_or_default())
    }

    fn lock(&self) -> MutexGuard<'_, Option<LastChange>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a settings file with another text. Returns the text.
pub(crate) fn changed(
    file: &Path,
    before: &str,
    change: impl FnOnce(&str) -> Result<String, String>,
) -> Result<String, AgentError> {
    let name = file.display().to_string();
    let wrong = |why: String| AgentError::Invalid(format!("{name} was not changed: {why}"));
    let after = change(before).map_err(wrong)?;
    Config::parse(&after, &name).map_err(|error| wrong(error.to_string()))?;
    write(file, before, &after)?;
    Ok(after)
}

fn write(file: &Path, before: &str, after: &str) -> Result<(), AgentError> {
    if after != before {
        // A file that is elsewhere, with a link in its place, is written there.
        let real = file.canonicalize();
        private_file::write(real.as_deref().unwrap_or(file), after)?;
    }
    Ok(())
}
