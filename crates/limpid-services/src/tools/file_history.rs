//! The files of the workspace that prompts quote: MEMORY.md, daily notes and the Markdown files at the top. Whatever
//! tool changes one, the change is looked at as those of memories are: known secrets stay out, who said it, where and
//! when is written down with what the file said before, and it can be undone.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use limpid_config::Home;
use limpid_core::policy::Effect;
use limpid_prompt::workspace::note_date;
use limpid_store::{Author, FileVersion, FileVersionId, Listed, NewFileVersion};
use limpid_tools::files::{self, Grants};
use tokio::sync::Mutex;

use crate::error::AgentError;
use crate::memory::{MemoryWriter, WriteSource};
use crate::tools::policy::CallFacts;

/// The folder of MEMORY.md and of the notes.
const MEMORY: &str = "memory";

/// Versions of the files that prompts quote, as tools changed them.
pub struct FileHistory {
    memory: MemoryWriter,
    grants: Grants,
    workspace: PathBuf,
    /// How often each file was recorded, so that calls that run at once do not take each other's change for theirs.
    recorded: Mutex<HashMap<String, u64>>,
}

/// The files before a call.
pub(crate) struct Before {
    texts: BTreeMap<String, Option<String>>,
    recorded: HashMap<String, u64>,
    /// Whether the call may have made files that were not there.
    all: bool,
}

impl FileHistory {
    /// The history of the files of a home's workspace.
    pub fn new(home: &Home, memory: MemoryWriter) -> Self {
        let workspace = home.workspace();
        Self { memory, grants: Grants::new(workspace.clone()), workspace, recorded: Mutex::default() }
    }

    /// Looks at the files that a call may change; nothing when it can change none.
    pub(crate) async fn before(&self, facts: &CallFacts) -> Option<Before> {
        let all = facts.effect == Effect::Run;
        let written: Vec<&str> = facts.paths.iter().filter(|path| path.write).map(|path| path.real.as_str()).collect();
        if !all && written.is_empty() {
            return None;
        }
        let mut names = self.names();
        if !all {
            names.retain(|name| real(&self.workspace.join(name)).is_some_and(|real| written.contains(&real.as_str())));
            names.extend(written.iter().filter_map(|written| name_of(&facts.folder, written)));
        }
        let texts: BTreeMap<String, Option<String>> =
            names.into_iter().map(|name| (self.read(&name), name)).map(|(text, name)| (name, text)).collect();
        let recorded = self.recorded.lock().await.clone();
        (all || !texts.is_empty()).then_some(Before { texts, recorded, all })
    }

    /// Looks at the files after the call and writes down what became of them.
    pub(crate) async fn after(&self, before: Option<Before>, by: &WriteSource) -> Result<(), AgentError> {
        let Some(Before { mut texts, recorded: seen, all }) = before else { return Ok(()) };
        if all {
            let made = self.names().into_iter().filter(|name| !texts.contains_key(name)).collect::<Vec<_>>();
            texts.extend(made.into_iter().map(|name| (name, None)));
        }
        let mut recorded = self.recorded.lock().await;
        for (name, before) in texts {
            let now = self.read(&name);
            let before = if recorded.get(&name) == seen.get(&name) {
                before
            } else {
                self.memory.database().newest_file_version(&name).await?.and_then(|newest| newest.after)
            };
            if now != before {
                self.record(&name, before, now, by).await?;
                *recorded.entry(name).or_default() += 1;
            }
        }
        Ok(())
    }

