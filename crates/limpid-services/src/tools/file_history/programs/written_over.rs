//! What programs write over of which the store has no text: what tools wrote where strangers' text is kept, and
//! instructions that are large or no UTF-8.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use limpid_config::MAX_FILE;
use limpid_core::Trust;
use limpid_store::{FileChangeEnd, FileContent, NewFileVersion, ProgramRun, file_key, path_of_key};

use super::ProgramWatch;
use crate::error::AgentError;
use crate::tools::builtin::OUTSIDE;
use crate::tools::file_history::disk::on_disk;
use crate::tools::file_history::opened::{OpenedFile, hash_of};
use crate::tools::policy::real;

/// Files that tools wrote where strangers' text is kept, and bytes of all of them, up to which programs cannot write over them
/// for good: the newest. Those that a stranger's text led to have as many of their own, so that they push out none of the owner's.
const MOST_WRITTEN: u32 = 2000;
const MOST_BYTES_WRITTEN: u64 = 16 * 1024 * 1024;

/// Bytes up to which such instructions are kept, all of them together: the smallest.
const MOST_BYTES_INSTRUCTING: u64 = 16 * 1024 * 1024;

/// Where a change comes from that a program made.
const PROGRAM: &str = "program";

/// Those of the files that instruct the agent of which the store has no text, though prompts read them: what they said
/// holds while what a program made of them waits.
fn without_text(instructing: &BTreeMap<String, FileContent>) -> BTreeMap<String, FileContent> {
    let sized = |(key, content): (&String, &FileContent)| {
        let bytes = path_of_key(key).symlink_metadata().ok()?.len();
        (content.text.is_none() && bytes <= MAX_FILE).then(|| (bytes, key.clone(), content.clone()))
    };
    let mut sized: Vec<(u64, String, FileContent)> = instructing.iter().filter_map(sized).collect();
    // Instructions are short, and beside them skills may have pictures and archives.
    sized.sort_by_key(|(bytes, ..)| *bytes);
    let mut left = MOST_BYTES_INSTRUCTING;
    let mut kept = BTreeMap::new();
    for (bytes, key, content) in sized {
        let Some(rest) = left.checked_sub(bytes) else { break };
        left = rest;
        kept.insert(key, content);
    }
    kept
}

impl ProgramWatch {
    /// What the files hold that tools wrote where strangers' text is kept: whatever may run there can write over them.
    pub(super) async fn written(&self) -> Result<BTreeMap<String, FileContent>, AgentError> {
        let mut sides: Vec<Vec<PathBuf>> = Vec::new();
        for is_foreign in [false, true] {
            let names = self.memory.database().files_below(&format!("{OUTSIDE}/"), is_foreign, MOST_WRITTEN).await?;
            sides.push(names.iter().map(|name| self.names.place(name)).collect());
        }
        on_disk(move || {
            let mut files = BTreeMap::new();
            for paths in sides {
                let mut left = MOST_BYTES_WRITTEN;
                for path in paths {
                    // What is no file any more, or lies behind a link by now, is none that a tool wrote.
                    let Ok(Some(file)) = OpenedFile::at(&path) else { continue };
                    if let Some(rest) = left.checked_sub(file.bytes())
                        && let Ok(hash) = file.hash()
                    {
                        left = rest;
                        files.insert(file_key(&path), FileContent::bytes(hash));
                    }
                }
            }
            Ok(files)
        })
        .await
    }

    /// Keeps what such files hold, and instructions of which the store has no text, so that it can be had back.
    pub(super) async fn keep(
        &self,
        written: BTreeMap<String, FileContent>,
        instructing: BTreeMap<String, FileContent>,
    ) -> Result<(), AgentError> {
        let kept = self.kept.clone();
        on_disk(move || {
            for (key, content) in written.into_iter().chain(without_text(&instructing)) {
                let path = path_of_key(&key);
                if let Err(error) = kept.keep_at(&path, content.hash)
                    // Whoever has changed it since keeps what it held.
                    && hash_of(&path).is_ok_and(|now| now == Some(content.hash))
                {
                    return Err(AgentError::file(path)(error));
                }
            }
            Ok(())
        })
        .await
    }

    /// Writes down what a program wrote over that a tool had written, so that it can be undone.
    pub(super) async fn note_written_over(&self, run: &ProgramRun, now_ms: i64) -> Result<(), AgentError> {
        let database = self.memory.database();
        // Older versions wrote down where it lies with the links on the way to the home.
        let outsides = [real(&self.home.outside()), self.home.outside()];
        let outside = |path: &Path| {
            let way = outsides.iter().find_map(|outside| path.strip_prefix(outside).ok())?;
            Some(outsides[0].join(way))
        };
        let files = run.new.files.iter().map(|(key, before)| Some((outside(&path_of_key(key))?, before.clone())));
        let files: Vec<_> = files.flatten().collect();
        // What cannot be read is another content, as what is gone.
        let now = |(path, before): (PathBuf, FileContent)| (hash_of(&path).ok().flatten(), path, before);
        for (now, path, before) in on_disk(move || Ok(files.into_iter().map(now).collect::<Vec<_>>())).await? {
            let way = path.strip_prefix(&outsides[0]).unwrap_or(&path);
            let name = Path::new(OUTSIDE).join(way).display().to_string();
            let newest = database.newest_file_version(&name).await?.filter(|change| change.at_ms >= run.new.now_ms);
            // A tool that wrote it meanwhile has said so itself.
            let before = newest.map_or(Some(before), |change| change.after);
            let after = now.map(FileContent::bytes);
            if before.as_ref().map(|content| content.hash) == now {
                continue;
            }
            let new = NewFileVersion {
                path: name,
                undoes: None,
                before: before.clone(),
                trust: Trust::Outside,
                source: PROGRAM.to_owned(),
                conversation: None,
                tool: Some(run.new.tool.clone()),
                now_ms,
            };
            let id = database.begin_file_change(new).await?;
            database.end_file_change(id, FileChangeEnd { before, after, author: None }).await?;
        }
        Ok(())
    }
}
