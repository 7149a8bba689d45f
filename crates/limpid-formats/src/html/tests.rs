use limpid_core::policy::links_in;
use proptest::prelude::*;

use super::*;

/// What a stranger writes an address with, so that it is whole only once it is drawn.
const PARTED: [(&str, &str); 44] = [
    ("plain", "http://evil.test/q?"),
    ("shy", "http:&shy;//evil.test/q?"),
    ("zwsp", "http:&#8203;//evil.test/q?"),
    ("raw zwsp", "http:\u{200b}//evil.test/q?"),
    ("wj", "http:&#8288;//evil.test/q?"),
    ("nul", "http:\0//evil.test/q?"),
    ("zw-end", "http://evil.test/q?&#8203;"),
    ("nbsp", "http://evil.test/q?&nbsp;"),
    ("u85", "http:&#x85;//evil.test/q?"),
    ("vt", "http:\u{b}//evil.test/q?"),
    ("ff", "http:\u{c}//evil.test/q?"),
    ("ent", "http&colon;&sol;&sol;evil.test/q?"),
    ("bdo", "<bdo dir=rtl>?q/tset.live//:ptth</bdo>"),
    ("amp", "http:/&#47;evil.test/q?"),
    ("cr", "http:\r//evil.test/q?"),
    ("del", "http:<del></del>//evil.test/q?"),
    ("font", "http:<font color=red>//evil.test/q?</font>"),
    ("u", "http:<u>//evil.test/q?</u>"),
    ("sup", "http:<sup></sup>//evil.test/q?"),
    ("a", "<a>http:</a><a>//evil.test/q?</a>"),
    ("img", "http:<img src=x>//evil.test/q?"),
    ("imgalt", "<img alt='http:'>//evil.test/q?"),
    ("imgalt2", "http:<img src=x alt='//evil.test/q?'>"),
    ("br", "http:<br>//evil.test/q?"),
    ("ruby", "<ruby>http:<rp></rp>//evil.test/q?</ruby>"),
    ("label", "<label>http:</label>//evil.test/q?"),
    ("abbr", "http:<abbr>//evil.test/q?</abbr>"),
    ("script", "http:<script></script>//evil.test/q?"),
    ("aname", "http:<a name=x></a>//evil.test/q?"),
    ("ahref", "http:<a href=x></a>//evil.test/q?"),
    ("input", "http:<input>//evil.test/q?"),
    ("w", "w<wbr>ww.evil.test/q?"),
    ("wbr", "http:<wbr>//evil.test/q?"),
    ("comment", "http:<!-- -->//evil.test/q?"),
    ("doctype", "http:<!doctype html>//evil.test/q?"),
    ("end of nothing", "http:</i>//evil.test/q?</i>"),
    ("span", "http:<span>//evil.test/q?</span>"),
    ("each letter", "<b>h</b><i>t</i>t<wbr>p<u>:</u>/<!---->/evil.test/q?"),
    ("digits", "http://evil.test/<sup>1</sup>"),
    ("picture's bracket", "<img src=x alt='http://evil.test/q?['>"),
    ("drawing's bracket", "<svg><title>http://evil.test/q?[</title></svg>"),
    ("exponent's bracket", "<sup>http://evil.test/q?{</sup>"),
    ("link's bracket", "<a href=x>http://evil.test/q?[</a>"),
    ("the mark itself", "http:\u{2065}//evil.test/q?\u{2065}"),
];

/// What private text stands in, right behind.
const PRIVATE: [&str; 9] = [
    "<span>PIN</span>",
    "<b>PIN</b>",
    "<code>PIN</code>",
    "<sup>PIN</sup>",
    "<!-- -->PIN",
    "<a href=x>PIN</a>",
    "<img src=x alt=PIN>",
    "<svg><title>PIN</title></svg>",
    "<table><tr><td>PIN</td></tr></table>",
];

