//! What went wrong at a provider: its class, its own words, and what to do.

mod listed;
pub(crate) mod wait;

use std::time::Duration;

use limpid_core::FailureClass;
use limpid_core::failure::PATIENCE;
use serde_json::Value;

use crate::key::ApiKey;
use crate::model::ModelError;
use crate::remedy::{self, Remedy};

/// Characters of a provider's words that an error quotes.
const MAX_WORDS: usize = 400;

/// Whose errors they are.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    /// `provider/model`.
    pub(crate) name: String,
    /// The address, without secrets.
    pub(crate) target: String,
    /// The key, which no error may quote.
    pub(crate) key: Option<ApiKey>,
    /// The variable that the key is usually in.
    pub(crate) key_variable: Option<String>,
    /// The models that the provider lists, as far as it was asked.
    pub(crate) listed: Vec<String>,
}

/// What is wrong with a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// It ended before the reply did.
    BrokeOff,
    /// A frame is no JSON.
    NotJson(String),
    /// It ended with this word, which is none of a whole reply.
    Ended(String),
    /// The provider reports an error inside it.
    Provider(Value),
    /// The model refuses to answer, and takes back what it had said: why, as far as the provider says.
    Refused(Value),
}

impl Fault {
    /// Reads a frame's JSON.
    pub(crate) fn parse(payload: &str) -> Result<Value, Self> {
        serde_json::from_str(payload).map_err(|_| Self::NotJson(payload.to_owned()))
    }

    /// Finds a provider's error in a frame.
    pub(crate) fn check(frame: &Value) -> Result<(), Self> {
        let is_error = !frame["error"].is_null() || frame["type"] == "error" || frame["object"] == "error";
        if is_error { Err(Self::Provider(frame.clone())) } else { Ok(()) }
    }
}

impl Service {
    /// The error that an HTTP status and its body stand for.
    pub(crate) fn status_error(&self, status: u16, body: &str, retry_after: Option<Duration>) -> ModelError {
        let words = Words::of_body(&self.redact(body));
        let (class, remedy) = judge(Some(status), &words);
        let said = if words.text.is_empty() { "nothing more".to_owned() } else { format!("“{}”", words.text) };
        let advice = match retry_after.filter(|wait| class == FailureClass::Rate && *wait > PATIENCE) {
            Some(wait) => format!("Try again in {}.", minutes(wait)),
            None => self.advice(class, remedy.as_ref()),
        };
        let message = format!("{} answered {status} and said {said}. {advice}", self.name);
        ModelError { retry_after, remedy, ..ModelError::new(class, message) }
    }

    /// The error that a fault of the stream stands for; `seen` is whether anything of a reply had come.
    pub(crate) fn fault(&self, fault: Fault, seen: bool) -> ModelError {
        let name = &self.name;
        match fault {
            Fault::Provider(value) => {
                let words = Words::of_json(&value);
                let words = Words { text: self.redact(&words.text), ..words };
                let (class, remedy) = judge(words.status, &words);
                let advice = self.advice(class, remedy.as_ref());
                let message = format!("{name} reported “{}” in its reply. {advice}", words.text);
                ModelError { remedy: remedy.filter(|_| !seen), ..ModelError::new(class, message) }
            }
            Fault::Refused(why) => {
                let said = |name: &str| why[name].as_str().map(|text| shorten(&self.redact(text)));
                let category = said("category").map(|category| format!(" ({category})")).unwrap_or_default();
                let explanation = said("explanation").map(|text| format!(": “{text}”")).unwrap_or_default();
                let advice = self.advice(FailureClass::Moderated, None);
                let message = format!("{name} refused to answer{category}{explanation}. {advice}");
                ModelError { discards: true, ..ModelError::new(FailureClass::Moderated, message) }
            }
            Fault::Ended(word) => {
                // These are troubles of the provider's; the others are of what the model wrote.
                let is_theirs = ["error", "insufficient_system_resource", "other", "server_error"];
                let class = match is_theirs.contains(&word.to_lowercase().as_str()) {
                    true => FailureClass::Server,
                    false => FailureClass::Garbage,
                };
                let word = shorten(&self.redact(&word));
                ModelError::new(class, format!("{name} ended its reply with “{word}”, so it is not whole. Ask again."))
            }
            Fault::NotJson(text) => self.garbage(&text),
            Fault::BrokeOff if seen => {
                let advice = self.advice(FailureClass::Transport, None);
                ModelError::new(FailureClass::Transport, format!("the reply of {name} broke off. {advice}"))
            }
            Fault::BrokeOff => {
                let advice = self.advice(FailureClass::Garbage, None);
                ModelError::new(FailureClass::Garbage, format!("{name} sent an empty reply. {advice}"))
            }
        }
    }

