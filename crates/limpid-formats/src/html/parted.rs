//! Addresses that end with their element.
//!
//! Texts of neighboring elements are drawn as one word: of `<i>http:</i>//a.test/?<b>4711</b>`, where several people may have written the
//! parts, a reader of the text would see one address, and its server would get all of it. So a mark is put behind each text before the
//! page is drawn, and each mark within an address becomes a blank afterwards. What is drawn decides, since the drawing drops letters and
//! elements between two texts, and whoever writes a part of the page can choose among them.

use std::cell::Cell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult};

/// A code point without a character, which is drawn without width. One that is in the page itself does no harm: it counts as a mark.
const MARK: char = '\u{2065}';

/// Columns that a cell spans at most, as in browsers.
const MOST_COLUMNS: usize = 1000;

/// A tree that gets a mark behind each text that something may be joined to. Its cells stand in one row each: the drawing loses the text of
/// some that span several, and cannot draw those that hang out of their table.
pub(super) struct Parted<S> {
    pub(super) tree: S,
    /// Whether the text so far has no mark and no blank at its end.
    is_open: Cell<bool>,
}

impl<S: TokenSink> Parted<S> {
    pub(super) fn new(tree: S) -> Self {
        Self { tree, is_open: Cell::default() }
    }

    fn close(&self, line: u64) {
        if self.is_open.take() {
            let _ = self.tree.process_token(Token::CharacterTokens(StrTendril::from_char(MARK)), line);
        }
    }
}

impl<S: TokenSink> TokenSink for Parted<S> {
    type Handle = S::Handle;

    fn process_token(&self, mut token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        match &mut token {
            Token::CharacterTokens(text) => {
                if let Some(last) = text.chars().next_back() {
                    // The drawing keeps these alone. It drops other kinds of white space here and there.
                    self.is_open.set(!matches!(last, ' ' | '\n' | '\t'));
                }
            }
            Token::TagToken(tag) => {
                // Digits in `<sup>` are drawn as small ones only if nothing else is in it, so its mark stands behind it.
                if tag.kind == TagKind::EndTag && &*tag.name == "sup" {
                    let result = self.tree.process_token(token, line);
                    self.close(line);
                    return result;
                }
                self.close(line);
                tag.attrs.retain(|attribute| &*attribute.name.local != "rowspan");
                for attribute in &mut tag.attrs {
                    match &*attribute.name.local {
                        // The only attribute that is drawn among texts.
                        "alt" if !attribute.value.is_empty() => attribute.value.push_char(MARK),
                        "colspan" if attribute.value.parse().is_ok_and(|columns: usize| columns > MOST_COLUMNS) => {
                            attribute.value = MOST_COLUMNS.to_string().into();
                        }
                        _ => {}
                    }
                }
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) | Token::EOFToken => self.close(line),
            Token::NullCharacterToken | Token::ParseError(_) => {}
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

/// A drawn text without its marks: a blank where one stands within an address.
pub(super) fn without_marks(drawn: &str) -> String {
    let mut text = String::with_capacity(drawn.len());
    for word in drawn.split_inclusive(char::is_whitespace) {
        if !word.contains(MARK) {
            text.push_str(word);
            continue;
        }
        let address = beginning_of_address(word).unwrap_or(word.len());
        let mut ends = false;
        for (at, letter) in word.char_indices() {
            if letter == MARK {
                ends = at > address;
                continue;
            }
            if ends && !letter.is_whitespace() {
                text.push(' ');
            }
            ends = false;
            text.push(letter);
        }
    }
    text
}

/// Where the first address of a word begins, at the latest. Only visible letters of ASCII are looked at: whoever reads the text may drop
/// those that nobody sees, and all letters of `http://` and `www.` are of ASCII.
fn beginning_of_address(word: &str) -> Option<usize> {
    let (places, letters): (Vec<usize>, String) =
        word.char_indices().filter(|(_, letter)| letter.is_ascii_graphic()).unzip();
    let scheme = letters.find("://").map(|end| letters[..end].trim_end_matches(char::is_alphanumeric).len());
    let first = scheme.into_iter().chain(letters.find("www.")).min()?;
    places.get(first).copied()
}
