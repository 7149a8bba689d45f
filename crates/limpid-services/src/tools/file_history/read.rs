//! What conversations have read of files, so that none writes over what it does not know.
//!
//! Each process knows what was read through it; what another one changes is seen by the bytes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use limpid_core::policy::{Followed, PathFacts};
use limpid_core::{ConversationId, Labelled, Sentence, Trust, sentence};
use limpid_store::FileContent;
use limpid_tools::echoed;
use limpid_tools::files::{self, Grants};

use super::entries::{content, of_text};
use crate::line_diff::line_diff;

/// Files that are remembered, over all conversations; the one that was looked at longest ago goes first.
const MOST: usize = 512;

/// Bytes of their texts that are kept; of the others it is known only whether they changed.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Lines of a difference that are shown.
const LINES: usize = 60;

/// Files as conversations know them.
#[derive(Default)]
pub(super) struct ReadFiles(Mutex<Known>);

#[derive(Default)]
struct Known {
    files: HashMap<(ConversationId, Followed), Version>,
    looks: u64,
}

struct Version {
    content: FileContent,
    look: u64,
}

impl Known {
    /// Lets go of the texts that were looked at longest ago, where all of them are too long.
    fn forget_texts(&mut self) {
        let length = |version: &Version| version.content.text.as_ref().map_or(0, String::len);
        let mut kept: usize = self.files.values().map(length).sum();
        while kept > MOST_BYTES {
            let texts = self.files.values_mut().filter(|version| version.content.text.is_some());
            let Some(oldest) = texts.min_by_key(|version| version.look) else { return };
            kept -= length(oldest);
            oldest.content.text = None;
        }
    }
}

impl ReadFiles {
    /// A conversation knows what a file held.
    pub(super) fn note(&self, conversation: &ConversationId, real: &Followed, content: FileContent) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.looks += 1;
        let look = known.looks;
        known.files.insert((conversation.clone(), real.clone()), Version { content, look });
        if known.files.len() > MOST
            && let Some(oldest) = known.files.iter().min_by_key(|(_, version)| version.look).map(|(key, _)| key.clone())
        {
            known.files.remove(&oldest);
        }
        known.forget_texts();
    }

    /// Whether a conversation knows what a file holds now.
    pub(super) fn is_known(&self, conversation: &ConversationId, real: &Followed) -> bool {
        let known = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.files.get(&(conversation.clone(), real.clone())).map(|version| version.content.hash)
        };
        // What nobody read is not looked at.
        known.is_some_and(|hash| look(real.as_path()).is_some_and(|now| now.hash == hash))
    }

    /// What a conversation is told of a file that it does not know as it is now; none where it does, or never read it. From then on it
    /// knows the file.
    pub(super) fn check(&self, conversation: &ConversationId, real: &Followed) -> Option<String> {
        let key = (conversation.clone(), real.clone());
        let before = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.files.get(&key).map(|version| version.content.clone())?
        };
        let now = look(real.as_path());
        if now.as_ref().map(|now| now.hash) == Some(before.hash) {
            return None;
        }
        let told = match (&before.text, now.as_ref().map(|now| now.text.as_ref())) {
            (_, None) => "it is gone; nothing was written".to_owned(),
            (Some(was), Some(Some(is_now))) => {
                format!("nothing was written; what is different now:\n{}", difference(was, is_now))
            }
            (_, Some(_)) => "nothing was written; read it again".to_owned(),
        };
        match now {
            Some(now) => self.note(conversation, real, now),
            None => drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).files.remove(&key)),
        }
        Some(told)
    }
}

/// Why a call may not write over a file, for the model: `told` is from [`ReadFiles::check`], `trust` the label of that read.
pub(super) fn changed(path: &PathFacts, told: String, trust: Trust) -> Sentence {
    let (name, told) = (echoed(path.written.clone()), Labelled::new(told, trust));
    sentence!("`{}` is not as you know it, somebody has changed it: {}", name, told)
}

/// What a file holds, as a conversation may come to know it; nothing where there is no file.
pub(super) fn look(real: &Path) -> Option<FileContent> {
    content(real).ok().flatten()
}