    /// The error for text that is no reply.
    pub(crate) fn garbage(&self, text: &str) -> ModelError {
        let text = &self.redact(text);
        let what = match html_title(text) {
            Some(title) => format!("an HTML page ({})", shorten(&title)),
            None => format!("“{}”", shorten(text)),
        };
        let message = format!(
            "{} sent {what} where a reply was expected. {}",
            self.name,
            self.advice(FailureClass::Garbage, None)
        );
        ModelError::new(FailureClass::Garbage, message)
    }

    /// The error for a server that cannot be reached or fell silent; `why` names no secret.
    pub(crate) fn transport(&self, why: &str) -> ModelError {
        let why = self.redact(why);
        let advice = self.advice(FailureClass::Transport, None);
        ModelError::new(FailureClass::Transport, format!("{} ({}): {why}. {advice}", self.name, self.target))
    }

    /// The error for a reply that does not end.
    pub(crate) fn flood(&self, limit: usize) -> ModelError {
        let megabytes = limit / (1024 * 1024);
        let message = format!(
            "{} sent more than {megabytes} MB in one reply, which was stopped. Check that the address is a model's.",
            self.name
        );
        ModelError::new(FailureClass::Garbage, message)
    }

    /// The error for a turn that was cancelled.
    pub(crate) fn cancelled(&self) -> ModelError {
        ModelError::new(FailureClass::Cancelled, format!("the call of {} was cancelled", self.name))
    }

    /// What others say, without the key in it.
    fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    fn advice(&self, class: FailureClass, remedy: Option<&Remedy>) -> String {
        let target = &self.target;
        match (class, remedy) {
            (FailureClass::Quota, _) => "Add credit to the account or choose another model.".to_owned(),
            (FailureClass::Key, _) => match &self.key_variable {
                Some(variable) => format!("Set {variable} to a key that is valid for this model."),
                None => "Set a key that is valid for this model.".to_owned(),
            },
            (FailureClass::UnknownModel, _) => listed::advice(&self.name, &self.listed),
            (FailureClass::Malformed, Some(Remedy::Without(field))) => {
                format!("Add `refuses = [\"{}\"]` to the model's entry in models.toml.", field.as_str())
            }
            (FailureClass::Malformed, Some(Remedy::ShorterReply(most))) => {
                format!("Set limits.output_tokens to {most} or less.")
            }
            (FailureClass::Malformed, Some(Remedy::WithoutTool(_))) => {
                "Correct the tool's schema or remove the tool.".to_owned()
            }
            (FailureClass::Malformed, Some(Remedy::WithoutReasoningBesideTools)) => {
                let provider = self.name.split('/').next().unwrap_or_default();
                format!(
                    "This model takes tools through OpenAI's Responses only: set `protocol = \"openai-responses\"` in \
                     [provider.{provider}] of limpid.toml where the server has them, or choose a model that can do \
                     without reasoning."
                )
            }
            (FailureClass::Malformed, Some(Remedy::WithoutIds | Remedy::WithoutState)) => {
                "Start a new conversation.".to_owned()
            }
            (FailureClass::Malformed, None) => format!("Check the address ({target}) and the model's settings."),
            (FailureClass::TooLarge, _) => "Send less: shorten the message or start a new conversation.".to_owned(),
            (FailureClass::Moderated, _) => "Put it differently, or choose another model.".to_owned(),
            (FailureClass::Overflow, _) => {
                "Start a new conversation, or choose a model or a setting with a larger window.".to_owned()
            }
            (FailureClass::Rate, _) => "Wait a little and try again.".to_owned(),
            (FailureClass::Server, _) => "The provider has a problem; try again later.".to_owned(),
            (FailureClass::Transport, _) => "Check the connection and that the server runs.".to_owned(),
            (FailureClass::Garbage, _) => {
                format!("Check that the address ({target}) is that of the model's interface.")
            }
            (FailureClass::Cancelled | FailureClass::Limit | FailureClass::OwnFile, _) => String::new(),
        }
    }
}

