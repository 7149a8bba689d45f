//! What the end of a run means, and what is written of it.

use limpid_conversation::RunReport;
use limpid_core::heartbeat::{Answer, Decision, State};
use limpid_core::quiet::without_quiet;
use limpid_core::{ConversationId, FailureClass, Trust};
use limpid_prompt::inputs::Inputs;
use limpid_prompt::prompt::hash_of;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{
    HeartbeatPart, StandingItem, additions, sees_more_than_one, standing_items, standing_mark,
};
use limpid_store::{
    DeliveryOrigin, DroppedItems, HeartbeatEnd, HeartbeatOutcome, HeartbeatRun, ItemId, NewDelivery, RequestFilter,
    RunningHeartbeat,
};
use limpid_turn::{Outcome, decision};

use crate::jobs::heartbeat::failures::{FailureLog, GivesUp, tries};
use crate::jobs::heartbeat::job::HeartbeatJob;
use crate::jobs::heartbeat::left_to_say::LeftToSay;
use crate::jobs::heartbeat::notices::{Notices, Unread};

/// How long the same matter is not told again.
const AGAIN_MS: i64 = 24 * 3_600_000;

/// What a report is called in a list.
const TITLE: &str = "Heartbeat";

/// What a run came to.
enum Meaning {
    Quiet,
    Remainder(String),
    Report {
        key: Option<String>,
        text: String,
    },
    Cancelled,
    Failed(FailureClass, String),
    /// Each item is to be looked at alone, so nothing that it said counts.
    Divided,
}

impl Meaning {
    /// What it means when each item is to be looked at alone: one that was stopped stays that.
    fn divided(self) -> Self {
        if matches!(self, Self::Cancelled) { self } else { Self::Divided }
    }

    /// What it means when the same items left something to say before: then it was meant.
    fn said_again(self, again: bool) -> Self {
        match self {
            Self::Remainder(text) if again => Self::Report { key: None, text },
            other => other,
        }
    }

    /// The class of its failure, if it is one.
    const fn failure(&self) -> Option<FailureClass> {
        match self {
            Self::Failed(class, _) => Some(*class),
            Self::Quiet | Self::Remainder(_) | Self::Report { .. } | Self::Cancelled | Self::Divided => None,
        }
    }

    /// Whether it is no matter of what was read.
    const fn is_of_provider(&self) -> bool {
        match self {
            Self::Cancelled => true,
            Self::Failed(class, _) => tries(*class).is_none(),
            Self::Quiet | Self::Remainder(_) | Self::Report { .. } | Self::Divided => false,
        }
    }
}

impl HeartbeatJob {
    /// The end of a run, to be written in one transaction.
    pub(crate) async fn interpret_result(
        &self,
        running: &RunningHeartbeat,
        end: RunReport,
        is_last: bool,
    ) -> Result<HeartbeatEnd, AgentError> {
        let (now_ms, row) = (self.host.now_ms(), self.store.heartbeat().await?);
        // What its prompts and tools have shown; what they left out stays new.
        let items = self.store.shown_items(&end.conversation).await?;
        let inputs = end.inputs.as_deref();
        let part = HeartbeatPart::parse(&running.part).unwrap_or(HeartbeatPart::News);
        let items_mark = format!("{}:{}", part.name(), mark_of(&items));
        let left = LeftToSay::read(row.remainder_mark.as_deref());

        let mut meaning = self.meaning(&end)?.said_again(left.has(&items_mark));
        // A stranger's text that one item led to may have had it say nothing of the others.
        let log = FailureLog::read(&*self.store).await?;
        let proof = log.provider_answers(running, &end, meaning.failure());
        let is_led = end.trust.is_foreign() && (proof || !meaning.is_of_provider());
        if part == HeartbeatPart::Standing && end.trust.is_foreign() && inputs.is_none_or(sees_more_than_one) {
            meaning = meaning.divided();
        }
        let sees_news = part == HeartbeatPart::News;
        let new = if sees_news { items.len() } else { 0 };
        // What came in may be why, and would be why each time.
        let gives_up = match &meaning {
            Meaning::Failed(class, _) if end.requests > 0 => log.gives_up(running, *class, proof, new),
            _ => GivesUp::default(),
        };
        let (outcome, detail, report, report_key) = self.outcome_of(meaning, inputs, end.trust, now_ms).await?;
        // Where it is the text of one item that fails, or of what came in, the others go on as ever.
        let is_texts = is_led && matches!(part, HeartbeatPart::Alone(_)) || proof && sees_news;
        // What a run came to that only asks whether the provider answers is counted with the part before it.
        let is_over = is_last && !(part == HeartbeatPart::Probe && outcome == HeartbeatOutcome::Failed);
        let state = state_after(&row.state, outcome, &end.outcome, (is_texts, is_over), now_ms);
        let took_in = matches!(outcome, HeartbeatOutcome::Quiet | HeartbeatOutcome::Told | HeartbeatOutcome::Repeated);
        let saw_nothing = matches!(outcome, HeartbeatOutcome::Quiet | HeartbeatOutcome::Repeated);
        // A stranger may have had it say nothing, and that says nothing of what the owner wants to be told.
        let is_silenced = saw_nothing && end.trust.is_foreign();
        let is_quiet = saw_nothing && !is_silenced && sees_news;
        let quiet_mark = if is_quiet { inputs.map(standing_mark) } else { row.quiet_mark };
        let remainder_mark = match outcome {
            HeartbeatOutcome::Remainder => left.with(&part, Some(items_mark)),
            _ if took_in => left.with(&part, None),
            _ => row.remainder_mark,
        };
        let pauses = state.paused != row.state.paused && outcome == HeartbeatOutcome::Failed;
        let alone = looked_at_alone(&part, inputs, outcome, (took_in || is_led).then_some(end.trust));
        let dropped = if sees_news && took_in { self.dropped(&items).await? } else { Vec::new() };
        let notices = Notices {
            report: report.as_deref().filter(|_| outcome == HeartbeatOutcome::Told),
            unread: gives_up.told_as.map(|key| (key, Unread::of(&part, inputs, new))),
            pauses,
            dropped: dropped.iter().map(|dropped| dropped.count as usize).sum(),
            detail: &detail,
        };
        let deliveries = self.deliveries_of(&running.key, notices, end.trust).await?;
        let asked = match (&part, inputs.filter(|_| took_in && !(sees_news && is_silenced))) {
            // Tried again when it is due again.
            (HeartbeatPart::Alone(mark), _) if gives_up.puts_aside => vec![mark.clone()],
            (part, Some(inputs)) => self.asked_items(part, &end.conversation, inputs).await?,
            (_, None) => Vec::new(),
        };
        Ok(HeartbeatEnd {
            run: HeartbeatRun { outcome, detail, report, report_key, ..row_of(running, &end, now_ms) },
            state,
            quiet_mark,
            remainder_mark,
            deliveries,
            // What came in is for its own part to look at, whatever another one's tools have shown.
            consumed: if sees_news && (took_in || gives_up.puts_aside) { items } else { Vec::new() },
            dropped,
            alone,
            asked,
            timer: None,
        })
    }

