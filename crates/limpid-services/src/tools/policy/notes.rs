//! Where notes lie that a turn with a stranger's text in it writes unasked: in a folder of their own, in which no project is, and under
//! names that no tool looks for. So it needs no list of names that a tool of some project acts on.

use std::path::{Path, PathBuf};

/// The folder for notes in the one for strangers' text.
const FOLDER: &str = "notes";

/// The endings of notes and tables, and those that they get. Tests of Python's, requirements of pip's and settings of compilers end in
/// `txt`, so no note does.
const ENDINGS: [(&str, &str); 6] =
    [("csv", "csv"), ("log", "md"), ("markdown", "md"), ("md", "md"), ("tsv", "tsv"), ("txt", "md")];

/// Where a note or a table goes that is to lie at a way in a folder: below `notes/`, or beside that where its name begins with the same
/// word. None for what is neither.
pub(super) fn note_way(way: &Path) -> Option<PathBuf> {
    let ending = way.extension()?.to_str()?.to_lowercase();
    let (_, ending) = ENDINGS.iter().find(|(named, _)| *named == ending)?;
    let name = format!("{}.{ending}", plain(way.file_stem()?.to_str()?));
    let mut parts = Vec::new();
    for folder in way.parent()?.components() {
        parts.push(plain(folder.as_os_str().to_str()?));
    }
    let is_named = parts.is_empty() && name.starts_with(FOLDER);
    let is_below = parts.first().is_some_and(|first| first == FOLDER);
    let folder = if is_named || is_below { "" } else { FOLDER };
    Some(Path::new(folder).join(parts.iter().collect::<PathBuf>()).join(name))
}

/// Whether a note or a table may be written at a way in the folder for strangers' text. One that is there already may also lie directly in
/// that folder.
pub(super) fn takes_notes(way: &Path, is_there: bool) -> bool {
    let is_direct = is_there && way.components().count() == 1;
    note_way(way).is_some_and(|note| note == way || (is_direct && note == Path::new(FOLDER).join(way)))
}

/// A name of small letters, digits, `-` and `_`, which begins with a letter or a digit.
fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() && letter.to_lowercase().eq([letter]);
    let mut plain = String::new();
    for letter in name.to_lowercase().chars() {
        if is_plain(letter) || (letter == '_' && !plain.is_empty()) {
            plain.push(letter);
        } else if !plain.is_empty() && !plain.ends_with('-') {
            plain.push('-');
        }
    }
    plain.truncate(plain.trim_end_matches('-').len());
    if plain.is_empty() { "note".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // SEC-057 SEC-059
    #[test]
    fn notes_go_below_their_folder_under_plain_names() {
        let ways = [
            ("notes.md", "notes.md"),
            ("Notes 2026.03.txt", "notes-2026-03.md"),
            ("notes/a.md", "notes/a.md"),
            ("notes/Tea/b.csv", "notes/tea/b.csv"),
            ("hotels.md", "notes/hotels.md"),
            ("docs/Hotels in Köln.MD", "notes/docs/hotels-in-köln.md"),
            ("tool/CLAUDE.local.md", "notes/tool/claude-local.md"),
            ("tool/test_notes.txt", "notes/tool/test_notes.md"),
            (".github/copilot-instructions.md", "notes/github/copilot-instructions.md"),
            ("Заметки.log", "notes/заметки.md"),
            ("--.md", "notes/note.md"),
        ];
        for (way, note) in ways {
            assert_eq!(note_way(Path::new(way)).as_deref(), Some(Path::new(note)), "{way}");
        }
        for way in ["todo", "README", "Makefile", ".md", "a.html", "a.py", "a.json", "a.md.", "notes/todo"] {
            assert_eq!(note_way(Path::new(way)), None, "{way}");
        }
    }

    // SEC-057 SEC-059
    #[test]
    fn only_their_folder_takes_notes_and_beside_it_what_is_there_or_has_its_name() {
        for way in ["notes.md", "notes-2.csv", "notes/a.md", "notes/a/b.tsv"] {
            assert!(takes_notes(Path::new(way), false), "{way}");
        }
        assert!(takes_notes(Path::new("hotels.md"), true) && !takes_notes(Path::new("hotels.md"), false));
        let others = [
            "AGENTS.md",
            "QWEN.md",
            "CLAUDE.local.md",
            "requirements-dev.txt",
            "test_a.txt",
            "notes.txt",
            "todo",
            "tool/notes.md",
            "tool/README.md",
            "Notes/a.md",
            "notes/A.md",
            "notes/.a.md",
            "notes/.git/a.md",
            "notes/a.b.md",
            "notes/-a.md",
            "notes/a.txt",
        ];
        for (way, is_there) in others.iter().flat_map(|way| [(way, false), (way, true)]) {
            assert!(!takes_notes(Path::new(way), is_there), "{way} {is_there}");
        }
    }

    proptest! {
        // SEC-057 SEC-059
        #[test]
        fn whatever_a_note_is_called_it_goes_where_notes_may_lie(way in "([a-zA-Z.ßİſ _-]{0,6}/){0,2}[a-zA-Z0-9.İſé _-]{1,8}\\.(md|txt|CSV)") {
            prop_assume!(!way.starts_with('/'));
            let Some(note) = note_way(Path::new(&way)) else { return Ok(()) };
            prop_assert!(takes_notes(&note, false), "{} went to {}", way, note.display());
        }
    }
}
