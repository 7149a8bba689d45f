//! The text of a tool's result, with its limits.

use limpid_core::CallId;
use limpid_core::message::FAILED;

/// The tool that reads on in a result that was cut; where it is offered, a cut result says how.
pub const READ_ON: &str = "read_result";

/// The result of a call that failed, as every model reads it.
///
/// ```
/// assert_eq!(limpid_turn::result::failure("no such file"), r#"{"success":false,"error":"no such file"}"#);
/// ```
pub fn failure(error: &str) -> String {
    format!("{FAILED}{}}}", serde_json::Value::from(error))
}

/// The text itself, or, when it is longer than `limit` characters, its head and its tail around a mark that says how
/// much is missing. What comes out never has more than `limit` characters, unless the mark alone does.
pub fn keep_both_ends(text: &str, limit: usize) -> String {
    cut(text, limit, |missing, _| format!("\n[… {missing} characters left out …]\n"))
}

/// As [`keep_both_ends`]; the mark says how to read on in the whole result of a call, which is kept.
///
/// ```
/// use limpid_core::CallId;
/// let cut = limpid_turn::result::with_pointer(&"x".repeat(1000), 100, &CallId::new("c1"));
/// assert!(cut.contains(r#"read_result {"id":"c1","offset":"#));
/// ```
pub fn with_pointer(text: &str, limit: usize, call: &CallId) -> String {
    cut(text, limit, |missing, from| {
        let next = serde_json::json!({ "id": call.as_str(), "offset": from });
        format!("\n[… {missing} characters left out; {READ_ON} {next} reads on …]\n")
    })
}

/// Head and tail around a mark, which is told how many characters are missing, and from which on.
fn cut(text: &str, limit: usize, mark: impl Fn(usize, usize) -> String) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    // The mark is sized for the largest counts that can stand in it, so that the whole stays within the limit.
    let kept = limit.saturating_sub(mark(length, length).chars().count());
    let from = kept - kept / 2;
    let head: String = text.chars().take(from).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}{}{tail}", mark(length - kept, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-114
    #[test]
    fn a_long_result_keeps_head_and_tail_within_the_limit() {
        let text: String = (0..30_000).map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap())).collect();
        let cut = keep_both_ends(&text, 20_000);
        assert!(cut.chars().count() <= 20_000 && cut.chars().count() > 19_990);
        let (head, rest) = cut.split_once('\n').unwrap();
        let (mark, tail) = rest.split_once('\n').unwrap();
        assert!(text.starts_with(head) && text.ends_with(tail));
        assert_eq!(mark, format!("[… {} characters left out …]", 30_000 - head.len() - tail.len()));
        assert_eq!(keep_both_ends(&text[..20_000], 20_000), text[..20_000]);
    }

    // PICO-081 LES-081
    #[test]
    fn the_mark_of_a_cut_result_says_where_to_read_on() {
        let text: String = (0..30_000).map(|n| char::from(b'a' + u8::try_from(n % 26).unwrap())).collect();
        let call = CallId::new("call \"1\"");
        let cut = with_pointer(&text, 20_000, &call);
        assert!(cut.chars().count() <= 20_000 && cut.chars().count() > 19_980);
        let (_, arguments) = cut.split_once("read_result ").unwrap();
        let (arguments, _) = arguments.split_once(" reads on").unwrap();
        let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(arguments["id"], call.as_str());
        let offset = usize::try_from(arguments["offset"].as_u64().unwrap()).unwrap();
        assert!(cut.starts_with(&text[..offset]) && cut[offset..].starts_with("\n[…"));
        assert_eq!(with_pointer(&text[..20_000], 20_000, &call), text[..20_000]);
    }

    // KAI-114
    #[test]
    fn characters_are_counted_and_never_split() {
        let cut = keep_both_ends(&"ä€😀".repeat(100), 80);
        assert_eq!(cut.chars().count(), 80);
        assert!(cut.starts_with("ä€😀") && cut.ends_with("ä€😀"));
    }
}
