//! What a provider says of an error: the words for people and the codes for programs.

use serde_json::Value;

/// Characters of a provider's words that an error quotes.
const MAX_WORDS: usize = 400;

/// A provider's own words about an error.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// For people.
    pub(super) text: String,
    /// For programs: codes and types, in lower case.
    pub(super) codes: String,
    /// The parameter that it names.
    pub(super) param: String,
    /// A status that the body names.
    pub(super) status: Option<u16>,
}

impl Words {
    pub(super) fn of_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of_json(&value),
            Err(_) => Self { text: shorten(&html_title(body).unwrap_or_else(|| body.to_owned())), ..Self::default() },
        }
    }

    /// Providers put it in `error` (an object or a text), `message` or `detail`, some inside a list.
    pub(super) fn of_json(value: &Value) -> Self {
        let outer = Self::of_one(value);
        // A gateway's error quotes that of the provider behind it.
        let metadata = &value["error"]["metadata"];
        let raw = &metadata["raw"];
        let quoted = match raw.as_str() {
            Some(text) => Some(text).filter(|text| !text.is_empty()).map(Self::of_body),
            None if raw.is_object() => Some(Self::of_one(raw)),
            None => quoted_json(&value["error"]["message"]).map(|value| Self::of_one(&value)),
        };
        let Some(inner) = quoted.filter(|inner| !inner.text.is_empty()) else { return outer };
        let provider = metadata["provider_name"].as_str().map(|name| format!("{name}: ")).unwrap_or_default();
        let codes = if inner.codes.trim().is_empty() { outer.codes } else { inner.codes };
        Self { text: format!("{provider}{}", inner.text), codes, status: inner.status.or(outer.status), ..inner }
    }

    fn of_one(value: &Value) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = if value["error"].is_object() { &value["error"] } else { value };
        let texts = [&error["message"], &error["error"], &error["detail"], &value["message"], &value["error"]];
        let text = texts.into_iter().find_map(|text| text.as_str().filter(|text| !text.is_empty()));
        let is_empty = error.is_null() || error.as_object().is_some_and(serde_json::Map::is_empty);
        let text = text.map_or_else(|| if is_empty { String::new() } else { error.to_string() }, str::to_owned);
        let codes = ["type", "code", "status", "param"].map(|name| match &error[name] {
            Value::String(code) => code.to_lowercase(),
            other => other.to_string(),
        });
        let status = error["code"].as_u64().or_else(|| value["status_code"].as_u64());
        let status = status.and_then(|status| u16::try_from(status).ok()).filter(|status| *status >= 400);
        let param = error["param"].as_str().unwrap_or_default().to_owned();
        Self { text: shorten(&text), codes: codes.join(" "), param, status }
    }

    pub(super) fn any(&self, patterns: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        patterns.iter().any(|pattern| text.contains(pattern) || self.codes.contains(pattern))
    }
}

/// The error in JSON, or in the form in which Python prints bytes, that a text quotes.
fn quoted_json(text: &Value) -> Option<Value> {
    let text = text.as_str()?;
    let start = text.find('{')?;
    let value: Value = serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()?;
    (value["error"].is_object() || value["message"].is_string()).then_some(value)
}

/// The title of a page, or that it has none; nothing for what is no page.
pub(super) fn html_title(text: &str) -> Option<String> {
    let start = text.trim_start();
    let is_page = start.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case("<html"))
        || start.get(..9).is_some_and(|tag| tag.eq_ignore_ascii_case("<!doctype"));
    if !is_page {
        return None;
    }
    let title = start.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    Some(title.map_or_else(|| "without a title".to_owned(), |(title, _)| title.trim().to_owned()))
}

/// Text on one line, without control characters, cut to a readable length.
pub(super) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.strip_suffix('.').unwrap_or(&line);
    let mut line: String = line.chars().filter(|c| !c.is_control()).collect();
    if let Some((at, _)) = line.char_indices().nth(MAX_WORDS) {
        line.truncate(at);
        line.push('…');
    }
    line
}
