//! What files are called in the history, and which of them prompts quote.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use limpid_config::Home;
use limpid_prompt::workspace::note_date;
use limpid_store::shown_path;

use crate::tools::builtin::OUTSIDE;
use crate::tools::policy::real;

/// The folder of MEMORY.md and of the notes.
const MEMORY: &str = "memory";

/// Files as tools call them: from the workspace, from the folder for what strangers wrote, or absolute.
#[derive(Clone, Debug)]
pub(super) struct FileNames {
    home: PathBuf,
    workspace: PathBuf,
    outside: PathBuf,
}

impl FileNames {
    pub(super) fn new(home: &Home) -> Self {
        Self { home: home.path().to_owned(), workspace: home.workspace(), outside: home.outside() }
    }

    /// The name of a file whose path has every link followed.
    pub(super) fn name(&self, path: &Path) -> String {
        let below = |folder: &Path| path.strip_prefix(real(folder)).ok().map(Path::to_owned);
        let own = below(&self.workspace).filter(|own| !own.starts_with(OUTSIDE));
        let name = own.or_else(|| below(&self.outside).map(|way| Path::new(OUTSIDE).join(way)));
        shown_path(&name.unwrap_or_else(|| path.to_owned()))
    }

    /// Where a file of a name lies.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        match Path::new(name).strip_prefix(OUTSIDE) {
            Ok(way) => self.outside.join(way),
            Err(_) => self.workspace.join(name),
        }
    }

    /// The same with the links of the folder that names begin at followed, and none of the name.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        match Path::new(name).strip_prefix(OUTSIDE) {
            Ok(way) => real(&self.outside).join(way),
            Err(_) => real(&self.workspace).join(name),
        }
    }

    /// The name of a prompt file by its path in the home.
    pub(super) fn of_prompt_file(&self, way: &str) -> String {
        real(&self.home).join(way).display().to_string()
    }

    /// The path in the home of a file that prompts are made from, by its name; none of every other file.
    pub(super) fn prompt_file(&self, name: &str) -> Option<String> {
        let way = Path::new(name).strip_prefix(real(&self.home)).ok()?.to_str()?;
        let is_one = ["soul.md", "safety.md"].contains(&way) || way.starts_with("profiles/");
        is_one.then(|| way.to_owned())
    }

    /// The files that prompts quote.
    pub(super) fn quoted(&self) -> Vec<String> {
        let top = entries(&self.workspace);
        let memory = entries(&self.workspace.join(MEMORY)).into_iter().map(|name| format!("{MEMORY}/{name}"));
        let memory: Vec<String> = memory.collect();
        let notes = memory.iter().flat_map(|folder| {
            entries(&self.workspace.join(folder)).into_iter().map(move |name| format!("{folder}/{name}"))
        });
        top.into_iter().chain(notes).chain(memory.iter().cloned()).filter(|name| is_quoted(name)).collect()
    }

    /// The names of a file that a call writes: those that prompts quote it by, however they lead to it, or its own.
    pub(super) fn of_written(&self, written: &Path, quoted: &[String]) -> Vec<String> {
        let leads_there = |name: &&String| {
            let real = self.path(name).canonicalize();
            real.is_ok_and(|real| real == written)
        };
        let mut names: Vec<String> = quoted.iter().filter(leads_there).cloned().collect();
        let own = self.name(written);
        if names.is_empty() || (is_quoted(&own) && !names.contains(&own)) {
            names.push(own);
        }
        names
    }
}

/// Whether prompts quote a file of the workspace.
pub(super) fn is_quoted(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is_text = name.ends_with(".md") && !parts.iter().any(|part| part.starts_with('.'));
    is_text && (parts.len() == 1 || (parts.len() <= 3 && parts[0] == MEMORY))
}

/// A note of a day with the day above it, if it is a new one.
pub(super) fn with_heading(name: &str, is_new: bool, text: &str) -> String {
    let heading = note_date(name).filter(|_| is_new).map(|date| format!("# {date}\n"));
    match heading {
        Some(heading) if !text.starts_with(heading.trim_end()) => format!("{heading}\n{text}"),
        _ => text.to_owned(),
    }
}

/// The lines of a text that another does not have.
pub(super) fn added(before: &str, after: &str) -> String {
    let known: HashSet<&str> = before.lines().collect();
    after.lines().filter(|line| !known.contains(line)).collect::<Vec<_>>().join("\n")
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-063
    #[test]
    fn a_file_has_the_name_that_tools_know_it_by() {
        let home = tempfile::tempdir().unwrap();
        let names = FileNames::new(&Home::new(home.path()));
        let root = home.path().canonicalize().unwrap();
        for (path, name) in [("workspace/a/b.md", "a/b.md"), ("outside/b.md", "outside/b.md")] {
            assert_eq!(names.name(&root.join(path)), name);
            assert_eq!(real(&names.path(name)), root.join(path));
        }
        for path in [root.join("workspace/outside/b.md"), PathBuf::from("/none/b.md")] {
            assert_eq!(names.path(&names.name(&path)), path, "no other file has its name");
        }
    }

    // PICO-028
    #[test]
    fn prompts_quote_what_stands_at_the_top_and_in_the_folder_of_memory() {
        for name in ["MEMORY.md", "AGENTS.md", "memory/MEMORY.md", "memory/202603/20260328.md"] {
            assert!(is_quoted(name), "{name}");
        }
        for name in ["notes.txt", ".hidden.md", "docs/AGENTS.md", "memory/a/b/c.md", "memory/.x/a.md", "/b.md"] {
            assert!(!is_quoted(name), "{name}");
        }
    }

    // SEC-063
    #[test]
    fn what_a_text_of_many_lines_adds_is_found_in_one_pass() {
        let many = |word: &str| (0..200_000).map(|at| format!("{word}{at}\n")).collect::<String>();
        assert_eq!(added(&many("a"), &(many("b") + "a7\n")), many("b").trim_end());
        assert_eq!(added("tea\n", "tea\nmilk\ntea\nmilk\n"), "milk\nmilk");
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
