//! How a model names a memory.

use std::borrow::Cow;

use limpid_core::MemoryId;
use limpid_core::memory::Memory;
use limpid_store::{MemoryRef, Store};
use limpid_tools::{Concerned, Named};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

/// How a model names a memory: by the number that a query shows, or by its key.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Which {
    /// Its number.
    Number(i64),
    /// Its key, or its number as text.
    Text(String),
}

impl Which {
    /// The memory that is meant.
    pub(crate) fn memory(&self) -> MemoryRef {
        match self {
            Self::Number(number) => MemoryRef::Id(MemoryId(*number)),
            Self::Text(text) => MemoryRef::named(text),
        }
    }
}

/// What the owner is told of the memory that an argument names, by its number or its key.
pub(super) async fn concerns(store: &dyn Store, argument: &Value) -> Concerned {
    let found = async {
        let which = Which::deserialize(argument).ok()?.memory();
        store.memory(&which).await.ok()?
    };
    Concerned::found(found.await.as_ref().map(in_words), "there is no such memory")
}

/// The memory that the argument in a field names, by its number or its key.
pub(super) async fn named(store: &dyn Store, arguments: &Value, fields: &'static [&'static str]) -> Option<Named> {
    let which = Which::deserialize(arguments.get(fields.first()?)?).ok()?.memory();
    let memory = store.memory(&which).await.ok()??;
    Some(all_names(&memory, fields))
}

/// The memory that a call would write over, if it makes no new one.
pub(super) async fn named_by_key(store: &dyn Store, arguments: &Value) -> Option<Named> {
    let key = MemoryRef::from(arguments.get("key")?.as_str()?.trim());
    let memory = store.memory(&key).await.ok()??;
    Some(all_names(&memory, &["key"]))
}

fn all_names(memory: &Memory, fields: &'static [&'static str]) -> Named {
    let Memory { id, key, .. } = memory;
    Named { fields, names: vec![id.to_string(), format!("id:{id}"), format!("[id:{id}]"), key.clone()] }
}

/// What the owner is told of the memory that a call would write over, if it makes no new one.
pub(super) async fn written_over(store: &dyn Store, key: &Value) -> Concerned {
    let key = MemoryRef::from(key.as_str().unwrap_or_default());
    match store.memory(&key).await {
        Ok(Some(memory)) => Concerned::Words(in_words(&memory)),
        Ok(None) | Err(_) => Concerned::InArguments,
    }
}

fn in_words(memory: &Memory) -> String {
    let by = if memory.trust.is_foreign() { ", which a stranger wrote" } else { "" };
    format!("memory {}{by}, {}: {}", memory.id, memory.key, memory.content)
}

impl JsonSchema for Which {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": ["integer", "string"] })
    }
}
