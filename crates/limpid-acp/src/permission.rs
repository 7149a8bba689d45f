//! Questions whether calls may run, put through the editor. What is no clear yes is a no.

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use futures_util::future::join_all;
use limpid_prompt::shown::Drawn;
use limpid_runtime::{ApprovalAnswer, QuestionPart, question};
use tokio_util::sync::CancellationToken;

use crate::calls::Calls;
use crate::session::Session;
use crate::texts::{content, option, titled};

/// Columns of a question.
pub(crate) const WIDTH: usize = 100;

const YES: &str = "yes";
const ALWAYS: &str = "always";
const CLEAN: &str = "clean";
const NO: &str = "no";

/// A question: a request for each of its parts.
pub(crate) struct Asked {
    parts: Vec<(QuestionPart, RequestPermissionRequest)>,
    can_clean: bool,
}

impl Asked {
    pub(crate) fn new(session: &Session, calls: &Calls<'_>, parts: &[QuestionPart], can_clean: bool) -> Self {
        let request = |part: &QuestionPart| (part.clone(), request(session, calls, part, can_clean));
        Self { parts: parts.iter().map(request).collect(), can_clean }
    }
}

/// Puts the parts of a question, all at once, and waits for their answers; none when the turn is stopped or the editor is gone.
pub(crate) async fn ask(session: &Session, asked: Asked, stop: &CancellationToken) -> Option<Vec<ApprovalAnswer>> {
    if stop.is_cancelled() {
        return None;
    }
    let Asked { parts, can_clean } = asked;
    let asked = parts.iter().map(|(_, request)| session.connection.send_request(request.clone()).block_task());
    tokio::select! {
        answers = join_all(asked) => {
            if session.is_abandoned() {
                return None;
            }
            Some(parts.iter().zip(answers).map(|((part, _), answer)| meaning(answer.ok().as_ref(), part, can_clean)).collect())
        }
        () = stop.cancelled() => None,
    }
}

/// Asks about a server of the editor: whether it may be started, or its tools be used, which are described as the owner has to
/// read them.
pub(crate) async fn ask_plainly(
    session: &Session,
    question: (&str, &str),
    pages: &[String],
    (yes, kind): (&str, PermissionOptionKind),
    stop: &CancellationToken,
) -> bool {
    let options = vec![
        option(YES, Drawn::line(yes), kind),
        option(NO, Drawn::line("Not in this session"), PermissionOptionKind::RejectOnce),
    ];
    choose(session, question, pages, options, stop).await.is_some_and(|chosen| chosen == YES)
}

/// Puts a question that is no call's: the id of what was chosen; none when nothing was.
pub(crate) async fn choose(
    session: &Session,
    (id, title): (&str, &str),
    pages: &[String],
    options: Vec<PermissionOption>,
    stop: &CancellationToken,
) -> Option<String> {
    let pages: Vec<ToolCallContent> = pages.iter().map(|page| content(Drawn::fenced(page))).collect();
    let fields = titled(Drawn::line(title)).kind(ToolKind::Other).status(ToolCallStatus::Pending).content(pages);
    let call = ToolCallUpdate::new(id.to_owned(), fields);
    let request = RequestPermissionRequest::new(session.session_id(), call, options);
    tokio::select! {
        answer = session.connection.send_request(request).block_task() => chosen(&answer.ok()?).map(str::to_owned),
        () = stop.cancelled() => None,
    }
}

fn request(session: &Session, calls: &Calls<'_>, part: &QuestionPart, can_clean: bool) -> RequestPermissionRequest {
    // There is no screen from which a part could run out, and no other place that shows the rest.
    let frame = question::whole_frame(part, WIDTH);
    let mut shown = vec![content(Drawn::fenced(&frame))];
    shown.extend(calls.changes(part.id.call()));
    let title = Drawn::exact_line(&format!("{}: {}", part.name, part.reason));
    let fields = titled(title).status(ToolCallStatus::Pending).content(shown);
    let call = ToolCallUpdate::new(part.id.call().as_str().to_owned(), fields);
    RequestPermissionRequest::new(session.session_id(), call, options(part, can_clean))
}

fn options(part: &QuestionPart, can_clean: bool) -> Vec<PermissionOption> {
    let mut options = vec![option(YES, Drawn::line("Yes, this call"), PermissionOptionKind::AllowOnce)];
    if let Some(pattern) = &part.pattern {
        let name = Drawn::exact_line(&format!("Yes, always in this conversation: {pattern}"));
        options.push(option(ALWAYS, name, PermissionOptionKind::AllowAlways));
    }
    if can_clean {
        let name = Drawn::line("Clean the window, then run it");
        options.push(option(CLEAN, name, PermissionOptionKind::AllowOnce));
    }
    options.push(option(NO, Drawn::line("No"), PermissionOptionKind::RejectOnce));
    options
}

fn chosen(response: &RequestPermissionResponse) -> Option<&str> {
    match &response.outcome {
        RequestPermissionOutcome::Selected(selected) => Some(&selected.option_id.0),
        _ => None,
    }
}

/// What an answer means. Only what was offered is one.
fn meaning(response: Option<&RequestPermissionResponse>, part: &QuestionPart, can_clean: bool) -> ApprovalAnswer {
    match response.and_then(chosen) {
        Some(YES) => ApprovalAnswer::Once,
        Some(ALWAYS) if part.pattern.is_some() => ApprovalAnswer::Always,
        Some(CLEAN) if can_clean => ApprovalAnswer::CleanFirst,
        _ => ApprovalAnswer::No,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::SelectedPermissionOutcome;
    use limpid_core::CallId;
    use limpid_runtime::QuestionId;

    use super::*;

    // SEC-002 SEC-078
    #[test]
    fn only_an_answer_that_was_offered_is_a_yes() {
        let part = |pattern: Option<&str>| QuestionPart {
            id: QuestionId::new(CallId::new("a")),
            name: "exec".to_owned(),
            arguments: "{}".to_owned(),
            about: None,
            destination: None,
            folder: "/w".to_owned(),
            reason: "it runs a program".to_owned(),
            pattern: pattern.map(str::to_owned),
            whole: false,
        };
        let answer = |word: &str, pattern, can_clean| {
            let outcome = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(word.to_owned()));
            meaning(Some(&RequestPermissionResponse::new(outcome)), &part(pattern), can_clean)
        };
        assert_eq!(answer("yes", None, false), ApprovalAnswer::Once);
        assert_eq!(answer("always", Some("p"), false), ApprovalAnswer::Always);
        assert_eq!(answer("always", None, true), ApprovalAnswer::No);
        assert_eq!(answer("clean", None, true), ApprovalAnswer::CleanFirst);
        assert_eq!(answer("clean", None, false), ApprovalAnswer::No);
        assert_eq!(answer("allow", Some("p"), true), ApprovalAnswer::No);
        let cancelled = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        assert_eq!(meaning(Some(&cancelled), &part(Some("p")), true), ApprovalAnswer::No);
        assert_eq!(meaning(None, &part(Some("p")), true), ApprovalAnswer::No);
        let offered: Vec<String> =
            options(&part(None), false).iter().map(|option| option.option_id.to_string()).collect();
        assert_eq!(offered, ["yes", "no"]);
    }
}