/// A provider's own words about an error.
#[derive(Clone, Debug, Default)]
struct Words {
    /// For people.
    text: String,
    /// For programs: codes and types, in lower case.
    codes: String,
    /// The parameter that it names.
    param: String,
    /// A status that the body names.
    status: Option<u16>,
}

impl Words {
    fn of_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of_json(&value),
            Err(_) => Self { text: shorten(&html_title(body).unwrap_or_else(|| body.to_owned())), ..Self::default() },
        }
    }

    /// Providers put it in `error` (an object or a text), `message` or `detail`, some inside a list.
    fn of_json(value: &Value) -> Self {
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

    fn any(&self, patterns: &[&str]) -> bool {
        let text = self.text.to_lowercase();
        patterns.iter().any(|pattern| text.contains(pattern) || self.codes.contains(pattern))
    }
}

/// The class of an error, and what the request can do without when it was refused for that.
fn judge(status: Option<u16>, words: &Words) -> (FailureClass, Option<Remedy>) {
    let class = classify(status, words);
    let may_be_cured = matches!(status, None | Some(400 | 404 | 422))
        && matches!(class, FailureClass::Malformed | FailureClass::UnknownModel | FailureClass::Server);
    match remedy::read(&words.text, &words.param).filter(|_| may_be_cured) {
        Some(remedy) => (FailureClass::Malformed, Some(remedy)),
        None => (class, None),
    }
}

/// The class of an error, by what is said first and by the status second, since statuses are used loosely.
fn classify(status: Option<u16>, words: &Words) -> FailureClass {
    const QUOTA: [&str; 10] = [
        "usage limit",
        "spend limit",
        "spending limit",
        "spend_limit",
        "insufficient_quota",
        "exceeded your current quota",
        "credit balance",
        "billing",
        "insufficient balance",
        "insufficient credits",
    ];
    const KEY: [&str; 6] = [
        "invalid_api_key",
        "api key not valid",
        "authentication_error",
        "incorrect api key",
        "api_key_invalid",
        "invalid x-api-key",
    ];
    const OVERFLOW: [&str; 9] = [
        "context_length",
        "maximum context",
        "prompt is too long",
        "context size",
        "context window",
        "context length",
        "exceeds the maximum number of tokens",
        "input is too long",
        "too many tokens",
    ];
    const MODERATED: [&str; 5] = ["content_filter", "content_policy", "moderation", "flagged", "safety"];
    const MODEL: [&str; 5] =
        ["data retention", "model_not_found", "model not found", "not_found_error", "no such model"];
    const OVERLOADED: [&str; 3] = ["overloaded", "server_error", "unavailable"];

    let about_model =
        || words.any(&MODEL) || (words.any(&["model"]) && words.any(&["not found", "does not exist", "unknown"]));
    match status {
        _ if words.any(&QUOTA) => FailureClass::Quota,
        Some(402) => FailureClass::Quota,
        Some(429) => FailureClass::Rate,
        _ if words.any(&KEY) => FailureClass::Key,
        Some(401) => FailureClass::Key,
        Some(403) if words.any(&MODERATED) => FailureClass::Moderated,
        Some(403) => FailureClass::Key,
        Some(408 | 425) => FailureClass::Transport,
        // Inside a stream there is no other status than that of its beginning.
        None if words.any(&["permission_error"]) => FailureClass::Key,
        None if words.any(&["rate_limit", "rate limit", "too many requests"]) => FailureClass::Rate,
        None if words.any(&["overloaded", "timeout_error", "api_error"]) => FailureClass::Server,
        Some(413) => FailureClass::TooLarge,
        Some(400..=499) | None if words.any(&OVERFLOW) => FailureClass::Overflow,
        Some(404) | None if about_model() => FailureClass::UnknownModel,
        Some(400..=499) if words.any(&["model_not_found", "model not found", "invalid model", "data retention"]) => {
            FailureClass::UnknownModel
        }
        Some(400..=499) | None if words.any(&MODERATED) => FailureClass::Moderated,
        Some(500..) if words.any(&OVERFLOW) => FailureClass::Overflow,
        Some(500..) => FailureClass::Server,
        None if words.any(&["invalid_request"]) => FailureClass::Malformed,
        None if words.any(&["too large"]) => FailureClass::TooLarge,
        None if words.any(&OVERLOADED) => FailureClass::Server,
        Some(_) => FailureClass::Malformed,
        None => FailureClass::Server,
    }
}

