//! What accepting a file would do, for its owner to read whole.

use std::path::{Component, Path};

use limpid_store::FileHash;

use crate::line_diff::line_diff;
use crate::tools::builtin::OUTSIDE;

/// What taking over a file would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOffer {
    /// The file, as tools call it.
    pub from: String,
    /// Where it goes, from the workspace.
    pub to: String,
    /// What it says.
    pub text: String,
    /// The hash of its bytes.
    pub content: FileHash,
    /// What the file there says, which it replaces.
    pub there: Option<String>,
    /// Whether prompts can hold what the file says there.
    pub instructs: bool,
    /// Whether the file was removed, which is what waits.
    pub is_gone: bool,
}

impl FileOffer {
    /// Whether the file goes elsewhere.
    pub fn moves(&self) -> bool {
        self.from != self.to
    }

    /// Everything that the owner is shown: each line, or what changes where something is replaced.
    pub fn lines(&self) -> Vec<String> {
        let Some(there) = &self.there else { return self.text.lines().map(str::to_owned).collect() };
        let difference = line_diff(there, &self.text);
        let line = |change: similar::Change<&str>| format!("{}{}", change.tag(), change.value().trim_end_matches('\n'));
        difference.iter_all_changes().map(line).collect()
    }

    /// The hash of everything that is shown: the two names and the two texts, that there is none any more, and that it
    /// is a link.
    pub fn hash(&self) -> FileHash {
        let gone = self.is_gone.then(|| "gone".to_owned());
        // A file may say what is shown of a link.
        let is_link = !self.is_gone && FileHash::of(self.text.as_bytes()) != self.content;
        let link = is_link.then(|| "link".to_owned());
        let parts = [&self.from, &self.to, &self.text].into_iter().chain(&self.there).chain(&gone).chain(&link);
        FileHash::of(parts.map(|part| format!("{}:{part}", part.len())).collect::<String>().as_bytes())
    }
}

/// Where a file for strangers' text goes when its owner takes it over; none for any other path.
pub(super) fn taken_over(name: &str) -> Option<String> {
    let mut way = Path::new(name).strip_prefix(OUTSIDE).ok()?;
    // Below the workspace that name stands for the folder which the file leaves.
    while let Ok(below) = way.strip_prefix(OUTSIDE) {
        way = below;
    }
    let mut parts = way.components().peekable();
    let is_plain = parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| way.to_str().map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-060
    #[test]
    fn a_file_that_is_taken_over_leaves_the_folder_for_what_strangers_wrote() {
        let table = [
            ("outside/a/b.md", Some("a/b.md")),
            ("outside/outside/b.md", Some("b.md")),
            ("outside/outside", None),
            ("outside/../b.md", None),
            ("outside", None),
            ("b.md", None),
        ];
        for (name, to) in table {
            assert_eq!(taken_over(name).as_deref(), to, "{name}");
        }
    }
}
