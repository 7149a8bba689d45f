//! Renders the chat template of a GGUF file: from messages to the very text that a local model reads.
//!
//! A template adds text of its own: the marks of each role, and sometimes whole sentences (SmolLM2's adds a system
//! message when there is none). [`Rendered::spans`] tells the one from the other, so that what the template added can
//! be shown as a part of its own (KOSHI-001) and no mark inside a message is taken for one of the template's.

use limpid_core::{Role, ToolCall, ToolSpec};
use minijinja::Environment;
use serde_json::{Value, json};

mod jinja;
mod spans;

pub use spans::{Span, SpanOrigin};

/// The origin of what a template adds by itself, as parts of a prompt name it.
pub const TEMPLATE_ORIGIN: &str = "model:chat_template";

/// The one name that a template has in its environment.
const NAME: &str = "chat_template";

/// A template that was read and compiled.
#[derive(Debug)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos_token: String,
    eos_token: String,
    knows_tools: bool,
    knows_calls: bool,
}

/// One message as a template gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// The calls of an assistant message.
    pub calls: Vec<ToolCall>,
}

/// What is rendered besides the messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct TemplateOptions<'a> {
    /// Tools that are declared, for a template that knows how.
    pub tools: &'a [ToolSpec],
    /// Whether a model that can reason is asked to.
    pub thinking: bool,
}

/// The text that a model reads, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The whole text.
    pub text: String,
    /// Stretches that add up to the text, in its order.
    pub spans: Vec<Span>,
}

impl Rendered {
    /// The stretches with their text.
    pub fn parts(&self) -> impl Iterator<Item = (SpanOrigin, &str)> {
        self.spans.iter().map(|span| (span.origin, &self.text[span.range.clone()]))
    }
}

/// A template that cannot be used, or that refuses these messages.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The template is no Jinja that can be read.
    #[error("the model's chat template cannot be read: {0}; set `template` for this model in models.toml")]
    Syntax(String),
    /// The template refused the messages or failed on them.
    #[error("the model's chat template refuses these messages: {0}")]
    Refused(String),
}

impl ChatTemplate {
    /// Compiles a template. The tokens are the texts that begin and end a document for this model.
    ///
    /// # Errors
    /// When the source is no Jinja that can be read.
    pub fn new(source: &str, bos_token: &str, eos_token: &str) -> Result<Self, TemplateError> {
        let environment = jinja::environment(NAME, source).map_err(|error| TemplateError::Syntax(describe(&error)))?;
        let variables = environment
            .get_template(NAME)
            .map(|template| template.undeclared_variables(false))
            .map_err(|error| TemplateError::Syntax(describe(&error)))?;
        Ok(Self {
            knows_tools: variables.contains("tools"),
            knows_calls: source.contains("tool_calls"),
            environment,
            bos_token: bos_token.to_owned(),
            eos_token: eos_token.to_owned(),
        })
    }

    /// Whether the template does anything with declared tools; one that does not makes a model without tools.
    pub fn knows_tools(&self) -> bool {
        self.knows_tools
    }

    /// Renders messages up to the place where the model's answer begins.
    ///
    /// A template without a system role gets the system text at the head of the first user message.
    ///
    /// # Errors
    /// When the template refuses the messages, fails on them, or does not end.
    pub fn render(&self, messages: &[ChatMessage], options: TemplateOptions<'_>) -> Result<Rendered, TemplateError> {
        match self.render_as(messages, options) {
            Err(refused) => match without_system(messages) {
                Some(joined) => self.render_as(&joined, options).map_err(|_| refused),
                None => Err(refused),
            },
            rendered => rendered,
        }
    }

    fn render_as(&self, messages: &[ChatMessage], options: TemplateOptions<'_>) -> Result<Rendered, TemplateError> {
        let text = self.render_text(messages, options)?;
        let marked = spans::mark(messages);
        let spans = self
            .render_text(&marked, options)
            .ok()
            .and_then(|marked| spans::read_marks(&marked, &text))
            .unwrap_or_else(|| spans::search(messages, &text));
        Ok(Rendered { text, spans })
    }

    fn render_text(&self, messages: &[ChatMessage], options: TemplateOptions<'_>) -> Result<String, TemplateError> {
        let messages: Vec<Value> = messages.iter().map(|message| self.message(message)).collect();
        let mut context = json!({
            "messages": messages,
            "add_generation_prompt": true,
            "bos_token": self.bos_token,
            "eos_token": self.eos_token,
            "enable_thinking": options.thinking,
        });
        if self.knows_tools && !options.tools.is_empty() {
            context["tools"] = options.tools.iter().map(tool).collect();
        }
        self.environment
            .get_template(NAME)
            .and_then(|template| template.render(minijinja::value::Serde(&context)))
            .map_err(|error| TemplateError::Refused(describe(&error)))
    }

    fn message(&self, message: &ChatMessage) -> Value {
        let mut value = json!({ "role": message.role.as_str(), "content": message.text });
        if message.calls.is_empty() {
            return value;
        }
        let calls: Vec<Value> = message.calls.iter().map(call).collect();
        if self.knows_calls {
            value["tool_calls"] = Value::Array(calls);
        } else {
            let separator = if message.text.is_empty() { "" } else { "\n" };
            value["content"] = json!(format!("{}{separator}{}", message.text, Value::Array(calls)));
        }
        value
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let parameters: Value = serde_json::from_str(&tool.schema).unwrap_or_else(|_| json!({}));
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": parameters },
    })
}

fn call(call: &ToolCall) -> Value {
    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()));
    json!({
        "type": "function",
        "id": call.id.as_str(),
        "function": { "name": call.name, "arguments": arguments },
    })
}

/// The same messages with the system text at the head of the first message of the user, if there are both.
fn without_system(messages: &[ChatMessage]) -> Option<Vec<ChatMessage>> {
    let (system, rest) = messages.split_first().filter(|(first, _)| first.role == Role::System)?;
    let at = rest.iter().position(|message| message.role == Role::User)?;
    let mut joined = rest.to_vec();
    joined[at].text = format!("{}\n\n{}", system.text, joined[at].text);
    Some(joined)
}

fn describe(error: &minijinja::Error) -> String {
    let mut text = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    if let Some(line) = error.line() {
        text.push_str(&format!(" (line {line} of the template)"));
    }
    text
}

#[cfg(test)]
mod tests;
