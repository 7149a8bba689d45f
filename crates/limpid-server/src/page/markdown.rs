//! What a model wrote, as HTML. Nothing of it is markup but what Markdown makes: HTML stands there as text, a picture is a link to
//! it, and a link leads to the web or to a mail program, or is no link.

mod link;

use std::borrow::Cow;

use limpid_prompt::shown::shown;
use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

use link::Address;

/// Quotes and lists within each other that are drawn as such.
const DEEPEST: usize = 32;

/// The HTML of a text.
pub(crate) fn to_html(text: &str) -> String {
    let mut text = shown(text);
    if nests_deep(&text) {
        text = Cow::Owned(fenced(&text));
    }
    let mut page = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut page, Safe::new(parser(&text)));
    page
}

/// A text as a block of code that it cannot end.
pub(super) fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// Whether a line begins with so many marks of quotes and lists that the library would go through all of them again for each line after
/// it. Such a text is shown as it is written.
fn nests_deep(text: &str) -> bool {
    let is_mark = |letter: char| letter.is_whitespace() || letter.is_ascii_digit() || ">-*+.)".contains(letter);
    text.lines().any(|line| {
        let end = line.find(|letter| !is_mark(letter)).unwrap_or(line.len());
        let marks = &line[..end];
        let is_list = |mark: &&str| {
            let number = mark.strip_suffix(['.', ')']).unwrap_or_default();
            ["-", "*", "+"].contains(mark) || (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
        };
        let lists = marks.split([' ', '\t', '>']).filter(is_list).count();
        marks.matches('>').count() + lists > DEEPEST
    })
}

/// The words of an event as they are shown: Markdown makes letters of `&#x202e;` and its like.
fn words(text: CowStr<'_>) -> CowStr<'_> {
    match shown(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text.into(),
    }
}

/// Where the last block of a text begins, behind an empty line: a row of a table that has just begun looks like a paragraph. What stands
/// before it stays as it is when the text grows, but for a list that goes on behind an empty line.
pub(crate) fn last_block(text: &str) -> usize {
    if nests_deep(text) {
        return 0;
    }
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, place) in parser(text).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 && is_apart(text, place.start) {
                    last = place.start;
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 && is_apart(text, place.start) => last = place.start,
            _ => {}
        }
    }
    last
}

/// Whether an empty line stands before this place.
fn is_apart(text: &str, at: usize) -> bool {
    text[..at].trim_end_matches([' ', '\t']).ends_with("\n\n")
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
}

/// Events of Markdown without what could be anything but text.
struct Safe<'a, I> {
    events: I,
    /// For each link that is open its address, if it is one, and where its words begin in what was said.
    links: Vec<Option<(Address, usize)>>,
    /// The words since the outermost link was opened. Pictures may lie within each other, so none has its own copy.
    said: String,
    table: Columns,
    waiting: Option<Event<'a>>,
}

impl<'a, I: Iterator<Item = Event<'a>>> Safe<'a, I> {
    fn new(events: I) -> Self {
        Self { events, links: Vec::new(), said: String::new(), table: Columns::default(), waiting: None }
    }

    /// A link names its address, whatever its writer has it named.
    fn open(&mut self, address: &str) -> Event<'a> {
        let address = Address::parse(address);
        let event = match &address {
            Some(address) => {
                let url = CowStr::from(address.url().to_owned());
                Event::Start(Tag::Link {
                    link_type: LinkType::Inline,
                    dest_url: url.clone(),
                    title: url,
                    id: "".into(),
                })
            }
            None => Event::Text("".into()),
        };
        self.links.push(address.map(|address| (address, self.said.len())));
        event
    }

    /// Behind a link stands where it leads and all that is sent there, unless its words are that.
    fn close(&mut self) -> Event<'a> {
        let event = match self.links.pop() {
            Some(Some((address, begin))) => {
                self.waiting = (!address.is_said_by(&self.said[begin..]))
                    .then(|| Event::Text(format!(" ({})", address.short()).into()));
                Event::End(TagEnd::Link)
            }
            _ => Event::Text("".into()),
        };
        if self.links.is_empty() {
            self.said.clear();
        }
        event
    }

    fn note(&mut self, words: &str) {
        if !self.links.is_empty() {
            self.said.push_str(words);
        }
    }
}

