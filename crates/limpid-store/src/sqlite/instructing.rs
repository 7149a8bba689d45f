//! Files that instruct the agent, and what the owner made their own.

use std::collections::BTreeMap;

use async_trait::async_trait;
use rusqlite::{Row, named_params};

use super::failure::Outcome;
use super::file_versions::keep;
use super::places::Places;
use super::row::{self, Read, Unreadable, get, parsed};
use super::{SqliteStore, Tx};
use crate::{
    AcceptedContent, FileContent, FileHash, FormerLabel, InstructingFiles, KnownContent, Listed, NewProgramRun,
    NewRaisedLabel, ProgramRun, ProgramRunId, RaisedLabel, RaisingAct, StoreError, WaitingFile,
};

#[async_trait]
impl InstructingFiles for SqliteStore {
    async fn begin_program(&self, mut new: NewProgramRun) -> Result<ProgramRunId, StoreError> {
        let places = self.places();
        change_paths(&mut new, |path| places.kept(path));
        self.write(move |tx| begin(tx, &new)).await
    }

    async fn program_runs(&self) -> Result<Listed<ProgramRun>, StoreError> {
        let places = self.places();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached("SELECT * FROM program_run WHERE owner = ? ORDER BY id")?;
            let mut runs = row::list(&mut statement, [tx.owner], "program_run", "id", run)?;
            for run in &mut runs.rows {
                run.new.files = files(tx, run.id)?;
                change_paths(&mut run.new, |kept| places.path(kept));
            }
            Ok(runs)
        })
        .await
    }

    async fn programs_begun(&self) -> Result<i64, StoreError> {
        self.read(programs_begun).await
    }

    async fn note_gone(&self, id: ProgramRunId, now_ms: i64) -> Result<(), StoreError> {
        self.write(move |tx| {
            tx.sql
                .prepare_cached("UPDATE program_run SET gone_ms = ? WHERE owner = ? AND id = ? AND gone_ms IS NULL")?
                .execute((now_ms, tx.owner, id.0))?;
            Ok(())
        })
        .await
    }

    async fn end_program(&self, id: ProgramRunId, changed: Vec<WaitingFile>) -> Result<(), StoreError> {
        let places = self.places();
        self.write(move |tx| {
            let sql = "DELETE FROM program_run WHERE owner = ? AND id = ?";
            // What it changed was told by whoever saw its end first.
            if tx.sql.prepare_cached(sql)?.execute((tx.owner, id.0))? == 0 {
                return Ok(());
            }
            changed.iter().try_for_each(|file| wait(tx, file, &places))
        })
        .await
    }

    async fn waiting_files(&self) -> Result<Listed<WaitingFile>, StoreError> {
        let places = self.places();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT waiting.*, was.text FROM waiting_file AS waiting
                 LEFT JOIN file_text AS was ON was.owner = waiting.owner AND was.hash = waiting.before
                 WHERE waiting.owner = ? ORDER BY place",
            )?;
            row::list(&mut statement, [tx.owner], "waiting_file", "place", |row| waiting(row, &places))
        })
        .await
    }

    async fn former_labels(&self) -> Result<Vec<FormerLabel>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT DISTINCT path, hash FROM file_label WHERE owner = ? AND trust NOT IN ('owner', 'file')",
            )?;
            let labels =
                statement.query_map([tx.owner], |row| Ok(FormerLabel { path: row.get(0)?, hash: row.get(1)? }))?;
            Ok(labels.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn forget_former_labels(&self) -> Result<(), StoreError> {
        self.write(move |tx| {
            tx.sql.prepare_cached("DELETE FROM file_label WHERE owner = ?")?.execute([tx.owner])?;
            Ok(())
        })
        .await
    }

    async fn wait_for_owner(&self, file: WaitingFile) -> Result<(), StoreError> {
        let places = self.places();
        self.write(move |tx| wait(tx, &file, &places)).await
    }

    async fn note_told(&self, told: Vec<(String, FileHash)>) -> Result<(), StoreError> {
        let places = self.places();
        self.write(move |tx| {
            let mut update = tx.sql.prepare_cached("UPDATE waiting_file SET told = ? WHERE owner = ? AND place = ?")?;
            for (path, hash) in &told {
                update.execute((hash.0, tx.owner, places.kept(path)))?;
            }
            Ok(())
        })
        .await
    }

    async fn accept_file(&self, mut new: NewRaisedLabel, accepted: AcceptedContent) -> Result<(), StoreError> {
        let places = self.places();
        new.subject = places.kept(&new.subject);
        self.write(move |tx| {
            let AcceptedContent { hash, now, no_program_since } = &accepted;
            raise(tx, &new, Some(*hash))?;
            let (path, source, now_ms) = (new.subject.clone(), new.source.clone(), new.now_ms);
            know(tx, &KnownContent { path, hash: *hash, source, now_ms }, &places)?;
            let before = keep(tx, now.as_ref())?;
            tx.sql
                .prepare_cached(
                    "UPDATE waiting_file SET before = :before, accepted = :accepted, told = NULL,
                     since = (SELECT max(id) FROM raised_label) WHERE owner = :owner AND place = :place",
                )?
                .execute(named_params! {
                    ":before": before, ":accepted": hash.0, ":owner": tx.owner, ":place": new.subject,
                })?;
            no_program_since.map_or(Ok(()), |since| forget(tx, &new.subject, before, since))
        })
        .await
    }

    async fn forget_waiting(
        &self,
        files: Vec<(String, Option<FileHash>)>,
        no_program_since: i64,
    ) -> Result<(), StoreError> {
        let places = self.places();
        self.write(move |tx| {
            let mut files = files.iter();
            files.try_for_each(|(path, known)| {
                forget(tx, &places.kept(path), known.map(|hash| hash.0), no_program_since)
            })
        })
        .await
    }

    async fn note_known(&self, contents: Vec<KnownContent>) -> Result<(), StoreError> {
        if contents.is_empty() {
            return Ok(());
        }
        let places = self.places();
        self.write(move |tx| contents.iter().try_for_each(|content| know(tx, content, &places))).await
    }

    async fn is_known(&self, path: &str, hash: FileHash) -> Result<bool, StoreError> {
        let path = self.places().kept(path);
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT 1 FROM known_content WHERE owner = ? AND path = ? AND hash = ?")?;
            Ok(statement.exists((tx.owner, &path, hash.0))?)
        })
        .await
    }

    async fn raise_label(&self, mut new: NewRaisedLabel) -> Result<(), StoreError> {
        if new.act == RaisingAct::File {
            new.subject = self.places().kept(&new.subject);
        }
        self.write(move |tx| raise(tx, &new, None)).await
    }

    async fn raised_labels(&self) -> Result<Listed<RaisedLabel>, StoreError> {
        let places = self.places();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached("SELECT * FROM raised_label WHERE owner = ? ORDER BY id")?;
            row::list(&mut statement, [tx.owner], "raised_label", "id", |row| raised(row, &places))
        })
        .await
    }
}

