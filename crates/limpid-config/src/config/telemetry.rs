//! `[telemetry]`: what is told of the agent's work, to a collector of traces and in the log of `limpid serve`.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::by_hand;

/// What is told of the agent's work, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Where traces go: the address of a collector that takes OpenTelemetry's protocol over HTTP, such as
    /// `http://127.0.0.1:4318`. Absent: none are made.
    #[serde(deserialize_with = "collector")]
    #[schemars(with = "Option<String>", extend("x-by-hand" = by_hand::ADDRESSES))]
    pub traces: Option<String>,
    /// How `limpid serve` writes its log.
    pub logs: LogForm,
}

/// How a log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogForm {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line, which holds no text that anybody wrote.
    Json,
}

fn collector<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let address = String::deserialize(from)?;
    let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~%/:[]".contains(letter);
    match rest {
        Some(rest) if rest.contains('@') => Err(D::Error::custom(
            "a password does not belong into this file; put a header into the variable OTEL_EXPORTER_OTLP_HEADERS",
        )),
        Some(rest) if !rest.is_empty() && !rest.starts_with(['/', ':']) && rest.chars().all(is_plain) => {
            Ok(Some(address))
        }
        _ => Err(D::Error::custom(format!(
            "`{address}` is not the address of a collector; write one such as \"http://127.0.0.1:4318\""
        ))),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    // SUR-036
    #[test]
    fn a_collector_is_an_address_without_a_password() {
        let read = |address: &str| {
            Config::parse(&format!("[telemetry]\ntraces = \"{address}\"\n"), "limpid.toml")
                .map(|config| config.telemetry.traces)
        };
        for good in ["http://127.0.0.1:4318", "https://otlp.example.com/api/otel/", "http://[::1]:4318/v1/traces"] {
            assert_eq!(read(good).unwrap().as_deref(), Some(good));
        }
        for bad in ["", "127.0.0.1:4318", "http://", "http:///v1", "ftp://a", "http://a b", "http://a?key=1"] {
            assert!(read(bad).unwrap_err().to_string().contains("is not the address of a collector"), "{bad}");
        }
        let secret = read("https://me:hunter2@example.com").unwrap_err().to_string();
        assert!(secret.contains("OTEL_EXPORTER_OTLP_HEADERS"), "{secret}");
    }
}
