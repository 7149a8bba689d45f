//! Embeddings of memories and messages, and those that are near a query.

use std::collections::HashMap;

use async_trait::async_trait;
use limpid_core::recall::{Embedding, Meaning, meaning_text};
use limpid_core::{ConversationId, Memory, MessageId};
use rusqlite::{OptionalExtension, Params, named_params};

use super::failure::Outcome;
use super::memory_row::memory;
use super::row;
use super::{SqliteStore, Tx};
use crate::{Missing, Seen, StoreError, TextOf, Unseen, VectorState, Vectors};

/// Texts of each side that a query's meaning finds at most; the ranker puts them among those that words find.
const NEAREST: usize = 100;

/// What messages are found by their meaning: what person and agent said to each other.
const SPOKEN: &str = "FROM message JOIN conversation ON conversation.owner = message.owner
                        AND conversation.id = message.conversation AND conversation.kind = 'chat'
                      WHERE message.owner = :owner AND message.role IN ('user', 'assistant')
                        AND coalesce(message.typed, message.text) <> ''";

#[async_trait]
impl Vectors for SqliteStore {
    async fn without_vector(&self, model: &str, after: Option<MessageId>, limit: u32) -> Result<Missing, StoreError> {
        let model = model.to_owned();
        self.search(move |tx| {
            let mut texts = unseen_memories(tx, &model, limit)?;
            let left = limit.saturating_sub(texts.len().try_into().unwrap_or(limit));
            if left > 0 {
                texts.extend(unseen_messages(tx, &model, after, left)?);
            }
            Ok(Missing { texts, newest: newest_message(tx)? })
        })
        .await
    }

    async fn keep_vectors(&self, model: &str, seen: Vec<Seen>) -> Result<u64, StoreError> {
        let model = model.to_owned();
        self.write(move |tx| {
            let mut kept = 0;
            for seen in &seen {
                kept += u64::from(keep(tx, &model, seen)?);
            }
            Ok(kept)
        })
        .await
    }

    async fn vector_state(&self, model: &str) -> Result<VectorState, StoreError> {
        let model = model.to_owned();
        self.search(move |tx| state(tx, &model)).await
    }

    async fn drop_vectors(&self) -> Result<u64, StoreError> {
        self.write(|tx| {
            let memories = tx.sql.execute("DELETE FROM memory_vector WHERE owner = ?", [tx.owner])?;
            let messages = tx.sql.execute("DELETE FROM message_vector WHERE owner = ?", [tx.owner])?;
            Ok((memories + messages) as u64)
        })
        .await
    }
}

/// Texts of one kind that a query's meaning was compared with.
#[derive(Default)]
pub(super) struct Likenesses(Vec<(i64, f32)>);

impl Likenesses {
    /// How alike all of the owner's memories are to the query.
    pub(super) fn of_memories(tx: &Tx<'_>, meaning: &Meaning) -> Outcome<Self> {
        let sql = "SELECT memory, vector FROM memory_vector WHERE owner = :owner AND model = :model ORDER BY memory";
        Self::compare(tx, sql, named_params! { ":owner": tx.owner, ":model": meaning.model }, meaning)
    }

    /// How alike all messages of a conversation are to the query.
    pub(super) fn of_messages(tx: &Tx<'_>, id: &ConversationId, meaning: &Meaning) -> Outcome<Self> {
        let sql = "SELECT id, vector FROM message JOIN message_vector ON message_vector.message = message.id
                   WHERE message.owner = :owner AND conversation = :conversation AND model = :model ORDER BY id";
        let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":model": meaning.model };
        Self::compare(tx, sql, params, meaning)
    }

    fn compare(tx: &Tx<'_>, sql: &str, params: impl Params, meaning: &Meaning) -> Outcome<Self> {
        let mut statement = tx.sql.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let vector = row.get_ref(1)?;
            found.push((row.get(0)?, meaning.likeness(vector.as_blob().unwrap_or_default()) as f32));
        }
        Ok(Self(found))
    }

    /// The texts that are most alike to the query, so many of the owner's and so many of strangers'; those that have nothing to do
    /// with it are left out.
    pub(super) fn nearest(&self, is_strangers: impl Fn(i64) -> bool) -> Vec<i64> {
        let near = self.0.iter().copied().filter(|(_, likeness)| *likeness > 0.0);
        let (theirs, ours): (Vec<_>, Vec<_>) = near.partition(|(id, _)| is_strangers(*id));
        let few = |mut near: Vec<(i64, f32)>| {
            if near.len() > NEAREST {
                near.select_nth_unstable_by(NEAREST, |a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
                near.truncate(NEAREST);
            }
            near
        };
        few(ours).into_iter().chain(few(theirs)).map(|(id, _)| id).collect()
    }

    /// How alike these texts are to the query; those without an embedding are left out.
    pub(super) fn of<Id: Copy + Eq + std::hash::Hash>(
        &self,
        ids: impl Iterator<Item = Id>,
        number: impl Fn(Id) -> i64,
    ) -> HashMap<Id, f64> {
        let likeness = |id: Id| {
            let at = self.0.binary_search_by_key(&number(id), |(known, _)| *known).ok()?;
            Some((id, f64::from(self.0[at].1)))
        };
        ids.filter_map(likeness).collect()
    }
}

