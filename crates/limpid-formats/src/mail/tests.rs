use proptest::prelude::*;

use super::*;

const ID: MailId = MailId { validity: 1, uid: 2 };

fn parsed(text: &str) -> Mail {
    read(ID, text.replace('\n', "\r\n").as_bytes(), Some(0)).unwrap()
}

#[test]
fn a_message_with_alternatives_charsets_and_attachments() {
    let mail = parsed(include_str!("several-parts.eml"));
    insta::assert_debug_snapshot!(mail);
}

#[test]
fn html_alone_is_laid_out_as_text() {
    let mail = parsed(include_str!("html.eml"));
    insta::assert_snapshot!(format!("{}\n---\n{}", mail.head.preview, mail.text));
}

// KAI-091
#[test]
fn a_message_without_a_name_is_known_by_its_head() {
    let first = parsed("From: a@x\nDate: Sat, 28 Mar 2026 12:00:00 +0000\nSubject: s\n\nbody");
    let same = parsed("From: a@x\nDate: Sat, 28 Mar 2026 12:00:00 +0000\nSubject: s\n\nfootnote of a list");
    let other = parsed("From: a@x\nDate: Sat, 28 Mar 2026 12:00:01 +0000\nSubject: s\n\nbody");
    assert_eq!(first.head.key, same.head.key);
    assert_ne!(first.head.key, other.head.key);
    assert!(first.head.key.starts_with("sha256:"));
    assert_eq!(parsed("Message-ID: <a@b>\n\n").head.key, "a@b");
}

// KAI-091 SEC-093
#[test]
fn a_header_takes_no_more_of_a_list_than_a_line() {
    let long = "ä".repeat(30_000);
    let text = format!("From: Bank {long} <eve@example.com>\nSubject: {long}\nMessage-ID: <{long}@x>\n\nbody");
    let mail = parsed(&text);
    let count = |text: &str| text.chars().count();
    assert_eq!((count(&mail.head.from), count(&mail.head.subject)), (500, 500));
    assert!(mail.head.from.ends_with("ä <eve@example.com>"), "a name hides no address: {}", mail.head.from);
    assert!(mail.head.key.starts_with("sha256:"), "{}", mail.head.key);
    let address = parsed(&format!("From: {}@example.com\n\n", "a".repeat(30_000))).head.from;
    assert_eq!(address, "a".repeat(500));
}

// SEC-091
#[test]
fn parts_and_messages_nest_so_deep_and_no_deeper() {
    let messages = |levels| "Content-Type: message/rfc822\n\n".repeat(levels) + "Subject: s\n\nthe text";
    let parts = |levels| {
        let open = |level| format!("Content-Type: multipart/mixed; boundary=\"b{level}\"\n\n--b{level}\n");
        let close = |level| format!("\n--b{level}--\n");
        let within = "Content-Type: text/plain\n\nthe text".to_owned();
        (0..levels).map(open).chain([within]).chain((0..levels).rev().map(close)).collect::<String>()
    };
    for levels in [3, 500] {
        assert!(read(ID, messages(levels).as_bytes(), None).is_ok(), "{levels}");
        assert_eq!(read(ID, parts(levels).as_bytes(), None).unwrap().text, "the text", "{levels}");
    }
    for levels in [513, 20_000] {
        assert_eq!(read(ID, messages(levels).as_bytes(), None), Err(TooDeep), "{levels}");
    }
    assert_eq!(read(ID, parts(513).as_bytes(), None), Err(TooDeep));
}

proptest! {
    // SEC-044
    #[test]
    fn any_bytes_are_a_message(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(ID, &bytes, None);
    }

    // SEC-044
    #[test]
    fn any_pieces_of_messages_are_a_message(pieces in prop::collection::vec(piece(), 0..24)) {
        let mail = read(ID, &pieces.concat(), None).unwrap();
        prop_assert!(mail.head.preview.chars().count() <= limpid_core::inbox::PREVIEW_CHARS);
    }
}

/// Pieces that a parser of messages looks for, between any bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known = [
        "From: ",
        "Subject: =?utf-8?q?",
        "=?iso-2022-jp?b?",
        "?=",
        "\r\n",
        "\n\n",
        "Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\n",
        "--b\r\n",
        "--b--\r\n",
        "Content-Type: text/html; charset=utf-16\r\n\r\n",
        "Content-Transfer-Encoding: base64\r\n\r\n",
        "<table><tr><td colspan=99999999>",
        "Date: Sat, 99 Foo 99999 99:99:99 +9999\r\n",
        "To: a:b,<c@d>;\r\n",
        "Message-ID: <>\r\n",
    ];
    prop_oneof![
        prop::sample::select(known.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ]
}
