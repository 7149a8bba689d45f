//! What a client of OpenAI's chat completions says, as far as it is read here.

use limpid_prompt::shown::Drawn;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::error::ApiError;

/// The name by which the agent is asked with the model that the conversation has.
pub(super) const AGENT: &str = "agent";

/// Fields that are read, or that change nothing of an answer.
const READ: [&str; 13] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "user",
    "reasoning_effort",
    "n",
    "response_format",
    "metadata",
    "store",
    "parallel_tool_calls",
    "prompt_cache_key",
    "safety_identifier",
];

/// A request for an answer. Fields that are not known here are left out; the header `X-Limpid-Ignored` of the answer names them.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ChatCompletionRequest {
    /// `agent`, or a model from `/v1/models`, which then answers in this conversation from here on.
    pub(super) model: String,
    /// The conversation. The last message is the user's, and is what is said now.
    pub(super) messages: Vec<ChatMessage>,
    /// Whether the answer comes piece by piece.
    pub(super) stream: Option<bool>,
    /// What a stream tells besides.
    pub(super) stream_options: Option<StreamOptions>,
    /// Who asks: the same name is the same conversation.
    pub(super) user: Option<String>,
    /// How much the model is to reason from here on: `minimal`, `low`, `medium`, `high` or `xhigh`.
    pub(super) reasoning_effort: Option<String>,
    /// How many answers; one is all there is.
    #[schema(minimum = 1, maximum = 1)]
    n: Option<u64>,
    /// The form of the answer; text is all there is.
    #[schema(value_type = Option<Object>)]
    response_format: Option<Value>,
    /// Which tools have to be called; the agent has its own and calls none of the client's.
    #[schema(value_type = Option<Object>)]
    tool_choice: Option<Value>,
}

/// What a stream tells besides.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct StreamOptions {
    /// Whether a last piece says how many tokens were read and written.
    #[serde(default)]
    pub(super) include_usage: Option<bool>,
}

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ChatMessage {
    /// Who says it: `user`, `assistant`, `tool`, `system` or `developer`.
    pub(super) role: String,
    /// What it says; absent: nothing.
    content: Option<Content>,
}

/// What a message says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum Content {
    /// A text.
    Text(String),
    /// Parts.
    Parts(Vec<ContentPart>),
}

/// A part of what a message says.
#[derive(Debug, Deserialize, ToSchema)]
struct ContentPart {
    /// `text`; nothing else is read.
    r#type: String,
    /// What it says.
    text: Option<String>,
}

/// A message that was read: who says what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) role: String,
    pub(super) text: String,
}

/// A request that was read.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: ChatCompletionRequest,
    /// What was said before.
    pub(super) before: Vec<Line>,
    /// What is said now.
    pub(super) text: String,
    /// What is not read here.
    pub(super) ignored: Vec<String>,
}

/// An answer.
#[derive(Serialize, ToSchema)]
pub(super) struct ChatCompletion {
    pub(super) id: String,
    /// `chat.completion`
    pub(super) object: &'static str,
    /// When it was asked for, in seconds since 1970.
    pub(super) created: i64,
    /// The model as it was asked for.
    pub(super) model: String,
    pub(super) choices: Vec<Choice>,
    pub(super) usage: TokenUsage,
}

/// The answer itself.
#[derive(Serialize, ToSchema)]
pub(super) struct Choice {
    pub(super) index: u32,
    pub(super) message: Answer,
    /// `stop`, or `length` where the model reached its limit.
    pub(super) finish_reason: &'static str,
}

/// What was answered.
#[derive(Serialize, ToSchema)]
pub(super) struct Answer {
    /// `assistant`
    pub(super) role: &'static str,
    #[schema(value_type = String)]
    pub(super) content: Drawn,
    /// What the model thought, where it shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(super) reasoning_content: Option<Drawn>,
    /// Nothing, always.
    #[schema(value_type = Option<String>)]
    pub(super) refusal: (),
}

/// Tokens of all requests that the answer took.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(super) struct TokenUsage {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) total_tokens: u64,
    pub(super) prompt_tokens_details: PromptTokens,
    pub(super) completion_tokens_details: CompletionTokens,
}