fn unseen_memories(tx: &Tx<'_>, model: &str, limit: u32) -> Outcome<Vec<Unseen>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT memory.* FROM memory
         LEFT JOIN memory_vector ON memory_vector.memory = memory.id AND memory_vector.model = :model
         WHERE memory.owner = :owner AND memory_vector.memory IS NULL ORDER BY memory.id DESC LIMIT :limit",
    )?;
    let params = named_params! { ":owner": tx.owner, ":model": model, ":limit": limit };
    let listed = row::list(&mut statement, params, "memory", "id", memory)?;
    let unseen = |memory: &Memory| Unseen { of: TextOf::Memory(memory.id), text: meaning_text(memory) };
    Ok(listed.rows.iter().map(unseen).collect())
}

fn unseen_messages(tx: &Tx<'_>, model: &str, after: Option<MessageId>, limit: u32) -> Outcome<Vec<Unseen>> {
    let mut statement = tx.sql.prepare_cached(&format!(
        "SELECT message.id, coalesce(message.typed, message.text) {SPOKEN} AND message.id > :after
           AND NOT EXISTS (SELECT 1 FROM message_vector WHERE message_vector.message = message.id AND model = :model)
         ORDER BY message.id DESC LIMIT :limit"
    ))?;
    let params = named_params! {
        ":owner": tx.owner, ":model": model, ":after": after.map_or(0, |id| id.0), ":limit": limit,
    };
    let rows = statement
        .query_map(params, |row| Ok(Unseen { of: TextOf::Message(MessageId(row.get(0)?)), text: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The newest message of all owners; messages never go.
fn newest_message(tx: &Tx<'_>) -> Outcome<Option<MessageId>> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'message'";
    Ok(tx.sql.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?.map(MessageId))
}

/// Keeps one embedding, if its text still stands there.
fn keep(tx: &Tx<'_>, model: &str, Seen { unseen, embedding }: &Seen) -> Outcome<bool> {
    if present_text(tx, unseen.of)?.is_none_or(|text| text != unseen.text) {
        return Ok(false);
    }
    let (sql, id) = match unseen.of {
        TextOf::Memory(id) => {
            ("INSERT OR REPLACE INTO memory_vector (memory, owner, model, vector) VALUES (?, ?, ?, ?)", id.0)
        }
        TextOf::Message(id) => {
            ("INSERT OR REPLACE INTO message_vector (message, owner, model, vector) VALUES (?, ?, ?, ?)", id.0)
        }
    };
    let vector = embedding.as_ref().map(Embedding::bytes).unwrap_or_default();
    tx.sql.prepare_cached(sql)?.execute((id, tx.owner, model, vector))?;
    Ok(true)
}

/// What a memory or a message says now.
fn present_text(tx: &Tx<'_>, of: TextOf) -> Outcome<Option<String>> {
    match of {
        TextOf::Memory(id) => {
            let mut statement = tx.sql.prepare_cached("SELECT * FROM memory WHERE owner = ? AND id = ?")?;
            let read = statement.query_row((tx.owner, id.0), |row| Ok(memory(row).ok())).optional()?;
            Ok(read.flatten().map(|memory| meaning_text(&memory)))
        }
        TextOf::Message(id) => {
            let sql = "SELECT coalesce(typed, text) FROM message WHERE owner = ? AND id = ?";
            Ok(tx.sql.prepare_cached(sql)?.query_row((tx.owner, id.0), |row| row.get(0)).optional()?)
        }
    }
}

fn state(tx: &Tx<'_>, model: &str) -> Outcome<VectorState> {
    let count = |sql: &str, model: Option<&str>| -> Outcome<u64> {
        let mut statement = tx.sql.prepare_cached(sql)?;
        let count: i64 = match model {
            None => statement.query_row(named_params! { ":owner": tx.owner }, |row| row.get(0))?,
            Some(model) => {
                statement.query_row(named_params! { ":owner": tx.owner, ":model": model }, |row| row.get(0))?
            }
        };
        Ok(count.unsigned_abs())
    };
    Ok(VectorState {
        memories: count("SELECT count(*) FROM memory WHERE owner = :owner", None)?,
        memories_seen: count(
            "SELECT count(*) FROM memory_vector WHERE owner = :owner AND model = :model",
            Some(model),
        )?,
        messages: count(&format!("SELECT count(*) {SPOKEN}"), None)?,
        messages_seen: count(
            "SELECT count(*) FROM message_vector WHERE owner = :owner AND model = :model",
            Some(model),
        )?,
    })
}