/// Changes every path that was written down before a program.
fn change_paths(new: &mut NewProgramRun, change: impl Fn(&str) -> String) {
    new.folders.iter_mut().for_each(|folder| *folder = change(folder));
    let files = std::mem::take(&mut new.files);
    new.files = files.into_iter().map(|(path, content)| (change(&path), content)).collect();
}

fn begin(tx: &Tx<'_>, new: &NewProgramRun) -> Outcome<ProgramRunId> {
    let folders = serde_json::Value::from(new.folders.clone()).to_string();
    tx.sql
        .prepare_cached("INSERT INTO program_run (owner, holder, tool, folders, at_ms) VALUES (?, ?, ?, ?, ?)")?
        .execute((tx.owner, &new.holder, &new.tool, folders, new.now_ms))?;
    let id = ProgramRunId(tx.sql.last_insert_rowid());
    for (path, content) in &new.files {
        let hash = keep(tx, Some(content))?;
        tx.sql
            .prepare_cached("INSERT INTO program_run_file (run, path, hash) VALUES (?, ?, ?)")?
            .execute((id.0, path, hash))?;
    }
    Ok(id)
}

fn files(tx: &Tx<'_>, id: ProgramRunId) -> Outcome<BTreeMap<String, FileContent>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT path, file.hash, was.text FROM program_run_file AS file
         LEFT JOIN file_text AS was ON was.owner = ? AND was.hash = file.hash WHERE run = ?",
    )?;
    let rows = statement.query_map((tx.owner, id.0), |row| {
        Ok((row.get(0)?, FileContent { hash: FileHash(row.get(1)?), text: row.get(2)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn wait(tx: &Tx<'_>, file: &WaitingFile, places: &Places) -> Outcome<()> {
    let before = keep(tx, file.before.as_ref())?;
    tx.sql
        .prepare_cached(
            "INSERT INTO waiting_file (owner, place, before, cause, at_ms, since)
             VALUES (:owner, :place, :before, :cause, :at, (SELECT coalesce(max(id), 0) FROM raised_label))
             ON CONFLICT (owner, place) DO NOTHING",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":place": places.kept(&file.path), ":before": before, ":cause": file.cause,
            ":at": file.at_ms,
        })?;
    Ok(())
}

/// Deletes the row of a file that was seen to hold what is known of it, unless a program may have written there since: one that runs, or
/// one that is over by now.
fn forget(tx: &Tx<'_>, place: &str, known: Option<[u8; 32]>, no_program_since: i64) -> Outcome<()> {
    let runs = tx.sql.prepare_cached("SELECT 1 FROM program_run WHERE owner = ?")?.exists([tx.owner])?;
    if runs || programs_begun(tx)? != no_program_since {
        return Ok(());
    }
    let seen = known.map_or_else(Vec::new, |hash| hash.to_vec());
    tx.sql
        .prepare_cached("UPDATE waiting_file SET seen = ? WHERE owner = ? AND place = ? AND before IS ?")?
        .execute((seen, tx.owner, place, known))?;
    tx.sql
        .prepare_cached("DELETE FROM waiting_file WHERE owner = ? AND place = ? AND before IS ?")?
        .execute((tx.owner, place, known))?;
    Ok(())
}

fn programs_begun(tx: &Tx<'_>) -> Outcome<i64> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'program_run'), 0)";
    Ok(tx.sql.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

fn know(tx: &Tx<'_>, content: &KnownContent, places: &Places) -> Outcome<()> {
    let KnownContent { path, hash, source, now_ms } = content;
    tx.sql
        .prepare_cached(
            "INSERT OR IGNORE INTO known_content (owner, path, hash, source, at_ms) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute((tx.owner, places.kept(path), hash.0, source, now_ms))?;
    Ok(())
}

pub(super) fn raise(tx: &Tx<'_>, new: &NewRaisedLabel, content: Option<FileHash>) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "INSERT INTO raised_label (owner, act, subject, shown, source, at_ms, content) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute((
            tx.owner,
            new.act.as_str(),
            &new.subject,
            &new.shown,
            &new.source,
            new.now_ms,
            content.map(|content| content.0),
        ))?;
    Ok(())
}

fn run(row: &Row<'_>) -> Read<ProgramRun> {
    let folders = serde_json::from_str(&get::<String>(row, "folders")?);
    let new = NewProgramRun {
        holder: get(row, "holder")?,
        tool: get(row, "tool")?,
        folders: folders.map_err(|error| Unreadable(format!("folders: {error}")))?,
        files: BTreeMap::new(),
        now_ms: get(row, "at_ms")?,
    };
    Ok(ProgramRun { id: ProgramRunId(get(row, "id")?), new, gone_ms: get(row, "gone_ms")? })
}

fn waiting(row: &Row<'_>, places: &Places) -> Read<WaitingFile> {
    let hash: Option<[u8; 32]> = get(row, "before")?;
    let text = get(row, "text")?;
    Ok(WaitingFile {
        path: places.path(&get::<String>(row, "place")?),
        before: hash.map(|hash| FileContent { hash: FileHash(hash), text }),
        cause: get(row, "cause")?,
        at_ms: get(row, "at_ms")?,
        told: get::<Option<[u8; 32]>>(row, "told")?.map(FileHash),
    })
}

fn raised(row: &Row<'_>, places: &Places) -> Read<RaisedLabel> {
    let (act, subject) = (parsed(row, "act", RaisingAct::parse)?, get::<String>(row, "subject")?);
    let new = NewRaisedLabel {
        act,
        subject: if act == RaisingAct::File { places.path(&subject) } else { subject },
        shown: get(row, "shown")?,
        source: get(row, "source")?,
        now_ms: get(row, "at_ms")?,
    };
    Ok(RaisedLabel { id: get(row, "id")?, new })
}