/// What a file holds that a call is about to read, as tools of files read it. Nothing where they refuse it: then no
/// conversation comes to know it, and a path that leads anywhere else costs nobody the time of a look.
pub(super) fn look_before_read(grants: &Grants, real: &Path) -> Option<FileContent> {
    files::text(grants, real.to_str()?).ok().map(of_text)
}

/// The lines that went and came, with a few around them.
fn difference(was: &str, is_now: &str) -> String {
    let whole = line_diff(was, is_now).unified_diff().context_radius(1).to_string();
    let lines: Vec<&str> = whole.lines().collect();
    let more = lines.len().saturating_sub(LINES);
    let rest = if more > 0 { format!("\n… and {more} more lines; read it again") } else { String::new() };
    format!("{}{rest}", lines.iter().take(LINES).copied().collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // LES-125
    #[test]
    fn a_file_that_changed_is_told_of_once_with_its_difference_and_only_to_whom_had_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let real = Followed::new(&path);
        let (one, other) = (ConversationId::new("one"), ConversationId::new("other"));
        let files = ReadFiles::default();
        std::fs::write(&path, "tea\ngreen\n").unwrap();
        files.note(&one, &real, look(&path).unwrap());
        assert_eq!(files.check(&one, &real), None);
        std::fs::write(&path, "tea\nblack\n").unwrap();
        assert_eq!(files.check(&other, &real), None);
        assert!(files.check(&one, &real).unwrap().contains("-green\n+black"));
        assert_eq!(files.check(&one, &real), None);
        std::fs::remove_file(&path).unwrap();
        assert!(files.check(&one, &real).unwrap().contains("it is gone"));
        assert_eq!(files.check(&one, &real), None);
    }

    // SEC-093 SEC-042
    #[test]
    fn only_what_a_tool_reads_is_looked_at_before_a_call_reads_it() {
        let disk = tempfile::tempdir().unwrap();
        let at = |name: &str| disk.path().join(name);
        std::fs::create_dir_all(at("workspace/folder")).unwrap();
        std::fs::write(at("workspace/a.md"), "tea\n").unwrap();
        std::fs::write(at("workspace/long.txt"), "tea\n".repeat(100_000)).unwrap();
        std::fs::File::create(at("workspace/film.mp4")).unwrap().set_len(9 * 1024 * 1024).unwrap();
        std::fs::write(at("diary.md"), "dear diary\n").unwrap();
        let grants = Grants::new(at("workspace"), at("locks"));
        let seen = |path: &Path| look_before_read(&grants, path);
        for name in ["workspace/a.md", "workspace/long.txt"] {
            assert_eq!(seen(&at(name)), look(&at(name)), "{name}: as it is looked at afterwards");
        }
        assert!(seen(&at("workspace/long.txt")).is_some_and(|content| content.text.is_none()));
        for name in ["workspace/film.mp4", "workspace/folder", "workspace/none.md", "diary.md"] {
            assert_eq!(seen(&at(name)), None, "{name}");
        }
        assert_eq!(seen(Path::new("/proc/self/pagemap")), None);
        #[cfg(unix)]
        {
            let _socket = std::os::unix::net::UnixListener::bind(at("workspace/socket")).unwrap();
            assert_eq!(seen(&at("workspace/socket")), None);
        }
    }

    // LES-125
    #[test]
    fn few_files_are_remembered_and_few_lines_shown() {
        let files = ReadFiles::default();
        let real = Followed::new(Path::new("/a"));
        for at in 0..MOST + 10 {
            files.note(&ConversationId::new(at.to_string()), &real, FileContent::text("tea"));
        }
        assert_eq!(files.0.lock().unwrap().files.len(), MOST);
        let large = FileContent::text("é".repeat(100_000));
        (0..MOST).for_each(|at| files.note(&ConversationId::new(at.to_string()), &real, large.clone()));
        let known = files.0.lock().unwrap();
        let texts: usize =
            known.files.values().filter_map(|version| version.content.text.as_ref().map(String::len)).sum();
        assert!(texts <= MOST_BYTES && texts > MOST_BYTES - 400_000 && known.files.len() == MOST, "{texts}");
        let long = |word: &str| format!("{word}\n").repeat(5000);
        let shown = difference(&long("a"), &long("b"));
        assert!(shown.lines().count() == LINES + 1 && shown.ends_with("read it again"), "{shown}");
    }
}
