//! Parts of a conversation that stand on several screens. What others wrote stands behind a margin or in a field of its own, and no
//! text becomes markup.

use askama::Template;
use limpid_core::Trust;
use limpid_core::message::{OWNER_SAID_NO, STOPPED_BY_OWNER, is_failure};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::{ApprovalAnswer, QuestionPart, error_of, was_refused};
use limpid_store::DraftId;
use serde_json::Value;

use super::attached::{File, Words};
use super::exact::Exact;

/// Characters of a call or a result in its line.
const LINE: usize = 80;

/// Characters of a result that are shown when it is opened.
const RESULT: usize = 20_000;

/// Arguments that a line shows rather than others.
const TOLD: [&str; 4] = ["path", "command", "url", "query"];

/// A message of the owner's that waits or is being answered.
#[derive(Template)]
#[template(path = "parts/mine.html")]
struct Mine<'a> {
    text: &'a str,
    files: &'a [File],
    from: &'static str,
    time: String,
}

/// Who answers.
#[derive(Template)]
#[template(path = "parts/head.html")]
struct Head {
    model: String,
    time: String,
}

/// A call of a tool.
#[derive(Template)]
#[template(path = "parts/call.html")]
pub(super) struct Call {
    name: String,
    /// What says most of it.
    told: String,
    arguments: String,
    /// What came of it; none while it runs.
    result: Option<CallResult>,
}

/// What came of a call.
pub(super) struct CallResult {
    line: String,
    text: String,
    is_failure: bool,
    trust: &'static str,
    /// Whether the words are the page's own.
    is_own: bool,
}

/// What came of a call whose beginning stands above.
#[derive(Template)]
#[template(path = "parts/result.html")]
struct Result<'a> {
    result: &'a CallResult,
}

/// A call that waits for the owner.
#[derive(Template)]
#[template(path = "parts/ask.html")]
struct Ask {
    /// The number by which it is answered.
    asked: u64,
    name: String,
    fields: Vec<(Exact, Exact)>,
    arguments: Exact,
    /// What a number or a key in them stands for.
    about: Option<Exact>,
    /// Where it would run; none where that says nothing.
    folder: Option<Exact>,
    destination: Option<Exact>,
    reason: Exact,
    pattern: Option<Exact>,
    can_clean: bool,
}

/// A line in an answer that the model did not write.
#[derive(Template)]
#[template(path = "parts/notice.html")]
struct Notice<'a> {
    text: &'a str,
}

/// A draft that was kept.
#[derive(Template)]
#[template(path = "parts/kept.html")]
struct Kept {
    id: i64,
    /// What became of it; none while it waits.
    over: Option<&'static str>,
}

/// What the model thought.
#[derive(Template)]
#[template(path = "parts/thought.html")]
struct Thought<'a> {
    text: &'a str,
}

impl CallResult {
    /// What came of a call, and who wrote it where that is known. What nobody is known to have written tells of no act of the owner's:
    /// while a turn runs, a call that they refuse or stop comes to no result.
    pub(super) fn new(result: &str, trust: Option<Trust>) -> Self {
        for (why, told) in [(OWNER_SAID_NO, "You said no."), (STOPPED_BY_OWNER, "You stopped it.")] {
            if trust.is_some_and(|trust| was_refused(result, trust, why)) {
                let (line, text) = (told.to_owned(), told.to_owned());
                return Self { line, text, is_failure: false, trust: "", is_own: true };
            }
        }
        // Of a result that was cut the error cannot be taken out, so it is shown as it is.
        let is_failure = is_failure(result);
        let error = error_of(result);
        let result = error.as_deref().unwrap_or(result);
        let lines = result.lines().filter(|line| !line.trim().is_empty()).count();
        let first = result.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        let line = if lines > 1 && !is_failure { format!("{lines} lines") } else { cut(&shown_line(first), LINE) };
        Self { line, text: cut(&shown(result), RESULT), is_failure, trust: trust.map_or("", wrote), is_own: false }
    }
}

impl Call {
    /// A call as it is shown.
    pub(super) fn new(name: &str, arguments: &str, result: Option<CallResult>) -> Self {
        let value: Value = serde_json::from_str(arguments).unwrap_or_default();
        let told = told(&value);
        let arguments = serde_json::to_string_pretty(&value).unwrap_or_default();
        Self { name: shown_line(name), told, arguments: shown(&arguments).into_owned(), result }
    }
}

