//! What is lent.

use async_trait::async_trait;
use serde_json::{Map, Value};

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lent {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What a model is told of it.
    pub instructions: String,
}

/// A tool that a client may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LentTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// Whether its calls change nothing.
    pub only_reads: bool,
}

/// A prompt that a client may ask for. It takes no arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LentPrompt {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// A text that a client may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LentResource {
    /// Where it is; with `{name}` in it, the form of many.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// What kind of text it is.
    pub kind: &'static str,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LentAnswer {
    /// What it returned, or why it failed and what to do.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
}

/// Why nothing came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing of that name.
    Unknown(String),
    /// It is there, and something went wrong.
    Trouble(String),
}

/// What is lent to clients. Every method may be called many times at once.
#[async_trait]
pub trait Lends: Send + Sync + 'static {
    /// What the server says of itself.
    fn about(&self) -> Lent;

    /// The tools.
    async fn tools(&self) -> Result<Vec<LentTool>, Refusal>;

    /// Calls one. Whoever asked may stop waiting; then this is dropped.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<LentAnswer, Refusal>;

    /// The prompts.
    async fn prompts(&self) -> Result<Vec<LentPrompt>, Refusal>;

    /// The text of one.
    async fn prompt(&self, name: &str) -> Result<String, Refusal>;

    /// The texts that can be read.
    async fn resources(&self) -> Result<Vec<LentResource>, Refusal>;

    /// The forms of texts of which there are too many for a list.
    async fn templates(&self) -> Result<Vec<LentResource>, Refusal>;

    /// One text, with what kind of text it is.
    async fn resource(&self, uri: &str) -> Result<(String, &'static str), Refusal>;
}
