//! What somebody hands in, as JSON.

use jiff::Timestamp;
use limpid_core::inbox::LINE_CHARS;
use serde::Deserialize;

use crate::inbox::IngestKind;

/// Bytes of an object that are read at most.
pub const MAX_BODY: usize = 64 * 1024;

/// Characters that a sender, a title, an account or a key may have.
const MAX_LINE: usize = LINE_CHARS;

/// What was handed in, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedIn {
    /// Who sent it; of a notification, the program.
    pub from: String,
    /// Its subject or title.
    pub title: String,
    /// What it says.
    pub text: String,
    /// The account that it came to; empty when it was not said.
    pub account: String,
    /// When it was sent or posted, in milliseconds since 1970; none when it was not said.
    pub at_ms: Option<i64>,
    /// What the sender knows it by.
    pub key: Option<String>,
}

/// Why something that was handed in cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is longer than is read.
    #[error("the object has more than {MAX_BODY} bytes; shorten its text")]
    TooLong,
    /// It is no object of the known fields.
    #[error("{0}")]
    NoObject(String),
    /// A field is longer than is kept.
    #[error("`{0}` has more than {MAX_LINE} characters")]
    LongField(&'static str),
    /// The time is none.
    #[error("`at` is no moment such as 2026-04-11T09:00:00Z")]
    NoMoment,
    /// It says nothing.
    #[error("`text` is blank, so there is nothing to keep")]
    Blank,
}

/// The object on the wire. One name has two spellings where sources call it differently.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    #[serde(alias = "app", default)]
    from: String,
    #[serde(alias = "subject", default)]
    title: String,
    text: String,
    #[serde(default)]
    account: String,
    at: Option<String>,
    key: Option<String>,
}

impl HandedIn {
    /// Reads an object.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(kind: IngestKind, body: &[u8]) -> Result<Self, Malformed> {
        if body.len() > MAX_BODY {
            return Err(Malformed::TooLong);
        }
        // A list would pass for the fields in their order.
        if body.trim_ascii_start().first().is_some_and(|byte| *byte != b'{') {
            return Err(Malformed::NoObject("this is no JSON object".to_owned()));
        }
        let object: Object = serde_json::from_slice(body).map_err(|error| Malformed::NoObject(error.to_string()))?;
        let Object { from, title, text, account, at, key } = object;
        let key = key.filter(|key| !key.trim().is_empty());
        let fields = [("from", &from), ("title", &title), ("account", &account)];
        for (name, field) in fields.into_iter().chain(key.as_ref().map(|key| ("key", key))) {
            if field.chars().count() > MAX_LINE {
                return Err(Malformed::LongField(name));
            }
        }
        if text.trim().is_empty() {
            return Err(Malformed::Blank);
        }
        let moment = |at: String| at.parse::<Timestamp>().map_err(|_| Malformed::NoMoment);
        let at_ms = at.map(moment).transpose()?.map(Timestamp::as_millisecond);
        let from = if from.is_empty() && kind == IngestKind::Custom { kind.as_str().to_owned() } else { from };
        Ok(Self { from, title, text, account, at_ms, key })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // KAI-094
    #[test]
    fn an_object_is_read_or_says_what_is_wrong() {
        let read = |kind, body: &str| HandedIn::read(kind, body.as_bytes());
        let whole =
            r#"{"app": "Bank", "title": "Card", "text": "Used", "at": "2026-04-11T09:00:00+02:00", "key": "k"}"#;
        let expected = HandedIn {
            from: "Bank".to_owned(),
            title: "Card".to_owned(),
            text: "Used".to_owned(),
            account: String::new(),
            at_ms: Some(1_775_890_800_000),
            key: Some("k".to_owned()),
        };
        assert_eq!(read(IngestKind::Notification, whole), Ok(expected));
        let custom = read(IngestKind::Custom, r#"{"text": "Done", "key": " "}"#).unwrap();
        assert_eq!((custom.from.as_str(), custom.key), ("custom", None));
        let wrong = [
            (r#" ["a", "b", "c", "d", null, null]"#, "this is no JSON object"),
            ("", "EOF while parsing"),
            ("{}", "missing field `text` at line 1 column 2"),
            (r#"{"text": "a", "body": "b"}"#, "unknown field `body`"),
            (r#"{"text": "\u2003\n"}"#, "`text` is blank"),
            (r#"{"text": "a", "at": "soon"}"#, "`at` is no moment"),
            ("\u{0}", "this is no JSON object"),
        ];
        for (body, why) in wrong {
            let error = read(IngestKind::Sms, body).unwrap_err().to_string();
            assert!(error.starts_with(why), "{body}: {error}");
        }
        let long = format!(r#"{{"text": "a", "from": "{}"}}"#, "ä".repeat(501));
        assert_eq!(read(IngestKind::Sms, &long), Err(Malformed::LongField("from")));
        assert_eq!(HandedIn::read(IngestKind::Sms, &vec![b' '; MAX_BODY + 1]), Err(Malformed::TooLong));
    }

    proptest! {
        // SEC-044
        #[test]
        fn any_bytes_are_an_item_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), kind in 0..4_usize) {
            if let Ok(read) = HandedIn::read(IngestKind::ALL[kind], &bytes) {
                prop_assert!(!read.text.trim().is_empty());
            }
        }

        // SEC-044 KAI-094
        #[test]
        fn any_values_are_an_item_or_an_error(
            from in any::<String>(), title in any::<String>(), text in any::<String>(), at in any::<String>(),
            key in any::<Option<String>>(), kind in 0..4_usize,
        ) {
            let body = serde_json::json!({"from": from, "subject": title, "text": text, "key": key});
            let read = HandedIn::read(IngestKind::ALL[kind], body.to_string().as_bytes());
            match read {
                Ok(read) => prop_assert_eq!((read.title, read.text), (title, text.clone())),
                Err(why) => prop_assert!(text.trim().is_empty() || matches!(why, Malformed::LongField(_)), "{}", why),
            }
            let timed = serde_json::json!({"text": "a", "at": at}).to_string();
            prop_assert!(matches!(HandedIn::read(IngestKind::Sms, timed.as_bytes()), Ok(_) | Err(Malformed::NoMoment)));
        }
    }
}
