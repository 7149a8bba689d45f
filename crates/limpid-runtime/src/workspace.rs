//! The workspace files that prompts quote, read anew each turn (PICO-020 to 022, PICO-026).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use limpid_prompt::inputs::{DailyNote, TimeInfo, WorkspaceFile, WorkspaceInput};
use limpid_prompt::workspace::{note_path, recent_days};

use crate::error::AgentError;
use crate::home::read_text;

/// Reads the files at the top of the workspace, MEMORY.md and the notes of the last days. What was left out is said in
/// `notices`.
pub(crate) fn read(folder: &Path, time: &TimeInfo, notices: &mut Vec<String>) -> Result<WorkspaceInput, AgentError> {
    let mut reader = Reader { root: folder.canonicalize().ok(), seen: BTreeSet::new(), notices };
    let mut files = Vec::new();
    for name in names(folder)? {
        if let Some(content) = reader.read(&folder.join(&name), &name)? {
            files.push(WorkspaceFile { name, content });
        }
    }
    let long_term = reader.read(&folder.join("memory/MEMORY.md"), "memory/MEMORY.md")?;
    let mut daily_notes = Vec::new();
    for date in recent_days(time).unwrap_or_default() {
        let name = note_path(&date);
        if let Some(content) = reader.read(&folder.join(&name), &name)? {
            daily_notes.push(DailyNote { date, content });
        }
    }
    Ok(WorkspaceInput { path: folder.display().to_string(), files, long_term, daily_notes })
}

/// The Markdown files at the top, by name.
fn names(folder: &Path) -> Result<Vec<String>, AgentError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(AgentError::file(folder))?,
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md") && !name.starts_with('.'))
        .collect();
    names.sort();
    Ok(names)
}

struct Reader<'a> {
    root: Option<PathBuf>,
    seen: BTreeSet<PathBuf>,
    notices: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// A file's text; none when it does not exist, leads out of the workspace, or was read under another name.
    fn read(&mut self, path: &Path, name: &str) -> Result<Option<String>, AgentError> {
        let (Some(root), Ok(real)) = (&self.root, path.canonicalize()) else { return Ok(None) };
        if !real.starts_with(root) {
            self.notices.push(format!("{name} leads out of the workspace and was not read"));
            return Ok(None);
        }
        if !real.is_file() {
            return Ok(None);
        }
        if !self.seen.insert(real.clone()) {
            self.notices.push(format!("{name} is a file that was read under another name"));
            return Ok(None);
        }
        read_text(&real)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-020 PICO-021 PICO-026
    #[test]
    fn files_notes_and_links() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("workspace");
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("AGENT.md", "---\nname: Ada\n---\n\n# Agent\n");
        write("SOUL.md", "Kind.\n");
        write("memory/MEMORY.md", "Lives in Berlin.\n");
        for day in ["20260228", "20260301", "20260302", "20260303"] {
            write(&format!("memory/{}/{day}.md", &day[..6]), day);
        }
        std::fs::write(home.path().join("outside.md"), "secret").unwrap();
        std::os::unix::fs::symlink("SOUL.md", folder.join("TWICE.md")).unwrap();
        std::os::unix::fs::symlink("../outside.md", folder.join("OUT.md")).unwrap();

        let time = TimeInfo { local: "2026-03-02T00:10:00+01:00".to_owned(), ..TimeInfo::default() };
        let mut notices = Vec::new();
        let mut input = read(&folder, &time, &mut notices).unwrap();
        input.path.clear();
        insta::assert_debug_snapshot!((input, notices));
        assert_eq!(read(&home.path().join("none"), &time, &mut Vec::new()).unwrap().files, []);
    }
}