/// The error in JSON, or in the form in which Python prints bytes, that a text quotes.
fn quoted_json(text: &Value) -> Option<Value> {
    let text = text.as_str()?;
    let start = text.find('{')?;
    let value: Value = serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()?;
    (value["error"].is_object() || value["message"].is_string()).then_some(value)
}

/// A wait in words: `2 minutes`, `3 hours`.
fn minutes(wait: Duration) -> String {
    let minutes = wait.as_secs().div_ceil(60);
    match minutes {
        0..=1 => "a minute".to_owned(),
        2..=119 => format!("{minutes} minutes"),
        _ => format!("{} hours", minutes.div_ceil(60)),
    }
}

/// The title of a page, or that it has none; nothing for what is no page.
fn html_title(text: &str) -> Option<String> {
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
fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.strip_suffix('.').unwrap_or(&line);
    let mut line: String = line.chars().filter(|c| !c.is_control()).collect();
    if let Some((at, _)) = line.char_indices().nth(MAX_WORDS) {
        line.truncate(at);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        Service {
            name: "openai/gpt".to_owned(),
            target: "https://api.example/v1".to_owned(),
            key: Some(ApiKey::new("sk-very-secret")),
            key_variable: Some("OPENAI_API_KEY".to_owned()),
            listed: Vec::new(),
        }
    }

    // KAI-110 KAI-111 MOD-102 MOD-103
    #[test]
    fn providers_errors_have_their_class() {
        let cases = include_str!("../tests/errors.txt");
        let mut rows = Vec::new();
        for case in cases.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let (head, body) = case.split_once('|').unwrap();
            let (status, class) = head.trim().split_once(' ').unwrap();
            let error = service().status_error(status.parse().unwrap(), body.trim(), None);
            assert_eq!(error.class.as_str(), class.trim(), "{case}");
            rows.push(error.message);
        }
        insta::assert_snapshot!(rows.join("\n"));
    }

    // MOD-102
    #[test]
    fn errors_inside_a_stream_have_their_class() {
        let class = |kind: &str| {
            let error =
                serde_json::json!({"type": "error", "error": {"type": kind, "message": "Something went wrong."}});
            service().fault(Fault::Provider(error), true).class.as_str()
        };
        let kinds =
            ["overloaded_error", "api_error", "timeout_error", "rate_limit_error", "billing_error", "permission_error"];
        assert_eq!(kinds.map(class), ["server", "server", "server", "rate", "quota", "key"]);
    }

    // SEC-032
    #[test]
    fn no_error_quotes_the_key() {
        let body =
            r#"{"error":{"message":"Incorrect API key provided: sk-very-secret","type":"invalid_request_error"}}"#;
        let errors = [
            service().status_error(401, body, None),
            service().fault(Fault::Provider(serde_json::from_str(body).unwrap()), true),
            service().garbage("<html>sk-very-secret"),
            service().garbage("sk-very-secret"),
            service().transport("no route to sk-very-secret"),
        ];
        for error in errors {
            assert!(!format!("{error} {error:?}").contains("sk-very-secret"), "{error}");
        }
        assert!(!format!("{:?}", service()).contains("sk-very-secret"));
    }
}
