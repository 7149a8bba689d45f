//! What is shown of messages: all of it, or head and tail (OLLM-093, OLLM-102).

use limpid_core::{Entry, Message, Role, WindowView};

use super::Count;
use crate::result::{keep_both_ends, with_pointer};

/// Characters that stay of a text however little room there is.
const LEAST: usize = 80;

/// Characters that a result has at least for its mark to say how to read on; a shorter one would be all mark.
const POINTED: usize = 400;

/// A text within so many tokens, as head and tail around a mark; about [`LEAST`] characters stay in any case.
pub fn shorten(text: &str, tokens: usize, count: Count<'_>) -> String {
    shorten_by(text, tokens, count, keep_both_ends)
}

fn shorten_by(text: &str, tokens: usize, count: Count<'_>, cut: impl Fn(&str, usize) -> String) -> String {
    let size = count(text);
    if size <= tokens {
        return text.to_owned();
    }
    let length = text.chars().count();
    let mut limit = length.saturating_mul(tokens) / size.max(1);
    loop {
        let short = cut(text, limit.max(LEAST));
        if limit <= LEAST || count(&short) <= tokens {
            return short;
        }
        limit = limit * 9 / 10;
    }
}

/// A message within so many tokens. Arguments of calls stay JSON: what is too long becomes an object that says so. With
/// `reads_on`, the mark in a tool's result says how to read on in the whole, which is kept.
pub fn shorten_message(message: &Message, tokens: usize, reads_on: bool, count: Count<'_>) -> Message {
    let call = message.call_id.as_ref().filter(|_| reads_on && message.text.chars().nth(POINTED).is_some());
    let text = match call {
        Some(call) => shorten_by(&message.text, tokens, count, |text, limit| with_pointer(text, limit, call)),
        None => shorten(&message.text, tokens, count),
    };
    let mut short = Message { text, ..message.clone() };
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
        Some(limit) => {
            Entry { id: entry.id, message: shorten_message(&entry.message, limit as usize, view.reads_on, count) }
        }
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

    // LES-081
    #[test]
    fn a_shortened_result_says_where_to_read_on_in_the_whole() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let whole: String = (0..4000).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
        let call = limpid_core::CallId::new("c1");
        let stored = with_pointer(&whole, 3000, &call);
        for text in [&whole, &stored] {
            let message = Message { call_id: Some(call.clone()), ..Message::new(Role::Tool, text.clone()) };
            let short = shorten_message(&message, 200, true, &count).text;
            assert!(count(&short) <= 200);
            let (head, mark) = short.split_once("\n[…").unwrap();
            assert!(whole.starts_with(head));
            let next = format!(r#"read_result {{"id":"c1","offset":{}}} reads on"#, head.len());
            assert!(mark.contains(&next) && !mark[next.len()..].contains("read_result"), "{short}");
            assert!(!shorten_message(&message, 200, false, &count).text.contains(&next));
        }
    }
}
