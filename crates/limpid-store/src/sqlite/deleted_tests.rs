//! What the file holds of a conversation that was deleted for good.

use std::fs;

use rusqlite::Connection;

use super::tests::{folder, open, raw};
use crate::Conversations;
use crate::contract::deleted::filled;
use crate::contract::sample::conversation_id;

// SUR-020
#[tokio::test]
async fn no_word_of_a_deleted_conversation_is_left_in_the_file() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    filled(&store, "gone", "needle").await;
    filled(&store, "kept", "straw").await;
    assert!(holding(&raw(&path), "needle").len() > 10, "every text has the word");
    store.delete_conversation(&conversation_id("gone"), 1_000_000).await.unwrap();
    let sql = raw(&path);
    assert_eq!(holding(&sql, "needle"), [""; 0]);
    assert!(holding(&sql, "straw").len() > 10);
    for (table, column) in columns(&sql).into_iter().filter(|(_, column)| column == "conversation") {
        let count = format!("SELECT count(*) FROM \"{table}\" WHERE \"{column}\" = 'gone'");
        let count: i64 = sql.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{table}");
    }
    let index: i64 = sql
        .query_row("SELECT count(*) FROM message_fts WHERE message_fts MATCH 'needle'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(index, 0);
    sql.execute_batch("INSERT INTO message_fts (message_fts) VALUES ('integrity-check')").unwrap();
    let broken: Vec<String> = {
        let mut statement = sql.prepare("PRAGMA foreign_key_check").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(broken, [""; 0]);
    sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop((sql, store));
    let bytes = fs::read(&path).unwrap();
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|bytes| bytes == word);
    assert!(holds(b"straw") && !holds(b"needl"), "what is free was written over");
}

fn columns(sql: &Connection) -> Vec<(String, String)> {
    let mut statement = sql
        .prepare(
            "SELECT m.name, p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p
             WHERE m.type = 'table' AND m.name NOT LIKE '%\\_fts%' ESCAPE '\\'",
        )
        .unwrap();
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

/// The columns in which a word is.
fn holding(sql: &Connection, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (table, column) in columns(sql) {
        let count = format!("SELECT count(*) FROM \"{table}\" WHERE instr(CAST(\"{column}\" AS TEXT), ?) > 0");
        let count: i64 = sql.query_row(&count, [word], |row| row.get(0)).unwrap();
        if count > 0 {
            found.push(format!("{table}.{column}"));
        }
    }
    found
}
