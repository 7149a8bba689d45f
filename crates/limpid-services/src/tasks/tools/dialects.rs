//! The arguments of one dialect with those of the others beside them: a rule that holds a call back by what one profile calls its
//! arguments holds it back in each.

use serde_json::Value;

/// The arguments of a call with what they are called besides, as pairs of the one name and the other.
pub(super) fn with_fields(arguments: &Value, pairs: &[(&str, &str)]) -> Value {
    let mut both = arguments.clone();
    for (own, other) in pairs {
        let (Some(value), Some(fields)) = (arguments.get(own), both.as_object_mut()) else { continue };
        fields.insert((*other).to_owned(), value.clone());
    }
    both
}

/// The arguments of a call that does what an action of `cron` does.
pub(super) fn as_cron(arguments: &Value, action: &str, pairs: &[(&str, &str)]) -> Vec<Value> {
    let mut both = with_fields(arguments, pairs);
    let Some(fields) = both.as_object_mut() else { return Vec::new() };
    fields.insert("action".to_owned(), Value::from(action));
    vec![both]
}
