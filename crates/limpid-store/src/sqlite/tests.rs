//! What only this store can be asked: its file, its locks, its commits.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use limpid_core::{ConversationId, Role, Trust};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{SqliteOptions, SqliteStore};
use crate::contract::sample::{begin, begun, calling, conversation, conversation_id, lease, memory, message, result};
use crate::{Acquired, Conversations, Memories, NewMemory, StoreError, TurnWrite, Turns, Windows};

/// A folder and the place of a store in it.
pub(super) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home/data/limpid.db");
    (folder, path)
}

/// Does not wait for locks.
pub(super) fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteOptions { busy_timeout: Duration::ZERO, ..SqliteOptions::default() })
}

/// A connection past the store, to spoil the file with.
pub(super) fn raw(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

// SEC-033
#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_file_and_what_stands_beside_it() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in [folder.path().join("home"), folder.path().join("home/data")] {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
    }
    let files: Vec<PathBuf> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

/// Several writes in one transaction: each fails alone, and none is seen before all are on the disk.
#[test]
fn writes_that_wait_together_share_a_commit() {
    let (_folder, path) = folder();
    let database = super::open::Database { path: path.clone(), busy_timeout: Duration::ZERO };
    let connection = database.create().unwrap();
    let row = "INSERT INTO text (owner, hash, body, bytes) VALUES ('o', ?1, '', 0)";
    let seen = |path: &Path| -> i64 { raw(path).query_row("SELECT count(*) FROM text", [], |row| row.get(0)).unwrap() };
    let (sender, answers) = std::sync::mpsc::channel();
    let work = |number: u8, fails: bool| {
        let (sender, path) = (sender.clone(), path.clone());
        super::writer::work(
            path.clone(),
            move |sql| {
                sql.execute(row, [[number]])?;
                assert_eq!(seen(&path), 0);
                if fails { Err(StoreError::Closed.into()) } else { Ok(number) }
            },
            move |answer| sender.send(answer.ok()).unwrap(),
        )
    };
    super::writer::write_batch(&connection, vec![work(1, false), work(2, true), work(3, false)], &database);
    assert_eq!(answers.try_iter().collect::<Vec<_>>(), [Some(1), None, Some(3)]);
    assert_eq!(seen(&path), 2);
}

// ARC-010
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_keep_to_one_holder() {
    let (_folder, path) = folder();
    let patient = || SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let (one, two) = (patient(), patient());
    one.create_conversation(conversation("c", 0)).await.unwrap();
    let id = ConversationId::new("c");
    for round in 0..50 {
        let now = round * 10;
        let (a, b) = tokio::join!(one.acquire(&id, "one", now, 10), two.acquire(&id, "two", now, 10));
        let held: Vec<_> =
            [a.unwrap(), b.unwrap()].into_iter().filter(|got| matches!(got, Acquired::Lease(_))).collect();
        assert_eq!(held.len(), 1, "{held:?}");
    }
}

// ARC-021
#[tokio::test]
async fn a_backup_is_a_whole_store_and_replaces_the_one_before() {
    let (folder, path) = folder();
    let store = open(&path).unwrap();
    let copy = folder.path().join("copies/limpid.db");
    store.backup(&copy).await.unwrap();
    let held = lease_of(&store).await;
    let turn = begin(&store, &held, "t", &[]).await;
    store.commit(&held, &turn, vec![TurnWrite::Messages(vec![message(Role::User, "hi")])], 1).await.unwrap();
    store.backup(&copy).await.unwrap();
    let files = fs::read_dir(copy.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1);
    let restored = open(&copy).unwrap();
    assert_eq!(restored.messages(&conversation_id("c"), None).await.unwrap().rows.len(), 1);
    assert!(store.backup(folder.path()).await.is_err());
}

async fn lease_of(store: &SqliteStore) -> crate::Lease {
    store.create_conversation(conversation("c", 0)).await.unwrap();
    lease(store, "c", 0).await
}

/// What all of these come to, at once.
pub(super) async fn futures<T: Send + 'static>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    use std::task::Poll;
    let mut waiting: Vec<_> = all.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, answer) in &mut waiting {
            if answer.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(context)
            {
                *answer = Some(value);
            }
        }
        if waiting.iter().all(|(_, answer)| answer.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, answer)| answer).collect()
}

