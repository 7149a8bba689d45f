//! What stands at a place: what a file holds, or where a link leads.

use std::path::{Path, PathBuf};

use limpid_config::without_links::{Standing, standing};
use limpid_store::{FileContent, FileHash, ProgramRun, WaitingFile};

use super::opened::OpenedFile;
use crate::tools::policy::real;

/// How the text begins that stands for a link.
const LINK: &str = "a link to ";

/// Whether a content stands for a link: its hash is no hash of what is shown of it.
pub(super) fn is_link(content: &FileContent) -> bool {
    content.text.as_ref().is_some_and(|text| text.starts_with(LINK) && FileHash::of(text.as_bytes()) != content.hash)
}

/// Where a link leads by the content that stands for it; none for a file, and where its target is no text.
pub(super) fn link_target(content: &FileContent) -> Option<PathBuf> {
    let target = content.text.as_deref()?.strip_prefix(LINK)?.strip_suffix('\n')?;
    (link_hash(target.as_bytes()) == content.hash).then(|| target.into())
}

/// Whether the folder of a place is reached over a link.
fn is_behind_link(place: &Path) -> bool {
    place.parent().is_some_and(|folder| real(folder) != folder)
}

/// What a file holds, or where a link leads that stands at a place itself. Nothing is at a place behind a link: what
/// is reached there is at another one, also where it holds the same.
pub(super) fn entry(place: &Path) -> std::io::Result<Option<FileContent>> {
    if is_behind_link(place) { Ok(None) } else { own_entry(place) }
}

/// The same for a place whose folder is known to have every link followed.
pub(super) fn own_entry(place: &Path) -> std::io::Result<Option<FileContent>> {
    Ok(match standing(place)? {
        Some(Standing::Link(target)) => {
            let hash = link_hash(target.as_os_str().as_encoded_bytes());
            Some(FileContent { hash, text: Some(format!("{LINK}{}\n", target.display())) })
        }
        Some(Standing::File(file)) => Some(of_file(OpenedFile::of(file).content()?)),
        None => None,
    })
}

/// The hash of what stands at a place itself, as [`entry`] has it: its text is not held.
pub(super) fn entry_hash(place: &Path) -> std::io::Result<Option<FileHash>> {
    if is_behind_link(place) { Ok(None) } else { own_entry_hash(place) }
}

/// The same for a place whose folder is known to have every link followed.
pub(super) fn own_entry_hash(place: &Path) -> std::io::Result<Option<FileHash>> {
    Ok(match standing(place)? {
        Some(Standing::Link(target)) => Some(link_hash(target.as_os_str().as_encoded_bytes())),
        Some(Standing::File(file)) => Some(OpenedFile::of(file).hash()?),
        None => None,
    })
}

/// The hash of a link: that of its target, bit by bit the reverse. Whoever wants a file that has it has to break SHA-256.
fn link_hash(target: &[u8]) -> FileHash {
    FileHash(FileHash::of(target).0.map(|byte| !byte))
}

/// A file's content as it is written down: of one that reads as a link did in older versions no text is kept, so that the two
/// are told apart.
pub(super) fn of_file(content: FileContent) -> FileContent {
    let is_like_link = former_target(&content).is_some();
    FileContent { text: content.text.filter(|_| !is_like_link), ..content }
}

/// What was written down, as this version writes it: older ones wrote a link down as the file that says where it leads.
pub(super) fn of_row(content: FileContent) -> FileContent {
    let link = former_target(&content).map(|target| link_hash(target.as_bytes()));
    FileContent { hash: link.unwrap_or(content.hash), ..content }
}

/// A file that waits, as this version writes it down.
pub(super) fn of_waiting(waiting: WaitingFile) -> WaitingFile {
    WaitingFile { before: waiting.before.map(of_row), ..waiting }
}

/// A program that runs, as this version writes it down.
pub(super) fn of_run(mut run: ProgramRun) -> ProgramRun {
    run.new.files = run.new.files.into_iter().map(|(path, content)| (path, of_row(content))).collect();
    run
}

/// Where a link led that an older version wrote down; none for what is no such link.
fn former_target(content: &FileContent) -> Option<&str> {
    let text = content.text.as_deref()?;
    let target = text.strip_prefix(LINK)?.strip_suffix('\n')?;
    (!target.contains('\n') && FileHash::of(text.as_bytes()) == content.hash).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-061
    #[cfg(unix)]
    #[test]
    fn no_file_is_a_link_and_a_link_that_an_older_version_wrote_down_is_the_same_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().canonicalize().unwrap().join(path);
        let [link, file] = ["link", "file"].map(at);
        std::os::unix::fs::symlink("CLAUDE.md", &link).unwrap();
        let now = entry(&link).unwrap().unwrap();
        assert_eq!((now.text.as_deref(), is_link(&now)), (Some("a link to CLAUDE.md\n"), true));
        assert_eq!(link_target(&now), Some("CLAUDE.md".into()));
        for text in ["a link to CLAUDE.md\n", "CLAUDE.md"] {
            std::fs::write(&file, text).unwrap();
            let there = entry(&file).unwrap().unwrap();
            assert_ne!(there.hash, now.hash, "{text}");
            assert_eq!((link_target(&there), is_link(&there)), (None, false), "{text}");
            assert_eq!(of_row(there.clone()), there, "{text}");
        }
        assert_eq!(of_row(FileContent::text("a link to CLAUDE.md\n")), now);
        assert_eq!(of_row(now.clone()), now);
        let rules = FileContent::text("a link to our rules is kept\nBe kind.\n");
        assert_eq!((of_row(rules.clone()), of_file(rules.clone())), (rules.clone(), rules));
    }

    // SEC-061
    #[cfg(unix)]
    #[test]
    fn nothing_is_at_a_place_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().canonicalize().unwrap().join(path);
        std::fs::create_dir(at("docs")).unwrap();
        std::fs::write(at("docs/rules.md"), "Be kind.\n").unwrap();
        std::os::unix::fs::symlink("rules.md", at("docs/link.md")).unwrap();
        std::os::unix::fs::symlink("docs", at("conf")).unwrap();
        let is_there = |path: &str| entry(&at(path)).unwrap().is_some();
        let there = ["docs/rules.md", "docs/link.md", "conf", "conf/rules.md", "conf/link.md"].map(is_there);
        assert_eq!(there, [true, true, true, false, false]);
    }
}
