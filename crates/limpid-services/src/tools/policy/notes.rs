//! Where notes lie that a turn with a stranger's text in it writes unasked: in a folder of their own, in which no project is, and under
//! names that no tool looks for. So it needs no list of names that a tool of some project acts on.

use std::path::{Path, PathBuf};

/// The folder for notes in the one for strangers' text.
const FOLDER: &str = "notes";

/// Folders that a note lies in at most, below the folder for notes.
const DEEPEST: usize = 4;

/// Letters that a name may have.
const LONGEST: usize = 60;

/// Letters that are kept of a longer one. What is left is for the number that it gets where there is one of that name.
const KEPT: usize = LONGEST - "-999".len();

/// The endings of notes and tables, and those that they get. Tests of Python's, requirements of pip's and settings of compilers end in
/// `txt`, so no note does.
const ENDINGS: [(&str, &str); 6] =
    [("csv", "csv"), ("log", "md"), ("markdown", "md"), ("md", "md"), ("tsv", "tsv"), ("txt", "md")];

/// Where a note or a table goes that is to lie at a way in a folder: below `notes/`, or beside that where its name begins with the same
/// word. The folders of a way that is too deep become one. None for what is neither.
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
    if !is_named && !is_below {
        parts.insert(0, FOLDER.to_owned());
    }
    if parts.len() > 1 + DEEPEST {
        let further = parts.split_off(DEEPEST).join("-");
        parts.push(cut(further));
    }
    Some(parts.iter().collect::<PathBuf>().join(name))
}

/// Whether a note or a table may be written at a way in the folder for strangers' text. One that is there already may also lie directly in
/// that folder.
pub(super) fn takes_notes(way: &Path, is_there: bool) -> bool {
    let is_direct = is_there && way.components().count() == 1;
    note_way(way).is_some_and(|note| note == way || (is_direct && note == Path::new(FOLDER).join(way)))
}

/// A name of small letters, digits, `-` and `_`, which begins with a letter or a digit and is not too long.
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
    if plain.is_empty() { "note".to_owned() } else { cut(plain) }
}

/// The beginning of a name that is too long.
fn cut(mut name: String) -> String {
    if name.chars().count() > LONGEST
        && let Some((end, _)) = name.char_indices().nth(KEPT)
    {
        name.truncate(end);
        name.truncate(name.trim_end_matches('-').len());
    }
    name
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

    // SEC-093 SEC-042
    #[test]
    fn no_note_lies_deep_or_has_a_long_name() {
        let way = |path: &str| note_way(Path::new(path)).unwrap().display().to_string();
        assert_eq!(way("notes/a/b/c/d/x.md"), "notes/a/b/c/d/x.md");
        assert_eq!(way("notes/a/b/c/d/e/f/x.md"), "notes/a/b/c/d-e-f/x.md");
        assert_eq!(way("Tea/a/b/c/D e/x.md"), "notes/tea/a/b/c-d-e/x.md");
        let long = |letter: &str, count: usize| letter.repeat(count);
        assert_eq!(way(&format!("{}x.md", long("a/", 2000))), format!("notes/a/a/a/{}a/x.md", long("a-", 27)));
        assert_eq!(way(&format!("notes/{}.md", long("é", 60))), format!("notes/{}.md", long("é", 60)));
        assert_eq!(way(&format!("notes/{}.md", long("é", 61))), format!("notes/{}.md", long("é", KEPT)));
        let most = ["notes/a/b/c/d/e/x.md".to_owned(), format!("notes/{}/x.md", long("a", 61))];
        for deep in most.iter().map(Path::new) {
            assert!(!takes_notes(deep, false) && !takes_notes(deep, true), "{}", deep.display());
        }
        let numbered = format!("notes/{}-999.md", long("a", KEPT));
        assert!(takes_notes(Path::new(&numbered), false), "the last of one name is a note as well");
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
        // SEC-057 SEC-059 SEC-093
        #[test]
        fn whatever_a_note_is_called_it_goes_where_notes_may_lie(way in "([a-zA-Z.ßİſ _-]{0,6}/){0,7}[a-zA-Z0-9.İſé _-]{1,8}\\.(md|txt|CSV)") {
            prop_assume!(!way.starts_with('/'));
            let Some(note) = note_way(Path::new(&way)) else { return Ok(()) };
            prop_assert!(takes_notes(&note, false), "{} went to {}", way, note.display());
            prop_assert!(note.components().count() <= 2 + DEEPEST, "{} went to {}", way, note.display());
        }
    }
}
