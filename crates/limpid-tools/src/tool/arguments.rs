//! Arguments as they are read and compared, and the words of errors about them.

use limpid_core::{Labelled, Sentence, Trust, sentence};
use reqwest::StatusCode;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::web::plain_address;

/// Reads arguments into a type.
///
/// # Errors
/// A sentence that names the field, for the model.
pub fn read_arguments<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, Sentence> {
    // The executor adds the label of who wrote the arguments.
    serde_json::from_value(arguments)
        .map_err(|error| sentence!("wrong arguments: {}", Labelled::new(error, Trust::Owner)))
}

/// Words of the model or of the owner that an error repeats, and what the system says of a path of theirs. The executor adds
/// the label of the turn, which is that of the model's words. For errors only: in a result nobody adds a label.
pub fn echoed<T>(words: T) -> Labelled<T> {
    Labelled::new(words, Trust::Owner)
}

/// The status of an answer by its number and its usual name; what the server itself calls it is left out.
pub(crate) fn status(status: StatusCode) -> Sentence {
    sentence!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or("(unknown)"))
}

/// A text without blanks around it and in small letters; an address without any encoding, with its host as the web has it (`xn--…`), as a
/// rule may have a part of it.
pub(crate) fn ascii_text(text: &str) -> String {
    let text = text.trim();
    plain_address(text).unwrap_or_else(|| text.to_owned()).to_lowercase()
}

/// A text as it is usually compared: without blanks around it, in small letters, each written in one way only; an address without any
/// encoding, and its host in its own letters.
pub(crate) fn usual_text(text: &str) -> String {
    let text = text.trim();
    let text = plain_address(text).map_or_else(|| text.to_owned(), |address| with_own_letters(&address));
    let text = text.to_lowercase();
    text.nfc().collect()
}

/// An address with its host in its own letters, `bücher.example` for `xn--bcher-kva.example`.
fn with_own_letters(address: &str) -> String {
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..].find(['/', ':', '?']).map_or(address.len(), |at| start + at);
    let (host, _) = idna::domain_to_unicode(&address[start..end]);
    format!("{}{host}{}", &address[..start], &address[end..])
}

/// Arguments with each value as it is usually compared: texts without blanks around them, in small letters, each written in one way only;
/// addresses without any encoding, and their hosts in their own letters.
pub fn usual_form(arguments: &Value) -> Value {
    form(arguments, usual_text)
}

/// The same with the hosts of addresses as the web has them.
pub fn ascii_form(arguments: &Value) -> Value {
    form(arguments, ascii_text)
}

fn form(arguments: &Value, of_text: fn(&str) -> String) -> Value {
    match arguments {
        Value::String(text) => Value::from(of_text(text)),
        // 7, 7.0 and 70e-1 are one number.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => Value::from(format!("{float:.0}")),
            _ => Value::from(number.to_string()),
        },
        Value::Array(items) => items.iter().map(|item| form(item, of_text)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), form(value, of_text))).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-071
    #[test]
    fn letters_are_compared_in_one_way_however_they_are_written() {
        let own = "http://bücher.test:8080/x?q=y";
        for spelled in [
            "http://xn--bcher-kva.test:8080/x?q=y",
            "HTTP://BÜCHER.test:8080/%78?q=y",
            "http://bu\u{308}cher.test:8080/x?q=y",
        ] {
            assert_eq!(usual_text(spelled), own);
        }
        assert_eq!(usual_text("*Bücher.test*"), "*bücher.test*");
        assert_eq!(usual_text(" Tagebu\u{308}cher.md"), "tagebücher.md");
        assert_eq!(usual_text("http://tea.test"), "http://tea.test/");
        for dotted in ["http://tea.test.:8080/x", "http://tea.test..:8080/x"] {
            assert_eq!(usual_text(dotted).as_str(), usual_text("http://tea.test:8080/x"), "{dotted}");
        }
        assert_eq!(usual_text("http://xn--bcher-kva.test."), "http://bücher.test/");
        assert_eq!(ascii_text("http://Bücher.test/TEA"), "http://xn--bcher-kva.test/tea");
    }
}
