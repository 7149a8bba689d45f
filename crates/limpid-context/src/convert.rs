//! From the store's and the core's types to those of prompts and of the request log; the only place that knows both.

use limpid_core::{CallId, Memory, Message, ToolCall};
use limpid_model::ModelCard;
use limpid_prompt::inputs::{CallInput, HistoryMessage, MemoryEntry, ModelInfo, StateInput, StateReader};
use limpid_prompt::{Loading, Part, Prompt, Stability};
use limpid_store::{RequestMessage, RequestPart};

/// A message of the running turn.
pub fn in_flight(message: &Message) -> HistoryMessage {
    let call = |call: &ToolCall| CallInput {
        id: call.id.to_string(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    HistoryMessage {
        role: message.role.into(),
        content: message.text.clone(),
        trust: message.trust.into(),
        calls: message.calls.iter().map(call).collect(),
        state: message.state.iter().map(StateInput::from).collect(),
        call_id: message.call_id.as_ref().map(ToString::to_string),
        boundary: message.boundary.clone(),
        id: None,
    }
}

/// A memory as prompts list it.
pub(crate) fn memory(memory: &Memory) -> MemoryEntry {
    MemoryEntry {
        key: memory.key.clone(),
        content: memory.content.clone(),
        hits: memory.hits,
        category: memory.category.into(),
        trust: memory.trust.into(),
    }
}

/// A model as prompts know it.
pub fn model(card: &ModelCard) -> ModelInfo {
    ModelInfo {
        id: card.id.clone(),
        provider: card.provider.clone(),
        local: card.local,
        window: card.window.map(|window| window.0),
        usable_window: card.usable_window.map(|window| window.0),
        tools: card.tools != limpid_core::ToolProtocol::None,
        tool_protocol: card.tools.into(),
        tool_search: card.abilities.tool_search == Some(true),
        vision: card.vision,
        thinking: card.thinking,
        state: StateReader {
            protocol: card.state.protocol.unwrap_or_default().to_owned(),
            of_provider: card.state.of_provider,
            bound: card.state.bound.unwrap_or_default(),
        },
    }
}

/// The messages of a prompt as the request log keeps them.
pub fn request_messages(prompt: &Prompt) -> Vec<RequestMessage> {
    prompt
        .messages()
        .iter()
        .map(|message| RequestMessage {
            role: message.role(),
            text: message.text().to_owned(),
            calls: message.calls().iter().map(tool_call).collect(),
            state: message.state().iter().map(|state| state.input().into()).collect(),
            call_id: message.call_id().map(CallId::new),
            parts: message.parts().iter().map(request_part).collect(),
        })
        .collect()
}

/// The tools that are declared, as JSON text whose bytes never change for the same tools.
pub fn offered_tools(prompt: &Prompt) -> String {
    let listed = || prompt.offered().iter().filter(|_| prompt.tools().is_empty());
    let tools = prompt.declarations().chain(listed()).map(|tool| {
        let schema: serde_json::Value = serde_json::from_str(tool.schema()).unwrap_or_default();
        let mut row = serde_json::json!({ "name": tool.name(), "description": tool.description(), "schema": schema });
        if tool.loading() != Loading::Always {
            row["loading"] = tool.loading().as_str().into();
        }
        row
    });
    serde_json::Value::Array(tools.collect()).to_string()
}

fn tool_call(call: &CallInput) -> ToolCall {
    ToolCall { id: CallId::new(&*call.id), name: call.name.clone(), arguments: call.arguments.clone() }
}

fn request_part(part: &Part) -> RequestPart {
    let stability = match part.stability() {
        Stability::Fixed => "fixed",
        Stability::Session => "session",
        Stability::Turn => "turn",
    };
    RequestPart {
        section: part.section().to_owned(),
        origin: part.origin().to_owned(),
        stability: stability.to_owned(),
        trust: part.trust(),
        text: part.text().to_owned(),
        tokens: part.tokens().map(|tokens| tokens as u64),
    }
}
