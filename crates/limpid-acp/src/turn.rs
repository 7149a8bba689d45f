//! The events of a turn, as updates of its session.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{Cost, SessionUpdate, StopReason, UsageUpdate};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use limpid_core::goal::WithoutMarkers;
use limpid_runtime::drafts::kept_words;
use limpid_runtime::{ApprovalAnswer, ConversationChoice, Outcome, QuestionPart, TurnEvent, TurnHandle};
use tokio_util::sync::CancellationToken;

use crate::calls::Calls;
use crate::errors::failed;
use crate::forms::ask_form;
use crate::permission::{Asked, ask};
use crate::session::Session;

/// What is shown of a turn.
struct Shown<'a> {
    session: &'a Session,
    calls: Calls<'a>,
    has_begun: bool,
    /// Whether another prompt shows the turn, which answers this one too.
    is_elsewhere: bool,
    /// Whether anything of the answer was shown.
    has_answer: bool,
    /// Takes the lines out by which the model changes the goal, when the owner does not want to see them.
    markers: Option<WithoutMarkers>,
    cost: Option<u64>,
}

/// Shows a turn until it ends, and puts its questions. Cancelling `stop` stops it; what was said so far is kept.
///
/// # Errors
/// When the turn fails.
pub(crate) async fn follow(
    session: &Session,
    mut handle: TurnHandle,
    stop: &CancellationToken,
) -> Result<StopReason, Error> {
    let hides = session.agent.config().chat.hide_markers;
    let mut shown = Shown {
        session,
        calls: Calls::new(session),
        has_begun: false,
        is_elsewhere: false,
        has_answer: false,
        markers: hides.then(WithoutMarkers::default),
        cost: None,
    };
    session.begin_texts();
    let mut is_stopped = false;
    // Events go on while questions are open: what waits may be a call of an agent.
    let (mut questions, mut forms) = (FuturesUnordered::new(), FuturesUnordered::new());
    let ended = loop {
        let event = tokio::select! {
            Some(()) = forms.next() => continue,
            Some(answered) = questions.next() => {
                let (parts, answers): (Vec<QuestionPart>, Option<Vec<ApprovalAnswer>>) = answered;
                match answers {
                    Some(answers) => {
                        handle.answer_all(&parts, &answers);
                        shown.calls.answered(&parts, &answers);
                    }
                    // Nobody is there to be asked any more. What waits is refused with the turn.
                    None => stop.cancel(),
                }
                continue;
            }
            () = stop.cancelled(), if !is_stopped => {
                is_stopped = true;
                // Where no turn has begun the message is taken back, or its end says that another process has it already.
                handle.cancel();
                continue;
            }
            event = handle.next() => event,
        };
        let Some(event) = event else { break Err(failed("the turn was interrupted; what was said so far is kept")) };
        match event {
            TurnEvent::ApprovalRequested { parts, can_clean } if !shown.is_elsewhere => {
                let asked = shown.question(&parts, can_clean);
                questions.push(async move { (parts, ask(session, asked, stop).await) });
            }
            TurnEvent::FormAsked(question) if !shown.is_elsewhere => {
                forms.push(async move {
                    let answer = ask_form(session, question.form(), stop).await;
                    question.answer(answer);
                });
            }
            TurnEvent::Done { outcome, answer } => break shown.end(outcome, answer, is_stopped).await,
            TurnEvent::Interrupted(why) => break Err(failed(&why)),
            event => shown.event(event),
        }
    };
    shown.held_back();
    if !questions.is_empty() && !stop.is_cancelled() {
        session.notice("An agent's question was not answered in time. Its call waits as a draft: limpid draft list");
    }
    shown.calls.end();
    session.end_texts();
    ended
}

impl Shown<'_> {
    fn event(&mut self, event: TurnEvent) {
        match &event {
            TurnEvent::Started { turn, .. } => {
                self.has_begun = true;
                self.is_elsewhere = turn.as_ref().is_some_and(|turn| !self.session.shows(turn));
            }
            // A turn that runs already takes the message in.
            TurnEvent::Steered { .. } if !self.has_begun => {
                self.has_begun = true;
                self.is_elsewhere = true;
            }
            _ => {}
        }
        if self.is_elsewhere {
            return;
        }
        if !matches!(event, TurnEvent::Text(_)) {
            self.held_back();
        }
        match event {
            TurnEvent::Text(text) => self.text(&text),
            TurnEvent::Reasoning(text) => self.session.thought(&text),
            TurnEvent::Retrying { reason, model } => {
                self.session.notice(&format!("{} Asking {model} again.", reason.trim_end()));
            }
            TurnEvent::ToolStarted { id, name, arguments } => self.calls.started(&id, &name, &arguments),
            TurnEvent::ToolDone { id, result } => self.calls.done(&id, &result),
            TurnEvent::ToolRefused { id, name, arguments, result } => {
                self.calls.refused(&id, (&name, &arguments), &result);
            }
            TurnEvent::Usage { cost: Some(cost), .. } => self.cost = Some(self.session.spend(cost.0)),
            TurnEvent::Notice(text) => self.session.notice(&text),
            TurnEvent::DraftKept(draft) => self.session.notice(kept_words(draft).text()),
            TurnEvent::Accepted { .. }
            | TurnEvent::Started { .. }
            | TurnEvent::Steered { .. }
            | TurnEvent::Usage { .. }
            | TurnEvent::ApprovalRequested { .. }
            | TurnEvent::FormAsked(_)
            | TurnEvent::Done { .. }
            | TurnEvent::Interrupted(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.has_answer = true;
        match &mut self.markers {
            None => self.session.answer(text),
            Some(markers) => {
                let shown = markers.push(text);
                self.session.answer(&shown);
            }
        }
    }

    /// Shows what may still have become a marker and did not.
    fn held_back(&mut self) {
        if let Some(markers) = &mut self.markers {
            let rest = std::mem::take(markers).finish();
            self.session.answer(&rest);
        }
    }

    /// Shows the calls that wait, and makes the question about them.
    fn question(&mut self, parts: &[QuestionPart], can_clean: bool) -> Asked {
        self.held_back();
        for part in parts {
            self.calls.waits(part);
        }
        Asked::new(self.session, &self.calls, parts, can_clean)
    }

    async fn end(&mut self, outcome: Outcome, answer: Option<String>, is_stopped: bool) -> Result<StopReason, Error> {
        if let Some(answer) = answer.filter(|_| !self.has_answer && !self.is_elsewhere) {
            self.text(&answer);
        }
        self.held_back();
        if !self.is_elsewhere {
            self.usage().await;
        }
        match outcome {
            Outcome::Answered { .. } => Ok(StopReason::EndTurn),
            Outcome::Cancelled => Ok(StopReason::Cancelled),
            // What was cut off because the person stopped it has not failed.
            Outcome::Failed { .. } if is_stopped => Ok(StopReason::Cancelled),
            Outcome::Failed { message, .. } => Err(failed(&message)),
        }
    }

    /// Tells how full the window is, and what the session has cost.
    async fn usage(&self) {
        let conversation = ConversationChoice::Id(self.session.id.clone());
        let Ok(report) = self.session.agent.conversations().context(&conversation).await else { return };
        let size = u64::from(report.size.usable.0);
        if size > 0 {
            let cost = self.cost.map(|micro| Cost::new(micro as f64 / 1_000_000.0, "USD"));
            let used = report.size.total() as u64;
            self.session.send(SessionUpdate::UsageUpdate(UsageUpdate::new(used, size).cost(cost)));
        }
    }
}
