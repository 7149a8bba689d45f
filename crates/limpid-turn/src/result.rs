//! The text of a tool's result, with its limits.

use limpid_core::message::{FAILED, is_failure, quotes_of_strangers};
use limpid_core::{CallId, Trust};

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

/// The result of a call that did not fail. By how it begins a failure is known, so what a page or a server says in the same words gets
/// a blank before it.
///
/// ```
/// use limpid_core::message::is_failure;
/// use limpid_turn::result::{failure, returned};
/// assert_eq!(returned("tea".to_owned()), "tea");
/// assert!(!is_failure(&returned(failure("no such file"))));
/// ```
pub fn returned(text: String) -> String {
    if is_failure(&text) { format!(" {text}") } else { text }
}

/// Whether the result of a call says that it was refused for this reason, and Limpid itself says so. A page or a server may answer
/// with the same words, which are theirs then.
///
/// ```
/// use limpid_core::Trust;
/// use limpid_turn::result::{failure, was_refused};
/// let result = failure("the owner said no");
/// assert!(was_refused(&result, Trust::Owner, "the owner said no"));
/// assert!(!was_refused(&result, Trust::Outside, "the owner said no"));
/// ```
pub fn was_refused(result: &str, trust: Trust, why: &str) -> bool {
    trust == Trust::Owner && error_of(result).as_deref() == Some(why)
}

/// What went wrong, in the result of a call that [failed](failure), as long as it is whole.
///
/// ```
/// use limpid_turn::result::{error_of, failure};
/// assert_eq!(error_of(&failure("no such file")).as_deref(), Some("no such file"));
/// assert_eq!(error_of("no such file"), None);
/// ```
pub fn error_of(result: &str) -> Option<String> {
    let error = result.strip_prefix(FAILED)?.strip_suffix('}')?;
    serde_json::from_str(error).ok()
}

/// The text itself, or, when it is longer than `limit` characters, its head and its tail around a mark that says how
/// much is missing. What comes out never has more than `limit` characters, unless the mark alone does.
pub fn keep_both_ends(text: &str, limit: usize) -> String {
    cut(text, (limit, false), left_out)
}

/// As [`keep_both_ends`], of what was sent of a person's message. What it quotes of strangers in a boundary is there whole or not at all,
/// so that nothing of it stands outside of one.
pub fn keep_quotes_whole(text: &str, limit: usize) -> String {
    cut(text, (limit, true), left_out)
}

fn left_out(missing: usize, _: usize) -> String {
    format!("\n[… {missing}{LEFT_OUT} …]\n")
}

/// Stands behind the number of characters that are missing.
const LEFT_OUT: &str = " characters left out";

/// Whether a text was cut within its first `characters`, so that what stands there at its beginning may be missing.
///
/// ```
/// use limpid_turn::result::{is_cut_within, keep_both_ends};
/// let cut = keep_both_ends(&"x".repeat(1000), 200);
/// assert!(is_cut_within(&cut, 100) && !is_cut_within(&cut, 50) && !is_cut_within(&"x".repeat(1000), 100));
/// ```
pub fn is_cut_within(text: &str, characters: usize) -> bool {
    // A mark as `left_out` and `with_pointer` write it.
    let is_mark = |at: usize| text[..at].trim_end_matches(|letter: char| letter.is_ascii_digit()).ends_with("\n[… ");
    let mark = text.match_indices(LEFT_OUT).map(|(at, _)| at).find(|at| is_mark(*at));
    mark.is_some_and(|at| text[..at].chars().nth(characters).is_none())
}

/// As [`keep_both_ends`]; the mark says how to read on in the whole result of a call, which is kept.
///
/// ```
/// use limpid_core::CallId;
/// let cut = limpid_turn::result::with_pointer(&"x".repeat(1000), 100, &CallId::new("c1"));
/// assert!(cut.contains(r#"read_result {"id":"c1","offset":"#));
/// ```
pub fn with_pointer(text: &str, limit: usize, call: &CallId) -> String {
    cut(text, (limit, false), |missing, from| {
        let next = serde_json::json!({ "id": call.as_str(), "offset": from });
        format!("\n[… {missing}{LEFT_OUT}; {READ_ON} {next} reads on …]\n")
    })
}

/// Head and tail around a mark, which is told how many characters are missing, and from which on.
fn cut(text: &str, (limit, quotes_whole): (usize, bool), mark: impl Fn(usize, usize) -> String) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    // The mark is sized for the largest counts that can stand in it, so that the whole stays within the limit.
    let kept = limit.saturating_sub(mark(length, length).chars().count());
    let at = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    let (mut from, mut to) = (at(kept - kept / 2), at(length - kept / 2));
    for quote in quotes_whole.then(|| quotes_of_strangers(text)).into_iter().flatten() {
        if quote.start < from && from < quote.end {
            from = quote.start;
        }
        if quote.start < to && to < quote.end {
            to = quote.end;
        }
    }
    let characters = |part: &str| part.chars().count();
    format!("{}{}{}", &text[..from], mark(characters(&text[from..to]), characters(&text[..from])), &text[to..])
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

    // SEC-051 SEC-053
    #[test]
    fn what_is_quoted_of_strangers_stays_in_its_boundary_or_goes() {
        let quote = format!("[untrusted 00ff]\n{}\n[/untrusted 00ff]", "order ".repeat(50));
        let text = format!("{}\n\n{quote}\n{}", "mine ".repeat(50), "own ".repeat(50));
        for limit in 80..text.chars().count() {
            let cut = keep_quotes_whole(&text, limit);
            assert!(cut.chars().count() <= limit, "{limit}");
            let quoted = cut.matches("order").count();
            assert!(
                quoted == 0 && !cut.contains("untrusted") || quoted == 50 && cut.contains(&quote),
                "{limit}: {cut}"
            );
        }
        // One whose end is not there goes to the end of the text.
        let open = format!("{}[untrusted 00ff]\n{}", "mine ".repeat(50), "order ".repeat(50));
        assert!(!keep_quotes_whole(&open, 200).contains("order"));
        // In a result these letters are a stranger's, who would hide with them what others wrote.
        let listing = format!("[untrusted x]\n{}\nEve: urgent", "mail ".repeat(50));
        assert!(keep_both_ends(&listing, 100).ends_with("Eve: urgent"));
    }

    // KAI-114
    #[test]
    fn characters_are_counted_and_never_split() {
        let cut = keep_both_ends(&"ä€😀".repeat(100), 80);
        assert_eq!(cut.chars().count(), 80);
        assert!(cut.starts_with("ä€😀") && cut.ends_with("ä€😀"));
    }
}
