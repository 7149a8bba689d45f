//! Scripts: what a pretended model says, in a file.
//!
//! One format serves the scripted model ([`crate::scripted`]) and the recording server of `limpid-testkit`, so the
//! same replies can be given in-process or over a socket in any provider's protocol.
//!
//! ```toml
//! models = ["small-1"]              # what the server lists; default: "scripted"
//!
//! [[reply]]
//! text = ["Let me ", "look."]       # a text, or its pieces
//! calls = [{ name = "memory_query", arguments = { query = "tea" } }]
//! usage = { input = 120, cached = 100, output = 9 }
//!
//! [[reply]]
//! when = "[weather]"                # only for a request that holds this text
//! status = 429
//! body = '{"error":{"message":"slow down"}}'
//! retry_after = 2
//! ```
//!
//! Each request takes the first reply that fits and was not yet given; when there is none left, the last one that fits
//! is given again.

use std::path::Path;

use limpid_config::regular_file;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Bytes of a script at most.
const MOST: u64 = 64 * 1024 * 1024;

/// What a flood consists of.
const FLOOD_LINE: &str = "The river ran on past the mill and nobody thought to count it.\n";

/// Bytes of one piece of a flood.
const FLOOD_PIECE: usize = 64 * 1024;

/// Replies in the order in which they are given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Names of the models that a server lists.
    pub models: Vec<String>,
    /// Words that mean the same to its embeddings, in groups; every other word means something of its own.
    pub alike: Vec<Vec<String>>,
    /// The replies.
    pub reply: Vec<Reply>,
}

/// One reply: an answer with its pieces and its faults, or an error.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// Given only for a request whose body holds this text.
    pub when: Option<String>,
    /// Reasoning, streamed before the text.
    pub reasoning: Pieces,
    /// The answer's text.
    pub text: Pieces,
    /// Tool calls, after the text.
    pub calls: Vec<ScriptedCall>,
    /// What was counted; absent: nothing is said.
    pub usage: Option<ScriptedUsage>,
    /// Why the answer is over: `stop`, `calls`, `length`, `moderated` or any other word. Absent: by the content.
    pub finish: Option<String>,
    /// So many more bytes of text, in pieces of 64 KiB.
    pub flood: usize,
    /// An HTTP status; any but 2xx makes the reply an error with `body`.
    pub status: Option<u16>,
    /// The body of an error.
    pub body: String,
    /// Seconds in `Retry-After`.
    pub retry_after: Option<u64>,
    /// A whole body, sent as it stands in place of text, calls and usage. Only a server can say it.
    pub raw: Option<String>,
    /// The body's type. Absent: what the protocol's streams have.
    pub content_type: Option<String>,
    /// Milliseconds before the first byte.
    pub delay_ms: u64,
    /// Milliseconds before each further piece.
    pub between_ms: u64,
    /// The connection breaks after so many bytes of the body; in-process: of the text, at the latest where it ends.
    pub cut: Option<usize>,
    /// The body is written in pieces of so many bytes, wherever that cuts it.
    pub piece: Option<usize>,
    /// Comments between the pieces, as gateways send them to keep a connection open.
    pub comments: bool,
    /// Where it falls silent for ever.
    pub hang: Option<Hang>,
}

/// Where a server falls silent for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hang {
    /// Before the status line.
    Start,
    /// After every piece, in place of the end.
    End,
}

/// A text in one or more pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "OneOrMany")]
pub struct Pieces(pub Vec<String>);

/// One scripted tool call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The call's name; absent: `call_1`, `call_2`, … by its place in the reply.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments: a table, or text that is sent as it stands.
    #[serde(default)]
    pub arguments: Arguments,
}

/// Arguments of a scripted call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    /// Text, which need not be JSON.
    Text(String),
    /// A table, sent as a JSON object.
    Table(Map<String, Value>),
}

/// Scripted counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedUsage {
    /// Tokens of the prompt, the cached ones included.
    pub input: u64,
    /// Tokens read from the cache.
    pub cached: u64,
    /// Tokens written to the cache.
    pub cache_written: u64,
    /// Tokens of the reply that were reasoning.
    pub reasoning: u64,
    /// Tokens of the reply.
    pub output: u64,
}

