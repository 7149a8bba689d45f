//! What a program is given that may draw it as Markdown.

use std::fmt;

use serde::{Serialize, Serializer};

use super::unloaded::{Unloaded, unloaded_json};
use super::{exact_json, exact_line, shown, shown_json, shown_line};

/// A text that a program may draw as Markdown: nothing in it steers what shows it, and nothing is fetched because somebody looks at it. It
/// is made here alone, so what takes it needs no check of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn(String);

impl Drawn {
    /// A whole text.
    pub fn new(text: &str) -> Self {
        Self(Unloaded::default().whole(&shown(text)))
    }

    /// The same on one line, for names and titles.
    pub fn line(text: &str) -> Self {
        Self::new(&shown_line(text))
    }

    /// A line of a question: no two texts look alike.
    pub fn exact_line(text: &str) -> Self {
        Self::new(&exact_line(text))
    }

    /// JSON, which stays the same value.
    pub fn json(json: &str) -> Self {
        Self(unloaded_json(&shown_json(json)))
    }

    /// JSON of a question, which stays the same value.
    pub fn exact_json(json: &str) -> Self {
        Self(unloaded_json(&exact_json(json)))
    }

    /// A text as a block of code that none of its lines ends.
    pub fn fenced(text: &str) -> Self {
        let text = shown(text);
        let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((longest + 1).max(3));
        Self(format!("{fence}\n{}\n{fence}", text.strip_suffix('\n').unwrap_or(&text)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the next piece of the same text.
    pub fn append(&mut self, next: &Self) {
        self.0.push_str(&next.0);
    }
}

impl From<Drawn> for String {
    fn from(drawn: Drawn) -> Self {
        drawn.0
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Drawn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A text that comes in pieces. Each stream has its own.
#[derive(Clone, Debug, Default)]
pub struct DrawnPieces(Unloaded);

impl DrawnPieces {
    /// The next piece. Its end may be held back until more is known.
    pub fn push(&mut self, piece: &str) -> Drawn {
        Drawn(self.0.push(&shown(piece)))
    }

    /// What is held back still, at the end or before something else is told.
    pub fn pause(&mut self) -> Drawn {
        Drawn(self.0.pause())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

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
            ("<IMG src=x> <img/src=x> <svg onload>", "< IMG src=x> < img/src=x> < svg onload>"),
            ("<table background=x><meta http-equiv=refresh>", "< table background=x>< meta http-equiv=refresh>"),
            ("<<img src=x> <b onclick=x> <b style=y> </img>", "<< img src=x> < b onclick=x> < b style=y> < /img>"),
            ("<!-- x --> <?php <x-y> <b", "< !-- x --> < ?php < x-y> < b"),
            (
                "let x: Vec<i32> = vec![1]; a < b, <b>!</B> 1<br/>2<br />",
                "let x: Vec<i32> = vec! [1]; a < b, <b>!</B> 1<br/>2<br />",
            ),
            ("x\n```mermaid\nA@{ img: \"x\" }\n```", "x\n\n```text mermaid\nA@{ img: \"x\" }\n```"),
            ("- ```svg\n  <svg>\n", "- ```text svg\n  < svg>\n"),
            ("> ~~~ Mermaid x\n", "> ~~~text Mermaid x\n"),
            ("Call ```f```, not `g`\n```x``` y", "Call ```f```, not `g`\n```x``` y"),
            // What some take for the end of a block is one, and then none is a block any more.
            ("```\n```~\n<img src=x>\n```\n<img src=x>", "```\n```~\n< img src=x>\n```\n< img src=x>"),
            ("   ```\n```\n<img src=x>", "   ```\n```\n< img src=x>"),
            ("$$\n\n```\n$$\n<img src=x>", "$$\n\n```\n$$\n< img src=x>"),
            // So it is with a box, a note or a block of settings before.
            (":::x\n\n```\n:::\n\n![a](b)\n", ":: :x\n\n```\n:: :\n\n! [a](b)\n"),
            // Some run what stands in such a box, and draw a block by what it begins with.
            (":::artifact{type=\"x\"}\n```\nx()\n```\n:::\n", ":: :artifact{type=\"x\"}\n```\nx()\n```\n:: :\n"),
            ("> ::artifact{a=b}\n", "> :: artifact{a=b}\n"),
            ("```\n<svg onload=x>\n```\n", "```\n <svg onload=x>\n```\n"),
            ("```text\n@startuml\nx\n@enduml\n```\n", "```text\n@ startuml\nx\n@enduml\n```\n"),
            ("```\n\n @startuml\n```\n", "```\n\n @ startuml\n```\n"),
            ("> %%\n\n```\n%%\n![a](b)\n", "> %%\n\n```\n%%\n! [a](b)\n"),
            ("x\n\n+++\nx\n\n```\n+++\n![a](b)\n```\n", "x\n\n+++\nx\n\n```\n+++\n! [a](b)\n```\n"),
            ("x\n\n---\nx\n\n```\n---\n![a](b)\n```\n", "x\n\n---\nx\n\n```\n---\n! [a](b)\n```\n"),
            ("---\n\n```\n---\n![a](b)\n```\n", "---\n\n```\n---\n! [a](b)\n```\n"),
            ("[a]: b \"\n\n```\n\"\n<img src=x>", "[a]: b \"\n\n```\n\"\n< img src=x>"),
        ] {
            assert_eq!(Drawn::new(text).as_str(), expected);
            let mut pieces = DrawnPieces::default();
            let apart: String =
                text.chars().map(|letter| String::from(pieces.push(letter.encode_utf8(&mut [0; 4])))).collect();
            assert_eq!(apart + pieces.pause().as_str(), expected, "letter by letter");
        }
    }

    // SEC-005
    #[test]
    fn code_and_honest_words_stay_as_they_are() {
        for text in [
            "Here it is:\n\n```rust\nfn main() {\n    let x: Vec<String> = vec![<T>::new()];\n}\n```\n\nAnd:\n\n```c\n#include <stdio.h>\n```\n",
            "1. One\n2. Two: 1 < 2, a < b, 3<4 <- x\n\n- [x] done!\n- `a` ~b~ ``c``\n\n| a | b |\n|---|---|\n| H<sub>2</sub>O | x<br>y |\n",
            "~~~python\nif a<b: print('![]')\n~~~\n日本語、 שלום, <3, e-mail <ada@example.com\n---\n***\n#1\n",
            "````\n```\n<img>\n```\n````\n",
            "One.\n\n---\n\n```c\n#include <stdio.h>\n```\n",
        ] {
            assert_eq!(Drawn::new(text).as_str(), text.replace("<ada", "< ada"));
        }
    }

    // SEC-005
    #[test]
    fn a_text_that_goes_on_behind_something_else_is_no_block_to_anybody() {
        let mut pieces = DrawnPieces::default();
        let mut all = String::new();
        for part in ["Let me look", "```\n<img src=x>\n```\n", "!", "[a](b) <", "img src=x>"] {
            all += pieces.push(part).as_str();
            all += pieces.pause().as_str();
        }
        assert_eq!(all, "Let me look```\n< img src=x>\n```\n! [a](b) < img src=x>");
        let mut open = DrawnPieces::default();
        let begun = open.push("```\nx\n").to_string() + open.pause().as_str();
        assert_eq!(begun + open.push("<img src=x>\n").as_str(), "```\nx\n< img src=x>\n");
    }

    // SEC-005
    #[test]
    fn json_stays_the_same_value() {
        let said = serde_json::json!({"a": "![x](http://evil.example) <img src=x> <b> Vec<i32> <", "b": ["!", ["<"]]});
        let shown = Drawn::json(&said.to_string());
        assert!(!shown.as_str().contains("![x") && !shown.as_str().contains("<img"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(shown.as_str()).unwrap(), said);
        assert_eq!(Drawn::json("[1,\"a < b <b>\"]").as_str(), "[1,\"a < b <b>\"]");
    }

    // SEC-005
    #[test]
    fn no_line_of_a_text_ends_its_block() {
        assert_eq!(Drawn::fenced("a\n```\n![x](y)\n").as_str(), "````\na\n```\n![x](y)\n````");
        assert_eq!(Drawn::fenced("").as_str(), "```\n\n```");
    }

    proptest! {
        /// A program that follows CommonMark and lets HTML through finds nothing to fetch, whatever the pieces are.
        // SEC-005
        #[test]
        fn whatever_is_drawn_fetches_nothing(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("```"), Just("~~~"), Just("`"), Just("````"), Just("\n"), Just("\n\n"), Just(" "), Just("   "), Just("    "),
                    Just("<img src=x>"), Just("![a](b)"), Just("<table background=x>"), Just("<b>"), Just("<"), Just("!"), Just("["),
                    Just("> "), Just("- "), Just("1. "), Just("mermaid"), Just("rust"), Just("x"), Just("<pre>"), Just("<!--"), Just("-->"),
                    Just("[a]: b \""), Just("\""), Just("$$"), Just("\\"), Just("\t"), Just("|"), Just("==="), Just("</pre>"),
                    Just("\n---\n"), Just("\n+++\n"), Just("---"), Just("+++"),
                ],
                0..24,
            ),
            cut in 0_usize..24,
        ) {
            let mut pieces = DrawnPieces::default();
            let (mut all, mut since) = (String::new(), String::new());
            for (at, part) in parts.iter().enumerate() {
                let piece = pieces.push(part);
                all += piece.as_str();
                since += piece.as_str();
                if at == cut {
                    all += pieces.pause().as_str();
                    since.clear();
                }
            }
            let rest = pieces.pause();
            for text in [all + rest.as_str(), since + rest.as_str()] {
                for event in Parser::new_ext(&text, Options::all()) {
                    match event {
                        Event::Html(html) | Event::InlineHtml(html) => {
                            let left = html.replace("<b>", "");
                            prop_assert!(!left.contains("<img") && !left.contains("<table") && !left.contains("<pre"), "{text:?}: {html}");
                        }
                        Event::Start(Tag::Image { .. }) => prop_assert!(false, "{text:?}"),
                        Event::Start(Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Fenced(info))) => {
                            prop_assert!(!info.starts_with("mermaid"), "{text:?}");
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
