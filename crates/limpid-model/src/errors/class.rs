//! The class of an error, by the provider's words and the status.

use limpid_core::FailureClass;

use super::words::Words;
use crate::remedy::{self, Remedy};

/// The class of an error, and what the request can do without when it was refused for that.
pub(super) fn judge(status: Option<u16>, words: &Words) -> (FailureClass, Option<Remedy>) {
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