    /// What the owner is told of a run; `trust` is the label of its report.
    async fn deliveries_of(
        &self,
        key: &str,
        notices: Notices<'_>,
        trust: Trust,
    ) -> Result<Vec<NewDelivery>, AgentError> {
        let mut deliveries = Vec::new();
        if let Some(report) = notices.report {
            deliveries.push(self.told(key, DeliveryOrigin::Heartbeat, report.to_owned(), trust).await?);
        }
        // A provider may have chosen words of a notice.
        for (key, text) in notices.texts(key) {
            deliveries.push(self.told(&key, DeliveryOrigin::Notice, text, Trust::Outside).await?);
        }
        Ok(deliveries)
    }

    /// Messages of the sources of these that were too many to wait.
    async fn dropped(&self, items: &[ItemId]) -> Result<Vec<DroppedItems>, AgentError> {
        let mut sources = Vec::new();
        for item in items {
            sources.extend(self.store.item(*item).await?.map(|item| item.new.source));
        }
        let dropped = self.store.dropped_items().await?.into_iter();
        Ok(dropped.filter(|dropped| sources.contains(&dropped.source)).collect())
    }

    /// How a run ended, why, what it reports, and under which key. The same matter is told once a day.
    async fn outcome_of(
        &self,
        meaning: Meaning,
        inputs: Option<&Inputs>,
        trust: Trust,
        now_ms: i64,
    ) -> Result<(HeartbeatOutcome, String, Option<String>, Option<String>), AgentError> {
        Ok(match meaning {
            Meaning::Quiet => (HeartbeatOutcome::Quiet, String::new(), None, None),
            Meaning::Remainder(text) => (HeartbeatOutcome::Remainder, text, None, None),
            Meaning::Cancelled => (HeartbeatOutcome::Cancelled, String::new(), None, None),
            Meaning::Divided => (HeartbeatOutcome::Divided, String::new(), None, None),
            Meaning::Failed(class, message) => (HeartbeatOutcome::Failed, format!("{class}: {message}"), None, None),
            Meaning::Report { key, text } => {
                let repeated = match &key {
                    Some(key) if inputs.is_none_or(|inputs| !must_report(inputs)) => {
                        self.store.heartbeat_told(key, trust, now_ms - AGAIN_MS).await?
                    }
                    _ => false,
                };
                let outcome = if repeated { HeartbeatOutcome::Repeated } else { HeartbeatOutcome::Told };
                (outcome, String::new(), Some(text), key)
            }
        })
    }

