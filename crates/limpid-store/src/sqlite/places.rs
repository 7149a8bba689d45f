//! Where files lie: one in a folder of the home is kept by the folder's name and the way below it. So what is known of a file, and that
//! it waits for its owner, goes with a home or a folder of it that is moved, copied or seen under another path.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::failure::Outcome;

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
}

/// Where a folder lies, or would. What is not UTF-8 in its path is replaced, as in every path that is kept.
fn real(folder: &Path) -> PathBuf {
    let beside = || Some(folder.parent()?.canonicalize().ok()?.join(folder.file_name()?));
    let real = folder.canonicalize().ok().or_else(beside).unwrap_or_else(|| folder.to_owned());
    real.display().to_string().into()
}

/// Gives every file its place whose whole path an older version kept, or whose folder is a link into another of them by now. A second
/// process that does the same finds nothing left to do.
pub(super) fn give_places(connection: &mut Connection, places: &Places) -> Outcome<()> {
    let mut moved = Vec::new();
    for (table, column) in TABLES {
        let mut paths = connection.prepare(&format!("SELECT DISTINCT {column} FROM {table}"))?;
        for path in paths.query_map([], |row| row.get::<_, String>(0))? {
            // What cannot be read is told of where it is asked for.
            let Ok(path) = path else { continue };
            let kept = places.kept(&places.path(&path));
            if kept != path {
                moved.push(((table, column), path, kept));
            }
        }
    }
    let mut runs = Vec::new();
    {
        let mut folders = connection.prepare("SELECT id, folders FROM program_run")?;
        for run in folders.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))? {
            let Ok((id, json)) = run else { continue };
            let Ok(folders) = serde_json::from_str::<Vec<String>>(&json) else { continue };
            let kept: Vec<String> = folders.iter().map(|folder| places.kept(&places.path(folder))).collect();
            if kept != folders {
                runs.push((id, serde_json::Value::from(kept).to_string()));
            }
        }
    }
    if moved.is_empty() && runs.is_empty() {
        return Ok(());
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for ((table, column), path, kept) in moved {
        // Where both are there, both are asked.
        tx.execute(&format!("UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?"), (kept, path))?;
    }
    for (id, folders) in runs {
        tx.execute("UPDATE program_run SET folders = ? WHERE id = ?", (folders, id))?;
    }
    Ok(tx.commit()?)
}

#[cfg(test)]
mod tests;
