use proptest::prelude::*;

use super::*;

const TYPES: &str = "column row card box divider text image icon code button text_input checkbox switch select radio_group \
                     slider chip_group progress countdown alert tabs accordion quote badge stat avatar list table";

const FORM: &str = r#"{"type": "card", "title": "Reminder", "children": [
  {"type": "select", "id": "day", "label": "Which day?", "options": ["Today", "Tomorrow"]},
  {"type": "text_input", "id": "note", "label": "Note"},
  {"type": "text_input", "id": "secret", "label": "Other", "value": "x"},
  {"type": "chip_group", "id": "tags", "options": [{"value": "a", "label": "A, or B"}, "c", "d"], "selected": ["c"]},
  {"type": "slider", "id": "size", "min": 1, "max": 5, "value": 9},
  {"type": "checkbox", "id": "loud", "label": "Loud", "checked": true},
  {"type": "button", "label": "Choose", "action": {"type": "callback", "event": "chosen", "data": {"list": "l1"},
    "collectFrom": ["day", "note", "tags", "size", "loud", "none"]}},
  {"type": "button", "label": "Leave", "action": {"type": "callback", "event": "left"}}
]}"#;

fn one(text: &str) -> Tree {
    Tree::read(text, 0).unwrap()
}

// KAI-101
#[test]
fn every_type_is_read_and_no_other() {
    assert_eq!(TYPES.split_whitespace().count(), 28);
    let read = |name: &str| Tree::read(&format!("{{\"type\": \"{name}\"}}"), 0);
    let mut kinds: Vec<String> = TYPES.split_whitespace().map(|name| format!("{:?}", read(name).unwrap())).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), 28, "each is of its own");
    for name in ["iframe", "script", "html", ""] {
        assert_eq!(read(name), Err(NoTree::NoComponent), "{name}");
    }
    let lines = one("{\"type\": \"divider\"}\n{\"type\": \"iframe\"}\n{\"type\": \"badge\", \"text\": \"new\"}");
    let Kind::Column(children) = &lines.root().kind else { panic!("{lines:?}") };
    assert_eq!(
        children.iter().map(|child| &child.kind).collect::<Vec<_>>(),
        [&Kind::Divider, &Kind::Badge("new".to_owned())]
    );
}

// KAI-102
#[test]
fn wrong_fields_take_defaults_and_unknown_components_go() {
    let tree = one(r#"{"type": "column", "children": [
        {"type": "alert", "text": 5, "level": "loud"}, {"type": "iframe", "src": "x"}, "loose", {"text": "no type"},
        {"type": "progress", "value": "much"}, {"type": "slider", "id": "s", "min": 9, "max": 1, "step": -1},
        {"type": "select", "id": "o", "options": {"a": 1}}, {"type": "table", "columns": ["a"], "rows": [[1, 2], "x", [3]]},
        {"type": "button", "label": "b", "action": {"type": "launch"}},
        {"type": "button", "label": "u", "action": {"type": "open_url", "url": "javascript:alert(1)"}},
        {"type": "image", "url": "data:text/html,x", "alt": "p"}]}"#);
    insta::assert_snapshot!(format!("{:#?}", tree.root()));
}

// KAI-102
#[test]
fn a_stream_that_was_cut_is_drawn_as_far_as_it_came_and_the_hopeless_is_not() {
    for at in (0..FORM.len()).filter(|at| FORM.is_char_boundary(*at)) {
        let cut = Tree::read(&FORM[..at], 0);
        if at > 20 {
            assert!(cut.is_ok(), "{}", &FORM[..at]);
        }
    }
    assert_eq!(Tree::read("nothing here", 0), Err(NoTree::NoObject));
    assert_eq!(Tree::read(&" ".repeat(FENCE + 1), 0), Err(NoTree::TooLong));
    assert_eq!(check("text\n```kai-ui\n{}\n```"), Err(NoTree::NoComponent));
    assert_eq!(check("text\n```json\n{}\n```"), Err(NoTree::NoFence));
    assert_eq!(check("text\n```kai-ui\n{\"type\": \"divider\"}"), Ok(()));
}

// KAI-104 KAI-105
#[test]
fn a_press_says_its_data_and_what_it_collects_and_nothing_else() {
    let tree = one(FORM);
    assert_eq!(tree.message(2, |_| None).as_deref(), Some("Pressed: left"));
    assert_eq!(
        tree.message(1, |_| None).as_deref(),
        Some("Responded with: list: l1, day: Today, note: , tags: c, size: 5, loud: yes")
    );
    let given = |name: &str| {
        Some(match name {
            "day" => vec!["Tomorrow".to_owned()],
            "note" => vec!["two\nlines".to_owned()],
            "tags" => vec!["a".to_owned(), "d".to_owned(), "forged".to_owned()],
            "size" => vec!["NaN".to_owned()],
            "secret" => vec!["leaks".to_owned()],
            _ => Vec::new(),
        })
    };
    assert_eq!(
        tree.message(1, given).as_deref(),
        Some("Responded with: list: l1, day: Tomorrow, note: two lines, tags: a, d, size: 5, loud: no")
    );
    let wrong = |_: &str| Some(vec!["anything".to_owned()]);
    let message = tree.message(1, wrong).unwrap();
    assert_eq!(message, "Responded with: list: l1, day: Today, note: anything, tags: , size: 5, loud: yes");
    assert_eq!(tree.message(3, |_| None), None, "there is no such button");
}

