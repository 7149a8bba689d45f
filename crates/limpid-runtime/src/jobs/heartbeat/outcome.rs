//! What the end of a run means, and what is written of it.

use limpid_conversation::RunReport;
use limpid_core::heartbeat::{Answer, Decision, Pause, State, Why};
use limpid_core::quiet::without_quiet;
use limpid_core::{ConversationId, FailureClass, Trust};
use limpid_prompt::inputs::Inputs;
use limpid_prompt::prompt::hash_of;
use limpid_services::error::AgentError;
use limpid_services::heartbeat::{HeartbeatPart, StandingItem, additions, standing_items, standing_mark};
use limpid_store::{
    DeliveryOrigin, HeartbeatEnd, HeartbeatOutcome, HeartbeatRun, ItemId, NewDelivery, RequestFilter, RunningHeartbeat,
};
use limpid_turn::{Outcome, decision};

use crate::jobs::heartbeat::job::HeartbeatJob;

/// How long the same matter is not told again.
const AGAIN_MS: i64 = 24 * 3_600_000;

/// Runs, the newest, among which the one before is looked for.
const LOOKED_AT: u32 = 20;

/// Where a message is that no run could look at.
const IN_INBOX: &str = "`limpid inbox list --all` has what came in.";

/// What a report is called in a list.
const TITLE: &str = "Heartbeat";

/// What a run came to.
enum Meaning {
    Quiet,
    Remainder(String),
    Report { key: Option<String>, text: String },
    Cancelled,
    Failed(FailureClass, String),
}

impl HeartbeatJob {
    /// The end of a run, to be written in one transaction.
    pub(crate) async fn interpret_result(
        &self,
        running: &RunningHeartbeat,
        end: RunReport,
        is_last: bool,
    ) -> Result<HeartbeatEnd, AgentError> {
        let now_ms = self.host.now_ms();
        let row = self.store.heartbeat().await?;
        // What its prompts and tools have shown; what they left out stays new.
        let items = self.store.shown_items(&end.conversation).await?;
        let inputs = end.inputs.as_deref();
        let part = HeartbeatPart::of_key(&running.key).unwrap_or(HeartbeatPart::News);
        let items_mark = format!("{}:{}", part.as_str(), mark_of(&items));
        let left = LeftToSay::read(row.remainder_mark.as_deref());

        let mut meaning = self.meaning(&end)?;
        // The same items left something to say twice, so it was meant.
        if let Meaning::Remainder(text) = &meaning
            && left.has(&items_mark)
        {
            meaning = Meaning::Report { key: None, text: text.clone() };
        }
        // What came in may be why, and would be why each time.
        let gives_up = match &meaning {
            Meaning::Failed(class, _) if end.requests > 0 => self.gives_up(part, *class, items.len()).await?,
            _ => false,
        };
        let (outcome, detail, report, report_key) = self.outcome_of(meaning, inputs, end.trust, now_ms).await?;
        let state = state_after(row.state.clone(), outcome, &end.outcome, now_ms);
        // The part that follows goes by what was before both; none follows one that was stopped.
        let goes_on = !is_last && !matches!(outcome, HeartbeatOutcome::Failed | HeartbeatOutcome::Cancelled);
        let state = if goes_on { row.state.clone() } else { state };
        let took_in = matches!(outcome, HeartbeatOutcome::Quiet | HeartbeatOutcome::Told | HeartbeatOutcome::Repeated);
        let saw_nothing = matches!(outcome, HeartbeatOutcome::Quiet | HeartbeatOutcome::Repeated);
        // A stranger may have had it say nothing, and that says nothing of what the owner wants to be told.
        let is_silenced = saw_nothing && end.trust.is_foreign();
        let sees_news = part == HeartbeatPart::News;
        let is_quiet = saw_nothing && !is_silenced && sees_news;
        let quiet_mark = if is_quiet { inputs.map(standing_mark) } else { row.quiet_mark };
        let remainder_mark = match outcome {
            HeartbeatOutcome::Remainder => left.with(part, Some(items_mark)),
            _ if took_in => left.with(part, None),
            _ => row.remainder_mark,
        };
        let pauses = state.paused != row.state.paused && outcome == HeartbeatOutcome::Failed;
        let told = report.clone().filter(|_| outcome == HeartbeatOutcome::Told).map(|text| (text, end.trust));
        let unread = gives_up.then_some(items.len());
        let deliveries = self.deliveries_of(&running.key, told, (pauses, unread, &detail)).await?;
        let conversation = end.conversation.clone();
        Ok(HeartbeatEnd {
            run: HeartbeatRun {
                key: running.key.clone(),
                by_hand: running.by_hand,
                began_ms: running.began_ms,
                ended_ms: now_ms,
                outcome,
                detail,
                report,
                report_key,
                trust: end.trust,
                conversation: Some(conversation.clone()),
                requests: end.requests,
                input_tokens: end.usage.input,
                output_tokens: end.usage.output,
            },
            state,
            quiet_mark,
            remainder_mark,
            deliveries,
            consumed: if took_in || gives_up { items } else { Vec::new() },
            asked: match inputs.filter(|_| took_in && !is_silenced) {
                Some(inputs) => self.asked_items(part, &conversation, inputs).await?,
                None => Vec::new(),
            },
            timer: None,
        })
    }