impl<'a, I: Iterator<Item = Event<'a>>> Iterator for Safe<'a, I> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        if let Some(event) = self.waiting.take() {
            return Some(event);
        }
        Some(match self.events.next()? {
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => {
                self.note(&text);
                Event::Text(words(text))
            }
            Event::Code(text) => {
                self.note(&text);
                Event::Code(words(text))
            }
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            // The screen has its own headings above these, and no style stands in markup.
            Event::Start(Tag::Heading { level, .. }) => {
                let level = below(level);
                Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
            }
            Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
            Event::Start(Tag::Table(columns)) => {
                let none = vec![Alignment::None; columns.len()];
                self.table = Columns { columns, ..Columns::default() };
                Event::Start(Tag::Table(none))
            }
            Event::Start(tag @ (Tag::TableHead | Tag::TableRow)) => {
                (self.table.is_head, self.table.cell) = (tag == Tag::TableHead, 0);
                Event::Start(tag)
            }
            Event::Start(Tag::TableCell) => self.table.cell(),
            Event::Start(Tag::Link { dest_url, .. }) => self.open(&dest_url),
            Event::End(TagEnd::Link) => self.close(),
            Event::Start(Tag::Image { dest_url, .. }) => {
                let opened = self.open(&dest_url);
                self.waiting = Some(Event::Text("picture: ".into()));
                opened
            }
            Event::End(TagEnd::Image) => self.close(),
            Event::Start(Tag::CodeBlock(kind)) => {
                let head = Event::Html(code_head(&kind).into());
                // The language would stand in a class, and several words of it in several.
                self.waiting = Some(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)));
                head
            }
            Event::End(TagEnd::CodeBlock) => {
                self.waiting = Some(Event::Html("</figure>\n".into()));
                Event::End(TagEnd::CodeBlock)
            }
            event => event,
        })
    }
}

/// The columns of a table, of which some stand at the right: Markdown would make styles of that, which no page may have.
#[derive(Default)]
struct Columns {
    columns: Vec<Alignment>,
    cell: usize,
    is_head: bool,
}

impl Columns {
    /// The next cell.
    fn cell<'a>(&mut self) -> Event<'a> {
        let is_right = self.columns.get(self.cell) == Some(&Alignment::Right);
        self.cell += 1;
        match (is_right, self.is_head) {
            (true, true) => Event::Html("<th class=\"right\">".into()),
            (true, false) => Event::Html("<td class=\"right\">".into()),
            (false, _) => Event::Start(Tag::TableCell),
        }
    }
}

/// What stands over a block of code: its language, and a button that copies it.
fn code_head(kind: &CodeBlockKind<'_>) -> String {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "+-#._".contains(letter);
    let language = match kind {
        CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
        CodeBlockKind::Indented => "",
    };
    let language = if language.chars().all(is_name) { language } else { "" };
    format!(
        "<figure class=\"code\"><figcaption><span>{language}</span><button class=\"btn quiet small icon\" type=\"button\" \
         data-copies aria-label=\"Copy the code\"><svg class=\"i\" aria-hidden=\"true\"><use href=\"#i-copy\"/></svg></button>\
         </figcaption>"
    )
}