/// What may stand between two letters of an address and be drawn as nothing, or change how the rest is drawn.
const BETWEEN: [&str; 34] = [
    "<wbr>",
    "<b></b>",
    "<i>",
    "</i>",
    "<span>",
    "</span>",
    "<u>",
    "<del>",
    "<sup>",
    "</sup>",
    "<code>",
    "<a href=x>",
    "</a>",
    "<a name=x></a>",
    "<pre>",
    "</pre>",
    "<table>",
    "<td>",
    "<select>",
    "<svg><title>",
    "</title></svg>",
    "<!-- -->",
    "<!doctype html>",
    "<script> </script>",
    "<img src=x>",
    "</nothing>",
    "\u{200b}",
    "&#8203;",
    "&shy;",
    "\u{2060}",
    "\u{2065}",
    "\0",
    "\u{c}",
    "&#x85;",
];

/// Whether a link of a text holds private letters, also where each of them is struck out.
fn is_private_in_a_link(text: &str) -> bool {
    let letters = |link: &String| link.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    links_in(text).iter().any(|link| letters(link).contains("PIN"))
}

// SEC-100
#[test]
fn the_text_of_the_next_element_is_no_part_of_an_address() {
    let html = "<p><span>http://a.test/e</span><span>PIN</span> <i>x</i>http://<i>b.test/</i><kbd>4711</kbd> http://c.test/<wbr>x, \
                http://d.test/<style> .to {}</style><b>PIN</b> http://e.test/<img alt=PIN> http://f.test/<script>1 2</script>4711 \
                <a href=\"http://g.test/\">g</a>ay, dear</p>";
    let text = readable(html, 400).unwrap();
    for part in
        ["http://a.test/e ", "http:// ", "http://c.test/ ", "http://d.test/ ", "http://e.test/ ", "http://f.test/ "]
    {
        assert!(text.contains(part), "{part} {text}");
    }
    assert!(text.contains("ay, dear"), "{text}");
}

// SEC-100
#[test]
fn no_way_to_part_an_address_adds_the_next_text_to_it() {
    for (name, parted) in PARTED {
        for private in PRIVATE {
            for html in [
                format!("<p><span>{parted}</span>{private}</p>"),
                format!("<pre><span>{parted}</span>{private}</pre>"),
                format!("<table><span>{parted}</span>{private}</table>"),
                format!("<ul><li><em>{parted}</em>{private}</ul>"),
            ] {
                for text in [readable(&html, 400).unwrap(), bare(&html).unwrap()] {
                    assert!(text.contains("PIN"), "{name} {html} {text}");
                    assert!(!is_private_in_a_link(&text), "{name} {html} {text}");
                }
            }
        }
    }
}

// SEC-100
#[test]
fn links_are_found_where_they_are_written_in_one_piece() {
    let html = "<p>See http://a.test/?b=1&amp;c=2#d, (<b>www.b.test/e</b>) or <a href='http://c.test/f'>this</a>:\n\
                <i>tea</i><a href='http://d.test/g'>http://d.test/g</a></p>";
    let links = ["http://a.test/?b=1&c=2#d", "https://www.b.test/e", "http://d.test/g", "http://c.test/f"];
    assert_eq!(links_in(&readable(html, 400).unwrap()), links);
}

#[test]
fn a_text_without_addresses_is_drawn_as_if_there_were_no_marks() {
    let html = "<h1>Tea</h1>\n<p>One<b>two</b> <i>three</i>, <!-- -->x<sup>2</sup> and y<sup>th</sup> of <s>four</s>.</p>\n<ul>\n\
                <li>a <a href='http://a.test/'>b</a>c</li>\n<li><em>d</em></li></ul><table><tr><td>e</td><td>fg</td></tr>\n\
                <tr><td>h<br>i</td><td></td></tr></table><pre>  j <b>k</b>\n l</pre><p><img src=x alt=m>n<wbr>o, and so on, \
                <code>until the line is so long that it is broken</code> before its end.</p>";
    let plain = html2text::config::plain().no_table_borders().max_wrap_width(60);
    assert_eq!(readable(html, 60).unwrap(), plain.string_from_read(html.as_bytes(), 60).unwrap());
    assert!(readable(html, 60).unwrap().contains("x²"));
}

