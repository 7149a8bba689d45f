//! Changes of files; each text that is kept is kept once.

use async_trait::async_trait;
use limpid_core::ConversationId;
use rusqlite::{Row, ToSql, named_params};

use super::failure::Outcome;
use super::places::Places;
use super::row::{self, Read, get, parsed, word};
use super::{SqliteStore, Tx};
use crate::{
    Author, FileChangeEnd, FileContent, FileHash, FileVersion, FileVersionId, FileVersions, KeptFile, Listed,
    NewFileVersion, StoreError,
};

/// A change with its two texts, if they are kept.
const SELECT: &str = "SELECT change.*, was.text AS text_before, is_now.text AS text_after
     FROM file_change AS change
     LEFT JOIN file_text AS was ON was.owner = change.owner AND was.hash = change.before
     LEFT JOIN file_text AS is_now ON is_now.owner = change.owner AND is_now.hash = change.after";

/// Changes in their order: all, or those of one file by its index, since others may have very many.
fn in_order(of_one: bool) -> String {
    let of_path = if of_one { " AND path = :path" } else { "" };
    format!("{SELECT} WHERE change.owner = :owner{of_path} ORDER BY change.id")
}

#[async_trait]
impl FileVersions for SqliteStore {
    async fn begin_file_change(&self, mut new: NewFileVersion) -> Result<FileVersionId, StoreError> {
        new.path = self.places().kept(&new.path);
        self.write(move |tx| begin(tx, &new)).await
    }

    async fn end_file_change(&self, id: FileVersionId, end: FileChangeEnd) -> Result<(), StoreError> {
        self.write(move |tx| finish(tx, id, &end)).await
    }

    async fn file_versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, StoreError> {
        let places = self.places();
        let path = path.map(|path| places.kept(path));
        self.search(move |tx| {
            let sql = in_order(path.is_some());
            let mut params: Vec<(&str, &dyn ToSql)> = vec![(":owner", &tx.owner)];
            params.extend(path.as_ref().map(|path| (":path", path as &dyn ToSql)));
            let mut statement = tx.sql.prepare_cached(&sql)?;
            row::list(&mut statement, params.as_slice(), "file_change", "id", |row| version(row, &places))
        })
        .await
    }

    async fn newest_file_version(&self, path: &str) -> Result<Option<FileVersion>, StoreError> {
        let places = self.places();
        let path = places.kept(path);
        self.read(move |tx| {
            let condition = "change.owner = :owner AND path = :path AND ended";
            let sql = format!("{SELECT} WHERE {condition} ORDER BY change.id DESC LIMIT 1");
            let params = named_params! { ":owner": tx.owner, ":path": path };
            row::one(&mut *tx.sql.prepare_cached(&sql)?, params, "change of a file", &path, |row| version(row, &places))
        })
        .await
    }

    async fn file_version(&self, id: FileVersionId) -> Result<FileVersion, StoreError> {
        let places = self.places();
        self.read(move |tx| {
            let sql = format!("{SELECT} WHERE change.owner = :owner AND change.id = :id");
            let name = id.0.to_string();
            let params = named_params! { ":owner": tx.owner, ":id": id.0 };
            let found = row::one(&mut *tx.sql.prepare_cached(&sql)?, params, "change of a file", &name, |row| {
                version(row, &places)
            })?;
            found.ok_or_else(|| StoreError::NotFound { what: "change of a file", id: name }.into())
        })
        .await
    }

