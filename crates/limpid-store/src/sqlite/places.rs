//! Where files lie: one in a folder of the home is kept by the folder's name and the way below it. So what is known of a file, and that
//! it waits for its owner, goes with a home or a folder of it that is moved, copied or seen under another path.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::failure::Outcome;
use crate::file_key::file_key;

/// What the place of such a file begins with. No path of a file does: with every link followed it has one `/` there.
const NAMED: &str = "//";

/// The tables of files, each with the column that holds a file's place.
const TABLES: [(&str, &str); 4] =
    [("waiting_file", "place"), ("known_content", "path"), ("program_run_file", "path"), ("file_change", "path")];

/// The folders of a home by names that never change, as they are reached.
#[derive(Clone, Debug, Default)]
pub(super) struct HomeFolders(pub(super) Vec<(&'static str, PathBuf)>);

/// Where these folders lie now, with every link followed; the innermost first.
#[derive(Clone, Debug)]
pub(super) struct Places(Vec<(&'static str, PathBuf)>);

impl HomeFolders {
    /// Looks up where they lie now: one of them may be moved while the program runs, with a link left behind.
    pub(super) fn now(&self) -> Places {
        let mut folders: Vec<_> = self.0.iter().map(|(name, folder)| (*name, real(folder))).collect();
        folders.sort_by_key(|(_, folder)| Reverse(folder.components().count()));
        Places(folders)
    }
}

impl Places {
    /// The place of a file by its path, as it is kept; every other name of a file is kept as it is.
    pub(super) fn kept(&self, path: &str) -> String {
        if path.starts_with(NAMED) {
            return path.to_owned();
        }
        let below = |(name, folder): &(&'static str, PathBuf)| {
            let way = Path::new(path).strip_prefix(folder).ok()?.display().to_string();
            Some(if way.is_empty() { format!("{NAMED}{name}") } else { format!("{NAMED}{name}/{way}") })
        };
        self.0.iter().find_map(below).unwrap_or_else(|| path.to_owned())
    }

    /// The path of a file by its place as it is kept.
    pub(super) fn path(&self, kept: &str) -> String {
        let Some(named) = kept.strip_prefix(NAMED) else { return kept.to_owned() };
        let (name, way) = named.split_once('/').unwrap_or((named, ""));
        match self.0.iter().find(|(folder, _)| *folder == name) {
            Some((_, folder)) if way.is_empty() => folder.display().to_string(),
            Some((_, folder)) => folder.join(way).display().to_string(),
            None => kept.to_owned(),
        }
    }

    /// Whether every folder is where it was.
    fn are_as(&self, were: &BTreeMap<String, PathBuf>) -> bool {
        were.len() == self.0.len() && self.0.iter().all(|(name, folder)| were.get(*name) == Some(folder))
    }

    /// The folders as of the last start, if exactly one of them was replaced by another one and is still there. Where a home was moved or
    /// copied, more than one is elsewhere.
    fn with_left(&self, were: &BTreeMap<String, PathBuf>) -> Self {
        let was = |(name, folder): &(&'static str, PathBuf)| {
            let was = were.get(*name).filter(|was| *was != folder)?;
            Some((*name, was.clone()))
        };
        let mut elsewhere = self.0.iter().filter_map(was);
        let (Some((left, was)), None) = (elsewhere.next(), elsewhere.next()) else { return self.clone() };
        let then = |(name, folder): &(&'static str, PathBuf)| {
            (*name, if *name == left && is_still_there(&was) { was.clone() } else { folder.clone() })
        };
        Self(self.0.iter().map(then).collect())
    }
}

/// Whether there is a folder at a path without links.
fn is_still_there(folder: &Path) -> bool {
    folder.canonicalize().is_ok_and(|real| real == *folder && real.is_dir())
}

/// Where a folder lies, or would, as the key of its path: that is what is kept of every path.
fn real(folder: &Path) -> PathBuf {
    let beside = || Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?));
    let real = folder.canonicalize().ok().or_else(beside).unwrap_or_else(|| folder.to_owned());
    file_key(&real).into()
}

/// Gives every file its place, where a folder lies elsewhere than when the store was opened last: one whose whole path an older version
/// kept, and one whose folder is a link into another of them by now. Those of a folder that its owner left for another one stay where
/// they are, so they go back to their whole paths. A second process that does the same finds nothing left to do.
pub(super) fn give_places(connection: &mut Connection, places: &Places) -> Outcome<()> {
    if places.are_as(&where_they_were(connection)?) {
        return Ok(());
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    let were = where_they_were(&tx)?;
    if places.are_as(&were) {
        return Ok(());
    }
    let then = places.with_left(&were);
    let moves = Moves::find(&tx, |kept| places.kept(&then.path(kept)))?;
    moves.carry_out(&tx)?;
    tx.execute("DELETE FROM home_folder", ())?;
    for (name, folder) in &places.0 {
        tx.execute("INSERT INTO home_folder (name, folder) VALUES (?, ?)", (name, folder.display().to_string()))?;
    }
    Ok(tx.commit()?)
}

/// Where the folders lay when the store was opened last; nothing is known of one that was not opened by this version.
fn where_they_were(connection: &Connection) -> Outcome<BTreeMap<String, PathBuf>> {
    let mut folders = connection.prepare("SELECT name, folder FROM home_folder")?;
    let folders = folders.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?.into())))?;
    Ok(folders.collect::<Result<_, _>>()?)
}

/// What is kept under another name than its place, found in full before anything is changed.
struct Moves {
    /// Table and column, what stands there, and the place.
    files: Vec<((&'static str, &'static str), String, String)>,
    /// Runs of programs by their number, and the places of their folders as JSON.
    runs: Vec<(i64, String)>,
}

impl Moves {
    fn find(connection: &Connection, place: impl Fn(&str) -> String) -> Outcome<Self> {
        let mut moves = Self { files: Vec::new(), runs: Vec::new() };
        for (table, column) in TABLES {
            let mut paths = connection.prepare(&format!("SELECT DISTINCT {column} FROM {table}"))?;
            // What cannot be read is told of where it is asked for.
            for path in paths.query_map([], |row| row.get::<_, String>(0))?.flatten() {
                let kept = place(&path);
                if kept != path {
                    moves.files.push(((table, column), path, kept));
                }
            }
        }
        let mut folders = connection.prepare("SELECT id, folders FROM program_run")?;
        for (id, json) in folders.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?.flatten() {
            let Ok(folders) = serde_json::from_str::<Vec<String>>(&json) else { continue };
            let kept: Vec<String> = folders.iter().map(|folder| place(folder)).collect();
            if kept != folders {
                moves.runs.push((id, serde_json::Value::from(kept).to_string()));
            }
        }
        Ok(moves)
    }

    fn carry_out(self, tx: &Transaction<'_>) -> Outcome<()> {
        for ((table, column), path, kept) in self.files {
            // Where both are there, both are asked.
            tx.execute(&format!("UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?"), (kept, path))?;
        }
        for (id, folders) in self.runs {
            tx.execute("UPDATE program_run SET folders = ? WHERE id = ?", (folders, id))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