/// A script that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The text is no script.
    #[error("the script is not valid: {0}")]
    Syntax(#[from] toml::de::Error),
    /// There is nothing to say.
    #[error("the script has no `[[reply]]`; write at least one")]
    Empty,
}

impl Script {
    /// Reads a script from its text.
    ///
    /// # Errors
    /// When it is not valid TOML, has an unknown field, or has neither a reply nor words that are alike.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Self = toml::from_str(text)?;
        // A script of embeddings has nothing to say.
        let is_empty = script.reply.is_empty() && script.alike.is_empty();
        if is_empty { Err(ScriptError::Empty) } else { Ok(script) }
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is no script.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = regular_file::read_text(path, MOST)
            .map_err(|source| ScriptError::Read { path: path.display().to_string(), source })?;
        Self::parse(&text)
    }

    /// The replies, ready to be given.
    pub fn player(self) -> Player {
        let given = vec![false; self.reply.len()];
        Player { replies: self.reply, given }
    }
}

/// The replies of a script and which of them were given.
#[derive(Clone, Debug)]
pub struct Player {
    replies: Vec<Reply>,
    given: Vec<bool>,
}

impl Player {
    /// The reply to a request; none when no reply fits it.
    pub fn next(&mut self, request: &str) -> Option<Reply> {
        let fits = |at: &usize| self.replies[*at].when.as_ref().is_none_or(|when| request.contains(when));
        let fresh = (0..self.replies.len()).filter(|at| !self.given[*at]).find(fits);
        let at = fresh.or_else(|| (0..self.replies.len()).rfind(fits))?;
        self.given[at] = true;
        Some(self.replies[at].clone())
    }
}

impl Reply {
    /// The pieces of the text, the flood included.
    pub fn text_pieces(&self) -> impl Iterator<Item = String> {
        let whole = self.flood / FLOOD_PIECE;
        let sizes = std::iter::repeat_n(FLOOD_PIECE, whole).chain([self.flood % FLOOD_PIECE]).filter(|size| *size > 0);
        let flood = sizes.map(|size| FLOOD_LINE.repeat(size.div_ceil(FLOOD_LINE.len()))[..size].to_owned());
        self.text.0.iter().cloned().chain(flood)
    }

    /// Whether the reply is an error.
    pub fn is_error(&self) -> bool {
        self.status.is_some_and(|status| !(200..300).contains(&status))
    }

    /// The word for why the answer is over.
    pub fn finish_word(&self) -> &str {
        match &self.finish {
            Some(word) => word,
            None if self.calls.is_empty() => "stop",
            None => "calls",
        }
    }
}

impl ScriptedCall {
    /// The arguments as text.
    pub fn arguments_text(&self) -> String {
        match &self.arguments {
            Arguments::Text(text) => text.clone(),
            Arguments::Table(table) => Value::Object(table.clone()).to_string(),
        }
    }

    /// The call's name; `at` counts from 0 within the reply.
    pub fn id_or(&self, at: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("call_{}", at + 1))
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self::Table(Map::new())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Pieces {
    fn from(pieces: OneOrMany) -> Self {
        match pieces {
            OneOrMany::One(text) => Self(vec![text]),
            OneOrMany::Many(pieces) => Self(pieces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_given_in_order_and_the_last_one_again() {
        let text = "[[reply]]\ntext = \"one\"\n[[reply]]\nwhen = \"rain\"\ntext = \"wet\"\n[[reply]]\ntext = \"two\"\n";
        let mut player = Script::parse(text).unwrap().player();
        let said: Vec<_> =
            ["a", "b rain", "c", "d", "e rain"].map(|request| player.next(request).unwrap().text.0.concat()).to_vec();
        assert_eq!(said, ["one", "wet", "two", "two", "two"]);
    }

    #[test]
    fn a_flood_has_the_size_asked_for() {
        let reply = Reply { flood: 100_000, ..Reply::default() };
        assert_eq!(reply.text_pieces().map(|piece| piece.len()).collect::<Vec<_>>(), [65_536, 34_464]);
    }

    #[test]
    fn what_is_no_script_is_refused_with_the_place() {
        assert!(Script::parse("[[reply]]\ntekst = \"x\"").unwrap_err().to_string().contains("line 2"));
        assert!(matches!(Script::parse("models = []").unwrap_err(), ScriptError::Empty));
    }
}
