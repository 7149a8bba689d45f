//! What a file does as soon as its owner opens it, by its name and its text: whether what opens it asks others for something.
//!
//! Which program opens it is unknown, so the lists say what is harmless, and everything else is not.

use std::borrow::Cow;
use std::path::Path;

use super::shown;
use super::unloaded::Unloaded;

/// Endings of files that every program shows as plain letters: logs, settings, data, and source code, which acts only when it is run or
/// when a page loads it.
const PLAIN: [&str; 49] = [
    "bash",
    "c",
    "cc",
    "cfg",
    "conf",
    "cpp",
    "cs",
    "css",
    "cts",
    "dart",
    "diff",
    "go",
    "gradle",
    "h",
    "hpp",
    "hs",
    "ini",
    "java",
    "jl",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "lock",
    "log",
    "lua",
    "mjs",
    "mts",
    "nix",
    "patch",
    "pl",
    "properties",
    "proto",
    "py",
    "pyi",
    "rb",
    "rs",
    "scala",
    "sh",
    "sql",
    "swift",
    "toml",
    "ts",
    "tsx",
    "yaml",
    "yml",
];

/// Endings of texts that are shown as they are or drawn as Markdown; so is a file without an ending.
const TEXTS: [&str; 3] = ["markdown", "md", "txt"];

/// Endings of tables. A formula in one can ask an address that it makes of other cells.
const TABLES: [&str; 2] = ["csv", "tsv"];

/// What opening a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenOpened {
    /// It is shown, and nobody else learns of it.
    Shows,
    /// A formula in it may tell others what the table holds.
    Calculates,
    /// Something may be fetched that the file names, or a script of it may run.
    Fetches,
}

/// What opening a file of a name does that holds a text; none where that is unknown, as with what is too large to be looked at.
pub fn when_opened(name: &Path, text: Option<&str>) -> WhenOpened {
    // A name that ends in a dot or a blank has another ending to some systems, so what is not on a list fetches.
    let ending = name.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is_of = |endings: &[&str]| ending.as_ref().is_some_and(|ending| endings.contains(&ending.as_str()));
    if is_of(&PLAIN) {
        WhenOpened::Shows
    } else if is_of(&TABLES) {
        WhenOpened::Calculates
    } else if (ending.is_none() || is_of(&TEXTS)) && text.is_some_and(fetches_nothing) {
        WhenOpened::Shows
    } else {
        WhenOpened::Fetches
    }
}

/// Whether nothing in a text is fetched by what draws it as Markdown. It has neither pictures nor elements, but for such as stand in a
/// block of code that every program takes for one.
fn fetches_nothing(text: &str) -> bool {
    let text = shown(text);
    let text = without_links(&text);
    let stays = |unloaded: Unloaded| unloaded.whole(&text) == text;
    stays(Unloaded::without_blocks()) || (!text.lines().any(may_fence) && stays(Unloaded::default()))
}

/// Whether a line begins what some programs take for a part of its own, such as metadata: a block of code in it is none to them.
fn may_fence(line: &str) -> bool {
    let line = line.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '>');
    ["---", "+++", "%%", ":::", ";;;"].iter().any(|fence| line.starts_with(fence))
}

