//! How long a provider asks to wait: in headers, in its error, or in its words.

use std::time::Duration;

use serde_json::Value;

/// The wait that a refusal asks for. `header` gives a header's text by its name.
pub(crate) fn asked<'a>(header: impl Fn(&str) -> Option<&'a str>, body: &str) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(seconds).map(|wait| wait / 1000);
    milliseconds
        .or_else(|| header("retry-after").and_then(seconds))
        .or_else(|| until(header("retry-after")?, header("date")?))
        .or_else(|| in_body(body))
}

/// A number of seconds.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// The time between two dates; the server's own clock tells what is now. A date that is over asks for no wait.
fn until(date: &str, now: &str) -> Option<Duration> {
    let read = |text: &str| jiff::fmt::rfc2822::parse(text.trim()).ok();
    let wait = read(date)?.timestamp().duration_since(read(now)?.timestamp());
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// Gemini names it in the details of its error, OpenAI and others in a sentence.
fn in_body(body: &str) -> Option<Duration> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
    let details = value["error"]["details"].as_array();
    let delay = details.into_iter().flatten().find_map(|detail| detail["retryDelay"].as_str());
    delay.and_then(span).or_else(|| {
        let text = body.to_lowercase();
        ["try again in ", "retry in ", "retry after "].iter().find_map(|words| span(text.split_once(words)?.1))
    })
}

/// A span at the beginning of a text: `6.5s`, `20ms`, `1m30.5s`, `2 minutes`, `1h2m`.
fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = None;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Some(amount) = rest.get(..digits).and_then(|number| number.trim_end_matches('.').parse::<f64>().ok())
        else {
            return total;
        };
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let factor = match &rest[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return total,
        };
        total = Some(total.unwrap_or_default() + Duration::try_from_secs_f64(amount * factor).ok()?);
        rest = &rest[letters..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &'static str)], body: &str) -> Option<u128> {
        let header = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        asked(header, body).map(|wait| wait.as_millis())
    }

    // MOD-100
    #[test]
    fn a_wait_is_read_in_every_form_in_which_providers_ask_for_it() {
        let date = ("date", "Mon, 23 Nov 2026 18:00:00 GMT");
        let headers: [(&[(&str, &'static str)], u128); 6] = [
            (&[("retry-after", "7")], 7000),
            (&[("retry-after", "0.5")], 500),
            (&[("retry-after-ms", "1250"), ("retry-after", "2")], 1250),
            (&[("retry-after", "Mon, 23 Nov 2026 18:10:00 GMT"), date], 600_000),
            (&[("retry-after", "Mon, 23 Nov 2026 17:00:00 GMT"), date], 0),
            (&[("retry-after", "3"), date], 3000),
        ];
        for (headers, expected) in headers {
            assert_eq!(wait(headers, "{}"), Some(expected), "{headers:?}");
        }
        let gemini = r#"{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.rpc.Help"},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}}"#;
        let bodies = [
            (gemini.to_owned(), 34_074),
            (format!("[{gemini}]"), 34_074),
            (r#"{"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 6.5s. Visit https://…"}}"#.to_owned(), 6500),
            (r#"{"error":{"message":"Please try again in 20ms."}}"#.to_owned(), 20),
            (r#"{"error":{"message":"Please try again in 7m12.384s."}}"#.to_owned(), 432_384),
            (r#"{"error":{"message":"Please try again in 1h2m."}}"#.to_owned(), 3_720_000),
            (r#"{"error":{"message":"Retry after 10 minutes."}}"#.to_owned(), 600_000),
        ];
        for (body, expected) in bodies {
            assert_eq!(wait(&[], &body), Some(expected), "{body}");
        }
        let none =
            [r#"{"error":{"message":"Try again in a while."}}"#, "", "<html>", "try again in 5 apples", "retry in "];
        for body in none {
            assert_eq!(wait(&[("retry-after", "soon")], body), None, "{body}");
        }
    }
}
