//! What a provider wants back with an assistant message, unchanged, and where in the message it belongs.

use std::ops::Range;

/// One piece of provider state: reasoning, a signature, an item of the provider's own. It is stored and sent back, and
/// never read, shown or edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderState {
    /// The protocol in which it came; it means nothing in another one.
    pub protocol: String,
    /// The model that made it, as `provider/id`.
    pub model: String,
    /// The provider's JSON, byte for byte.
    pub json: String,
    /// Where in the message it belongs.
    pub span: Span,
    /// The hash of everything that the model had read when it made this; some providers take it back behind nothing else.
    pub after: Option<String>,
}

/// A stretch of a message: bytes of its text and calls. Empty ranges are a place between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the text.
    pub text: Range<usize>,
    /// Positions in the list of calls.
    pub calls: Range<usize>,
}

impl Span {
    /// The place behind so many bytes of text and so many calls.
    pub const fn at(text: usize, calls: usize) -> Self {
        Self { text: text..text, calls: calls..calls }
    }
}

/// A piece of a message in the order in which a provider gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a, S> {
    /// A stretch of the text, with what belongs to it.
    Text(&'a str, Option<&'a S>),
    /// A call by its position, with what belongs to it.
    Call(usize, Option<&'a S>),
    /// Something between texts and calls.
    Between(&'a S),
}

/// Puts texts, calls and the things that have a place among them in order. Every byte of the text and every call comes
/// exactly once, whatever the spans say: they may come from a damaged record.
///
/// ```
/// use limpid_core::state::{Piece, Span, in_order};
/// let spans = [Span::at(0, 0), Span::at(4, 1)];
/// let pieces = in_order("Look", 2, &spans, Span::clone);
/// let expected = [
///     Piece::Between(&spans[0]),
///     Piece::Text("Look", None),
///     Piece::Call(0, None),
///     Piece::Between(&spans[1]),
///     Piece::Call(1, None),
/// ];
/// assert_eq!(pieces, expected);
/// ```
pub fn in_order<'a, S>(text: &'a str, calls: usize, things: &'a [S], span: impl Fn(&S) -> Span) -> Vec<Piece<'a, S>> {
    let mut order = Order { pieces: Vec::new(), text, at: 0, calls, called: 0 };
    for thing in things {
        let Span { text, calls } = span(thing);
        order.text_until(text.start, None);
        order.calls_until(calls.start);
        if text.end > order.at {
            order.text_until(text.end, Some(thing));
        } else if calls.end > order.called && order.called < order.calls {
            order.pieces.push(Piece::Call(order.called, Some(thing)));
            order.called += 1;
        } else {
            order.pieces.push(Piece::Between(thing));
        }
    }
    order.text_until(text.len(), None);
    order.calls_until(calls);
    order.pieces
}

struct Order<'a, S> {
    pieces: Vec<Piece<'a, S>>,
    text: &'a str,
    /// Bytes of the text that are placed.
    at: usize,
    calls: usize,
    /// Calls that are placed.
    called: usize,
}

impl<'a, S> Order<'a, S> {
    fn text_until(&mut self, end: usize, thing: Option<&'a S>) {
        let end = self.text.floor_char_boundary(end.min(self.text.len()));
        match self.text.get(self.at..end).filter(|text| !text.is_empty()) {
            Some(text) => {
                self.pieces.push(Piece::Text(text, thing));
                self.at = end;
            }
            None => self.pieces.extend(thing.map(Piece::Between)),
        }
    }

    fn calls_until(&mut self, end: usize) {
        let end = end.min(self.calls);
        self.pieces.extend((self.called..end).map(|call| Piece::Call(call, None)));
        self.called = self.called.max(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(text: Range<usize>, calls: Range<usize>) -> Span {
        Span { text, calls }
    }

    // MOD-002
    #[test]
    fn what_covers_a_text_or_a_call_stays_on_it() {
        let spans = [span(2..4, 0..0), span(4..4, 1..2)];
        let pieces = in_order("abcd", 2, &spans, Span::clone);
        let expected = [
            Piece::Text("ab", None),
            Piece::Text("cd", Some(&spans[0])),
            Piece::Call(0, None),
            Piece::Call(1, Some(&spans[1])),
        ];
        assert_eq!(pieces, expected);
    }

    proptest! {
        // MOD-002
        #[test]
        fn no_span_loses_or_doubles_anything(
            text in "[aé東]{0,6}",
            calls in 0usize..4,
            spans in proptest::collection::vec((0usize..24, 0usize..24, 0usize..6, 0usize..6), 0..5),
        ) {
            let spans: Vec<Span> = spans.into_iter().map(|(a, b, c, d)| span(a..b, c..d)).collect();
            let pieces = in_order(&text, calls, &spans, Span::clone);
            let (mut said, mut called, mut seen) = (String::new(), Vec::new(), 0);
            for piece in pieces {
                let thing = match piece {
                    Piece::Text(text, thing) => {
                        said.push_str(text);
                        thing
                    }
                    Piece::Call(call, thing) => {
                        called.push(call);
                        thing
                    }
                    Piece::Between(thing) => Some(thing),
                };
                seen += usize::from(thing.is_some());
            }
            prop_assert_eq!(said, text);
            prop_assert_eq!(called, (0..calls).collect::<Vec<_>>());
            prop_assert_eq!(seen, spans.len());
        }
    }
}
