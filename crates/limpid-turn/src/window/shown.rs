//! What is shown of messages: all of it, or head and tail.

use limpid_core::{Entry, Message, Role, WindowView};

use super::Count;
use crate::result::{keep_both_ends, keep_quotes_whole, with_pointer};

/// Characters that stay of a text however little room there is.
pub(super) const LEAST: usize = 80;

/// Characters that a result has at least for its mark to say how to read on; a shorter one would be all mark.
const POINTED: usize = 400;

/// A text within so many tokens, as head and tail around a mark; about [`LEAST`] characters stay in any case.
pub fn shorten(text: &str, tokens: usize, count: Count<'_>) -> String {
    keep_both_ends(text, characters_within(text, tokens, count))
}

/// The same of a message: what a person's quotes of strangers is there whole or not at all.
pub fn shorten_message(message: &Message, tokens: usize, count: Count<'_>) -> String {
    cut_text(message, characters_within(&message.text, tokens, count), false)
}

/// The characters that a text may have to be within so many tokens as head and tail; all of it when it is so already.
pub fn characters_within(text: &str, tokens: usize, count: Count<'_>) -> usize {
    characters_by(text, tokens, count, keep_both_ends)
}

/// As [`characters_within`], of a tool's result, whose mark may say how to read on.
pub fn result_characters_within(message: &Message, tokens: usize, reads_on: bool, count: Count<'_>) -> usize {
    characters_by(&message.text, tokens, count, |_, limit| cut_text(message, limit, reads_on))
}

fn characters_by(text: &str, tokens: usize, count: Count<'_>, cut: impl Fn(&str, usize) -> String) -> usize {
    let (size, length) = (count(text), text.chars().count());
    if size <= tokens {
        return length;
    }
    let mut limit = length.saturating_mul(tokens) / size.max(1);
    while limit > LEAST && count(&cut(text, limit)) > tokens {
        limit = limit * 9 / 10;
    }
    limit.max(LEAST)
}

/// A message within so many characters. Arguments of calls stay JSON: what is too long becomes an object that says so.
/// With `reads_on`, the mark in a tool's result says how to read on in the whole, which is kept.
pub fn cut_message(message: &Message, characters: usize, reads_on: bool) -> Message {
    let mut short = Message { text: cut_text(message, characters, reads_on), ..message.clone() };
    for call in &mut short.calls {
        let length = call.arguments.chars().count();
        if length > characters.max(LEAST) {
            call.arguments = format!(r#"{{"characters_left_out":{length}}}"#);
        }
    }
    // State belongs to the message as it was said, not to another one.
    if short.text != message.text || short.calls != message.calls {
        short.state.clear();
    }
    short
}

fn cut_text(message: &Message, characters: usize, reads_on: bool) -> String {
    let characters = characters.max(LEAST);
    match message.call_id.as_ref().filter(|_| reads_on && message.text.chars().nth(POINTED).is_some()) {
        Some(call) => with_pointer(&message.text, characters, call),
        None if message.role == Role::User => keep_quotes_whole(&message.text, characters),
        None => keep_both_ends(&message.text, characters),
    }
}

/// The messages as a view shows them.
pub fn shown(view: &WindowView, entries: &[Entry]) -> Vec<Entry> {
    entries.iter().filter(|entry| view.shows(entry.id)).map(|entry| show(view, entry)).collect()
}

/// One message as a view shows it. Nothing is counted here: the next request begins with the same characters as this one.
pub fn show(view: &WindowView, entry: &Entry) -> Entry {
    let is_result = entry.message.role == Role::Tool;
    match view.limit_of(entry.id, is_result) {
        Some(limit) => Entry { id: entry.id, message: cut_message(&entry.message, limit as usize, view.reads_on) },
        None => entry.clone(),
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::Trust;

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

    // SEC-051 SEC-053
    #[test]
    fn a_shortened_message_of_a_persons_shows_no_part_of_what_it_quotes() {
        let sent = format!("{}\n[untrusted 00ff]\n{}\n[/untrusted 00ff]", "mine ".repeat(80), "order ".repeat(80));
        let message = |role| Message::new(role, sent.clone(), Trust::Owner);
        assert!(!cut_message(&message(Role::User), 300, false).text.contains("order"));
        assert!(!shorten_message(&message(Role::User), 60, &|text| text.len() / 4).contains("order"));
        // A result has its own boundary around all of it.
        assert!(cut_message(&message(Role::Tool), 300, false).text.contains("order"));
    }

    // LES-081
    #[test]
    fn a_shortened_result_says_where_to_read_on_in_the_whole() {
        let count = |text: &str| text.chars().count().div_ceil(4);
        let whole: String = (0..4000).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
        let call = limpid_core::CallId::new("c1");
        let stored = with_pointer(&whole, 3000, &call);
        for text in [&whole, &stored] {
            let message =
                Message { call_id: Some(call.clone()), ..Message::new(Role::Tool, text.clone(), Trust::Owner) };
            let limit = result_characters_within(&message, 200, true, &count);
            let short = cut_message(&message, limit, true).text;
            assert!(count(&short) <= 200);
            let (head, mark) = short.split_once("\n[…").unwrap();
            assert!(whole.starts_with(head));
            let next = format!(r#"read_result {{"id":"c1","offset":{}}} reads on"#, head.len());
            assert!(mark.contains(&next) && !mark[next.len()..].contains("read_result"), "{short}");
            assert!(!cut_message(&message, limit, false).text.contains(&next));
        }
    }
}