/// The text with each address in angle brackets in round ones: it is a link, and to a program that knows no such links an element that
/// does nothing, since it has no value.
fn without_links(text: &str) -> Cow<'_, str> {
    if !text.contains("<http") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<http") {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        let end = link.find('>').filter(|end| is_address(&link[1..*end]));
        let Some(end) = end else {
            out.push('<');
            rest = &link[1..];
            continue;
        };
        out.extend(["(", &link[1..end], ")"]);
        rest = &link[end + 1..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_address(link: &str) -> bool {
    let has_scheme = ["http://", "https://"].iter().any(|scheme| link.starts_with(scheme));
    has_scheme && !link.contains(|letter: char| letter.is_whitespace() || "<\"'`=!".contains(letter))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    fn opened(name: &str, text: &str) -> WhenOpened {
        when_opened(Path::new(name), Some(text))
    }

    // SEC-005 SEC-059
    #[test]
    fn what_only_shows_letters_is_listed_and_nothing_else() {
        for name in ["a.log", "a.JSON", "a.rs", "src/a.ts", "a.yaml", "x.html.diff", "a.css"] {
            assert_eq!(opened(name, "<img src=http://a.example/a.png>"), WhenOpened::Shows, "{name}");
            assert_eq!(when_opened(Path::new(name), None), WhenOpened::Shows, "{name}");
        }
        let others = [
            "a.html", "A.SVG", "a.xml", "a.ipynb", "a.mkd", "a.qmd", "a.Rmd", "a.rst", "a.adoc", "a.org", "a.m3u",
            "a.vcf", "a.fodt", "a.rtf", "a.url", "a.ics", "a.eml", "a.mdx", "a.html.", "a.html ", "a.md.", "a.2026",
            "a.tex",
        ];
        for name in others {
            assert_eq!(opened(name, "hi"), WhenOpened::Fetches, "{name}");
        }
        assert_eq!(opened("a.CSV", "a,b"), WhenOpened::Calculates);
    }

    // SEC-005 SEC-059
    #[test]
    fn a_picture_or_an_element_in_a_text_fetches_and_a_link_does_not() {
        let fetched = [
            "![The Anchor](http://a.example/a.png?x=4711)",
            "![The Anchor][a]\n\n[a]: http://a.example",
            "![a](http&colon;//a.example/a.png?x=4711)",
            "Seven rooms!\n[The Anchor](x)![b](//a.example)",
            "<img src=http://a.example/a.png>",
            "<https://a.example/ onclick=x>",
            "<img <http://a.example> src=x>",
            "!<http://a.example>\n<x",
            "Look:\n```\n![a](b)\n```\n",
            "---\ntitle: x\n\n```\n---\n![a](b)\n```\n",
            "Good.\n\n+++\nx\n\n```\n+++\n![a](b)\n```\n",
            "```mermaid\nA@{ img: \"http://a.example\" }\n```",
        ];
        let names = ["a.md", "A.MARKDOWN", "a.txt", "notes", "Makefile"];
        for (name, text) in names.iter().flat_map(|name| fetched.map(|text| (name, text))) {
            assert_eq!(opened(name, text), WhenOpened::Fetches, "{name} {text}");
        }
        let shown = [
            "See [The Anchor](http://a.example/a?b=c): seven rooms! And <https://a.example/b>, or [b][a].\n\n[a]: http://a.example",
            "Run this:\n```sh\ncargo test -- --nocapture\n```\nThen:\n\n* done! [x]\n",
            "Such as:\n\n```c\n#include <stdio.h>\n```\n\n```rust\nvec![1]\n```\n",
            "---\ntitle: x\n---\n\nRun:\n\n```sh\nls\n```\n",
            "| a | b |\n|---|---|\n| H<sub>2</sub>O | x<br>y |\n\n1 < 2\n",
        ];
        for (name, text) in names.iter().flat_map(|name| shown.map(|text| (name, text))) {
            assert_eq!(opened(name, text), WhenOpened::Shows, "{name} {text}");
        }
        assert_eq!(when_opened(Path::new("a.md"), None), WhenOpened::Fetches);
    }

    proptest! {
        /// A program that follows CommonMark and lets HTML through finds nothing to fetch.
        // SEC-005 SEC-059
        #[test]
        fn no_text_that_only_shows_has_a_picture(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("```"), Just("~~~"), Just("`"), Just("\n"), Just("\n\n"), Just(" "), Just("    "), Just("<http://a.example>"),
                    Just("<http://a"), Just(">"), Just("<"), Just("!"), Just("["), Just("](b)"), Just("![a](b)"), Just("<img src=x>"),
                    Just("a"), Just("> "), Just("- "), Just("[a]: b \""), Just("\""), Just("$$"), Just("\\"), Just("<!--"), Just("img src=x"), Just("+++"), Just("---"),
                ],
                0..16,
            ),
        ) {
            let text = parts.concat();
            prop_assume!(opened("a.md", &text) == WhenOpened::Shows);
            for event in Parser::new_ext(&text, Options::all()) {
                match event {
                    Event::Html(html) | Event::InlineHtml(html) => prop_assert!(!html.contains("img"), "{text:?}: {html}"),
                    Event::Start(Tag::Image { .. }) => prop_assert!(false, "{text:?}"),
                    _ => {}
                }
            }
        }
    }
}