/// A heading below those of a message.
const fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library takes the product of depth and lines for quotes within quotes.
    // SEC-093
    #[test]
    fn quotes_and_lists_without_end_are_shown_as_they_are_written() {
        let lines = "b\n".repeat(60_000);
        for mark in [">", "> ", "- ", "1. ", ">- "] {
            let text = format!("{}a\n{lines}", mark.repeat(60_000));
            assert!(to_html(&text).starts_with("<figure class=\"code\">"), "{mark}");
            assert_eq!(last_block(&text), 0);
        }
        assert!(to_html(&format!("{}a\nb\n", "> ".repeat(DEEPEST))).starts_with("<blockquote>"));
        assert!(to_html(&"-".repeat(200)).starts_with("<hr"));
        assert!(to_html(&"1 ".repeat(200)).starts_with("<p>"), "numbers are no list");
    }

    // SEC-005 SUR-020
    #[test]
    fn what_a_model_writes_is_text_but_for_what_markdown_makes() {
        let text = "# A\n\n<script>alert(1)</script>\n\n**b** <img src=x onerror=y> ![seen](https://evil.example/p.png)\n\n\
                    [in](/settings) [go](javascript:alert(1)) [out](https://example.com \"t\")\n\n| a | b |\n|:-:|--:|\n| 1 | `<b>` |\n";
        insta::assert_snapshot!(to_html(text), @r#"
        <h3>A</h3>
        <p>&lt;script&gt;alert(1)&lt;/script&gt;
        </p>
        <p><strong>b</strong> &lt;img src=x onerror=y&gt; <a href="https://evil.example/p.png" title="https://evil.example/p.png">picture: seen</a> (evil.example/p.png)</p>
        <p>in go <a href="https://example.com/" title="https://example.com/">out</a> (example.com)</p>
        <table><thead><tr><th>a</th><th class="right">b</th></tr></thead><tbody>
        <tr><td>1</td><td class="right"><code>&lt;b&gt;</code></td></tr>
        </tbody></table>
        "#);
    }

    // SEC-005 SUR-020
    #[test]
    fn a_block_of_code_has_its_language_and_a_button_and_no_markup_of_the_models() {
        for fence in ["```x\tacts\tover\tcard\nx\n```", "```x&#10;vh\nx\n```", "~~~rust rail\nx\n~~~"] {
            assert_eq!(
                to_html(fence).matches("class=").count(),
                to_html("    x\n").matches("class=").count(),
                "{fence}"
            );
        }
        let page = to_html("```rust\n<b>\n```\n\n```\"><script>\nx\n```\n\n    indented\n");
        let code: Vec<&str> = page.split("<figure class=\"code\"><figcaption>").skip(1).collect();
        assert_eq!(code.len(), 3, "{page}");
        assert!(
            code[0].starts_with("<span>rust</span><button") && code[0].contains(">&lt;b&gt;\n</code></pre>\n</figure>"),
            "{page}"
        );
        assert!(code[1].starts_with("<span></span><button") && !page.contains("<script>"), "{page}");
        assert!(code[2].contains("<pre><code>indented\n</code></pre>\n</figure>"), "{page}");
    }

    // SEC-093 SEC-089
    #[test]
    fn pictures_within_pictures_are_gone_through_once() {
        let with = |levels: usize, words: &str| {
            to_html(&format!("[a]: mailto:a\n\n{}{words}{}", "![".repeat(levels), "][a]".repeat(levels)))
        };
        let nested = |levels: usize, letters: usize| with(levels, &"x".repeat(letters));
        assert!(nested(2, 1).contains("picture: x</a> (a)</a> (a)"), "{}", nested(2, 1));
        // A copy for each of them would be ten gigabytes.
        assert_eq!(nested(20_000, 500_000).matches("picture: ").count(), 20_000);
        let blanks = with(20_000, &format!("{}x", "\u{a0}".repeat(250_000)));
        assert_eq!(blanks.matches("picture: ").count(), 20_000);
        let both = to_html("![![https://a.example](https://b.example)](https://a.example)");
        assert!(both.contains("https://a.example</a> (b.example)</a></p>"), "{both}");
    }

    /// What a model calls a link, or what stands over it, says nothing of where it leads.
    // SEC-005 SEC-089
    #[test]
    fn a_link_says_where_it_leads() {
        for (text, wanted) in [
            (
                "[https://hotel.example](http://evil.example/?pin=4711 \"https://hotel.example\")",
                "https://hotel.example</a> (evil.example/?pin=4711)</p>",
            ),
            ("[here](https://hotel.example@evil.example/)", "here</a> (evil.example)</p>"),
            ("[Eve](mailto:eve@evil.example?body=4711)", "Eve</a> (eve@evil.example?body=4711)</p>"),
            ("<https://hotel.example/>", "https://hotel.example/</a></p>"),
            ("[the room](https://hotel.example/rooms?x=4711)", "the room</a> (hotel.example/rooms?x=4711)</p>"),
            ("[the room](http://h\u{43e}tel.example/)", "the room</a> (xn--htel-55d.example)</p>"),
            ("<http://h\u{43e}tel.example/>", "h\u{43e}tel.example/</a> (xn--htel-55d.example)</p>"),
            ("[the map](http:/tasks)", "<p>the map</p>"),
            ("[`a` b](https://hotel.example)", "<code>a</code> b</a> (hotel.example)</p>"),
        ] {
            let page = to_html(text);
            assert!(page.trim_end().ends_with(wanted), "{page}");
            let leads_there = text.contains("(https://hotel.example") || text.starts_with('<');
            assert!(!page.contains("title=\"https://hotel.example/") || leads_there, "{page}");
        }
    }

    // SEC-089
    #[test]
    fn letters_that_turn_a_line_around_are_written_out_however_they_are_spelled() {
        let text =
            "[&#x202e;elpmaxe](https://evil.example \"&#x202e;t\") &#27;[2J `a\u{202e}`\n\n<b>\u{200b}&#x202e;</b>\n";
        let page = to_html(text);
        assert_eq!(shown(&page), page.as_str());
        assert!(page.contains(r">\u{202e}elpmaxe</a>") && page.contains(r#"title="https://evil.example/""#), "{page}");
    }

    // SUR-020
    #[test]
    fn blocks_that_are_whole_stay_as_they_are() {
        let text = "First.\n\n- a\n- b\n\n```rust\nfn x() {}\n\nlet y";
        let at = last_block(text);
        assert_eq!(&text[at..], "```rust\nfn x() {}\n\nlet y");
        assert_eq!(to_html(&text[..at]) + &to_html(&text[at..]), to_html(text));
        assert_eq!(last_block("one line"), 0);
    }
}