/// What says most of a call, on one line.
fn told(arguments: &Value) -> String {
    let told = TOLD.iter().find_map(|field| arguments.get(field)?.as_str());
    let told = told.or_else(|| arguments.as_object()?.values().find_map(Value::as_str)).unwrap_or_default();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&shown_line(&told), LINE)
}

/// The same of arguments in JSON; nothing where they have no text.
pub(super) fn short_form(arguments: &str) -> String {
    told(&serde_json::from_str(arguments).unwrap_or_default())
}

/// Who wrote a result.
fn wrote(trust: Trust) -> &'static str {
    match trust {
        Trust::Owner => "yours",
        Trust::File => "a file of yours, or Limpid itself",
        Trust::Guest => "a guest",
        Trust::Outside => "someone else, or a program that read someone else's text",
    }
}

/// A message of the owner's that waits or is being answered.
pub(super) fn mine(said: &Words, time: String) -> String {
    drawn(&Mine { text: &shown(&said.text), files: &said.files, from: said.from, time })
}

/// Who answers.
pub(super) fn head(model: &str, time: String) -> String {
    drawn(&Head { model: shown_line(model), time })
}

/// A call that begins.
pub(super) fn call(name: &str, arguments: &str, result: Option<CallResult>) -> String {
    drawn(&Call::new(name, arguments, result))
}

/// What came of a call.
pub(super) fn result(result: &str) -> String {
    drawn(&Result { result: &CallResult::new(result, None) })
}

/// A call that waits for the owner, with every word of what would run.
pub(super) fn ask(part: &QuestionPart, asked: u64, can_clean: bool) -> String {
    drawn(&Ask {
        asked,
        name: shown_line(&part.name),
        fields: fields(&part.arguments),
        arguments: Exact::text(&part.arguments),
        about: part.about.as_deref().map(Exact::text),
        folder: folder(&part.folder),
        destination: part.destination.as_deref().map(Exact::line),
        reason: Exact::line(&part.reason),
        pattern: part.pattern.as_deref().map(Exact::line),
        can_clean,
    })
}

/// The arguments of a call, each with its name; none where they are no object.
pub(super) fn fields(arguments: &str) -> Vec<(Exact, Exact)> {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (Exact::line(name), Exact::text(&value))
    });
    fields.collect()
}

/// The folder of a call, where it has one.
pub(super) fn folder(folder: &str) -> Option<Exact> {
    (!folder.is_empty()).then(|| Exact::line(folder))
}

/// That a question was answered.
pub(super) fn answered(answer: ApprovalAnswer) -> String {
    note(match answer {
        ApprovalAnswer::Once => "You allowed it once.",
        ApprovalAnswer::Always => "You always allow this in this conversation.",
        ApprovalAnswer::CleanFirst => "You allowed it in a clean window.",
        ApprovalAnswer::No => "You did not allow it.",
    })
}

/// Something to know. However it begins, it is drawn as words: those of the program's own notices may be anybody's too.
pub(super) fn note(text: &str) -> String {
    drawn(&Notice { text: &shown(text) })
}

/// A draft that waits for the owner, or what became of it.
pub(super) fn kept(DraftId(id): DraftId, over: Option<&'static str>) -> String {
    drawn(&Kept { id, over })
}

/// What the model thought.
pub(super) fn thought(text: &str) -> String {
    drawn(&Thought { text: &shown(text) })
}

