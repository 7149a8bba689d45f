//! Which text led to a call that is kept as a draft.

use limpid_core::{Role, Trust};
use limpid_prompt::boundary;
use limpid_prompt::inputs::HistoryMessage;
use limpid_store::{RequestMessage, RequestPart};

/// Characters of the text that are kept.
const EXCERPT: usize = 300;

/// What led to a call, in short: the newest text of a stranger among the messages of the conversation, oldest first, or
/// else among what the prompt `sent` quotes (mail, a digest); without a stranger the person's newest message. A run has
/// none, and then it is what its prompt opens with.
pub fn led_by(messages: &[HistoryMessage], sent: &[RequestMessage]) -> String {
    // What became of an earlier call is labelled like it, and may say nothing.
    let says = |text: &str| !text.trim().is_empty();
    let foreign = |message: &&HistoryMessage| Trust::from(message.trust).is_foreign() && says(&message.content);
    if let Some(message) = messages.iter().rev().find(foreign) {
        return of_message(message);
    }
    let parts = || sent.iter().flat_map(|message| &message.parts);
    let foreign = |part: &&RequestPart| part.trust.is_foreign() && says(boundary::inside(&part.text));
    if let Some(part) = parts().rev().find(foreign) {
        return of_part(part);
    }
    let said = |message: &&HistoryMessage| Role::from(message.role) == Role::User && says(&message.content);
    if let Some(message) = messages.iter().rev().find(said) {
        return of_message(message);
    }
    let asked = sent.iter().filter(|message| message.role == Role::User).flat_map(|message| &message.parts);
    asked.into_iter().next().or_else(|| parts().next()).map(of_part).unwrap_or_default()
}

fn of_message(message: &HistoryMessage) -> String {
    let place = message.id.map(|id| format!(", message {id}")).unwrap_or_default();
    format!("{}{place}: {}", Trust::from(message.trust), excerpt(&message.content))
}

fn of_part(part: &RequestPart) -> String {
    format!("{}, {}: {}", part.trust, part.origin, excerpt(boundary::inside(&part.text)))
}

fn excerpt(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = text.chars().take(EXCERPT).collect();
    let rest = if text.chars().count() > EXCERPT { "…" } else { "" };
    format!("{short}{rest}")
}
