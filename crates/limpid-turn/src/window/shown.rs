//! What is shown of messages: all of it, or head and tail (OLLM-093, OLLM-102).

use limpid_core::{Entry, Message, Role, WindowView};

use super::Count;
use crate::result::keep_both_ends;

/// Characters that stay of a text however little room there is.
const LEAST: usize = 80;

/// A text within so many tokens, as head and tail around a mark; about [`LEAST`] characters stay in any case.
pub fn shorten(text: &str, tokens: usize, count: Count<'_>) -> String {
    let size = count(text);
    if size <= tokens {
        return text.to_owned();
    }
    let length = text.chars().count();
    let mut limit = length.saturating_mul(tokens) / size.max(1);
    loop {
        let short = keep_both_ends(text, limit.max(LEAST));
        if limit <= LEAST || count(&short) <= tokens {
            return short;
        }
        limit = limit * 9 / 10;
    }
}

/// A message within so many tokens. Arguments of calls stay JSON: what is too long becomes an object that says so.
pub fn shorten_message(message: &Message, tokens: usize, count: Count<'_>) -> Message {
    let mut short = Message { text: shorten(&message.text, tokens, count), ..message.clone() };
    for call in &mut short.calls {
        if count(&call.arguments) > tokens {
            call.arguments = format!(r#"{{"characters_left_out":{}}}"#, call.arguments.chars().count());
        }
    }
    short
}

/// The messages as a view shows them.
pub fn shown(view: &WindowView, entries: &[Entry], count: Count<'_>) -> Vec<Entry> {
    let visible = entries.iter().filter(|entry| view.shows(entry.id));
    visible.map(|entry| show(view, entry, count)).collect()
}

/// One message as a view shows it.
pub fn show(view: &WindowView, entry: &Entry, count: Count<'_>) -> Entry {
    let is_result = entry.message.role == Role::Tool;
    match view.limit_of(entry.id, is_result) {
        Some(limit) => Entry { id: entry.id, message: shorten_message(&entry.message, limit as usize, count) },
        None => entry.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-093
    #[test]
    fn an_oversize_text_is_shown_as_head_and_tail_within_its_tokens() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let text: String = (0..4000).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
        for tokens in [40, 100, 500, 999] {
            let short = shorten(&text, tokens, &count);
            assert!(count(&short) <= tokens, "{tokens}");
            assert!(short.starts_with("abc") && text.ends_with(&short[short.len() - 5..]));
        }
        assert_eq!(shorten(&text, 1000, &count), text);
    }
}
