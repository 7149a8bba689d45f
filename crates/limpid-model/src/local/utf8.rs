//! Text out of tokens, whose borders need not be those of characters.

/// Joins bytes to text and keeps back the beginning of a character until the rest of it comes.
#[derive(Debug, Default)]
pub(super) struct Utf8Stream {
    pending: Vec<u8>,
}

impl Utf8Stream {
    /// The text that is whole after these bytes; bytes that can be no text become U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.pending) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.pending.clear();
                    return text;
                }
                Err(error) => {
                    let (valid, rest) = self.pending.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(wrong) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.pending = rest[wrong..].to_vec();
                }
            }
        }
    }

    /// What is left when no more bytes come.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_character_in_pieces_comes_out_whole() {
        let mut stream = Utf8Stream::default();
        let out: Vec<String> = "a🦀é".as_bytes().iter().map(|byte| stream.push(&[*byte])).collect();
        assert_eq!(out, ["a", "", "", "", "🦀", "", "é"]);
        assert_eq!(stream.push(b"\xff!"), "\u{fffd}!");
        assert_eq!(stream.push(b"\xf0\x9f"), "");
        assert_eq!(stream.finish(), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_text_in_any_pieces_is_the_same_text(text in "\\PC{0,40}", at in any::<prop::sample::Index>()) {
            let bytes = text.as_bytes();
            let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
            let mut stream = Utf8Stream::default();
            let out = stream.push(first) + &stream.push(second) + &stream.finish();
            prop_assert_eq!(out, text);
        }
    }
}
