//! Addresses that end with their element.

use std::cell::RefCell;

use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult};

/// What stands in every address.
const IN_ADDRESSES: [&str; 2] = ["://", "www."];

/// Bytes of the longest of these.
const LONGEST: usize = 4;

/// A tree that gets a blank behind each address at which an element begins or ends. Else what is drawn next, be it another text or that of
/// a picture, would be read as the end of the address, and would go to its server with it.
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
}

impl<S> Parted<S> {
    pub(super) fn new(tree: S) -> Self {
        Self { tree, word: RefCell::default() }
    }
}

impl<S: TokenSink> TokenSink for Parted<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        match &token {
            Token::CharacterTokens(text) => self.word.borrow_mut().go_on(text),
            Token::TagToken(_) | Token::CommentToken(_) => {
                if std::mem::take(&mut *self.word.borrow_mut()).is_address {
                    let _ = self.tree.process_token(Token::CharacterTokens(" ".into()), line);
                }
            }
            Token::DoctypeToken(_) | Token::NullCharacterToken | Token::EOFToken | Token::ParseError(_) => {}
        }
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
    fn go_on(&mut self, text: &str) {
        match text.rfind(char::is_whitespace) {
            Some(at) => (self.end, self.is_address) = (text[at..].trim_start().to_owned(), false),
            None => self.end.push_str(text),
        }
        self.is_address |= IN_ADDRESSES.iter().any(|part| self.end.contains(part));
        self.end.drain(..self.end.floor_char_boundary(self.end.len().saturating_sub(LONGEST)));
    }
}
