//! The text of a tool's result, with its limits (KAI-113, KAI-114).

/// The result of a call that failed, as every model reads it.
///
/// ```
/// assert_eq!(limpid_turn::result::failure("no such file"), r#"{"success":false,"error":"no such file"}"#);
/// ```
pub fn failure(error: &str) -> String {
    serde_json::json!({ "success": false, "error": error }).to_string()
}

/// The text itself, or, when it is longer than `limit` characters, its head and its tail around a mark that says how
/// much is missing. What comes out never has more than `limit` characters, unless the mark alone does.
pub fn keep_both_ends(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    // The mark is sized for the largest count that can stand in it, so that the whole stays within the limit.
    let kept = limit.saturating_sub(mark(length).chars().count());
    let head: String = text.chars().take(kept - kept / 2).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}{}{tail}", mark(length - kept))
}

fn mark(missing: usize) -> String {
    format!("\n[… {missing} characters left out …]\n")
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

    // KAI-114
    #[test]
    fn characters_are_counted_and_never_split() {
        let cut = keep_both_ends(&"ä€😀".repeat(100), 80);
        assert_eq!(cut.chars().count(), 80);
        assert!(cut.starts_with("ä€😀") && cut.ends_with("ä€😀"));
    }
}
