//! A call as every protocol sees it: messages, declared tools, and the form of the reply.
//!
//! What depends on how the model calls tools is decided here, once for remote and local models: a model without native
//! tools gets no declarations, reads calls and results of the conversation as plain messages, and (with
//! [`ToolProtocol::Json`]) replies in the form of [`crate::json_tools`].

mod call;
mod fit_names;
mod message;
mod names;
mod originals;
mod schema;
mod tools;

use std::borrow::Cow;
use std::collections::HashMap;

use limpid_core::{CacheLife, Role, ToolProtocol};
use limpid_prompt::inputs::CallInput;
use limpid_prompt::{Place, PromptMessage, StatePart};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::abilities::ForcedTools;
use crate::json::{to_json, to_raw};
use crate::json_tools;
use crate::model::{ModelCall, ModelCard, ModelError, ReplyForm, Sampling, ToolUse};

pub(crate) use call::{WireCall, WireReasoning};
pub(crate) use message::{WireMessage, WireState};
pub(crate) use names::{CallNames, NameRules};
pub(crate) use originals::Originals;
pub(crate) use schema::{SchemaRules, Words};
use tools::offered;
pub(crate) use tools::{WireTool, left_out};

/// Cache marks in one request; providers that take marks take so many.
const MAX_MARKS: usize = 4;

impl<'a> WireCall<'a> {
    /// Sees a call as this model is to get it, with schemas by these rules. A tool whose schema cannot be made to fit is left
    /// out.
    ///
    /// # Errors
    /// When the tool that must be called is not among those of the prompt.
    pub(crate) fn new(card: &'a ModelCard, call: &'a ModelCall, rules: SchemaRules) -> Result<Self, ModelError> {
        let mut originals = Originals::default();
        let offered = offered(card, call, rules, &mut originals)?;
        // Elsewhere the prompt says which tool ends the turn, and a reply without it is asked for in the form of JSON.
        let is_free = match &call.tools {
            ToolUse::Must(name) => {
                let is_left_out = !offered.iter().any(|tool| tool.name == *name);
                is_left_out || (card.tools == ToolProtocol::Native && !may_force(card))
            }
            ToolUse::Auto | ToolUse::Never => false,
        };
        let mut messages = native_messages(card, call.prompt.messages());
        originals.rename_arguments(&mut messages);
        limit_marks(&mut messages);
        set_life(&mut messages, call);
        let mut wire = Self {
            model: &card.id,
            messages,
            tools: Vec::new(),
            choice: Cow::Borrowed(if is_free { &ToolUse::Auto } else { &call.tools }),
            reply: Cow::Borrowed(&call.reply),
            json_tools: false,
            sampling: sampling(card, call.sampling),
            conversation: call.conversation.as_deref(),
            window: card.usable_window.map(|window| window.0),
            pays_for_cache: card.price.as_ref().is_some_and(|price| price.base.cache_written > price.base.input),
            cache: call.cache,
            reasoning: WireReasoning::new(card, call.reasoning),
            reasoning_back: card.state.in_chat,
            state_ids: true,
            originals,
        };
        match card.tools {
            ToolProtocol::Native if !offered.is_empty() => {
                wire.tools = offered;
                wire.load_declared();
            }
            ToolProtocol::Json => {
                wire.flatten();
                if !offered.is_empty() && call.reply == ReplyForm::Text {
                    wire.reply = Cow::Owned(json_tools::reply_form(&offered, &wire.choice));
                    wire.json_tools = true;
                }
            }
            // Providers refuse calls in the messages of a request that declares no tools.
            ToolProtocol::Native | ToolProtocol::None => wire.flatten(),
        }
        Ok(wire)
    }

    /// Leaves one system message, at the beginning.
    pub(crate) fn one_system(&mut self) {
        self.messages = one_system(std::mem::take(&mut self.messages));
    }

    /// Makes calls and results plain messages: a call is what the model wrote in the form of [`crate::json_tools`], a
    /// result is what it was then told.
    fn flatten(&mut self) {
        for message in &mut self.messages {
            if !message.calls.is_empty() {
                let calls = calls_text(&message.calls);
                message.text = match message.text.is_empty() {
                    true => Cow::Owned(calls),
                    false => Cow::Owned(format!("{}\n{calls}", message.text)),
                };
                message.calls = Cow::Borrowed(&[]);
                // What belongs to calls has no place in a text.
                message.state.clear();
            }
            if message.role == Role::Tool {
                message.role = Role::User;
                message.call_id = None;
                message.tool = None;
                message.loads.clear();
            }
        }
    }
}

/// Whether a model can be made to call a tool.
fn may_force(card: &ModelCard) -> bool {
    match card.abilities.forced_tools {
        Some(ForcedTools::Always) => true,
        Some(ForcedTools::WithoutReasoning) => !card.thinking,
        Some(ForcedTools::Never) => false,
        None => card.local,
    }
}

/// How a reply of this model is drawn: many models refuse every word about it, so a remote one must be known to take it.
fn sampling(card: &ModelCard, wanted: Sampling) -> Sampling {
    match card.local || card.abilities.sampling == Some(true) {
        true => wanted,
        false => Sampling { max_output: wanted.max_output, ..Sampling::default() },
    }
}

