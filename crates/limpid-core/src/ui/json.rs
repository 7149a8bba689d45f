//! JSON as models write it: braces that do not match, commas too many or too few, texts that break off. Whatever can be read is
//! read; nothing is an error.

/// Values inside values.
const DEPTH: usize = 24;

/// Values in all.
const VALUES: usize = 4_000;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// A field of an object; of several with that name the last one.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let Self::Map(fields) = self else { return None };
        fields.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The entries of a list; nothing else has any.
    pub(super) fn entries(&self) -> &[Value] {
        match self {
            Self::List(entries) => entries,
            _ => &[],
        }
    }

    /// A text, a number or a truth value as a text.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(number) => Some(number.to_string()),
            Self::Bool(is) => Some(is.to_string()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// The objects of a text, those in a list at its top included.
pub(super) fn objects(text: &str) -> Vec<Value> {
    let mut reader = Reader { rest: text, values: 0, objects: 0, lists: 0 };
    let mut found = Vec::new();
    while let Some(at) = reader.rest.find(['{', '[']) {
        reader.rest = &reader.rest[at..];
        if reader.values >= VALUES {
            break;
        }
        match reader.value() {
            Value::List(entries) => found.extend(entries),
            value => found.push(value),
        }
    }
    found.retain(|value| matches!(value, Value::Map(_)));
    found
}

struct Reader<'a> {
    rest: &'a str,
    values: usize,
    /// Objects that are open.
    objects: usize,
    /// Lists that are open.
    lists: usize,
}

impl Reader<'_> {
    fn skip(&mut self, also: &[char]) {
        self.rest = self.rest.trim_start_matches(|letter: char| letter.is_whitespace() || also.contains(&letter));
    }

    fn take(&mut self) {
        let mut letters = self.rest.chars();
        letters.next();
        self.rest = letters.as_str();
    }

    fn takes(&mut self, letter: char) -> bool {
        let is_it = self.rest.starts_with(letter);
        if is_it {
            self.take();
        }
        is_it
    }

    /// The value that begins here. It takes at least one letter, unless none is left.
    fn value(&mut self) -> Value {
        self.skip(&[]);
        self.values += 1;
        let is_too_much = self.values >= VALUES || self.objects + self.lists >= DEPTH;
        match self.rest.chars().next() {
            None => Value::Null,
            Some('{' | '[') if is_too_much => {
                self.take();
                Value::Null
            }
            Some('{') => self.object(),
            Some('[') => self.list(),
            Some(quote @ ('"' | '\'')) => Value::Text(self.text(quote)),
            Some(_) => self.word(),
        }
    }

    fn object(&mut self) -> Value {
        self.take();
        self.objects += 1;
        let mut fields = Vec::new();
        loop {
            self.skip(&[',']);
            match self.rest.chars().next() {
                None => break,
                Some('}') => {
                    self.take();
                    break;
                }
                // The object was not closed, but the list around it is.
                Some(']') if self.lists > 0 => break,
                Some(quote @ ('"' | '\'')) => {
                    let name = self.text(quote);
                    self.field(name, &mut fields);
                }
                Some(letter) if letter.is_alphanumeric() || letter == '_' => {
                    let name = self.bare().to_owned();
                    self.field(name, &mut fields);
                }
                Some(_) => self.take(),
            }
            if self.values >= VALUES {
                break;
            }
        }
        self.objects -= 1;
        Value::Map(fields)
    }

    /// What follows the name of a field; a name that nothing follows is none.
    fn field(&mut self, name: String, fields: &mut Vec<(String, Value)>) {
        self.skip(&[]);
        if !self.takes(':') {
            self.values += 1;
            return;
        }
        self.skip(&[]);
        if !self.rest.starts_with([',', '}', ']']) && !self.rest.is_empty() {
            fields.push((name, self.value()));
        }
    }

    fn list(&mut self) -> Value {
        self.take();
        self.lists += 1;
        let mut entries = Vec::new();
        loop {
            self.skip(&[',']);
            match self.rest.chars().next() {
                None => break,
                Some(']') => {
                    self.take();
                    break;
                }
                // The list was not closed, but the object around it is.
                Some('}') if self.objects > 0 => break,
                Some('}' | ':') => self.take(),
                Some(_) => entries.push(self.value()),
            }
            if self.values >= VALUES {
                break;
            }
        }
        self.lists -= 1;
        Value::List(entries)
    }

    fn bare(&mut self) -> &str {
        let ends = |letter: char| letter.is_whitespace() || ",:{}[]\"".contains(letter);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn word(&mut self) -> Value {
        let word = match self.bare() {
            "" => {
                self.take();
                return Value::Null;
            }
            word => word,
        };
        match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "undefined" => Value::Null,
            word => match word.parse::<f64>().ok().filter(|number| number.is_finite()) {
                Some(number) => Value::Number(number),
                None => Value::Text(word.to_owned()),
            },
        }
    }

    /// A text up to its quote, or to the end.
    fn text(&mut self, quote: char) -> String {
        self.take();
        let mut text = String::new();
        let mut letters = self.rest.chars();
        while let Some(letter) = letters.next() {
            match letter {
                letter if letter == quote => break,
                '\\' => match letters.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b' | 'f') | None => {}
                    Some('u') => {
                        let (letter, rest) = escaped(letters.as_str());
                        text.push(letter);
                        letters = rest.chars();
                    }
                    Some(letter) => text.push(letter),
                },
                letter => text.push(letter),
            }
        }
        self.rest = letters.as_str();
        text
    }
}

