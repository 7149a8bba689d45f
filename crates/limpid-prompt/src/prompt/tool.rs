//! The tools of a prompt, as they are declared.

use limpid_core::ToolSpec;
use serde_json::Value;

/// A tool as it is declared to a provider: its schema is text whose bytes never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) description: String,
    pub(crate) schema: String,
    pub(crate) loading: Loading,
}

/// When a model reads the declaration of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loading {
    /// Before everything else.
    #[default]
    Always,
    /// Where the first result of `find_tools` names it.
    Found,
    /// Not, though a result names it: it had to make room.
    Held,
}

impl Loading {
    /// The word for it, as the request log writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Found => "found",
            Self::Held => "held",
        }
    }

    /// Reads a word; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Always, Self::Found, Self::Held].into_iter().find(|loading| loading.as_str() == word)
    }
}

impl OfferedTool {
    /// The name that the model calls.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The group that it belongs to.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// What the tool does.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// When the model reads its declaration.
    pub fn loading(&self) -> Loading {
        self.loading
    }

    /// The JSON schema of its arguments, serialised.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The tool as one JSON text, as sizes count it: name, description and schema.
    pub fn declaration(&self) -> String {
        let text = |text: &str| Value::from(text).to_string();
        format!(
            r#"{{"name":{},"description":{},"parameters":{}}}"#,
            text(&self.name),
            text(&self.description),
            self.schema
        )
    }

    /// The same as a core type.
    pub fn to_spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            group: self.group.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
        }
    }
}
