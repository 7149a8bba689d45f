//! Renders the chat template of a GGUF file: from messages to the very text that a local model reads.
//!
//! A template adds text of its own: the marks of each role, and sometimes whole sentences (SmolLM2's adds a system
//! message when there is none). [`Rendered::spans`] tells the one from the other, so that what the template added can
//! be shown as a part of its own and no mark inside a message is taken for one of the template's.

use limpid_core::Role;
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
    may_think: bool,
}

/// One message as a template gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
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
            may_think: variables.contains("enable_thinking"),
            environment,
            bos_token: bos_token.to_owned(),
            eos_token: eos_token.to_owned(),
        })
    }

    /// Whether the template does anything with declared tools: its model was made to call some.
    pub fn knows_tools(&self) -> bool {
        self.knows_tools
    }

    /// Whether the template can be told to let the model reason or not.
    pub fn may_think(&self) -> bool {
        self.may_think
    }

    /// Renders messages up to the place where the model's answer begins. `thinking` asks a model that can reason to do so.
    ///
    /// A template without a system role gets the system text at the head of the first user message.
    ///
    /// # Errors
    /// When the template refuses the messages, fails on them, or does not end.
    pub fn render(&self, messages: &[ChatMessage], thinking: bool) -> Result<Rendered, TemplateError> {
        match self.render_as(messages, thinking) {
            Err(refused) => match without_system(messages) {
                Some(joined) => self.render_as(&joined, thinking).map_err(|_| refused),
                None => Err(refused),
            },
            rendered => rendered,
        }
    }

    fn render_as(&self, messages: &[ChatMessage], thinking: bool) -> Result<Rendered, TemplateError> {
        let text = self.render_text(messages, thinking)?;
        let marked = spans::mark(messages);
        let spans = self
            .render_text(&marked, thinking)
            .ok()
            .and_then(|marked| spans::read_marks(&marked, &text))
            .unwrap_or_else(|| spans::search(messages, &text));
        Ok(Rendered { text, spans })
    }

    fn render_text(&self, messages: &[ChatMessage], thinking: bool) -> Result<String, TemplateError> {
        let message = |message: &ChatMessage| json!({ "role": message.role.as_str(), "content": message.text });
        let context = json!({
            "messages": messages.iter().map(message).collect::<Value>(),
            "add_generation_prompt": true,
            "bos_token": self.bos_token,
            "eos_token": self.eos_token,
            "enable_thinking": thinking,
        });
        self.environment
            .get_template(NAME)
            .and_then(|template| template.render(minijinja::value::Serde(&context)))
            .map_err(|error| TemplateError::Refused(describe(&error)))
    }
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