// KOSHI-024
#[tokio::test]
async fn words_that_were_stored_before_they_were_counted_are_counted() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    for (key, content) in [("a", "tea tea in Berlin"), ("b", "tea")] {
        store.store_memory(memory(Some(key), content, 1)).await.unwrap();
    }
    let sql = raw(&path);
    let counts = || -> Vec<String> {
        let every = "SELECT owner || word || memories FROM memory_word
                     UNION ALL SELECT owner || memories || ' ' || words FROM memory_total ORDER BY 1";
        let mut statement = sql.prepare(every).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let counted = counts();
    assert!(counted.contains(&"ownertea2".to_owned()), "{counted:?}");
    sql.execute_batch(
        "DROP TABLE memory_word; DROP TABLE memory_total; DROP TRIGGER memory_adds; DROP TRIGGER memory_changes;
         DROP TRIGGER memory_goes; CREATE INDEX memory_by_words ON memory (owner, words);",
    )
    .unwrap();
    sql.execute_batch(include_str!("../../migrations/0017_memory_words.sql")).unwrap();
    assert_eq!(counts(), counted);
}

// SEC-102 KOSHI-024
#[tokio::test]
async fn strangers_memories_that_were_stored_before_they_were_counted_apart_are_counted() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    for (key, trust) in [("a", Trust::Owner), ("b", Trust::Outside), ("c", Trust::Guest)] {
        store.store_memory(NewMemory { trust, ..memory(Some(key), "tea tea", 1) }).await.unwrap();
    }
    let sql = raw(&path);
    let counts = || -> Vec<String> {
        let every = "SELECT owner || word || memories FROM memory_word_of_strangers
                     UNION ALL SELECT owner || memories || ' ' || words FROM memory_total_of_strangers ORDER BY 1";
        let mut statement = sql.prepare(every).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let counted = counts();
    assert!(counted.contains(&"ownertea2".to_owned()), "{counted:?}");
    sql.execute_batch(
        "DROP TABLE memory_word_of_strangers; DROP TABLE memory_total_of_strangers; DROP INDEX memory_of_strangers;
         DROP TRIGGER memory_of_a_stranger_adds; DROP TRIGGER memory_of_a_stranger_changes;
         DROP TRIGGER memory_of_a_stranger_goes;",
    )
    .unwrap();
    sql.execute_batch(include_str!("../../migrations/0060_what_is_known_of_strangers_memories.sql")).unwrap();
    assert_eq!(counts(), counted);
}

// MOD-001
#[tokio::test]
async fn ids_of_calls_lose_the_signature_that_older_versions_put_behind_them() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let (lease, turn) = begun(&store, "c", "t").await;
    let batch = vec![calling(&["a~CiQB+/=", "b"]), result("a~CiQB+/="), result("b")];
    store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1).await.unwrap();
    drop(store);
    let raw = raw(&path);
    raw.execute_batch("DROP TABLE message_state; DROP TABLE request_state;").unwrap();
    raw.execute_batch(include_str!("../../migrations/0027_message_state.sql")).unwrap();
    drop(raw);
    let store = open(&path).unwrap();
    let read = store.messages(&conversation_id("c"), None).await.unwrap();
    assert_eq!(read.broken, []);
    let messages: Vec<_> = read.rows.into_iter().map(|row| row.message).collect();
    assert_eq!(messages, [calling(&["a", "b"]).message, result("a").message, result("b").message]);
    let ids = store.call_ids(&conversation_id("c")).await.unwrap();
    assert_eq!(ids.iter().map(limpid_core::CallId::as_str).collect::<Vec<_>>(), ["a", "b"]);
}

/// A row of a table with every column filled, whatever it means.
fn fill(sql: &Connection, table: &str, trust: &str) {
    let mut statement = sql.prepare(&format!("PRAGMA table_info({table})")).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get::<_, String>(1)?, row.get::<_, String>(2)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
    let value = |(name, kind): &(String, String)| match (name.as_str(), kind.as_str()) {
        ("trust", _) => format!("'{trust}'"),
        ("owner", _) => "'owner'".to_owned(),
        (_, "TEXT") => "'{}'".to_owned(),
        (_, "BLOB") => "x'00'".to_owned(),
        (_, _) => "1".to_owned(),
    };
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let values: Vec<String> = columns.iter().map(value).collect();
    sql.execute(&format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", ")), []).unwrap();
}

