//! Messages of a conversation, tool calls, and the rule that calls and results come in pairs.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::id::CallId;
use crate::state::ProviderState;
use crate::trust::Trust;

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The prompt's fixed part.
    System,
    /// The person, or a run that stands for one (a heartbeat, a task).
    User,
    /// The model.
    Assistant,
    /// The result of one tool call.
    Tool,
}

impl Role {
    /// The role's name, as every provider and every profile writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no role.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no role; use system, user, assistant or tool")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        [Self::System, Self::User, Self::Assistant, Self::Tool]
            .into_iter()
            .find(|role| role.as_str() == word)
            .ok_or_else(|| UnknownRole(word.to_owned()))
    }
}

/// One call of a tool, as a model asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's own name; its result carries the same.
    pub id: CallId,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON, unless the model broke it.
    pub arguments: String,
}

/// One message of a conversation.
///
/// `text` is what goes over the wire, byte for byte, except that foreign text ([`Trust::is_foreign`]) is put inside a
/// boundary when it is rendered; `boundary` keeps the tag drawn for it, so that it is rendered the same way each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What was said.
    pub text: String,
    /// Who wrote it.
    pub trust: Trust,
    /// Calls of an assistant message, in the model's order; empty in every other message.
    pub calls: Vec<ToolCall>,
    /// What the provider of an assistant message wants back with it, in its order; empty in every other message.
    pub state: Vec<ProviderState>,
    /// The call that a tool message answers; none in every other message.
    pub call_id: Option<CallId>,
    /// The tag of the boundary around foreign text: 16 hexadecimal digits.
    pub boundary: Option<String>,
}

impl Message {
    /// A message without calls. Whoever makes one says who wrote it; what a model writes has the label of what it has read.
    pub fn new(role: Role, text: impl Into<String>, trust: Trust) -> Self {
        Self { role, text: text.into(), trust, calls: Vec::new(), state: Vec::new(), call_id: None, boundary: None }
    }

    /// The label of everything that stands in it; `trust` is that of whoever said it.
    pub fn trust_of_all(&self) -> Trust {
        trust_of_all(self.role, &self.text, self.trust)
    }
}

/// How the line begins that stands before a stranger's text in prompts.
pub const QUOTES_A_STRANGER: &str = "[untrusted ";

/// The label of everything that stands in a message. What is sent of a person's message is kept as it was sent, and a prompt may quote
/// strangers behind the person's words: a goal, a skill, mail.
///
/// ```
/// use limpid_core::message::trust_of_all;
/// use limpid_core::{Role, Trust};
/// let sent = "go on\n\n[context]\nGoal: [untrusted 00ff]\nsend it\n[/untrusted 00ff]";
/// assert_eq!(trust_of_all(Role::User, sent, Trust::Owner), Trust::Outside);
/// assert_eq!(trust_of_all(Role::User, "go on", Trust::Owner), Trust::Owner);
/// ```
pub fn trust_of_all(role: Role, text: &str, trust: Trust) -> Trust {
    let quotes = role == Role::User && text.contains(QUOTES_A_STRANGER);
    if quotes { trust.join(Trust::Outside) } else { trust }
}

/// Where a text quotes strangers: each from the line that opens a boundary to the end of the one that closes it, or of the text.
///
/// ```
/// use limpid_core::message::quotes_of_strangers;
/// let sent = "go on\n[untrusted 00ff]\nsend it\n[/untrusted 00ff]\nNoon";
/// let quoted: Vec<&str> = quotes_of_strangers(sent).map(|range| &sent[range]).collect();
/// assert_eq!(quoted, ["[untrusted 00ff]\nsend it\n[/untrusted 00ff]"]);
/// ```
pub fn quotes_of_strangers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(QUOTES_A_STRANGER)?;
        let tag = text[start + QUOTES_A_STRANGER.len()..].split_once(']').map(|(tag, _)| format!("[/untrusted {tag}]"));
        let end = tag.and_then(|close| Some(start + text[start..].find(&close)? + close.len()));
        from = end.unwrap_or(text.len());
        Some(start..from)
    })
}

/// What a model reads of a call that the owner said no to.
pub const OWNER_SAID_NO: &str = "the owner said no";

/// What models read of a call that was stopped with its turn.
pub const STOPPED_BY_OWNER: &str = "stopped by the user";

/// How the result of a call that failed begins, whatever the error is.
pub const FAILED: &str = r#"{"success":false,"error":"#;

/// How the result of a call begins that led to the owner's own network, also when it failed: the rest is private, like their files.
/// Whoever writes it elsewhere only keeps their own text from being taken for public.
pub const FROM_OWN_NETWORK: &str = "(This is from an address of the owner's own network.)";

/// The same of a call that led to an address which is a key.
pub const FROM_CAPABILITY_URL: &str = "(This is from a secret link, so it may be the owner's alone.)";

/// What a result says of what the owner's rules forbid. It is private: whom these rules name says something of the owner.
pub const OWNERS_RULES_FORBID: &str = "the owner's rules forbid";

/// Whether the text of a result says that its call failed, be it whole or cut.
///
/// ```
/// use limpid_core::message::is_failure;
/// assert!(is_failure(r#"{"success":false,"error":"no such file"}"#) && !is_failure("no such file"));
/// ```
pub fn is_failure(text: &str) -> bool {
    text.starts_with(FAILED)
}

/// The first call without a result or result without a call among `messages`, if any.
///
/// ```
/// use limpid_core::{Message, Role, Trust, message::unpaired};
/// assert!(unpaired(&[Message::new(Role::User, "hi", Trust::Owner)]).is_none());
/// ```
pub fn unpaired(messages: &[Message]) -> Option<&CallId> {
    let mut open: Vec<&CallId> = Vec::new();
    let mut seen: HashSet<&CallId> = HashSet::new();
    for message in messages {
        if let (Role::Tool, Some(id)) = (message.role, &message.call_id) {
            let Some(at) = open.iter().position(|call| *call == id) else { return Some(id) };
            open.remove(at);
            continue;
        }
        if let Some(left) = open.first() {
            return Some(left);
        }
        for call in &message.calls {
            if !seen.insert(&call.id) {
                return Some(&call.id);
            }
            open.push(&call.id);
        }
    }
    open.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assistant(ids: &[&str]) -> Message {
        let calls = ids
            .iter()
            .map(|id| ToolCall { id: CallId::new(*id), name: "clock".into(), arguments: "{}".into() })
            .collect();
        Message { calls, ..Message::new(Role::Assistant, "", Trust::Owner) }
    }

    fn result(id: &str) -> Message {
        Message { call_id: Some(CallId::new(id)), ..Message::new(Role::Tool, "done", Trust::Owner) }
    }

    // KAI-114
    #[test]
    fn pairs_in_any_order_within_a_batch_are_whole() {
        assert_eq!(unpaired(&[assistant(&["a", "b"]), result("b"), result("a")]), None);
    }

    // KAI-114
    #[test]
    fn a_missing_result_a_stray_result_and_a_used_id_are_found() {
        assert_eq!(unpaired(&[assistant(&["a"])]).map(CallId::as_str), Some("a"));
        assert_eq!(unpaired(&[result("x")]).map(CallId::as_str), Some("x"));
        assert_eq!(
            unpaired(&[assistant(&["a"]), Message::new(Role::User, "?", Trust::Owner)]).map(CallId::as_str),
            Some("a")
        );
        let twice = [assistant(&["a"]), result("a"), assistant(&["a"]), result("a")];
        assert_eq!(unpaired(&twice).map(CallId::as_str), Some("a"));
    }
}
