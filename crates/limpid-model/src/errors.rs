//! What went wrong at a provider: its class, its own words, and what to do.

mod class;
mod listed;
pub(crate) mod wait;
mod words;

use std::time::Duration;

use limpid_core::FailureClass;
use limpid_core::failure::PATIENCE;
use serde_json::Value;

use crate::key::ApiKey;
use crate::model::ModelError;
use crate::remedy::Remedy;
use class::judge;
use words::{Words, html_title, shorten};

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

/// A wait in words: `2 minutes`, `3 hours`.
fn minutes(wait: Duration) -> String {
    let minutes = wait.as_secs().div_ceil(60);
    match minutes {
        0..=1 => "a minute".to_owned(),
        2..=119 => format!("{minutes} minutes"),
        _ => format!("{} hours", minutes.div_ceil(60)),
    }
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