    async fn file_made_by(&self, path: &str) -> Result<Option<(ConversationId, FileHash)>, StoreError> {
        let path = self.places().kept(path);
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT before, after, CASE WHEN trust IN ('guest', 'outside') THEN conversation END FROM file_change
                 WHERE owner = ? AND path = ? AND ended ORDER BY id DESC",
            )?;
            let mut changes = statement.query((tx.owner, &path))?;
            let (mut newest, mut later) = (None, None);
            while let Some(change) = changes.next()? {
                let (before, after): (Option<[u8; 32]>, Option<[u8; 32]>) = (change.get(0)?, change.get(1)?);
                let Some((by, after)) = change.get::<_, Option<String>>(2)?.zip(after) else { return Ok(None) };
                let (writer, _) = newest.get_or_insert_with(|| (ConversationId::new(by.as_str()), FileHash(after)));
                if writer.as_str() != by || later.is_some_and(|later| later != after) {
                    return Ok(None);
                }
                if before.is_none() {
                    return Ok(newest);
                }
                later = before;
            }
            Ok(None)
        })
        .await
    }

    async fn files_changed_in(&self, conversation: &ConversationId, since_ms: i64) -> Result<Vec<String>, StoreError> {
        let (conversation, places) = (conversation.clone(), self.places());
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT DISTINCT path FROM file_change WHERE owner = ? AND conversation = ? AND at_ms >= ? ORDER BY path",
            )?;
            let paths = statement.query_map((tx.owner, conversation.as_str(), since_ms), |row| {
                Ok(places.path(&row.get::<_, String>(0)?))
            })?;
            Ok(paths.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn files_below(&self, folder: &str, is_foreign: bool, most: u32) -> Result<Vec<String>, StoreError> {
        let (folder, places) = (folder.to_owned(), self.places());
        self.read(move |tx| {
            // The newest change of a file says whether it is there: SQLite takes the other columns from the row of the only MAX.
            let mut statement = tx.sql.prepare_cached(
                "SELECT path FROM (SELECT path, after, trust IN ('guest', 'outside') AS is_led, MAX(id) AS newest,
                         total(trust NOT IN ('guest', 'outside')) = 0 AS is_foreign FROM file_change
                     WHERE owner = :owner AND ended AND substr(path, 1, length(:folder)) = :folder GROUP BY path)
                 WHERE after IS NOT NULL AND is_foreign = :is_foreign ORDER BY is_led, newest DESC LIMIT :most",
            )?;
            let params =
                named_params! { ":owner": tx.owner, ":folder": folder, ":is_foreign": is_foreign, ":most": most };
            let paths = statement.query_map(params, |row| Ok(places.path(&row.get::<_, String>(0)?)))?;
            Ok(paths.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn kept_files(&self) -> Result<Vec<KeptFile>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT held, MAX(at_ms), MIN(rank) FROM (
                     SELECT before AS held, at_ms, CASE WHEN trust NOT IN ('guest', 'outside') THEN 0
                         WHEN path NOT LIKE 'outside/%' THEN 1 ELSE 2 END AS rank
                     FROM file_change WHERE owner = :owner AND before IS NOT NULL
                     UNION ALL
                     SELECT file.hash, run.at_ms, 2 FROM program_run_file AS file
                     JOIN program_run AS run ON run.id = file.run WHERE run.owner = :owner
                     UNION ALL
                     SELECT before, :latest, 0 FROM waiting_file WHERE owner = :owner AND before IS NOT NULL)
                 WHERE held NOT IN (SELECT hash FROM file_text WHERE owner = :owner)
                 GROUP BY held ORDER BY 3, 2 DESC",
            )?;
            // However long a file waits, what it held is the owner's until they accept another.
            let kept = statement.query_map(named_params! { ":owner": tx.owner, ":latest": i64::MAX }, |row| {
                Ok(KeptFile { hash: FileHash(row.get(0)?), at_ms: row.get(1)?, is_foreign: row.get::<_, u8>(2)? > 0 })
            })?;
            Ok(kept.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn begin(tx: &Tx<'_>, new: &NewFileVersion) -> Outcome<FileVersionId> {
    tx.sql
        .prepare_cached(
            "INSERT INTO file_change (owner, path, undoes, before, trust, source, conversation, tool, at_ms, ended)
             VALUES (:owner, :path, :undoes, :before, :trust, :source, :conversation, :tool, :now, 0)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":path": new.path, ":undoes": new.undoes.map(|id| id.0),
            ":before": keep(tx, new.before.as_ref())?, ":trust": new.trust.as_str(), ":source": new.source,
            ":conversation": new.conversation.as_ref().map(ConversationId::as_str), ":tool": new.tool,
            ":now": new.now_ms,
        })?;
    Ok(FileVersionId(tx.sql.last_insert_rowid()))
}

fn finish(tx: &Tx<'_>, id: FileVersionId, end: &FileChangeEnd) -> Outcome<()> {
    let hash = |content: &Option<FileContent>| content.as_ref().map(|content| content.hash);
    if hash(&end.before) == hash(&end.after) {
        tx.sql
            .prepare_cached("DELETE FROM file_change WHERE owner = ? AND id = ? AND NOT ended")?
            .execute((tx.owner, id.0))?;
        return Ok(());
    }
    let (before, after) = (keep(tx, end.before.as_ref())?, keep(tx, end.after.as_ref())?);
    tx.sql
        .prepare_cached(
            "UPDATE file_change SET before = :before, after = :after, author = :author, ended = 1
             WHERE owner = :owner AND id = :id AND NOT ended",
        )?
        .execute(named_params! {
            ":before": before, ":after": after, ":author": end.author.map(Author::as_str),
            ":owner": tx.owner, ":id": id.0,
        })?;
    Ok(())
}

/// Keeps what a file says if it is known, and returns the hash of what it holds.
pub(super) fn keep(tx: &Tx<'_>, content: Option<&FileContent>) -> Outcome<Option<[u8; 32]>> {
    let Some(FileContent { hash, text }) = content else { return Ok(None) };
    if let Some(text) = text {
        tx.sql
            .prepare_cached("INSERT OR IGNORE INTO file_text (owner, hash, text) VALUES (?, ?, ?)")?
            .execute((tx.owner, hash.0, text))?;
    }
    Ok(Some(hash.0))
}

fn version(row: &Row<'_>, places: &Places) -> Read<FileVersion> {
    let content = |hash: &str, text: &str| -> Read<Option<FileContent>> {
        let Some(hash) = get::<Option<[u8; 32]>>(row, hash)? else { return Ok(None) };
        Ok(Some(FileContent { hash: FileHash(hash), text: get(row, text)? }))
    };
    let author = match get::<Option<String>>(row, "author")? {
        Some(_) => Some(parsed(row, "author", Author::parse)?),
        None => None,
    };
    Ok(FileVersion {
        id: FileVersionId(get(row, "id")?),
        path: places.path(&get::<String>(row, "path")?),
        undoes: get::<Option<i64>>(row, "undoes")?.map(FileVersionId),
        before: content("before", "text_before")?,
        after: content("after", "text_after")?,
        author,
        trust: word(row, "trust")?,
        source: get(row, "source")?,
        conversation: get::<Option<String>>(row, "conversation")?.map(ConversationId::new),
        tool: get(row, "tool")?,
        at_ms: get(row, "at_ms")?,
        ended: get(row, "ended")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;

    // SEC-093
    #[test]
    fn changes_of_a_file_are_found_however_many_others_have() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limpid.db");
        drop(SqliteStore::open(&path, SqliteOptions::default()).unwrap());
        let sql = rusqlite::Connection::open(&path).unwrap();
        let first_step = |query: &str, params: &[(&str, &dyn ToSql)]| {
            let mut plan = sql.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let steps = plan.query_map(params, |row| row.get::<_, String>("detail")).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            steps[0].clone()
        };
        let of_one = first_step(&in_order(true), named_params! { ":owner": "o", ":path": "p" });
        assert_eq!(of_one, "SEARCH change USING INDEX file_change_by_path (owner=? AND path=?)");
    }
}
