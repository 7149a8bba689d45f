//! Long texts that are the owner's: in this chat as they are, for later chats by their digests.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use limpid_config::regular_file;
use sha2::{Digest as _, Sha256};

/// Texts that are remembered: as many as lines of the history, and pieces of a chat.
const MOST: usize = 1000;

/// Bytes of their file at most: a digest and a line break each, and room to spare.
const BYTES: u64 = 1024 * 1024;

/// Long texts of the owner's.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// Whole, or a piece, of what was written in this chat.
    here: VecDeque<String>,
    /// Digests of lines, the newest last.
    lines: VecDeque<String>,
    known: HashSet<String>,
    file: Option<PathBuf>,
}

impl Own {
    /// Those of earlier chats; none where the file cannot be read.
    pub(super) fn read(file: &Path) -> Self {
        let text = regular_file::read_text(file, BYTES).unwrap_or_default();
        let all: Vec<&str> = text.lines().collect();
        let lines: VecDeque<String> =
            all[all.len().saturating_sub(MOST)..].iter().map(|line| (*line).to_owned()).collect();
        Self { here: VecDeque::new(), known: lines.iter().cloned().collect(), lines, file: Some(file.to_owned()) }
    }

    /// Whether a text is one of them.
    pub(super) fn has(&self, text: &str) -> bool {
        self.here.iter().any(|known| known == text) || self.known.contains(&digest(text))
    }

    /// A text of this chat.
    pub(super) fn note(&mut self, text: &str) {
        if limpid_core::pasted::is_long(text) && !self.here.iter().any(|known| known == text) {
            self.here.push_back(text.to_owned());
            if self.here.len() > MOST {
                self.here.pop_front();
            }
        }
    }

    /// A line that the history keeps. Where the file cannot be written, later chats take it for somebody else's.
    pub(super) fn keep(&mut self, line: &str) {
        self.note(line);
        let digest = digest(line);
        if !self.known.insert(digest.clone()) {
            return;
        }
        self.lines.push_back(digest);
        if self.lines.len() > MOST
            && let Some(oldest) = self.lines.pop_front()
        {
            self.known.remove(&oldest);
        }
        if let Some(file) = &self.file {
            let _ = fs::write(file, self.lines.iter().fold(String::new(), |all, line| all + line + "\n"));
        }
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