// KAI-107
#[test]
fn what_is_typed_behind_a_number_is_what_would_be_filled_in() {
    let tree = one(FORM);
    assert_eq!(tree.typed(1, ""), tree.message(1, |_| None));
    assert_eq!(
        tree.typed(1, " day: Tomorrow, note: bread, and milk, tags: d").as_deref(),
        Some("Responded with: list: l1, day: Tomorrow, note: bread, and milk, tags: d, size: 5, loud: yes")
    );
    for not in ["apples", "secret: x", "days: 3"] {
        assert_eq!(tree.typed(1, not), None, "{not}");
    }
    insta::assert_snapshot!(plain(&tree, true));
}

// SUR-027
#[test]
fn an_old_tree_shows_what_was_sent_of_it() {
    let tree = one(FORM);
    let said = tree.typed(1, "day: Tomorrow, note: a, b: c, tags: d").unwrap();
    let (sent, number) = tree.sent(&said).unwrap();
    assert_eq!(number, 1);
    assert_eq!(sent.message(1, |_| None), Some(said));
    assert_eq!(tree.sent("Pressed: left").unwrap(), (tree.clone(), 2));
    for other in ["Pressed: other", "Responded with: list: l2, day: Today", "hello"] {
        assert_eq!(tree.sent(other), None, "{other}");
    }
}

// KAI-103
#[test]
fn an_address_is_of_the_web_and_all_that_is_sent_is_shown() {
    let shown = |text: &str| WebLink::new(text).map(|link| (link.url().to_owned(), link.short().to_owned()));
    let ok = |url: &str, short: &str| Some((url.to_owned(), short.to_owned()));
    assert_eq!(
        shown(" HTTPS://Example.com:8443/a b\"<>?q#f "),
        ok("https://example.com:8443/a%20b%22%3C%3E?q#f", "example.com:8443/a%20b%22%3C%3E?q#f")
    );
    assert_eq!(shown("http://example.com/"), ok("http://example.com/", "example.com"));
    assert_eq!(shown("http://example.com/?x=4711"), ok("http://example.com/?x=4711", "example.com/?x=4711"));
    for wrong in [
        "javascript:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "http:/example.com",
        "https://bank.example@evil.example/",
        "https://bank.example\\@evil.example/",
        "https://bänk.example/",
        "https://evil.example\t/",
        "https:///x",
        "https://a..b",
        "https://[::1]/",
        "https://x:99999/",
        "file:///etc/passwd",
        "ftp://x",
        "",
    ] {
        assert_eq!(shown(wrong), None, "{wrong}");
    }
}

fn bounds(tree: &Tree) {
    let (mut nodes, mut text) = (0, 0);
    tree.root().walk(&mut |node| {
        nodes += 1;
        text = text.max(node.id.len());
    });
    assert!(nodes <= 301, "{nodes}");
    assert!(plain(tree, true).len() < 4 * 1024 * 1024);
}

proptest! {
    // KAI-102 SEC-044
    #[test]
    fn any_text_is_a_bounded_tree_or_none(text in "[\\[\\]{}:,\"'a-z0-9 \\\\\n-]{0,400}") {
        if let Ok(tree) = Tree::read(&text, 0) {
            bounds(&tree);
        }
    }

    // KAI-102
    #[test]
    fn a_form_with_letters_lost_or_put_in_is_a_bounded_tree_or_none(
        changes in prop::collection::vec((0..FORM.len(), "[\\[\\]{}:,\"x\\\\]{0,2}", 0..4_usize), 1..8)
    ) {
        let mut text = FORM.to_owned();
        for (at, with, lost) in changes {
            let at = at.min(text.len());
            let end = (at + lost).min(text.len());
            text.replace_range(at..end, &with);
        }
        if let Ok(tree) = Tree::read(&text, 0) {
            bounds(&tree);
            for callback in tree.callbacks() {
                let said = tree.message(callback.number, |_| None).unwrap();
                prop_assert!(!said.contains('\n'), "{said}");
                prop_assert!(tree.sent(&said).is_some(), "{said}");
            }
        }
    }

    // KAI-102
    #[test]
    fn an_answer_in_any_pieces_has_the_same_parts(text in "([`~]{0,4}(kai-ui)?|\\{\"type\":\"divider\"\\}|word| {0,4}|\n){0,40}", size in 1..9_usize) {
        let letters: Vec<char> = text.chars().collect();
        let mut fences = Fences::default();
        let mut found: Vec<Part> = Vec::new();
        let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
        let mut shown: Vec<Vec<Part>> = pieces.map(|piece| fences.push(&piece)).collect();
        shown.push(fences.finish());
        for part in shown.into_iter().flatten() {
            match (found.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => found.push(part),
            }
        }
        prop_assert_eq!(found, parts(&text));
    }
}
