//! JSON written by hand, so that a body's bytes depend on nothing but what is in it.

use std::fmt::{Display, Write as _};

use serde_json::Value;

/// A JSON object that is being written; its fields keep their order.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a field whose value is JSON or a number already.
    pub(crate) fn raw(mut self, name: &str, value: impl Display) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        // Writing into a string cannot fail.
        let _ = write!(self.0, "{}:{value}", string(name));
        self
    }

    /// Adds a field with a text.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, string(value))
    }

    /// Adds a field with a value that may be absent.
    pub(crate) fn maybe(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON array of values that are JSON already.
pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

/// A text as a JSON string.
pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Arguments as a JSON object: as they stand when they are one, else the text inside one, so that nothing is lost.
pub(crate) fn arguments_object(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => arguments.trim().to_owned(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => Object::new().text("arguments", arguments).end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_texts_are_escaped() {
        let inner = array([string("a\"b"), "1".to_owned()]);
        let object = Object::new().text("z", "\n").maybe("n", None::<u8>).maybe("a", Some(0.7_f32)).raw("l", inner);
        assert_eq!(object.end(), r#"{"z":"\n","a":0.7,"l":["a\"b",1]}"#);
    }

    #[test]
    fn arguments_are_always_an_object() {
        let all = ["{ \"a\": 1 }", "", "[1]", "{broken"].map(arguments_object);
        assert_eq!(all, ["{ \"a\": 1 }", "{}", r#"{"arguments":"[1]"}"#, r#"{"arguments":"{broken"}"#]);
    }
}
