//! Versions of the files that prompts quote; each text is kept once.

use async_trait::async_trait;
use rusqlite::{Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get, parsed, sha256, word};
use super::{SqliteStore, Tx};
use crate::{Author, FileVersion, FileVersionId, FileVersions, Listed, NewFileVersion, StoreError};

/// A change with its two texts.
const SELECT: &str =
    "SELECT version.id, path, undoes, was.text AS before, is_now.text AS after, author, trust, source, at_ms
     FROM file_version AS version
     LEFT JOIN file_text AS was ON was.owner = version.owner AND was.hash = version.before
     LEFT JOIN file_text AS is_now ON is_now.owner = version.owner AND is_now.hash = version.after";

#[async_trait]
impl FileVersions for SqliteStore {
    async fn record_file(&self, new: NewFileVersion) -> Result<FileVersion, StoreError> {
        self.write(move |tx| record(tx, &new)).await
    }

    async fn file_versions(&self, path: Option<&str>) -> Result<Listed<FileVersion>, StoreError> {
        let path = path.map(str::to_owned);
        self.search(move |tx| {
            let condition = "version.owner = :owner AND (:path IS NULL OR path = :path)";
            let sql = format!("{SELECT} WHERE {condition} ORDER BY version.id");
            let params = named_params! { ":owner": tx.owner, ":path": path };
            row::list(&mut *tx.sql.prepare_cached(&sql)?, params, "file_version", "id", version)
        })
        .await
    }

    async fn newest_file_version(&self, path: &str) -> Result<Option<FileVersion>, StoreError> {
        let path = path.to_owned();
        self.read(move |tx| {
            let condition = "version.owner = :owner AND path = :path";
            let sql = format!("{SELECT} WHERE {condition} ORDER BY version.id DESC LIMIT 1");
            let params = named_params! { ":owner": tx.owner, ":path": path };
            row::one(&mut *tx.sql.prepare_cached(&sql)?, params, "file version", &path, version)
        })
        .await
    }

    async fn file_version(&self, id: FileVersionId) -> Result<FileVersion, StoreError> {
        self.read(move |tx| find(tx, id)).await
    }
}

fn record(tx: &Tx<'_>, new: &NewFileVersion) -> Outcome<FileVersion> {
    let (before, after) = (keep(tx, new.before.as_deref())?, keep(tx, new.after.as_deref())?);
    tx.sql
        .prepare_cached(
            "INSERT INTO file_version (owner, path, undoes, before, after, author, trust, source, at_ms)
             VALUES (:owner, :path, :undoes, :before, :after, :author, :trust, :source, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":path": new.path, ":undoes": new.undoes.map(|id| id.0), ":before": before,
            ":after": after, ":author": new.author.as_str(), ":trust": new.trust.as_str(), ":source": new.source,
            ":now": new.now_ms,
        })?;
    find(tx, FileVersionId(tx.sql.last_insert_rowid()))
}

/// Keeps a text, and returns its hash.
fn keep(tx: &Tx<'_>, text: Option<&str>) -> Outcome<Option<[u8; 32]>> {
    let Some(text) = text else { return Ok(None) };
    let hash = sha256(text);
    tx.sql
        .prepare_cached("INSERT OR IGNORE INTO file_text (owner, hash, text) VALUES (?, ?, ?)")?
        .execute((tx.owner, hash, text))?;
    Ok(Some(hash))
}

fn find(tx: &Tx<'_>, id: FileVersionId) -> Outcome<FileVersion> {
    let sql = format!("{SELECT} WHERE version.owner = :owner AND version.id = :id");
    let name = id.0.to_string();
    let params = named_params! { ":owner": tx.owner, ":id": id.0 };
    row::one(&mut *tx.sql.prepare_cached(&sql)?, params, "file version", &name, version)?
        .ok_or_else(|| StoreError::NotFound { what: "change of a file", id: name }.into())
}

fn version(row: &Row<'_>) -> Read<FileVersion> {
    Ok(FileVersion {
        id: FileVersionId(get(row, "id")?),
        path: get(row, "path")?,
        undoes: get::<Option<i64>>(row, "undoes")?.map(FileVersionId),
        before: get(row, "before")?,
        after: get(row, "after")?,
        author: parsed(row, "author", Author::parse)?,
        trust: word(row, "trust")?,
        source: get(row, "source")?,
        at_ms: get(row, "at_ms")?,
    })
}
