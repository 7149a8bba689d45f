//! What is wrong with a configuration, and where.

use std::fmt;

/// A configuration that cannot be used: what is wrong and where, with the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    file: String,
    line: usize,
    column: usize,
    excerpt: String,
    message: String,
}

impl ConfigError {
    pub(super) fn new(error: &toml::de::Error, text: &str, file: &str) -> Self {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(start..).map_or(0, |line| line.chars().count()) + 1;
        let excerpt = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let message = error.message().trim_end();
        let message = a_list_of_tables(message, excerpt).unwrap_or_else(|| in_words(message));
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column,
            excerpt: without_secret(excerpt),
            message,
        }
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, excerpt, message } = self;
        let margin = " ".repeat(line.to_string().len());
        writeln!(f, "{file}: line {line}, column {column}")?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {excerpt}")?;
        writeln!(f, "{margin} | {}^", " ".repeat(column.saturating_sub(1)))?;
        write!(f, "{message}")
    }
}

/// A line of the file without the value of what is named as a secret: the error stands in logs and on screens.
fn without_secret(line: &str) -> String {
    let Some((name, _)) = line.split_once('=') else { return line.to_owned() };
    let name = name.trim_end();
    let is_secret = ["key", "token", "secret", "password"].iter().any(|word| name.to_lowercase().ends_with(word));
    if is_secret { format!("{name} = …") } else { line.to_owned() }
}

/// What to write in place of the heading of one table, where there may be several.
fn a_list_of_tables(message: &str, line: &str) -> Option<String> {
    let key = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    let is_one = message == "invalid type: map, expected a sequence" && !key.starts_with('[');
    is_one.then(|| format!("there may be several of these, so write [[{key}]]"))
}

/// What is wrong with a value, with words for the types of numbers.
fn in_words(message: &str) -> String {
    let Some((before, kind)) = message.rsplit_once("expected ") else { return message.to_owned() };
    let kind = match kind {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not below 0",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" => "a text in quotes",
        other => other,
    };
    format!("{before}expected {kind}")
}

#[cfg(test)]
mod tests {
    use crate::Config;

    // SEC-032
    #[test]
    fn a_table_that_is_one_of_several_is_told_with_its_heading() {
        let told = |text: &str| Config::parse(text, "limpid.toml").unwrap_err().to_string();
        let one = told("[exec.folders]\nfolder = \"/src\"\n");
        assert!(one.starts_with("limpid.toml: line 1, "), "{one}");
        assert!(one.ends_with("\nthere may be several of these, so write [[exec.folders]]"), "{one}");
        let inline = told("[exec]\nfolders = { folder = \"/src\" }\n");
        assert!(inline.ends_with("invalid type: map, expected a sequence"), "{inline}");
    }

    // SEC-032
    #[test]
    fn a_secret_that_stands_in_the_wrong_place_is_in_no_error() {
        let text = "[provider.house]\nbase_url = \"http://127.0.0.1:8000/v1\"\napi_key = \"sk-abc\"\n";
        let told = Config::parse(text, "limpid.toml").unwrap_err().to_string();
        assert!(told.contains("3 | api_key = …\n") && !told.contains("sk-abc"), "{told}");
    }
}
