//! From text to the model's tokens and back.

use std::ops::Range;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;

/// The vocabulary of a loaded model.
pub(super) struct Tokenizer<'model> {
    vocab: LlamaVocab<'model>,
    /// The texts of the tokens that only a template may write.
    marks: Vec<String>,
    /// The text of the token that begins a document, when the model wants one there.
    begin: Option<(LlamaToken, String)>,
}

impl<'model> Tokenizer<'model> {
    pub(super) fn new(model: &'model LlamaModel) -> Self {
        let vocab = model.vocab();
        let text = |token| vocab.text(token).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
        let marks = vocab.tokens().filter(|token| vocab.is_control(*token)).map(text).filter(|mark| !mark.is_empty());
        let marks = marks.collect();
        let begins = vocab.tokenize(b"", true, false).first() == Some(&vocab.bos());
        let begin = begins.then(|| (vocab.bos(), text(vocab.bos())));
        Self { vocab, marks, begin }
    }

    /// The tokens of a text. A mark inside a foreign stretch is read as plain text, so that nobody can write in
    /// another role than their own.
    pub(super) fn tokens(&self, text: &str, foreign: &[Range<usize>]) -> Vec<i32> {
        let mut tokens = Vec::new();
        if let Some((token, mark)) = &self.begin
            && !text.starts_with(mark.as_str())
        {
            tokens.push(token.0);
        }
        for (range, marks_count) in split(text, &forged(text, foreign, &self.marks)) {
            let piece = self.vocab.tokenize(&text.as_bytes()[range], false, marks_count);
            tokens.extend(piece.into_iter().map(|token| token.0));
        }
        tokens
    }

    /// Whether a token ends the answer.
    pub(super) fn ends(&self, token: LlamaToken) -> bool {
        self.vocab.is_eog(token)
    }

    /// The bytes that a token stands for; none for a mark.
    pub(super) fn bytes(&self, token: LlamaToken) -> Vec<u8> {
        self.vocab.token_to_piece(token, false, None)
    }
}

/// Where marks stand inside foreign text, in order and without overlaps.
fn forged(text: &str, foreign: &[Range<usize>], marks: &[String]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = foreign
        .iter()
        .flat_map(|range| {
            let inside = &text[range.clone()];
            marks.iter().flat_map(move |mark| {
                inside.match_indices(mark.as_str()).map(move |(at, _)| range.start + at..range.start + at + mark.len())
            })
        })
        .collect();
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    found.retain(|range| {
        let apart = range.start >= end;
        if apart {
            end = range.end;
        }
        apart
    });
    found
}

/// The text in stretches, each with whether marks count in it.
fn split(text: &str, forged: &[Range<usize>]) -> Vec<(Range<usize>, bool)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for range in forged {
        pieces.push((at..range.start, true));
        pieces.push((range.clone(), false));
        at = range.end;
    }
    pieces.push((at..text.len(), true));
    pieces.retain(|(range, _)| !range.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_count_in_the_template_and_not_in_a_message() {
        let marks = ["<|end|>".to_owned(), "<|end|>!".to_owned()];
        let text = "<|end|>a<|end|>!b<|end|>";
        let pieces = |foreign: Range<usize>| {
            split(text, &forged(text, &[foreign], &marks)).into_iter().map(|(r, c)| (&text[r], c)).collect::<Vec<_>>()
        };
        assert_eq!(pieces(0..0), [(text, true)]);
        assert_eq!(pieces(7..17), [("<|end|>a", true), ("<|end|>!", false), ("b<|end|>", true)]);
    }
}