/// The letter of an escape behind `\u`, and what follows it.
fn escaped(text: &str) -> (char, &str) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    let rest = &text[4..];
    let second = rest.strip_prefix("\\u").and_then(unit);
    let units = [first, second.unwrap_or_default()];
    match char::decode_utf16(units).next() {
        Some(Ok(letter)) if letter.len_utf16() == 2 => (letter, &rest[6..]),
        Some(Ok(letter)) => (letter, rest),
        _ => (char::REPLACEMENT_CHARACTER, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let words: Vec<String> = objects(text).iter().map(written).collect();
        words.join(" ")
    }

    fn written(value: &Value) -> String {
        let all = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(",");
        match value {
            Value::List(entries) => format!("[{}]", all(&mut entries.iter().map(written))),
            Value::Map(fields) => {
                format!("{{{}}}", all(&mut fields.iter().map(|(name, value)| format!("{name}:{}", written(value)))))
            }
            value => value.words().unwrap_or_else(|| "null".to_owned()),
        }
    }

    // KAI-102
    #[test]
    fn what_a_model_got_wrong_is_read_as_it_was_meant() {
        let cases = [
            (r#"{"a": [1, true, null, "x\u00e9\ud83d\ude00\n"]}"#, "{a:[1,true,null,xé😀\n]}"),
            // Braces that do not match.
            (r#"{"a": [{"b": 1}, {"b": 2]}"#, "{a:[{b:1},{b:2}]}"),
            (r#"{"a": [{"b": 1}, {"b": 2}}"#, "{a:[{b:1},{b:2}]}"),
            (r#"{"a": {"b": 1}]}"#, "{a:{b:1}}"),
            (r#"{"a": 1}} {"b": 2}"#, "{a:1} {b:2}"),
            // Cut in the middle.
            (r#"{"a": [{"b": "wor"#, "{a:[{b:wor}]}"),
            (r#"{"a": 1, "b"#, "{a:1}"),
            (r#"{"a": 1, "b":"#, "{a:1}"),
            (r#"{"a": "x\"#, "{a:x}"),
            (r#"{"a": "\ud83d"}"#, "{a:\u{fffd}}"),
            // Commas and quotes.
            (r#"{"a": 1,, "b": 2,}"#, "{a:1,b:2}"),
            (r#"{"a": 1 "b": [1 2]}"#, "{a:1,b:[1,2]}"),
            (r#"{a: 'it', b: yes}"#, "{a:it,b:yes}"),
            ("{\"a\": 1}\n{\"b\": 2}\n", "{a:1} {b:2}"),
            ("[{\"a\": 1}, 5, {\"b\": 2}]", "{a:1} {b:2}"),
            ("no object", ""),
            (r#"{"a": 1, "a": 2}"#, "{a:1,a:2}"),
        ];
        for (text, wanted) in cases {
            assert_eq!(read(text), wanted, "{text}");
        }
        assert_eq!(objects(r#"{"a": 1, "a": 2}"#)[0].get("a"), Some(&Value::Number(2.0)));
    }

    // KAI-102 SEC-044
    #[test]
    fn what_nests_or_repeats_without_end_is_read_up_to_a_bound() {
        for text in ["[".repeat(100_000), "{\"a\":".repeat(50_000), "{\"a\":[".repeat(50_000), "{},".repeat(100_000)] {
            objects(&text);
        }
    }
}
