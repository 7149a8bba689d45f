//! Fields of a body that the owner set for a provider.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// A body with more fields at its end, and at the ends of the objects in it that `extra` has too. A field that is there
/// already stays as it is, and so does every other byte.
pub(super) fn with_extra(body: String, extra: &serde_json::Map<String, Value>) -> String {
    if extra.is_empty() {
        return body;
    }
    let Ok(has) = serde_json::from_str::<Fields<'_>>(&body) else { return body };
    let mut added = vec![(body.len() - 1, members(&has, extra))];
    for (name, value) in extra {
        if let (Some(inner), Value::Object(more)) = (has.get(name.as_str()), value)
            && let Ok(inside) = serde_json::from_str::<Fields<'_>>(inner.get())
        {
            // What was borrowed from the body says where in it it stands.
            let start = inner.get().as_ptr().addr() - body.as_ptr().addr();
            added.push((start + inner.get().len() - 1, members(&inside, more)));
        }
    }
    added.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut whole = body.clone();
    for (at, text) in added {
        whole.insert_str(at, &text);
    }
    whole
}

type Fields<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// What an object lacks, as it stands before its closing brace.
fn members(has: &Fields<'_>, wanted: &serde_json::Map<String, Value>) -> String {
    let missing = wanted.iter().filter(|(name, _)| !has.contains_key(name.as_str()));
    let text: Vec<String> = missing.map(|(name, value)| format!("{}:{value}", Value::from(name.as_str()))).collect();
    let comma = if has.is_empty() || text.is_empty() { "" } else { "," };
    format!("{comma}{}", text.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // MOD-127 MOD-151
    #[test]
    fn what_is_missing_is_added_at_every_end_and_nothing_else_changes() {
        let with = |body: &str, extra: Value| with_extra(body.to_owned(), extra.as_object().unwrap());
        let body = r#"{"model":"m","options":{"num_ctx": 4096.0},"empty":{},"stream":true}"#;
        let extra =
            json!({"keep_alive": "30m", "options": {"num_ctx": 1, "top_k": 20}, "empty": {"a": {}}, "model": {}});
        insta::assert_snapshot!(
            with(body, extra),
            @r#"{"model":"m","options":{"num_ctx": 4096.0,"top_k":20},"empty":{"a":{}},"stream":true,"keep_alive":"30m"}"#
        );
        assert_eq!([with("{}", json!({"a": 1})), with("{}", json!({}))], [r#"{"a":1}"#, "{}"]);
        let odd = r#"{"na\"me":{"b":1}}"#;
        assert_eq!(with(odd, json!({"na\"me": {"c": 2}})), r#"{"na\"me":{"b":1,"c":2}}"#);
    }
}
