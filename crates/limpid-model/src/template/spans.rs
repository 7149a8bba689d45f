//! Tells what comes from the messages from what a template adds.
//!
//! The messages are rendered a second time with marks around their texts, made of characters that Unicode reserves
//! for such private purposes. If the rendering without the marks is the same, the marks show where each text went.

use std::ops::Range;

use super::ChatMessage;

const OPEN: char = '\u{fdd0}';
const BODY: char = '\u{fdd1}';
const CLOSE: char = '\u{fdd2}';
/// The first of sixteen characters that write the number of a message.
const DIGIT: u32 = 0xfde0;

/// A stretch of rendered text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its bytes.
    pub range: Range<usize>,
    /// Where it comes from.
    pub origin: SpanOrigin,
}

/// Where a stretch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanOrigin {
    /// The template added it.
    Template,
    /// It is text of the message with this number, from 0.
    Message(usize),
}

/// The messages with marks around their texts, inside the space at both ends that templates like to cut.
pub(super) fn mark(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    messages
        .iter()
        .enumerate()
        .map(|(at, message)| ChatMessage { text: mark_text(&message.text, at), ..*message })
        .collect()
}

fn mark_text(text: &str, number: usize) -> String {
    let inner = text.trim();
    if inner.is_empty() {
        return text.to_owned();
    }
    let start = text.len() - text.trim_start().len();
    let digits: String =
        format!("{number:x}").chars().filter_map(|c| char::from_u32(DIGIT + c.to_digit(16)?)).collect();
    format!("{}{OPEN}{digits}{BODY}{inner}{CLOSE}{}", &text[..start], &text[start + inner.len()..])
}

/// The spans that the marks show, if the text is `plain` without them.
pub(super) fn read_marks(marked: &str, plain: &str) -> Option<Vec<Span>> {
    let mut spans = Spans::default();
    let mut rest = marked;
    while let Some(at) = rest.find(OPEN) {
        spans.push(at, SpanOrigin::Template);
        let (digits, body) = rest[at + OPEN.len_utf8()..].split_once(BODY)?;
        let number = digits.chars().try_fold(0usize, |sum, c| {
            let digit = (c as u32).checked_sub(DIGIT).filter(|digit| *digit < 16)?;
            sum.checked_mul(16)?.checked_add(digit as usize)
        })?;
        let (text, after) = body.split_once(CLOSE)?;
        spans.push(text.len(), SpanOrigin::Message(number));
        rest = after;
    }
    spans.push(rest.len(), SpanOrigin::Template);
    let text: String = unmarked(marked);
    (text == plain && spans.end == plain.len()).then_some(spans.list)
}

/// Looks for the texts of the messages, for a template that takes them apart.
pub(super) fn search(messages: &[ChatMessage], text: &str) -> Vec<Span> {
    let mut spans = Spans::default();
    for (number, message) in messages.iter().enumerate() {
        let inner = message.text.trim();
        if inner.is_empty() {
            continue;
        }
        if let Some(at) = text[spans.end..].find(inner) {
            spans.push(at, SpanOrigin::Template);
            spans.push(inner.len(), SpanOrigin::Message(number));
        }
    }
    spans.push(text.len() - spans.end, SpanOrigin::Template);
    spans.list
}

#[derive(Default)]
struct Spans {
    list: Vec<Span>,
    end: usize,
}

impl Spans {
    fn push(&mut self, length: usize, origin: SpanOrigin) {
        if length > 0 {
            self.list.push(Span { range: self.end..self.end + length, origin });
            self.end += length;
        }
    }
}

fn unmarked(text: &str) -> String {
    let digits = DIGIT..DIGIT + 16;
    text.chars().filter(|c| !matches!(*c, OPEN | BODY | CLOSE) && !digits.contains(&(*c as u32))).collect()
}
