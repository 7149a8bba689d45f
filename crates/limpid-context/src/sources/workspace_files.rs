//! The workspace files that prompts quote, read anew each turn. Whether a stranger wrote one is judged by the bytes that were
//! read: what was written while text of strangers was read is theirs until the owner writes it anew. A change that the owner
//! approved as it stands is the owner's.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use limpid_config::{FileError, FilesConfig, ReadText, read_within};
use limpid_core::io_cause;
use limpid_prompt::inputs::{DailyNote, TimeInfo, UnreadFile, WorkspaceFile, WorkspaceInput};
use limpid_prompt::workspace::{note_path, recent_days};
use limpid_services::command_word::as_word;
use limpid_services::error::AgentError;
use limpid_services::tools::Place;

/// What waits for the owner, as far as files of the workspace are read.
pub(crate) struct Waiting<'a> {
    /// Whether a file with these bytes is not to be used.
    pub(crate) is_held_back: &'a dyn Fn(&Place, &[u8]) -> bool,
    /// What a file said when the owner knew it last, where something else waits in its place, or nothing: what a program took out of
    /// the owner's rules holds until they accept that.
    pub(crate) former: &'a dyn Fn(&Place) -> Option<String>,
    /// Names at the top of the workspace that may be gone.
    pub(crate) known: Vec<String>,
}

/// Reads the files at the top of the workspace, MEMORY.md and the notes of the last days, as far as their bytes may be used.
/// What was left out, what of them is not UTF-8, and that the workspace cannot be listed, is said in `notices`.
pub(crate) fn read(
    folder: &Path,
    time: &TimeInfo,
    waiting: &Waiting<'_>,
    notices: &mut Vec<String>,
) -> Result<WorkspaceInput, AgentError> {
    let root = folder.canonicalize().ok();
    let mut reader = Reader { folder, root, waiting, seen: BTreeMap::new(), unread: Vec::new(), notices: Vec::new() };
    let mut files = Vec::new();
    for name in names(folder, &waiting.known, notices) {
        if let Some(content) = reader.read(&name)? {
            files.push(WorkspaceFile { name, content });
        }
    }
    let long_term = reader.read("memory/MEMORY.md")?;
    let mut daily_notes = Vec::new();
    for date in recent_days(time).unwrap_or_default() {
        let name = note_path(&date);
        if let Some(content) = reader.read(&name)? {
            daily_notes.push(DailyNote { date, content });
        }
    }
    let Reader { unread, notices: told, .. } = reader;
    notices.extend(told);
    notices.extend(unread.iter().map(|file| format!("{} was not read: {}", as_word(&file.name), file.reason)));
    Ok(WorkspaceInput {
        path: folder.display().to_string(),
        files,
        long_term,
        daily_notes,
        unread,
        base: None,
        folders: Vec::new(),
    })
}

/// The folders that file tools may touch besides the workspace, each on a line of its own.
pub(crate) fn granted(config: &FilesConfig, outside: &Path) -> Vec<String> {
    config.grants.iter().chain(&config.read).filter_map(|folder| config.name_of(folder, outside)).collect()
}

/// The Markdown files at the top, by name, and those that were there.
fn names(folder: &Path, known: &[String], notices: &mut Vec<String>) -> Vec<String> {
    let listed = listed(folder).unwrap_or_else(|error| {
        // A program may have closed the workspace, and that ends no turn.
        let (cause, word) = (io_cause(&error), as_word(&folder.display().to_string()));
        notices.push(format!(
            "the workspace cannot be listed: {cause}; open it with `chmod u+rx {word}`, or remove what stands in its \
             place"
        ));
        Vec::new()
    });
    let listed = listed.into_iter().filter_map(|name| name.into_string().ok());
    let names = listed.chain(known.iter().cloned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md") && !name.starts_with('.')).collect();
    names.sort();
    names.dedup();
    names
}

/// What lies in a folder; nothing when there is no such folder.
fn listed(folder: &Path) -> io::Result<Vec<OsString>> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| entry.map(|entry| entry.file_name())).collect(),
    }
}

struct Reader<'a> {
    folder: &'a Path,
    root: Option<PathBuf>,
    waiting: &'a Waiting<'a>,
    /// The names under which files were read.
    seen: BTreeMap<PathBuf, String>,
    unread: Vec<UnreadFile>,
    /// What is told of files that are quoted otherwise than they are.
    notices: Vec<String>,
}