// SEC-091
#[test]
fn a_page_is_too_deep_by_its_open_elements_only() {
    let script = format!("<script>let it = \"{}\";</script>ends", "<div>".repeat(2000));
    for flat in [&"<div><p>x<br><li>y</div>".repeat(2000), &"<DIV></div>".repeat(2000), &script, "a < b <- c <3 </ <"] {
        assert!(readable(flat, 80).is_ok());
    }
    for opened in ["<div>", "<div></p></li>", "<div></span>", "<blockquote class='a'>", "<table><tr><td>"] {
        assert_eq!(readable(&opened.repeat(600), 80), Err(TooDeep), "{opened}");
        assert_eq!(bare(&opened.repeat(200_000)), Err(TooDeep), "{opened}");
    }
}

// SEC-044
#[test]
fn a_cell_that_spans_more_than_its_table_is_read() {
    let all = usize::MAX;
    for cells in [
        "<td colspan=2>tea</td><td rowspan=2>milk</td>".to_owned(),
        "<td colspan=9999>tea</td><td rowspan=9999>milk</td>".to_owned(),
        format!("<td colspan={all}>tea</td><td colspan={all} rowspan={all}>milk</td>"),
    ] {
        let text = readable(&format!("<table><tr>{cells}</tr></table>"), 80).unwrap();
        assert!(text.contains("tea") && text.contains("milk"), "{cells}: {text}");
    }
    let text = readable("<table><tr><td rowspan=2>Monday</tr><tr><td>ten</tr></table>", 80).unwrap();
    assert_eq!(text, "Monday\nten   \n");
}

proptest! {
    // SEC-044
    #[test]
    fn a_table_is_read_however_its_cells_span(rows in prop::collection::vec(prop::collection::vec((0usize..5, 0usize..5), 0..4), 1..5)) {
        let cell = |(columns, rows): &(usize, usize)| format!("<td colspan={columns} rowspan={rows}>xylem</td>");
        let row = |cells: &Vec<(usize, usize)>| format!("<tr>{}</tr>", cells.iter().map(cell).collect::<String>());
        let html = format!("<table>{}</table>", rows.iter().map(row).collect::<String>());
        let cells = rows.iter().map(Vec::len).sum::<usize>();
        prop_assert_eq!(readable(&html, 80).unwrap().matches("xylem").count(), cells, "{}", html);
    }

    // SEC-100
    #[test]
    fn what_follows_an_address_in_another_element_is_no_part_of_it(
        address in parted("http://evil.example/q?"),
        private in prop::sample::select(PRIVATE.to_vec()),
        (open, close) in prop::sample::select(vec![("<span>", "</span>"), ("<sup>", "</sup>"), ("<pre>", "</pre>"), ("<td>", "</td>")]),
    ) {
        let html = format!("<div>{open}{address}{close}{private}</div>");
        for text in [readable(&html, 400).unwrap(), bare(&html).unwrap()] {
            prop_assert!(!is_private_in_a_link(&text), "{html} {text}");
        }
    }
}

/// An address with something or nothing before, between and behind its letters.
fn parted(address: &'static str) -> impl Strategy<Value = String> {
    let between = prop_oneof![6 => Just(""), 1 => prop::sample::select(BETWEEN.to_vec())];
    prop::collection::vec(between, address.len() + 1).prop_map(move |between| {
        let letters = address.chars().map(String::from).chain([String::new()]);
        between.into_iter().zip(letters).map(|(between, letter)| format!("{between}{letter}")).collect::<String>()
    })
}
