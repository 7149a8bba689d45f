//! How much of a request the one before it began with, and what changed.

use crate::RequestMessage;

/// What a request shares with the one before it, of the same conversation and path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedPrefix {
    /// Whole messages from the first on.
    pub messages: u64,
    /// Bytes of these messages, and of the beginning of the next one.
    pub bytes: u64,
    /// The section that changed when the request does not begin with everything of the one before it: the first
    /// that is different, new or gone. `tools` stands for the declared tools, which a model reads first.
    pub changed: Option<String>,
}

/// What is compared of a request.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The tools as they were declared.
    pub tools: &'a str,
    /// The messages as they were sent.
    pub messages: &'a [RequestMessage],
}

/// Compares a request with the one before it.
pub fn shared_prefix(before: Sent<'_>, after: Sent<'_>) -> SharedPrefix {
    let whole = before.messages.iter().zip(after.messages).take_while(|(a, b)| same(a, b)).count();
    let bytes: u64 = after.messages[..whole].iter().map(message_bytes).sum();
    let mut shared = SharedPrefix { messages: whole as u64, bytes, changed: None };
    if let Some(old) = before.messages.get(whole) {
        let changed = match after.messages.get(whole) {
            Some(new) if new.role == old.role => {
                let common = common_bytes(&old.text, &new.text);
                shared.bytes += common as u64;
                let is_state = old.text == new.text && old.calls == new.calls && old.state != new.state;
                if is_state { Some("reasoning".to_owned()) } else { changed_section(old, new, common) }
            }
            Some(new) => first_section(new).or_else(|| first_section(old)),
            None => first_section(old),
        };
        shared.changed = Some(changed.unwrap_or_else(|| old.role.as_str().to_owned()));
    }
    if before.tools != after.tools {
        shared.changed = Some("tools".to_owned());
    }
    shared
}

/// Bytes that a message has for a model: its text, its calls and its state.
pub(crate) fn message_bytes(message: &RequestMessage) -> u64 {
    let calls: usize = message.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    let state: usize = message.state.iter().map(|state| state.json.len()).sum();
    (message.text.len() + calls + state) as u64
}

/// Whether two messages are the same to a model, wherever their parts come from.
fn same(a: &RequestMessage, b: &RequestMessage) -> bool {
    a.role == b.role && a.text == b.text && a.calls == b.calls && a.state == b.state && a.call_id == b.call_id
}

fn common_bytes(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn first_section(message: &RequestMessage) -> Option<String> {
    message.parts.first().map(|part| part.section.clone())
}

/// The section at the first byte that differs. Where the two messages have different sections there, the one that is
/// not in the other message has come or gone.
fn changed_section(old: &RequestMessage, new: &RequestMessage, at: usize) -> Option<String> {
    let was = section_at(old, at);
    let is = section_at(new, at);
    let has = |message: &RequestMessage, section: &str| message.parts.iter().any(|part| part.section == section);
    match (was, is) {
        (Some(was), Some(is)) if was != is && !has(new, was) => Some(was.to_owned()),
        (_, Some(is)) => Some(is.to_owned()),
        (was, None) => was.map(str::to_owned),
    }
}

/// The section that holds the byte `at`, or follows it when it stands in a join.
fn section_at(message: &RequestMessage, at: usize) -> Option<&str> {
    let mut end = 0;
    for part in &message.parts {
        let start = end + message.text.get(end..)?.find(&part.text)?;
        end = start + part.text.len();
        if at < end {
            return Some(&part.section);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use limpid_core::{Role, Trust};

    use super::*;
    use crate::RequestPart;

    fn message(role: Role, parts: &[(&str, &str)]) -> RequestMessage {
        let parts: Vec<RequestPart> = parts
            .iter()
            .map(|(section, text)| RequestPart {
                section: (*section).to_owned(),
                origin: String::new(),
                stability: "fixed".to_owned(),
                trust: Trust::Owner,
                text: (*text).to_owned(),
                tokens: None,
            })
            .collect();
        let text = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n\n");
        RequestMessage { role, text, calls: Vec::new(), state: Vec::new(), call_id: None, parts }
    }

    fn compare(before: &[RequestMessage], after: &[RequestMessage]) -> (u64, u64, Option<String>) {
        let shared = shared_prefix(Sent { tools: "[]", messages: before }, Sent { tools: "[]", messages: after });
        (shared.messages, shared.bytes, shared.changed)
    }

    fn system(soul: &str) -> RequestMessage {
        message(Role::System, &[("soul", soul), ("honesty", "Invent nothing.")])
    }

    // PRO-044
    #[test]
    fn a_request_that_grows_shares_all_of_the_one_before() {
        let hi = message(Role::User, &[("user-message", "hi")]);
        let answer = message(Role::Assistant, &[("history", "Hello.")]);
        let before = [system("Kind."), hi.clone()];
        let after = [system("Kind."), hi, answer];
        assert_eq!(compare(&before, &after), (2, 24, None));
    }

    // PRO-044 LES-027
    #[test]
    fn an_edited_soul_is_named() {
        let hi = message(Role::User, &[("user-message", "hi")]);
        let before = [system("Kind."), hi.clone()];
        let after = [system("Kin and curt."), hi];
        assert_eq!(compare(&before, &after), (0, 3, Some("soul".to_owned())));
    }

    // PRO-044 LES-027
    #[test]
    fn a_section_that_comes_or_goes_is_named() {
        let with = message(Role::System, &[("soul", "Kind."), ("tool-use", "Look."), ("honesty", "Invent nothing.")]);
        let without = system("Kind.");
        let named = Some("tool-use".to_owned());
        assert_eq!(compare(std::slice::from_ref(&with), std::slice::from_ref(&without)), (0, 7, named.clone()));
        assert_eq!(compare(&[without], &[with]), (0, 7, named));
    }

    // LES-027
    #[test]
    fn changed_tools_are_named_first() {
        let messages = [system("Kind.")];
        let shared =
            shared_prefix(Sent { tools: "[]", messages: &messages }, Sent { tools: "[1]", messages: &messages });
        assert_eq!(shared.changed.as_deref(), Some("tools"));
    }

    // PRO-044 LES-027
    #[test]
    fn a_history_that_lost_its_beginning_is_named() {
        let one = message(Role::User, &[("history", "one")]);
        let two = message(Role::Assistant, &[("history", "two")]);
        let before = [system("Kind."), one, two.clone()];
        assert_eq!(compare(&before, &[system("Kind."), two]), (1, 22, Some("history".to_owned())));
        assert_eq!(compare(&before, &[system("Kind.")]), (1, 22, Some("history".to_owned())));
    }

    // PRO-044
    #[test]
    fn texts_that_part_within_a_character_are_counted_in_bytes() {
        let before = [message(Role::System, &[("soul", "aé")])];
        let after = [message(Role::System, &[("soul", "aè")])];
        assert_eq!(compare(&before, &after), (0, 2, Some("soul".to_owned())));
    }
}