/// Of the tokens that were read.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(super) struct PromptTokens {
    /// Those from the provider's cache.
    pub(super) cached_tokens: u64,
}

/// Of the tokens that were written.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(super) struct CompletionTokens {
    /// Those that the model thought.
    pub(super) reasoning_tokens: u64,
}

impl Asked {
    /// Reads a request.
    ///
    /// # Errors
    /// Why it cannot be answered.
    pub(super) fn read(body: &[u8]) -> Result<Self, ApiError> {
        let value: Value = parse(body)?;
        let mut ignored: Vec<String> = value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        ignored.retain(|name| !READ.contains(&name.as_str()));
        let are_objects = |name: &str| match value.get(name) {
            Some(Value::Array(messages)) => messages.iter().all(Value::is_object),
            Some(Value::Null | Value::Object(_)) | None => true,
            Some(_) => false,
        };
        if !are_objects("messages") || value.get("stream_options").is_some_and(Value::is_array) {
            return Err(ApiError::invalid("`messages` are objects, and so is `stream_options`").param("messages"));
        }
        let request: ChatCompletionRequest =
            serde_json::from_value(value).map_err(|error| ApiError::invalid(format!("the request: {error}")))?;
        request.check()?;
        let mut lines = Vec::new();
        for message in &request.messages {
            match message.role.as_str() {
                // The agent's own prompts are files of the owner's.
                "system" | "developer" => ignored.push(format!("messages.{}", message.role)),
                "user" | "assistant" | "tool" | "function" => {
                    let text = message.text()?;
                    if !text.trim().is_empty() {
                        lines.push(Line { role: message.role.clone(), text });
                    }
                }
                _ => {
                    let why = "a message is of `user`, `assistant`, `tool`, `system` or `developer`";
                    return Err(ApiError::invalid(why).param("messages"));
                }
            }
        }
        ignored.sort();
        ignored.dedup();
        ignored.retain(|name| name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b','));
        ignored.truncate(32);
        match lines.pop() {
            Some(last) if last.role == "user" => Ok(Self { request, before: lines, text: last.text, ignored }),
            _ => {
                Err(ApiError::invalid("the last message has to be the user's, and to say something").param("messages"))
            }
        }
    }
}

impl ChatCompletionRequest {
    /// What would be answered in another form than was asked for is not answered.
    fn check(&self) -> Result<(), ApiError> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(ApiError::invalid("there is one answer; leave `n` out").param("n"));
        }
        let is_text = |form: &Value| form.get("type").and_then(Value::as_str) == Some("text");
        if self.response_format.as_ref().is_some_and(|form| !is_text(form)) {
            let why = "the agent answers in text; leave `response_format` out";
            return Err(ApiError::invalid(why).param("response_format"));
        }
        let may_be_none = |choice: &Value| choice.as_str().is_some_and(|choice| choice != "required");
        if self.tool_choice.as_ref().is_some_and(|choice| !may_be_none(choice)) {
            let why = "the agent has its own tools and calls none of the client's; leave `tool_choice` out";
            return Err(ApiError::invalid(why).param("tool_choice"));
        }
        Ok(())
    }
}

impl ChatMessage {
    fn text(&self) -> Result<String, ApiError> {
        let parts = match &self.content {
            None => return Ok(String::new()),
            Some(Content::Text(text)) => return Ok(text.clone()),
            Some(Content::Parts(parts)) => parts,
        };
        let text = |part: &ContentPart| part.text.clone().filter(|_| part.r#type == "text");
        let texts: Option<Vec<String>> = parts.iter().map(text).collect();
        let why = "only parts of the kind `text` are read, no pictures, sounds or files";
        texts.map(|texts| texts.join("\n")).ok_or_else(|| ApiError::invalid(why).param("messages"))
    }
}

/// Reads the JSON of a request.
///
/// # Errors
/// Where it is none, or no object.
pub(super) fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, ApiError> {
    let wrong = |error| ApiError::invalid(format!("the request is not the JSON that is asked for: {error}"));
    let value: Value = serde_json::from_slice(body).map_err(wrong)?;
    // A list would be taken for the fields of an object in their order.
    if !value.is_object() {
        return Err(ApiError::invalid("the request is no JSON object"));
    }
    serde_json::from_value(value).map_err(wrong)
}
