//! JSON of bodies: written from types, so that the bytes depend on nothing but what is in it, with what is JSON already
//! copied as it is.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A value as JSON text.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    // The types here have text keys only, so this cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// A value as JSON that can be part of another one.
pub(crate) fn to_raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Arguments as a JSON object: unchanged when they are one, else the text inside one, so that nothing is lost.
pub(crate) fn arguments_object(arguments: &str) -> Cow<'_, RawValue> {
    #[derive(Serialize)]
    struct Text<'a> {
        arguments: &'a str,
    }
    let trimmed = arguments.trim();
    if let Ok(Value::Object(_)) = serde_json::from_str(trimmed)
        && let Ok(object) = serde_json::from_str(trimmed)
    {
        return Cow::Borrowed(object);
    }
    Cow::Owned(match trimmed.is_empty() {
        true => to_raw(&serde_json::Map::new()),
        false => to_raw(&Text { arguments }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_always_an_object() {
        let all = ["{ \"a\": 1 }", " {\"a\":1e400}", "", "[1]", "{broken"]
            .map(|text| arguments_object(text).get().to_owned());
        let text = [r#"{"arguments":" {\"a\":1e400}"}"#, "{}", r#"{"arguments":"[1]"}"#, r#"{"arguments":"{broken"}"#];
        assert_eq!(all[0], "{ \"a\": 1 }");
        assert_eq!(all[1..], text);
    }
}
