//! The JSON form of the inputs, version 1, and its schema.

use std::fmt;

use serde_json::Value;

use super::{Flat, INPUTS_VERSION, Inputs};

/// Why a text is no inputs: where, with the line, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputsError {
    line: usize,
    column: usize,
    excerpt: String,
    message: String,
}

impl fmt::Display for InputsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if self.line > 0 {
            let margin = " ".repeat(self.line.to_string().len());
            let space = " ".repeat(self.column.saturating_sub(1));
            write!(f, "\n --> line {}, column {}", self.line, self.column)?;
            write!(f, "\n{margin} |\n{} | {}\n{margin} | {space}^", self.line, self.excerpt)?;
        }
        Ok(())
    }
}

impl std::error::Error for InputsError {}

impl Inputs {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// Text that is no JSON, an unknown field, a value of the wrong kind, or another version than 1.
    ///
    /// ```
    /// use limpid_prompt::Inputs;
    /// use limpid_prompt::inputs::TrustName;
    /// let inputs = Inputs::from_json(r#"{ "user_message": "hi" }"#)?;
    /// let trust = inputs.user.as_ref().map(|user| user.trust);
    /// assert_eq!((inputs.said(), trust), ("hi", Some(TrustName::File)));
    /// assert!(Inputs::from_json(r#"{ "usermessage": "hi" }"#).is_err());
    /// # Ok::<(), limpid_prompt::inputs::InputsError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, InputsError> {
        let inputs: Self = serde_json::from_str(text).map_err(|error| wrong(text, &error))?;
        if inputs.version != INPUTS_VERSION {
            let message = format!(
                "inputs of version {} are not known; this program reads version {INPUTS_VERSION}",
                inputs.version
            );
            return Err(InputsError { line: 0, column: 0, excerpt: String::new(), message });
        }
        Ok(inputs)
    }
}

/// The JSON schema of the inputs, with a description of every field.
pub fn schema() -> Value {
    schemars::schema_for!(Flat).to_value()
}

fn wrong(text: &str, error: &serde_json::Error) -> InputsError {
    let shown = error.to_string();
    // serde_json ends its messages with the place, which stands on a line of its own here.
    let message = shown.rsplit_once(" at line ").map_or(shown.as_str(), |(message, _)| message).to_owned();
    let excerpt = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let (excerpt, column) = window(excerpt, error.column());
    InputsError { line: error.line(), column, excerpt, message }
}

/// At most 100 characters of a line around a column; a whole file may be one line.
fn window(line: &str, column: usize) -> (String, usize) {
    let before = line.get(..column.min(line.len())).map_or(0, |head| head.chars().count());
    let from = before.saturating_sub(70);
    (line.chars().skip(from).take(100).collect(), (before - from).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    // PRO-070 SUR-011
    #[test]
    fn what_is_wrong_is_shown_where_it_stands() {
        let cases =
            ["", "[", "{\n  \"soul\": 7\n}", "{\"sol\": \"x\"}", "{\"version\": 2}", "{\"tools\": [{\"name\": 1}]}"];
        let shown: Vec<String> = cases.iter().map(|case| Inputs::from_json(case).unwrap_err().to_string()).collect();
        insta::assert_snapshot!(shown.join("\n\n"));
    }

    // PRO-070
    #[test]
    fn the_example_is_read_and_written_back_without_loss() {
        let example: Value = serde_json::from_str(crate::scenario::EXAMPLE_INPUTS).unwrap();
        let inputs = Inputs::from_json(crate::scenario::EXAMPLE_INPUTS).unwrap();
        let back = serde_json::to_value(&inputs).unwrap();
        assert_eq!(missing(&example, &back, "inputs"), Vec::<String>::new());
    }

    /// Places of `whole` that `part` has otherwise or not at all.
    fn missing(part: &Value, whole: &Value, at: &str) -> Vec<String> {
        match (part, whole) {
            (Value::Object(part), Value::Object(whole)) => part
                .iter()
                .flat_map(|(key, value)| missing(value, whole.get(key).unwrap_or(&Value::Null), &format!("{at}.{key}")))
                .collect(),
            (Value::Array(part), Value::Array(whole)) if part.len() == whole.len() => part
                .iter()
                .zip(whole)
                .enumerate()
                .flat_map(|(n, (a, b))| missing(a, b, &format!("{at}[{n}]")))
                .collect(),
            (part, whole) if part == whole => Vec::new(),
            _ => vec![at.to_owned()],
        }
    }
}
