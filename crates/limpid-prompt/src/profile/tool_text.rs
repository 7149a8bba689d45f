//! What profiles say of tools.

use crate::source::SourceRef;
use crate::template::Template;

/// What the model is told about one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolText {
    /// The tool's name.
    pub name: String,
    /// What it does, as the file says it.
    pub description: String,
    /// The same compiled, when it prints or asks for anything.
    pub(crate) template: Option<Template>,
    /// What its arguments are, by name.
    pub parameters: Vec<(String, String)>,
    /// Words that people use for what it does; it is found by them, and no model reads them.
    pub words: Vec<String>,
    /// Tools that its results are of no use without: they are found along with it.
    pub with: Vec<String>,
    /// Where the description stands.
    pub source: SourceRef,
}

/// A group of tools with a title, as texts list them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGroup {
    /// The title.
    pub title: String,
    /// The tools of the group, in order.
    pub names: Vec<String>,
}
