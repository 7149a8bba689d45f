//! How much is written of a schema: without a bound a few lines of references to one long text would become gigabytes.

use serde_json::{Map, Value};

use super::{ABOUT, RARE, RARE_MAPS};

/// Bytes that are written for each byte that came. What has no references needs no more than about two.
const GROWTH: usize = 4;

/// Bytes that are written of a short schema.
const LEAST: usize = 32 * 1024;

/// Bytes beside a word and its value: quotes, a colon, a comma.
const SIGNS: usize = 4;

/// Bytes of a schema without words.
const EMPTY: usize = 2;

/// Words whose values are schemas, beside the rare ones.
const HOLDERS: [&str; 7] = ["properties", "items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"];

/// The bytes that may still be written of a schema. What does not fit is left out whole, and nothing comes after it.
pub(super) struct ByteBudget(usize);

impl ByteBudget {
    /// The budget for a schema that came as this text.
    pub(super) fn of(text: &str) -> Self {
        Self(text.len().saturating_mul(GROWTH).max(LEAST))
    }

    /// Spends the bytes of everything in a schema that is no schema itself; false where they are not left.
    pub(super) fn spend_schema(&mut self, fields: &Map<String, Value>) -> bool {
        let words = fields.iter().map(|(name, value)| name.len() + SIGNS + own_bytes(name, value));
        self.spend_bytes(EMPTY + words.sum::<usize>())
    }

    /// Spends the bytes of a value; false where they are not left.
    pub(super) fn spend(&mut self, value: &Value) -> bool {
        self.spend_bytes(value.to_string().len())
    }

    fn spend_bytes(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }
}

/// Bytes of a word's value without those of schemas in it, which are counted where they are written.
fn own_bytes(name: &str, value: &Value) -> usize {
    let holds_schemas = [&HOLDERS[..], &RARE, &RARE_MAPS].iter().any(|words| words.contains(&name));
    match value {
        _ if ABOUT.contains(&name) && name != "$ref" => 0,
        Value::Array(schemas) if holds_schemas => schemas.len() * EMPTY,
        Value::Object(schemas) if holds_schemas => schemas.keys().map(|name| name.len() + SIGNS).sum(),
        value => value.to_string().len(),
    }
}
