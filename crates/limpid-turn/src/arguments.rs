//! The arguments of a call in the one form that is shown, hashed and run.
//!
//! Two readers of the same JSON can disagree about equal keys, large numbers or depth, so a text that they could read in
//! two ways is refused before anybody is shown it. What is left is written again, and nothing else of the reply is used.

use std::fmt;

use limpid_core::{Labelled, Sentence, Trust, sentence};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep lists and objects may lie within each other.
const DEPTH: u32 = 32;

/// What the names begin with under which the JSON library hides a value in a text: it reads such an object as what it hides.
const HIDDEN: &str = "$serde_json::private::";

/// Reads the arguments of a call and writes them in their canonical form: one JSON object without white space, whose fields
/// keep their order.
///
/// # Errors
/// What is wrong with them, for the model: no object, two equal keys, a number that no machine keeps, or too deep.
///
/// ```
/// use limpid_turn::arguments::canonical;
/// assert_eq!(canonical(r#"{ "path": "a\u0062" }"#).unwrap(), r#"{"path":"ab"}"#);
/// assert!(canonical(r#"{"path":"a","p\u0061th":"b"}"#).is_err());
/// ```
pub fn canonical(text: &str) -> Result<String, Sentence> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Strict { left: DEPTH }.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    // The words are serde's and ours; what they may quote stands in the model's own message, which has its label there.
    let wrong = |why: serde_json::Error| Sentence::from(Labelled::new(why.to_string(), Trust::Owner));
    let Value::Object(fields) = read.map_err(wrong)? else { return Err("they must be one JSON object".into()) };
    if let Some(number) = numbers(text).find(|number| !is_kept(number)) {
        return Err(sentence!("the number {} cannot be kept exactly", Labelled::new(number, Trust::Owner)));
    }
    Ok(Value::Object(fields).to_string())
}

/// Reads a value that everybody reads alike.
struct Strict {
    /// Levels that may still come.
    left: u32,
}

impl Strict {
    fn below<E: Error>(&self) -> Result<Self, E> {
        let left = self.left.checked_sub(1).ok_or_else(|| E::custom(format!("more than {DEPTH} levels deep")))?;
        Ok(Self { left })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self.below()?)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if name.starts_with(HIDDEN) {
                return Err(A::Error::custom(format!("no field may be called {name:?}")));
            }
            let value = entries.next_value_seed(self.below()?)?;
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format!("the field {name:?} comes twice")));
            }
            fields.insert(name, value);
        }
        Ok(fields.into())
    }
}

/// The numbers of a JSON text as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    let mut outside = move |c: char| {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            return false;
        }
        quoted = c == '"';
        !quoted && (c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'))
    };
    text.split(move |c: char| !outside(c)).filter(|part| part.starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// Whether a number is still the same one after it was read and written.
fn is_kept(written: &str) -> bool {
    written.parse::<Number>().is_ok_and(|number| decimal(written) == decimal(&number.to_string()))
}

/// A number as its sign, its digits without zeros at either end, and the power of ten behind them.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
    let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let short = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - short.len()).ok()?;
    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(dropped)?;
    let short = short.trim_start_matches('0').to_owned();
    Some(if short.is_empty() { (false, short, 0) } else { (negative, short, exponent) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrong(text: &str) -> String {
        canonical(text).unwrap_err().into_text()
    }

    // SEC-074
    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for twice in [
            r#"{"to":"a","to":"b"}"#,
            r#"{"to":"a","t\u006f":"b"}"#,
            r#"{"x":{"to":1,"to":1}}"#,
            r#"{"x":[{"y":{"to":1,"to":2}}]}"#,
        ] {
            assert!(wrong(twice).contains("comes twice"), "{twice}");
        }
        for hidden in [
            r#"{"$serde_json::private::RawValue":"{\"to\":\"b\"}"}"#,
            r#"{"x":[{"$serde_json::private::Raw\u0056alue":null}]}"#,
            r#"{"amount":{"$serde_json::private::Number":"1e400"}}"#,
        ] {
            assert!(wrong(hidden).contains("no field may be called"), "{hidden}");
        }
        for number in ["9007199254740993.0", "123456789012345678901234567890", "1e400", "0.1000000000000000000001"] {
            let text = format!(r#"{{"amount":{number}}}"#);
            assert!(canonical(&text).is_err(), "{number}");
        }
        for number in ["0", "-0", "1.50", "1e2", "-12.25e-1", "18446744073709551615", "0.1"] {
            let text = format!(r#"{{"amount":{number}}}"#);
            assert!(canonical(&text).is_ok(), "{number}: {:?}", canonical(&text));
        }
        let deep = |levels: usize| format!(r#"{{"x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        assert!(canonical(&deep(31)).is_ok());
        assert!(wrong(&deep(33)).contains("levels deep"));
        for text in ["", "[]", "1", "{} {}", r#"{"x":"\ud800"}"#, "{\"x\":\"\u{1}\"}"] {
            assert!(canonical(text).is_err(), "{text}");
        }
        assert!(canonical(r#"{"note":"the number 123456789012345678901234567890 in \"words\""}"#).is_ok());
    }

    proptest! {
        // SEC-074
        #[test]
        fn what_was_written_is_read_as_the_same(keys in prop::collection::btree_map(".{0,8}", ".{0,8}", 0..5), n in any::<f64>()) {
            let mut fields: Map<String, Value> = keys.into_iter().map(|(key, value)| (key, value.into())).collect();
            fields.insert("\u{0}n".to_owned(), Value::from(n));
            let value = Value::Object(fields);
            let once = canonical(&value.to_string()).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(&once).unwrap(), &value);
            prop_assert_eq!(canonical(&once).unwrap(), once);
        }
    }
}
