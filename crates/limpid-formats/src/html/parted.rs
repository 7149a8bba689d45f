//! Addresses that end with their element.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult};

/// What stands in every address.
const IN_ADDRESSES: [&str; 2] = ["://", "www."];

/// Bytes of the longest of these.
const LONGEST: usize = 4;

/// A tree that gets a blank behind each address which ends with its element. Else the text of the next one would be read as the end of
/// the address, and would go to its server with it.
pub(super) struct Parted<S> {
    pub(super) tree: S,
    word: RefCell<Word>,
}

/// The word that the text so far ends with.
#[derive(Default)]
struct Word {
    /// Its last letters.
    end: String,
    is_address: bool,
    /// Whether an element began or ended behind it.
    is_over: bool,
}

impl<S> Parted<S> {
    pub(super) fn new(tree: S) -> Self {
        Self { tree, word: RefCell::default() }
    }
}

impl<S: TokenSink> TokenSink for Parted<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        let mut word = self.word.borrow_mut();
        let token = match token {
            Token::CharacterTokens(text) => Token::CharacterTokens(word.parted_from(text)),
            tag @ Token::TagToken(_) => {
                word.is_over = true;
                tag
            }
            other => other,
        };
        drop(word);
        self.tree.process_token(token, line)
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Word {
    /// The next text, with a blank before it where it would go on with an address.
    fn parted_from(&mut self, text: StrTendril) -> StrTendril {
        let goes_on = text.starts_with(|letter: char| !letter.is_whitespace());
        let parted = self.is_address && self.is_over && goes_on;
        if parted {
            *self = Self::default();
        }
        self.is_over = false;
        match text.rfind(char::is_whitespace) {
            Some(at) => (self.end, self.is_address) = (text[at..].trim_start().to_owned(), false),
            None => self.end.push_str(&text),
        }
        self.is_address |= IN_ADDRESSES.iter().any(|part| self.end.contains(part));
        self.end.drain(..self.end.floor_char_boundary(self.end.len().saturating_sub(LONGEST)));
        if parted { StrTendril::from(format!(" {text}")) } else { text }
    }
}