fn native_messages<'a>(card: &ModelCard, messages: &'a [PromptMessage]) -> Vec<WireMessage<'a>> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    messages
        .iter()
        .map(|message| {
            names.extend(message.calls().iter().map(|call| (call.id.as_str(), call.name.as_str())));
            WireMessage {
                role: message.role(),
                text: Cow::Borrowed(message.text()),
                calls: Cow::Borrowed(message.calls()),
                state: state(card, message),
                call_id: message.call_id().map(Cow::Borrowed),
                tool: message.call_id().and_then(|id| names.get(id).copied()).map(Cow::Borrowed),
                loads: message.loads().iter().map(|name| Cow::Borrowed(&**name)).collect(),
                cache_mark: message.cache_mark(),
                cache_hour: false,
            }
        })
        .collect()
}

/// The state of a message that this model reads: all of it, or none when a piece of it is damaged.
fn state<'a>(card: &ModelCard, message: &'a PromptMessage) -> Vec<WireState<'a>> {
    let own = message.state().iter().map(StatePart::input).filter(|state| card.reads(&state.protocol, &state.model));
    let wire =
        own.map(|state| serde_json::from_str(&state.json).ok().map(|json| WireState { json, span: state.span() }));
    wire.collect::<Option<_>>().unwrap_or_default()
}

/// Makes the system messages at the beginning one. One that comes later is said by the user, since servers refuse or lose it.
fn one_system(all: Vec<WireMessage<'_>>) -> Vec<WireMessage<'_>> {
    let mut messages: Vec<WireMessage<'_>> = Vec::with_capacity(all.len());
    for mut message in all {
        if message.role == Role::System && !messages.is_empty() {
            if let [first] = &mut messages[..]
                && first.role == Role::System
            {
                first.text = Cow::Owned(format!("{}\n\n{}", first.text, message.text));
                first.cache_mark |= message.cache_mark;
                first.cache_hour |= message.cache_hour;
                continue;
            }
            message.role = Role::User;
        }
        messages.push(message);
    }
    messages
}

/// Keeps the first mark, which ends the fixed part, and the last ones.
fn limit_marks(messages: &mut [WireMessage<'_>]) {
    let marked: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].cache_mark).collect();
    let surplus = marked.len().saturating_sub(MAX_MARKS);
    for at in marked.iter().skip(1).take(surplus) {
        messages[*at].cache_mark = false;
    }
}

/// Takes the marks away where nothing is to be kept. Where an hour is asked for, it is for what the next turns repeat: the
/// fixed part and the history. What is marked behind them changes sooner, and providers want the longer one first.
fn set_life(messages: &mut [WireMessage<'_>], call: &ModelCall) {
    let lasts = |message: &PromptMessage| message.role() == Role::System || message.place() == Place::History;
    let lasting = call.prompt.messages().iter().rposition(lasts).map_or(0, |last| last + 1);
    for (at, message) in messages.iter_mut().enumerate() {
        message.cache_mark &= call.cache != CacheLife::Off;
        message.cache_hour = call.cache == CacheLife::Hour && at < lasting;
    }
}

/// Calls in the form in which a model without native tools writes them.
fn calls_text(calls: &[CallInput]) -> String {
    #[derive(Serialize)]
    struct Calls<'a> {
        calls: Vec<Call<'a>>,
    }
    #[derive(Serialize)]
    struct Call<'a> {
        name: &'a str,
        arguments: Cow<'a, RawValue>,
    }
    let call = |call| -> Call<'_> {
        let call: &CallInput = call;
        let arguments =
            serde_json::from_str(&call.arguments).map_or_else(|_| Cow::Owned(to_raw(&call.arguments)), Cow::Borrowed);
        Call { name: &call.name, arguments }
    };
    to_json(&Calls { calls: calls.iter().map(call).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-085
    #[test]
    fn there_is_one_system_message_at_the_beginning_and_later_ones_are_the_users() {
        let message = |(role, text): (Role, &'static str)| WireMessage {
            role,
            text: Cow::Borrowed(text),
            calls: Cow::Borrowed(&[]),
            state: Vec::new(),
            call_id: None,
            tool: None,
            loads: Vec::new(),
            cache_mark: text == "b",
            cache_hour: false,
        };
        let said = |messages: &[(Role, &'static str)]| -> Vec<(Role, String, bool)> {
            let one = one_system(messages.iter().copied().map(message).collect());
            one.iter().map(|message| (message.role, message.text.to_string(), message.cache_mark)).collect()
        };
        let (system, user) = (Role::System, Role::User);
        let row = |role, text: &str, mark| (role, text.to_owned(), mark);
        assert_eq!(said(&[(system, "a"), (user, "x")]), [row(system, "a", false), row(user, "x", false)]);
        let expected = [row(system, "a\n\nb", true), row(user, "x", false), row(user, "c", false)];
        assert_eq!(said(&[(system, "a"), (system, "b"), (user, "x"), (system, "c")]), expected);
    }

    // LES-024
    #[test]
    fn no_request_has_more_marks_than_providers_take() {
        let message = |cache_mark| WireMessage {
            role: Role::User,
            text: Cow::Borrowed("x"),
            calls: Cow::Borrowed(&[]),
            state: Vec::new(),
            call_id: None,
            tool: None,
            loads: Vec::new(),
            cache_mark,
            cache_hour: false,
        };
        let mut messages: Vec<WireMessage<'_>> = (0..20).map(|at| message(at % 2 == 0)).collect();
        limit_marks(&mut messages);
        let marked: Vec<usize> = (0..20).filter(|at| messages[*at].cache_mark).collect();
        assert_eq!(marked, [0, 14, 16, 18]);
    }
}
