//! What a server answers, as a text for a model.

use rmcp::model::{CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, ResourceContents};

/// Bytes of an answer that are kept.
const MOST: usize = 1024 * 1024;

/// What a server answered. All of it is a stranger's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// Whether the server says that the tool failed.
    pub failed: bool,
}

/// The texts that one answer of a server may be read as: the result of a tool, a prompt, a resource.
pub fn texts_in(answer: &[u8]) -> Vec<String> {
    let call = serde_json::from_slice(answer).ok().map(|result| of_call(&result).text);
    let prompt = serde_json::from_slice(answer).ok().map(|result| of_prompt(&result));
    let resource = serde_json::from_slice(answer).ok().map(|result| of_resource(&result));
    [call, prompt, resource].into_iter().flatten().collect()
}

/// The result of a tool.
pub(crate) fn of_call(result: &CallToolResult) -> Answer {
    let mut text = joined(result.content.iter().map(block));
    // What is structured usually says the same as the text.
    if let Some(structured) = result.structured_content.as_ref().filter(|_| text.trim().is_empty()) {
        text = cut(structured.to_string());
    }
    Answer { text, failed: result.is_error == Some(true) }
}

/// The text of a prompt.
pub(crate) fn of_prompt(result: &GetPromptResult) -> String {
    joined(result.messages.iter().map(|message| block(&message.content)))
}

/// The text of a resource.
pub(crate) fn of_resource(result: &ReadResourceResult) -> String {
    joined(result.contents.iter().map(contents))
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => left_out("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => left_out("sound", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(resource) => contents(&resource.resource),
        ContentBlock::ResourceLink(resource) => format!("[resource {}: {}]", resource.name, resource.uri),
        _ => "[something that cannot be shown]".to_owned(),
    }
}

fn contents(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("{uri}:\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            format!("{uri}: {}", left_out("file", mime_type.as_deref().unwrap_or("unknown"), blob.len()))
        }
        _ => "[something that cannot be shown]".to_owned(),
    }
}

/// What stands for bytes. `encoded` is their length in base64.
fn left_out(what: &str, kind: &str, encoded: usize) -> String {
    format!("[{what} of type {kind}, {} bytes, left out]", encoded / 4 * 3)
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for part in parts {
        if text.len() > MOST {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&part);
    }
    cut(text)
}

fn cut(mut text: String) -> String {
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push_str("\n[the rest was left out: the answer has more than 1 MiB]");
    }
    text
}