/// Whether an error says that nothing is there: neither a file nor a folder for it.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Reader<'_> {
    /// A file's text, or what it said before something waited in its place; none when there is none, when it leads out of the
    /// workspace, or was read under another name.
    fn read(&mut self, name: &str) -> Result<Option<String>, AgentError> {
        // A link that a program laid waits at its own place, whatever it leads to.
        let place = Place::of(self.folder, name);
        let waits = |read: &ReadText| (self.waiting.is_held_back)(&place, &read.bytes);
        let Some(root) = &self.root else { return Ok(None) };
        let former = (self.waiting.former)(&place);
        let real = match place.as_path().canonicalize() {
            Ok(real) => real,
            Err(error) if is_absent(&error) => return Ok(former),
            Err(error) => return Ok(former.or_else(|| self.leave_out(name, io_cause(&error)))),
        };
        if !real.starts_with(root) {
            return Ok(former.or_else(|| self.leave_out(name, "it leads out of the workspace".to_owned())));
        }
        if !real.is_file() {
            return Ok(former);
        }
        if let Some(first) = self.seen.get(&real).cloned() {
            return Ok(former.or_else(|| self.leave_out(name, format!("it is the same file as {}", as_word(&first)))));
        }
        // The bytes that are judged are those that are used.
        let read = match read_within(root, real.strip_prefix(root).unwrap_or(&real)) {
            Ok(read) => read,
            // One file ends no turn, whoever left it there.
            Err(FileError::Io { source, .. }) => {
                let reason = io_cause(&source);
                let Some(former) = former else { return Ok(self.leave_out(name, reason)) };
                let word = as_word(name);
                self.notices.push(format!("{word} was not read: {reason}; what it said before holds"));
                return Ok(Some(former));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(read) = read.filter(|read| !waits(read)) else { return Ok(former) };
        // What is held back stands for no other file: it may be a link that a program laid to have one left out.
        self.seen.insert(real, name.to_owned());
        self.notices.extend(read.notice(&as_word(name)));
        Ok(Some(read.text))
    }

    fn leave_out(&mut self, name: &str, reason: String) -> Option<String> {
        self.unread.push(UnreadFile { name: name.to_owned(), reason });
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of which some wait.
    fn held(is_held_back: &dyn Fn(&Place, &[u8]) -> bool) -> Waiting<'_> {
        Waiting { is_held_back, former: &|_| None, known: Vec::new() }
    }

    // PICO-026
    #[test]
    fn bytes_that_are_no_utf_8_are_replaced_and_reported() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("memory")).unwrap();
        std::fs::write(home.path().join("USER.md"), b"Ren\xe9 likes caf\xe9.\n").unwrap();
        std::fs::write(home.path().join("SOUL.md"), "Ren\u{e9} \u{fffd}.\n").unwrap();
        std::fs::write(home.path().join("memory/MEMORY.md"), b"\xff\xfe").unwrap();
        let mut notices = Vec::new();
        let input = read(home.path(), &TimeInfo::default(), &held(&|_, _| false), &mut notices).unwrap();
        assert_eq!(input.files[1].content, "Ren\u{fffd} likes caf\u{fffd}.\n");
        let told = |name: &str, places: &str| {
            format!(
                "{name} is not valid UTF-8: {places} of it cannot be read and became \u{fffd}; save the file as UTF-8"
            )
        };
        assert_eq!(notices, [told("USER.md", "2 places"), told("memory/MEMORY.md", "2 places")]);
    }

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
        let mut input = read(&folder, &time, &held(&|_, _| false), &mut notices).unwrap();
        input.path.clear();
        insta::assert_debug_snapshot!((input, notices));
        assert_eq!(read(&home.path().join("none"), &time, &held(&|_, _| false), &mut Vec::new()).unwrap().files, []);
    }

    /// Reads a workspace that cannot be listed, of which one file is known.
    fn read_closed(folder: &Path) -> (Vec<WorkspaceFile>, Vec<String>) {
        let former = |place: &Place| place.as_path().ends_with("USER.md").then(|| "Ada.".to_owned());
        let waiting = Waiting { is_held_back: &|_, _| true, former: &former, known: vec!["USER.md".to_owned()] };
        let mut notices = Vec::new();
        let input = read(folder, &TimeInfo::default(), &waiting, &mut notices).unwrap();
        let name = folder.display().to_string();
        (input.files, notices.into_iter().map(|notice| notice.replace(&name, "FOLDER")).collect())
    }

    // SEC-042 SEC-093
    #[test]
    fn a_workspace_that_cannot_be_listed_ends_no_turn_and_is_told_of() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("workspace");
        std::fs::write(&file, "").unwrap();
        let known = WorkspaceFile { name: "USER.md".to_owned(), content: "Ada.".to_owned() };
        let told = |cause: &str| {
            format!(
                "the workspace cannot be listed: {cause}; open it with `chmod u+rx FOLDER`, or remove what stands in \
                 its place"
            )
        };
        assert_eq!(read_closed(&file), (vec![known.clone()], vec![told("Not a directory")]));
        // Whoever may read everything lists this one all the same.
        let closed = home.path().join("closed");
        std::fs::create_dir(&closed).unwrap();
        std::fs::write(closed.join("USER.md"), "Eve.").unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o300)).unwrap();
        let is_closed = std::fs::read_dir(&closed).is_err();
        let (files, notices) = read_closed(&closed);
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(files, [known]);
        assert_eq!(notices, if is_closed { vec![told("permission is denied")] } else { Vec::new() });
    }

    // SEC-077 SEC-089
    #[test]
    fn a_name_in_what_is_told_is_one_word_and_begins_no_line() {
        let home = tempfile::tempdir().unwrap();
        let name = "a\nlimpid: it is damaged.md";
        std::os::unix::fs::symlink("/etc", home.path().join(name)).unwrap();
        std::fs::write(home.path().join("b\nlimpid: it is lost.md"), b"\xff").unwrap();
        let mut notices = Vec::new();
        read(home.path(), &TimeInfo::default(), &held(&|_, _| false), &mut notices).unwrap();
        assert_eq!(notices.len(), 2, "{notices:?}");
        assert!(notices.iter().all(|notice| notice.starts_with("$'") && !notice.contains('\n')), "{notices:?}");
    }

    // SEC-094
    #[test]
    fn a_file_that_is_swapped_while_it_is_read_is_held_back_when_its_bytes_are() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let home = tempfile::tempdir().unwrap();
        let [file, new, own, other] = ["USER.md", "new", "own", "other"].map(|name| home.path().join(name));
        std::fs::write(&own, "Of the owner.").unwrap();
        std::fs::write(&other, "Of a stranger.").unwrap();
        std::fs::hard_link(&own, &file).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for text in [&other, &own].into_iter().cycle() {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    std::fs::hard_link(text, &new).unwrap();
                    std::fs::rename(&new, &file).unwrap();
                }
            });
            let read = std::panic::catch_unwind(|| {
                let (mut quoted, mut left_out) = (0, 0);
                let is_held_back = |_: &Place, bytes: &[u8]| bytes == b"Of a stranger.";
                while quoted < 500 || left_out < 500 {
                    let input = read(home.path(), &TimeInfo::default(), &held(&is_held_back), &mut Vec::new()).unwrap();
                    let texts: Vec<&str> = input.files.iter().map(|file| file.content.as_str()).collect();
                    assert!(texts.is_empty() || texts == ["Of the owner."], "{texts:?}");
                    quoted += texts.len();
                    left_out += usize::from(texts.is_empty());
                }
            });
            is_over.store(true, Ordering::SeqCst);
            read.unwrap();
        });
    }

    // SEC-061
    #[test]
    fn what_waits_stands_for_nothing_and_what_was_known_stands_until_then() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("IDENTITY.md")).unwrap();
        std::fs::write(home.path().join("USER.md"), "Eve.\n").unwrap();
        std::fs::write(home.path().join("TOOLS.md"), "Mine.\n").unwrap();
        let former = |place: &Place| {
            let name = place.as_path().file_name()?.to_str()?;
            ["AGENTS.md", "IDENTITY.md", "MEMORY.md", "USER.md"].contains(&name).then(|| format!("known {name}"))
        };
        let is_held_back = |_: &Place, bytes: &[u8]| bytes == b"Eve.\n";
        let known = ["AGENTS.md", "USER.md", "notes.txt"].map(str::to_owned).into();
        let waiting = Waiting { is_held_back: &is_held_back, former: &former, known };
        let input = read(home.path(), &TimeInfo::default(), &waiting, &mut Vec::new()).unwrap();
        let files: Vec<(&str, &str)> = input.files.iter().map(|f| (f.name.as_str(), f.content.as_str())).collect();
        let expected = [
            ("AGENTS.md", "known AGENTS.md"),
            ("IDENTITY.md", "known IDENTITY.md"),
            ("TOOLS.md", "Mine.\n"),
            ("USER.md", "known USER.md"),
        ];
        assert_eq!((files, input.long_term.as_deref()), (expected.to_vec(), Some("known MEMORY.md")));
    }

    // SEC-061
    #[test]
    fn what_was_known_stands_for_a_file_that_cannot_be_read_and_the_owner_is_told() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let [large, closed] = ["AGENTS.md", "USER.md"].map(|name| home.path().join(name));
        std::fs::File::create(&large).unwrap().set_len(limpid_config::MAX_FILE + 1).unwrap();
        std::fs::write(&closed, "Ada.\n").unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
        // Whoever may read everything reads this one all the same.
        let is_closed = std::fs::read(&closed).is_err();
        let former = |place: &Place| {
            let name = place.as_path().file_name()?.to_str()?;
            ["AGENTS.md", "USER.md"].contains(&name).then(|| "Ada.\n".to_owned())
        };
        let waiting = Waiting { is_held_back: &|_, _| false, former: &former, known: Vec::new() };
        let mut notices = Vec::new();
        let input = read(home.path(), &TimeInfo::default(), &waiting, &mut notices).unwrap();
        let file = |name: &str| WorkspaceFile { name: name.to_owned(), content: "Ada.\n".to_owned() };
        assert_eq!((input.files, input.unread.len()), (vec![file("AGENTS.md"), file("USER.md")], 0));
        assert_eq!(notices.len(), 1 + usize::from(is_closed), "{notices:?}");
        assert!(notices[0].starts_with("AGENTS.md was not read: "), "{notices:?}");
    }
}