    /// What the owner is told of a run: its report; with what it failed of, that the heartbeat pauses, and how many messages it gives up on.
    async fn deliveries_of(
        &self,
        key: &str,
        report: Option<(String, Trust)>,
        (pauses, unread, detail): (bool, Option<usize>, &str),
    ) -> Result<Vec<NewDelivery>, AgentError> {
        let mut deliveries = Vec::new();
        if let Some((text, trust)) = report {
            deliveries.push(self.told(key, DeliveryOrigin::Heartbeat, text, trust).await?);
        }
        // A provider may have chosen the words of the detail.
        if pauses {
            let text = format!("The heartbeat pauses: {} ({detail}).", Why::Paused(Pause::Provider));
            deliveries.push(self.told(&format!("{key}:pause"), DeliveryOrigin::Notice, text, Trust::Outside).await?);
        }
        if let Some(unread) = unread {
            let text = match unread {
                0 => format!("The heartbeat fails again and again, and has told you nothing: {detail}."),
                1 => format!("The heartbeat could not look at 1 new message: {detail}. {IN_INBOX}"),
                more => format!("The heartbeat could not look at {more} new messages: {detail}. {IN_INBOX}"),
            };
            deliveries.push(self.told(&format!("{key}:unread"), DeliveryOrigin::Notice, text, Trust::Outside).await?);
        }
        Ok(deliveries)
    }

    /// Whether a failure is the one after which what was to be looked at is left to the owner; where nothing came in they are told once.
    async fn gives_up(&self, part: HeartbeatPart, class: FailureClass, items: usize) -> Result<bool, AgentError> {
        let Some(tries) = tries(class) else { return Ok(false) };
        let failed = self.failed_before(part).await? + 1;
        Ok(if items == 0 { failed == tries.max(2) } else { failed >= tries })
    }

    /// How many of the newest runs that saw the same part failed, one after another, for what may be the text that was sent. Those that
    /// failed for something else, such as no network, neither count nor end the row.
    async fn failed_before(&self, part: HeartbeatPart) -> Result<usize, AgentError> {
        let newest = self.store.heartbeat_runs(LOOKED_AT).await?.rows;
        let same = newest.iter().filter(|run| HeartbeatPart::of_key(&run.key).is_none_or(|of_run| of_run == part));
        let class = |run: &HeartbeatRun| FailureClass::parse(run.detail.split_once(':')?.0);
        let failed = same.take_while(|run| run.outcome == HeartbeatOutcome::Failed);
        Ok(failed.filter(|run| class(run).is_some_and(|class| tries(class).is_some())).count())
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
        part: HeartbeatPart,
        conversation: &ConversationId,
        inputs: &Inputs,
    ) -> Result<Vec<String>, AgentError> {
        let filter = RequestFilter { conversation: Some(conversation.clone()), limit: 1, ..RequestFilter::default() };
        let Some(newest) = self.store.requests(filter).await?.rows.pop() else { return Ok(Vec::new()) };
        let Some(request) = self.store.request(&newest.id).await? else { return Ok(Vec::new()) };
        let is_said = |item: &StandingItem| request.messages.iter().any(|message| item.is_in(&message.text));
        let items = match part {
            HeartbeatPart::News => additions(inputs).map(StandingItem::addition).collect(),
            HeartbeatPart::Standing => standing_items(inputs),
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
            now_ms: self.host.now_ms(),
        })
    }
}

/// How many runs may fail in such a way, one after another, before what they were to look at is left to the owner: the text that was
/// sent may be why. None where it is not.
const fn tries(class: FailureClass) -> Option<usize> {
    match class {
        // A limit of the day, which the run itself may have used up: it is tried on another day once more.
        FailureClass::Limit
        | FailureClass::Garbage
        | FailureClass::Moderated
        | FailureClass::Overflow
        | FailureClass::TooLarge
        | FailureClass::Malformed => Some(2),
        // Mostly the provider is at fault, and better soon.
        FailureClass::Server => Some(6),
        FailureClass::Quota
        | FailureClass::Key
        | FailureClass::UnknownModel
        | FailureClass::Rate
        | FailureClass::Transport
        | FailureClass::Cancelled
        | FailureClass::OwnFile => None,
    }
}

/// What the parts have left to say once, as a mark for each: said again of the same, it is meant.
struct LeftToSay(Vec<String>);

impl LeftToSay {
    fn read(stored: Option<&str>) -> Self {
        Self(stored.unwrap_or_default().split_whitespace().map(str::to_owned).collect())
    }

    fn has(&self, mark: &str) -> bool {
        self.0.iter().any(|known| known == mark)
    }

    /// The marks for the store, with another one of a part.
    fn with(self, part: HeartbeatPart, mark: Option<String>) -> Option<String> {
        let of_part = format!("{}:", part.as_str());
        let others = self.0.into_iter().filter(|known| !known.starts_with(&of_part));
        let marks: Vec<String> = others.chain(mark).collect();
        (!marks.is_empty()).then(|| marks.join(" "))
    }
}

/// Whether a run is to report whatever was told before: standing additions, and what the quiet hours held.
fn must_report(inputs: &Inputs) -> bool {
    additions(inputs).next().is_some() || inputs.heartbeat.quiet.is_some()
}

fn state_after(state: State, outcome: HeartbeatOutcome, end: &Outcome, now_ms: i64) -> State {
    match (outcome, end) {
        (HeartbeatOutcome::Failed, Outcome::Failed { class, .. }) => state.failed(*class, now_ms),
        (HeartbeatOutcome::Failed, _) => state.failed(FailureClass::Garbage, now_ms),
        // A run that was cut off is no failure.
        (HeartbeatOutcome::Cancelled, _) => State { attempted_ms: Some(now_ms), ..state },
        _ => state.succeeded(now_ms),
    }
}

fn mark_of(items: &[ItemId]) -> String {
    let numbers: Vec<String> = items.iter().map(|item| item.0.to_string()).collect();
    hash_of(numbers.iter().map(String::as_bytes))
}
