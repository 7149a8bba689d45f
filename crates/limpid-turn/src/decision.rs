//! The call that ends a turn which must decide.

use limpid_core::heartbeat::Decision;
use serde_json::{Map, Value};

/// Reads the arguments of a decision: `action`, and for a report `key` and `text`.
///
/// # Errors
/// What is wrong with them, for a log.
///
/// ```
/// use limpid_core::heartbeat::Decision;
/// use limpid_turn::decision::read;
/// assert_eq!(read(r#"{"action":"quiet"}"#), Ok(Decision::Quiet));
/// assert!(read(r#"{"action":"report"}"#).is_err());
/// ```
pub fn read(arguments: &str) -> Result<Decision, String> {
    let fields: Map<String, Value> = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    Decision::new(text("action"), text("key"), text("text"))
}