    /// What the agent changed in the files that prompts quote, oldest first: in one, by its path from the workspace, or in
    /// all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, AgentError> {
        Ok(self.memory.database().file_versions(path).await?)
    }

    /// Makes a file what it was before a change; that is a change itself, which can be undone. `source` says where the
    /// owner asked for it.
    ///
    /// # Errors
    /// When there is no such change, or the file cannot be written.
    pub async fn undo(&self, id: FileVersionId, source: &str) -> Result<FileVersion, AgentError> {
        let by = self.memory.owner(source);
        let mut recorded = self.recorded.lock().await;
        let undone = self.memory.database().file_version(id).await?;
        let before = self.read(&undone.path);
        self.write(&undone.path, undone.before.as_deref())?;
        let new = NewFileVersion {
            path: undone.path.clone(),
            undoes: Some(id),
            before,
            after: undone.before,
            author: Author::Said,
            trust: by.trust,
            source: by.source,
            now_ms: by.now_ms,
        };
        let version = self.memory.database().record_file(new).await?;
        *recorded.entry(undone.path).or_default() += 1;
        Ok(version)
    }

    async fn record(
        &self,
        name: &str,
        before: Option<String>,
        now: Option<String>,
        by: &WriteSource,
    ) -> Result<(), AgentError> {
        // What cannot be read as text is left as it is.
        let change = |text: &str| self.memory.clean(with_heading(name, before.is_none(), text));
        let revise = |_| files::revise(&self.grants, name, change).map_err(|why| AgentError::Invalid(why.into_text()));
        let after = now.map(revise).transpose()?;
        let news = added(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
        let new = NewFileVersion {
            path: name.to_owned(),
            undoes: None,
            author: self.memory.author(&news, by).await?,
            before,
            after,
            trust: by.trust,
            source: by.source.clone(),
            now_ms: by.now_ms,
        };
        self.memory.database().record_file(new).await?;
        Ok(())
    }

    /// Writes a file whole, for its owner's eyes only; takes it away without a text.
    fn write(&self, name: &str, text: Option<&str>) -> Result<(), AgentError> {
        files::put(&self.grants, name, text).map_err(|why| AgentError::Invalid(why.into_text()))
    }

    /// What a file says; nothing when it is not there or no text.
    fn read(&self, name: &str) -> Option<String> {
        files::text(&self.grants, name).ok()
    }

    /// The files that prompts quote, as they are called from the workspace.
    fn names(&self) -> Vec<String> {
        let top = entries(&self.workspace);
        let memory = entries(&self.workspace.join(MEMORY)).into_iter().map(|name| format!("{MEMORY}/{name}"));
        let memory: Vec<String> = memory.collect();
        let notes = memory.iter().flat_map(|folder| {
            entries(&self.workspace.join(folder)).into_iter().map(move |name| format!("{folder}/{name}"))
        });
        top.into_iter().chain(notes).chain(memory.iter().cloned()).filter(|name| is_quoted(name)).collect()
    }
}

/// The name of a file that prompts would quote; `workspace` is the folder with every link followed.
fn name_of(workspace: &str, path: &str) -> Option<String> {
    let name = Path::new(path).strip_prefix(workspace).ok()?.to_str()?;
    is_quoted(name).then(|| name.to_owned())
}

/// Whether prompts quote a file of the workspace.
fn is_quoted(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is_text = name.ends_with(".md") && !parts.iter().any(|part| part.starts_with('.'));
    is_text && (parts.len() == 1 || (parts.len() <= 3 && parts[0] == MEMORY))
}

/// A note of a day with the day above it, if it is a new one.
fn with_heading(name: &str, is_new: bool, text: &str) -> String {
    let heading = note_date(name).filter(|_| is_new).map(|date| format!("# {date}\n"));
    match heading {
        Some(heading) if !text.starts_with(heading.trim_end()) => format!("{heading}\n{text}"),
        _ => text.to_owned(),
    }
}

/// The lines of a text that another does not have.
fn added(before: &str, after: &str) -> String {
    let known: Vec<&str> = before.lines().collect();
    after.lines().filter(|line| !known.contains(line)).collect::<Vec<_>>().join("\n")
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

fn real(path: &Path) -> Option<String> {
    Some(path.canonicalize().ok()?.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-028
    #[test]
    fn prompts_quote_what_stands_at_the_top_and_in_the_folder_of_memory() {
        for name in ["MEMORY.md", "AGENTS.md", "memory/MEMORY.md", "memory/202603/20260328.md"] {
            assert!(is_quoted(name), "{name}");
        }
        for name in ["notes.txt", ".hidden.md", "docs/AGENTS.md", "memory/a/b/c.md", "memory/.x/a.md"] {
            assert!(!is_quoted(name), "{name}");
        }
    }

    // PICO-023
    #[test]
    fn a_new_note_begins_with_its_day() {
        let note = "memory/202603/20260328.md";
        assert_eq!(with_heading(note, true, "Rain.\n"), "# 2026-03-28\n\nRain.\n");
        assert_eq!(with_heading(note, true, "# 2026-03-28\n\nRain.\n"), "# 2026-03-28\n\nRain.\n");
        assert_eq!(with_heading(note, false, "Rain.\n"), "Rain.\n");
        for name in ["memory/202603/20260399.md", "memory/202604/20260328.md", "memory/MEMORY.md"] {
            assert_eq!(with_heading(name, true, "Rain.\n"), "Rain.\n", "{name}");
        }
    }
}