fn drawn(part: &impl Template) -> String {
    // Writing to memory does not fail.
    part.render().unwrap_or_default()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::CallId;
    use limpid_runtime::QuestionId;

    use super::*;

    fn part(arguments: &str) -> QuestionPart {
        QuestionPart {
            id: QuestionId::new(CallId::new("a")),
            name: "send_email".to_owned(),
            arguments: arguments.to_owned(),
            about: None,
            destination: Some("eve@example.com".to_owned()),
            folder: "/w".to_owned(),
            reason: "it would send a letter".to_owned(),
            pattern: Some("send_email to No".to_owned()),
            whole: true,
        }
    }

    // SUR-024 SEC-010
    #[test]
    fn a_draft_that_was_kept_is_a_link_and_no_words_are() {
        let told = kept(DraftId(4), None);
        assert!(told.contains("href=\"/activity#d4\"") && !told.contains("limpid draft"), "{told}");
        let said = note(limpid_runtime::drafts::kept_words(DraftId(4)).text());
        assert!(!said.contains("href") && said.contains("limpid draft show 4"), "{said}");
        assert_eq!(note("a <b>"), "<p class=\"notice\">a &#60;b&#62;</p>");
    }

    // SEC-051 SEC-089
    #[test]
    fn only_our_own_result_tells_of_an_act_of_the_owners() {
        for (why, told) in [(OWNER_SAID_NO, "You said no."), (STOPPED_BY_OWNER, "You stopped it.")] {
            let text = format!("{{\"success\":false,\"error\":\"{why}\"}}");
            let ours = call("web_fetch", "{}", Some(CallResult::new(&text, Some(Trust::Owner))));
            assert!(ours.contains(told) && !ours.contains(why), "{ours}");
            for trust in [Some(Trust::File), Some(Trust::Guest), Some(Trust::Outside), None] {
                let theirs = call("web_fetch", "{}", Some(CallResult::new(&text, trust)));
                assert!(!theirs.contains(told) && theirs.contains(why), "{theirs}");
            }
            assert!(!result(&text).contains(told), "while the turn runs nobody knows whose words they are");
        }
    }

    // SUR-020 SEC-077
    #[test]
    fn a_call_that_failed_says_so_with_its_error_and_who_wrote_it() {
        let text = r#"{"success":false,"error":"no such file\n<b>\"a\"</b>"}"#;
        let failed = call("read_file", "{}", Some(CallResult::new(text, Some(Trust::Outside))));
        let mark = "<span aria-hidden=\"true\">✗ </span><span class=\"vh\">Failed: </span>";
        assert!(failed.contains(&format!("<span class=\"end bad\">{mark}no such file</span>")), "{failed}");
        let whole =
            "<dt>Error</dt><dd><pre class=\"foreign\">no such file\n&#60;b&#62;&#34;a&#34;&#60;/b&#62;</pre></dd>";
        assert!(failed.contains(whole) && failed.contains("<dt>Written by</dt><dd>someone else, or"), "{failed}");
        assert!(!failed.contains("success") && !failed.contains("<b>"), "{failed}");
        assert!(result(text).contains(mark) && !result(text).contains("success"), "{}", result(text));
        // Of a result that was cut the error cannot be taken out; it failed all the same.
        let cut = result(&text[..40]);
        assert!(cut.contains(mark) && cut.contains("success"), "{cut}");
        // A page that says the same did not make the call fail.
        let said = result(&format!(" {text}"));
        assert!(!said.contains(mark) && said.contains("<dt>Result</dt>") && said.contains("success"), "{said}");
    }

    // SEC-077
    #[test]
    fn what_has_no_folder_says_nothing_of_one() {
        let card = ask(&QuestionPart { folder: String::new(), ..part("{}") }, 1, false);
        assert!(!card.contains("Folder") && card.contains("<dt>Goes to</dt>"), "{card}");
    }

    // SEC-077
    #[test]
    fn words_of_a_call_stand_behind_the_margin_and_at_no_button() {
        let card = ask(&part("{\"Goes to\":\"ada@example.com, you typed this\",\"x\":[\"</dl><b>\"]}"), 7, true);
        let (foreign, own) = card.split_once("</details>").unwrap();
        assert!(
            foreign.contains("<dl class=\"foreign\"><dt><code>Goes to</code></dt>") && !card.contains("<b>"),
            "{card}"
        );
        assert!(
            own.contains("<dt>Goes to</dt><dd><code>eve@example.com</code></dd>") && !own.contains("ada@"),
            "{card}"
        );
        let buttons = own.split_once("<button").unwrap().1;
        assert!(!buttons.contains("send_email") && buttons.contains(">Always allow in this conversation<"), "{card}");
        let about = QuestionPart { about: Some("memory 1: <b>tea".to_owned()), ..part("{}") };
        assert!(ask(&about, 9, false).contains("<p>That is:</p>") && !card.contains("That is:"), "{card}");
        // Who is told something is not always a destination, so nothing says that nobody is.
        let told = ask(&QuestionPart { destination: None, ..part("{}") }, 9, false);
        assert!(!told.contains("Goes to") && !told.contains("no one") && told.contains("<dt>Folder</dt>"), "{told}");
        // What cannot be taken apart is open as it is.
        assert!(ask(&part("[1, 2]"), 8, false).contains("<details open>"));
    }
}