    /// The marks of the standing items that a run's requests have said. What a budget left out was not asked, and neither was the
    /// owner's own opening beside what came in.
    async fn asked_items(
        &self,
        part: &HeartbeatPart,
        conversation: &ConversationId,
        inputs: &Inputs,
    ) -> Result<Vec<String>, AgentError> {
        let filter = RequestFilter { conversation: Some(conversation.clone()), limit: 1, ..RequestFilter::default() };
        let Some(newest) = self.store.requests(filter).await?.rows.pop() else { return Ok(Vec::new()) };
        let Some(request) = self.store.request(&newest.id).await? else { return Ok(Vec::new()) };
        let is_said = |item: &StandingItem| request.messages.iter().any(|message| item.is_in(&message.text));
        let items = match part {
            HeartbeatPart::News => additions(inputs).map(StandingItem::addition).collect(),
            HeartbeatPart::Standing | HeartbeatPart::Alone(_) => standing_items(inputs),
            HeartbeatPart::Missed | HeartbeatPart::Probe => Vec::new(),
        };
        Ok(items.into_iter().filter(is_said).map(|item| item.mark).collect())
    }

    fn meaning(&self, end: &RunReport) -> Result<Meaning, AgentError> {
        if let Some((_, arguments)) = &end.decision {
            return Ok(match decision::read(arguments) {
                Ok(Decision::Quiet) => Meaning::Quiet,
                Ok(Decision::Report { key, text }) => Meaning::Report { key: Some(key), text: without_quiet(&text) },
                Err(error) => Meaning::Failed(FailureClass::Garbage, error),
            });
        }
        Ok(match &end.outcome {
            Outcome::Cancelled => Meaning::Cancelled,
            Outcome::Failed { class, message } => Meaning::Failed(*class, message.clone()),
            Outcome::Answered { .. } => {
                let profile = self.heartbeat.profile()?;
                let rule = self.config.heartbeat.rule(profile.behaviour().heartbeat.quiet);
                match Answer::read(end.told().as_deref().unwrap_or_default(), rule) {
                    Some(Answer::Quiet) => Meaning::Quiet,
                    Some(Answer::Remainder(rest)) => Meaning::Remainder(rest),
                    Some(Answer::Report(text)) => Meaning::Report { key: None, text: without_quiet(&text) },
                    None => Meaning::Failed(FailureClass::Garbage, "the model returned an empty answer".to_owned()),
                }
            }
        })
    }

    async fn told(
        &self,
        key: &str,
        origin: DeliveryOrigin,
        text: String,
        trust: Trust,
    ) -> Result<NewDelivery, AgentError> {
        Ok(NewDelivery {
            key: key.to_owned(),
            conversation: self.directory.reports().await?,
            origin,
            title: TITLE.to_owned(),
            text,
            trust,
            draft: None,
            now_ms: self.host.now_ms(),
        })
    }
}

/// Whether a run is to report whatever was told before: standing additions, and what the quiet hours held.
fn must_report(inputs: &Inputs) -> bool {
    additions(inputs).next().is_some() || inputs.heartbeat.quiet.is_some()
}

/// Which items are to be looked at alone from now on, and which are not any more; `trust` is the label of a run that says so of its item.
fn looked_at_alone(
    part: &HeartbeatPart,
    inputs: Option<&Inputs>,
    outcome: HeartbeatOutcome,
    trust: Option<Trust>,
) -> Vec<(String, bool)> {
    match (part, trust, inputs) {
        // Which of them led to it is not known yet.
        (HeartbeatPart::Standing, _, Some(inputs)) if outcome == HeartbeatOutcome::Divided => {
            standing_items(inputs).into_iter().map(|item| (item.mark, true)).collect()
        }
        (HeartbeatPart::Alone(mark), Some(trust), _) => vec![(mark.clone(), trust.is_foreign())],
        _ => Vec::new(),
    }
}

/// The row of a run that has ended, as far as its outcome says nothing.
fn row_of(running: &RunningHeartbeat, end: &RunReport, now_ms: i64) -> HeartbeatRun {
    HeartbeatRun {
        key: running.key.clone(),
        part: running.part.clone(),
        by_hand: running.by_hand,
        began_ms: running.began_ms,
        ended_ms: now_ms,
        outcome: HeartbeatOutcome::Quiet,
        detail: String::new(),
        report: None,
        report_key: None,
        trust: end.trust,
        conversation: Some(end.conversation.clone()),
        requests: end.requests,
        input_tokens: end.usage.input,
        output_tokens: end.usage.output,
    }
}

/// The state after a run; `is_texts` says that a text is why it failed, `is_last` that no other part follows.
fn state_after(
    state: &State,
    outcome: HeartbeatOutcome,
    end: &Outcome,
    (is_texts, is_last): (bool, bool),
    now_ms: i64,
) -> State {
    let state = state.clone();
    match (outcome, end) {
        // A run that was cut off is no failure.
        (HeartbeatOutcome::Cancelled, _) => State { attempted_ms: Some(now_ms), ..state },
        // The last part says it, once for all of them.
        _ if !is_last => state,
        (HeartbeatOutcome::Failed, Outcome::Failed { class, .. }) if !is_texts => state.failed(*class, now_ms),
        (HeartbeatOutcome::Failed, _) if !is_texts => state.failed(FailureClass::Garbage, now_ms),
        (HeartbeatOutcome::Divided, _) => state,
        _ => state.succeeded(now_ms),
    }
}

fn mark_of(items: &[ItemId]) -> String {
    let numbers: Vec<String> = items.iter().map(|item| item.0.to_string()).collect();
    hash_of(numbers.iter().map(String::as_bytes))
}