/// Whatever table has a label: the database lets none of them be raised where it stands.
// SEC-056
#[tokio::test]
async fn no_label_is_raised_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limpid.db");
    drop(SqliteStore::open(&path, SqliteOptions::default()).unwrap());
    let sql = Connection::open(&path).unwrap();
    sql.pragma_update(None, "foreign_keys", false).unwrap();
    sql.pragma_update(None, "ignore_check_constraints", true).unwrap();
    let mut tables = sql
        .prepare(
            "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND c.name = 'trust' ORDER BY 1",
        )
        .unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.len() > 12 && tables.contains(&"memory".to_owned()), "{tables:?}");
    for table in tables {
        // What is read for the last time when an older home is opened.
        if table == "file_label" {
            sql.execute_batch("DROP TRIGGER file_label_is_never_made").unwrap();
        }
        fill(&sql, &table, "outside");
        for better in ["guest", "file", "owner"] {
            let raised = sql.execute(&format!("UPDATE {table} SET trust = '{better}'"), []);
            assert!(raised.is_err(), "{table}: {raised:?}");
        }
    }
    // A waiting file, a promotion of a stranger's words, a skill of others, a memory: each needs its own act, with what was shown.
    sql.execute("INSERT INTO waiting_file (owner, place, cause, at_ms) VALUES ('owner', '/w/a.md', 'exec', 1)", [])
        .unwrap();
    sql.execute("UPDATE memory SET content = 'tea'", []).unwrap();
    let skill = "INSERT INTO skill_event (owner, skill, kind, after, source, at_ms)
                 VALUES ('owner', 'tea', 'enabled', '{\"hash\":\"h\",\"installed\":true,\"enabled\":true}', 'turn:t', 1)";
    let acts = [
        ("UPDATE promotion SET state = 'standing'", "memory", "1", "{}"),
        (skill, "skill", "tea", "h"),
        ("UPDATE memory SET trust = 'owner'", "memory", "1", "tea"),
    ];
    let raise =
        "INSERT INTO raised_label (owner, act, subject, shown, source, at_ms) VALUES ('owner', ?, ?, ?, 'x', 1)";
    for (change, act, subject, shown) in acts {
        assert!(sql.execute(change, []).is_err(), "{change}");
        sql.execute(raise, (act, subject, shown)).unwrap();
        sql.execute(change, []).unwrap();
    }
    // What is known of a file changes by an act for that content, which came after it began to wait.
    let accept = "INSERT INTO raised_label (owner, act, subject, shown, source, at_ms, content)
                  VALUES ('owner', 'file', '/w/a.md', '+tea', 'x', 1, ?)";
    let known = |text: &str| {
        sql.execute("UPDATE waiting_file SET before = ?1, accepted = CAST('tea' AS BLOB)", [text.as_bytes()])
    };
    sql.execute(accept, [b"tea"]).unwrap();
    sql.execute("UPDATE waiting_file SET since = (SELECT max(id) FROM raised_label)", []).unwrap();
    assert!(known("tea").is_err(), "the act is older");
    assert!(sql.execute("UPDATE waiting_file SET since = 0", []).is_err());
    sql.execute(accept, [b"oil"]).unwrap();
    assert!(known("tea").is_err(), "the act is for another content");
    sql.execute(accept, [b"tea"]).unwrap();
    assert!(known("oil").is_err(), "another content was accepted");
    known("tea").unwrap();
    // The row goes once the file was seen to hold that, while no program runs.
    let goes = || sql.execute("DELETE FROM waiting_file", []);
    let seen = |text: &str| sql.execute("UPDATE waiting_file SET seen = ?", [text.as_bytes()]).unwrap();
    assert!(goes().is_err(), "nobody saw it");
    seen("oil");
    assert!(goes().is_err(), "it holds something else");
    seen("tea");
    let run = "INSERT INTO program_run (owner, holder, tool, folders, at_ms) VALUES ('owner', 'me', 'exec', '[]', 1)";
    sql.execute(run, []).unwrap();
    assert!(goes().is_err(), "a program runs");
    sql.execute("DELETE FROM program_run", []).unwrap();
    goes().unwrap();
    sql.pragma_update(None, "ignore_check_constraints", false).unwrap();
    assert!(sql.execute(raise, ("fifth", "1", "tea")).is_err(), "there are four acts");
    assert!(
        sql.execute("DELETE FROM raised_label", []).is_err()
            && sql.execute("UPDATE raised_label SET shown = ''", []).is_err()
    );
}
