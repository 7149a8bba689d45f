//! Files that an older version knew as strangers' by their bytes: those of the workspace get a place among strangers' files, and
//! those of granted folders wait where they are until the owner accepts them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use limpid_config::{Home, without_links};
use limpid_store::{FileChangeEnd, StoreError, WaitingFile, file_key};

use super::journal::{Journal, Watched, unchanged};
use super::opened::content;
use crate::error::AgentError;
use crate::memory::MemoryWriter;
use crate::tools::builtin::OUTSIDE;
use crate::tools::policy::{free_way, real};

/// What the owner is told to have changed such a file.
const CAUSE: &str = "a turn that had read a stranger's text";

/// Files of the folders that are looked at.
const LOOKED_AT: usize = 50_000;

/// Gives every file a place that has still bytes which a stranger had a part in, wherever it lies by now.
pub(super) async fn give_places(
    journal: &Journal,
    home: &Home,
    memory: &MemoryWriter,
    folders: &[PathBuf],
) -> Result<(), AgentError> {
    let database = memory.database();
    let labels = database.former_labels().await?;
    if labels.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<&str> = labels.iter().map(|label| label.hash.as_str()).collect();
    // A file without bytes was known by its path alone: its name is a stranger's text.
    let empty: BTreeSet<PathBuf> =
        labels.iter().filter(|label| label.hash.is_empty()).map(|label| real(Path::new(&label.path))).collect();
    let named = labels.iter().map(|label| real(Path::new(&label.path)));
    let files: BTreeSet<PathBuf> = named.chain(folders.iter().flat_map(|folder| below(folder))).collect();
    for file in files {
        // What cannot be read is read by nobody else here.
        let Ok(Some(now)) = content(&file) else { continue };
        if !known.contains(now.hash.to_string().as_str()) && !empty.contains(&file) {
            continue;
        }
        let is_moved = match file.strip_prefix(real(&home.workspace())) {
            Ok(way) => move_out(journal, home, memory, (&file, way)).await.is_ok(),
            Err(_) => file.starts_with(real(&home.outside())),
        };
        // One that cannot be moved, to another disk for instance, waits like those of granted folders.
        if !is_moved {
            let (path, at_ms) = (file_key(&file), memory.now_ms());
            let waiting = WaitingFile { path, before: None, cause: CAUSE.to_owned(), at_ms, told: None };
            database.wait_for_owner(waiting).await?;
        }
    }
    Ok(database.forget_former_labels().await?)
}

/// Every file below a folder; links are not followed.
fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() && found.len() < LOOKED_AT => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// Moves a file of the workspace to the place for strangers' text, as a change that can be undone.
async fn move_out(
    journal: &Journal,
    home: &Home,
    memory: &MemoryWriter,
    (file, way): (&Path, &Path),
) -> Result<(), AgentError> {
    let (by, outside) = (memory.owner("former label"), home.outside());
    let free = free_way(way, |way| outside.join(way).symlink_metadata().is_err()).ok_or_else(|| {
        StoreError::Unreachable { path: outside.clone(), detail: "it is full of files of that name".to_owned() }
    })?;
    let (from, to) = (way.display().to_string(), Path::new(OUTSIDE).join(&free).display().to_string());
    let target = real(&outside).join(&free);
    let there = journal.begin(&to, None, (None, None), &by).await?;
    let here = journal.begin(&from, None, (None, None), &by).await?;
    let moved = target.parent().map_or(Ok(()), std::fs::create_dir_all);
    let moved = moved.and_then(|()| without_links::rename(file, &target));
    let content = here.content.clone();
    for (Watched { content: before, begun }, after) in [(there, content), (here, None)] {
        let end = if moved.is_ok() { FileChangeEnd { before, after, author: None } } else { unchanged(before) };
        if let Some(begun) = begun {
            memory.database().end_file_change(begun, end).await?;
        }
    }
    moved.map_err(AgentError::file(file))
}
