//! What a server offers, within bounds: what is larger is left out and counted, never cut, since a cut text says something else.

use rmcp::model::{ListToolsResult, Prompt, Resource, Tool};
use serde_json::{Map, Value};

/// Tools of one server that are looked at; the rest is left out.
pub(crate) const MOST_TOOLS: usize = 500;

/// Prompts and resources of one server that are looked at.
pub(crate) const MOST_OTHERS: usize = 200;

/// Pages of one list that are asked for.
pub(crate) const MOST_PAGES: usize = 50;

/// Bytes of a name.
const NAME: usize = 256;

/// Bytes of a description.
const DESCRIPTION: usize = 16 * 1024;

/// Bytes of a schema as JSON.
const SCHEMA: usize = 64 * 1024;

/// Bytes of everything that one server says of its tools.
const ALL: usize = 1024 * 1024;

/// Levels of a schema.
const LEVELS: usize = 32;

/// What a list holds, and how much of it was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// What is within the bounds, in the server's order. No two have one name.
    pub items: Vec<T>,
    /// How many were left out: too large, too many, or twice there.
    pub left_out: usize,
    /// Bytes of what is said of them.
    size: usize,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), left_out: 0, size: 0 }
    }
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    /// The name that the server knows it by. It may hold any character.
    pub name: String,
    /// What the server says that it does, without what nobody can see.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
}

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedPrompt {
    /// The name that the server knows it by.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// Whether it cannot be had without arguments.
    pub needs_arguments: bool,
}

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedResource {
    /// Where it is.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
}

/// Something of a server's list.
pub(crate) trait Offered: Sized {
    /// What the protocol calls it.
    type Wire;

    /// How many are taken.
    const MOST: usize;

    /// It, if it is within the bounds.
    fn of(wire: Self::Wire) -> Option<Self>;

    /// What tells two of them apart.
    fn key(&self) -> &str;

    /// Bytes of what is said of it.
    fn size(&self) -> usize;
}

impl Offered for OfferedTool {
    type Wire = Tool;

    const MOST: usize = MOST_TOOLS;

    fn of(wire: Tool) -> Option<Self> {
        let description = wire.description.as_deref().or(wire.title.as_deref()).unwrap_or_default();
        let schema = Map::clone(&wire.input_schema);
        let fits = fits(&wire.name, description)
            && depth(&schema, LEVELS)
            && serde_json::to_string(&schema).is_ok_and(|text| text.len() <= SCHEMA);
        fits.then(|| Self { name: wire.name.into_owned(), description: visible(description), schema })
    }

    fn key(&self) -> &str {
        &self.name
    }

    fn size(&self) -> usize {
        let length = |text: serde_json::Result<String>| text.map_or(SCHEMA, |text| text.len());
        length(serde_json::to_string(&self.description)) + length(serde_json::to_string(&self.schema))
    }
}

impl Offered for OfferedPrompt {
    type Wire = Prompt;

    const MOST: usize = MOST_OTHERS;

    fn of(wire: Prompt) -> Option<Self> {
        let description = wire.description.as_deref().unwrap_or_default();
        let title = wire.title.as_deref().map(visible).filter(|title| !title.is_empty());
        let needs_arguments = wire.arguments.iter().flatten().any(|argument| argument.required == Some(true));
        let fits = fits(&wire.name, description) && title.as_ref().is_none_or(|title| title.len() <= NAME);
        fits.then(|| Self { description: visible(description), title, needs_arguments, name: wire.name })
    }

    fn key(&self) -> &str {
        &self.name
    }

    fn size(&self) -> usize {
        self.description.len()
    }
}

impl Offered for OfferedResource {
    type Wire = Resource;

    const MOST: usize = MOST_OTHERS;

    fn of(wire: Resource) -> Option<Self> {
        let description = wire.description.as_deref().unwrap_or_default();
        let fits = fits(&wire.uri, description) && wire.name.len() <= NAME;
        fits.then(|| Self { uri: wire.uri, name: visible(&wire.name), description: visible(description) })
    }

    fn key(&self) -> &str {
        &self.uri
    }

    fn size(&self) -> usize {
        self.description.len()
    }
}

/// The tools that one answer of a server holds; none where it is no list of tools.
pub fn tools_in(answer: &[u8]) -> Option<Listed<OfferedTool>> {
    let page: ListToolsResult = serde_json::from_slice(answer).ok()?;
    let mut listed = Listed::default();
    take(&mut listed, page.tools);
    Some(listed)
}

/// Takes one page of a list in. Returns whether there is room for more.
pub(crate) fn take<T: Offered>(listed: &mut Listed<T>, page: Vec<T::Wire>) -> bool {
    for wire in page {
        let item = if listed.items.len() < T::MOST { T::of(wire) } else { None };
        let fits =
            |item: &T| listed.size + item.size() <= ALL && listed.items.iter().all(|known| known.key() != item.key());
        match item.filter(fits) {
            Some(item) => {
                listed.size += item.size();
                listed.items.push(item);
            }
            None => listed.left_out += 1,
        }
    }
    listed.items.len() < T::MOST
}

fn fits(name: &str, description: &str) -> bool {
    !name.is_empty() && name.len() <= NAME && description.len() <= DESCRIPTION
}

/// Whether an object has at most so many levels.
fn depth(object: &Map<String, Value>, levels: usize) -> bool {
    levels > 0
        && object.values().all(|value| match value {
            Value::Object(object) => depth(object, levels - 1),
            Value::Array(items) => list_depth(items, levels - 1),
            _ => true,
        })
}

fn list_depth(items: &[Value], levels: usize) -> bool {
    levels > 0
        && items.iter().all(|value| match value {
            Value::Object(object) => depth(object, levels - 1),
            Value::Array(items) => list_depth(items, levels - 1),
            _ => true,
        })
}

/// A text without what nobody can see: the owner looks at what a model will read.
pub(crate) fn visible(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(*c))).collect()
}

/// Characters that take no room, or turn the direction of others.
const fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}
