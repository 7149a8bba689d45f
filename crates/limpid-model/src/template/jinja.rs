//! Jinja as chat templates expect it: that of Python, with the additions that model hubs made.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Steps that one rendering may take; a thousand messages need some tens of thousands.
const FUEL: u64 = 20_000_000;

/// An environment that holds one template.
pub(super) fn environment(name: &'static str, source: &str) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.add_function("raise_exception", raise_exception);
    environment.add_filter("tojson", to_json);
    environment.add_template_owned(name, without_generation_marks(source))?;
    Ok(environment)
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

#[expect(clippy::needless_pass_by_value, reason = "the engine hands options over by value")]
fn to_json(value: &Value, options: Kwargs) -> Result<String, Error> {
    write_json(value, options.get("indent")?)
}

/// JSON as Python writes it: a space after commas and colons, nothing escaped that need not be. Python's options other than
/// `indent` change nothing.
fn write_json(value: &Value, indent: Option<usize>) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let written = match indent {
        Some(width) => {
            let spaces = " ".repeat(width.min(16));
            let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        }
        None => value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced)),
    };
    written.map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Some templates mark the model's own words for training (`{% generation %}`); a reader of messages skips the marks.
fn without_generation_marks(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, tag, after)) = next_tag(rest) {
        text.push_str(before);
        match tag.trim_matches(['-', '+']).trim() {
            "generation" => text.push_str(&tag_like(tag, "if true")),
            "endgeneration" => text.push_str(&tag_like(tag, "endif")),
            _ => text.push_str(&format!("{{%{tag}%}}")),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

fn next_tag(text: &str) -> Option<(&str, &str, &str)> {
    let (before, inside) = text.split_once("{%")?;
    let (tag, after) = inside.split_once("%}")?;
    Some((before, tag, after))
}

/// A tag with other words and the same control of the space around it.
fn tag_like(tag: &str, words: &str) -> String {
    let open = tag.chars().next().filter(|c| "-+".contains(*c)).map(String::from).unwrap_or_default();
    let close = tag.chars().last().filter(|c| "-+".contains(*c)).map(String::from).unwrap_or_default();
    format!("{{%{open} {words} {close}%}}")
}
