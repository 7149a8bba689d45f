//! One run of the heartbeat: whether a model is asked, and the run itself.

use std::collections::{HashSet, VecDeque};
use std::io::Write as _;

use limpid_config::process;
use limpid_conversation::BackgroundRun;
use limpid_core::Trust;
use limpid_core::heartbeat::{Gate, News, Why};
use limpid_prompt::Profile;
use limpid_prompt::profile::shipped_template;
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::heartbeat::{CUT_OFF_MS, HeartbeatPart, PATH, TIMER, default_opening, settings_of};
use limpid_services::marked::marked_line;
use limpid_services::spending::Spender;
use limpid_store::{HeartbeatEnd, HeartbeatOutcome, HeartbeatRow, HeartbeatRun, RunningHeartbeat};

use crate::jobs::heartbeat::failures::{class_of, tries};
use crate::jobs::heartbeat::job::HeartbeatJob;
use crate::jobs::heartbeat::pending_work::{Look, check, look};
use crate::jobs::heartbeat::ready;

/// The file of the workspace with what every run looks after.
const CHECKLIST: &str = "HEARTBEAT.md";

/// Who asked for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunTrigger {
    /// The scheduler, for this time.
    Slot(i64),
    /// A person.
    ByHand,
}

/// What came of asking for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatResult {
    /// It ran; what its parts came to, taken together.
    Ran(Box<HeartbeatRun>),
    /// It did not, for this reason.
    Waits(Why),
}

impl HeartbeatJob {
    /// Runs the heartbeat when it may run.
    pub(crate) async fn run_for(&self, trigger: RunTrigger) -> Result<HeartbeatResult, AgentError> {
        // Two at once are one run and one `busy`.
        let Ok(_alone) = self.alone.try_lock() else { return Ok(HeartbeatResult::Waits(Why::Busy)) };
        self.store.start_heartbeat(self.host.now_ms()).await?;
        let row = self.store.heartbeat().await?;
        if let Some(running) = row.running.clone() {
            return self.carry_on(running, &row).await;
        }
        match ready::ready(self, trigger, &row).await? {
            Ok(ready) => {
                self.store.heartbeat_waits(None).await?;
                self.start(trigger, &row, ready).await
            }
            Err((why, until)) => {
                self.store.heartbeat_waits(Some((&why.to_string(), until))).await?;
                Ok(HeartbeatResult::Waits(why))
            }
        }
    }

    /// Carries on a run that was cut off; one that lives is left alone.
    async fn carry_on(&self, running: RunningHeartbeat, row: &HeartbeatRow) -> Result<HeartbeatResult, AgentError> {
        let mine = running.holder == self.host.holder();
        // Taking over one that lives does no harm, as its conversation has one actor; it only answers later.
        let lives = !process::is_dead(&running.holder) && self.host.now_ms() - running.began_ms < CUT_OFF_MS;
        if !mine && lives {
            return Ok(HeartbeatResult::Waits(Why::Busy));
        }
        if !mine && !self.store.take_heartbeat(&running, self.host.holder()).await? {
            return Ok(HeartbeatResult::Waits(Why::Busy));
        }
        let ready = self.heartbeat.model(&settings_of(row)).await;
        // What came in may have been to follow; the next look finds it.
        let is_last = matches!(HeartbeatPart::parse(&running.part), None | Some(HeartbeatPart::News));
        self.carry_out(running, ready, is_last).await
    }

    /// Begins a run, or ends it at once when there is nothing new.
    async fn start(
        &self,
        trigger: RunTrigger,
        row: &HeartbeatRow,
        model: Option<String>,
    ) -> Result<HeartbeatResult, AgentError> {
        let key = match trigger {
            RunTrigger::Slot(slot_ms) => format!("heartbeat-{slot_ms}"),
            RunTrigger::ByHand => self.host.new_id("heartbeat-"),
        };
        let is_of_slot = |last: &HeartbeatRun| {
            last.key == key || HeartbeatPart::parse(&last.part).is_some_and(|part| last.key == part.key(&key))
        };
        if let Some(last) = self.store.heartbeat_runs(1).await?.rows.pop().filter(is_of_slot) {
            return Ok(HeartbeatResult::Ran(Box::new(last)));
        }
        let by_hand = trigger == RunTrigger::ByHand;
        let holder = self.host.holder().to_owned();
        let running = RunningHeartbeat { key, part: String::new(), holder, by_hand, began_ms: self.host.now_ms() };
        let profile = self.heartbeat.profile()?;
        if self.make_checklist(&profile)? {
            return self.nothing_new(&running, row, "HEARTBEAT.md was made; write your tasks at its end").await;
        }
        let card = self.models.choose(model.as_deref()).await?.info().clone();
        let look = look(self, profile.name(), &card, by_hand).await?;
        // Also before a run by hand, so that a check that cannot be asked is heard of.
        let check = check(self).await?;
        if by_hand {
            // An opening always says something; a profile without one has its list alone.
            if look.is_empty() && default_opening(&profile)?.is_none() {
                return self.nothing_new(&running, row, "there is nothing to look at: HEARTBEAT.md has no tasks").await;
            }
        } else {
            let news = News { check, ..look.news.clone() };
            if !news.is_new(row.quiet_mark.as_deref()) {
                let why = if news.check == Some(false) { "the check said no" } else { "nothing is new" };
                return self.nothing_new(&running, row, why).await;
            }
        }
        let mut parts = look.parts(row.quiet_mark.as_deref(), by_hand);
        if !by_hand {
            let waits = ready::leave_out_waiting(self, &mut parts).await?;
            if parts.is_empty() {
                return self.nothing_new(&running, row, &waits.join("; ")).await;
            }
        }
        self.run_parts(&look, parts, &running, model).await
    }

    /// Runs one part after another: what the owner wants looked at first, then what came in, whatever became of the first. What a run
    /// has seen together with what led to a stranger's text is looked at again, each by itself.
    async fn run_parts(
        &self,
        look: &Look,
        mut parts: VecDeque<HeartbeatPart>,
        of: &RunningHeartbeat,
        model: Option<String>,
    ) -> Result<HeartbeatResult, AgentError> {
        let mut all: Option<HeartbeatRun> = None;
        let (mut answered, mut begun) = (false, HashSet::new());
        while let Some(part) = parts.pop_front() {
            // Two lines that say the same are one item.
            if !begun.insert(part.name().into_owned()) {
                continue;
            }
            let may_go_on = match &all {
                None => true,
                Some(before) => {
                    before.outcome != HeartbeatOutcome::Cancelled && ready::may_go_on(self, of, &part).await?
                }
            };
            let part_name = part.name().into_owned();
            let (key, began_ms) = (part.key(&of.key), self.host.now_ms());
            let running = RunningHeartbeat { key, part: part_name, began_ms, ..of.clone() };
            if !may_go_on || !self.store.begin_heartbeat(&running).await? {
                break;
            }
            let HeartbeatResult::Ran(run) = self.carry_out(running, model.clone(), parts.is_empty()).await? else {
                break;
            };
            if run.outcome == HeartbeatOutcome::Divided {
                look.divided().collect::<Vec<_>>().into_iter().rev().for_each(|part| parts.push_front(part));
            }
            answered |=
                run.requests > 0 && !matches!(run.outcome, HeartbeatOutcome::Failed | HeartbeatOutcome::Cancelled);
            // Whether the provider answers at all: what came in may be why it does not.
            if run.outcome == HeartbeatOutcome::Failed
                && part == HeartbeatPart::News
                && look.news.items
                && !answered
                && class_of(&run).is_some_and(|class| tries(class).is_none())
            {
                parts.push_back(HeartbeatPart::Probe);
            }
            all = Some(match all {
                Some(before) => together(before, *run),
                None => *run,
            });
        }
        Ok(all.map_or(HeartbeatResult::Waits(Why::Busy), |run| HeartbeatResult::Ran(Box::new(run))))
    }

    /// Runs what was begun; `is_last` says whether no other part follows in the same run.
    async fn carry_out(
        &self,
        running: RunningHeartbeat,
        model: Option<String>,
        is_last: bool,
    ) -> Result<HeartbeatResult, AgentError> {
        let run = BackgroundRun {
            key: running.key.clone(),
            path: PATH.to_owned(),
            mode: self.modes.of_runs(PATH).map(str::to_owned),
            spender: Spender::Background,
            profile: Some(self.config.agent.profile.clone()),
            model,
            audience: self.directory.audience_of_reports().await?,
            text: String::new(),
            trust: Trust::Owner,
        };
        let end = self.conversations.run(run).await?;
        let end = self.interpret_result(&running, end, is_last).await?;
        self.finish(end).await
    }

    /// Ends a run for which no model was asked: it counts as one that went well.
    async fn nothing_new(
        &self,
        running: &RunningHeartbeat,
        row: &HeartbeatRow,
        why: &str,
    ) -> Result<HeartbeatResult, AgentError> {
        let now_ms = self.host.now_ms();
        let run = HeartbeatRun {
            key: running.key.clone(),
            part: running.part.clone(),
            by_hand: running.by_hand,
            began_ms: running.began_ms,
            ended_ms: now_ms,
            outcome: HeartbeatOutcome::Unchanged,
            detail: why.to_owned(),
            report: None,
            report_key: None,
            trust: Trust::Owner,
            conversation: None,
            requests: 0,
            input_tokens: 0,
            output_tokens: 0,
        };
        self.finish(HeartbeatEnd {
            run,
            state: row.state.clone().succeeded(now_ms),
            quiet_mark: row.quiet_mark.clone(),
            remainder_mark: row.remainder_mark.clone(),
            deliveries: Vec::new(),
            consumed: Vec::new(),
            dropped: Vec::new(),
            asked: Vec::new(),
            alone: Vec::new(),
            timer: None,
        })
        .await
    }

    /// Writes the end of a run, with the time of the next one, and sees to its message.
    async fn finish(&self, mut end: HeartbeatEnd) -> Result<HeartbeatResult, AgentError> {
        let row = self.store.heartbeat().await?;
        let after = HeartbeatRow { state: end.state.clone(), running: None, ..row };
        if let Gate::Wait(_, Some(next_ms)) = self.heartbeat.gate(&after).await?.0 {
            end.timer = Some((TIMER.to_owned(), next_ms));
        }
        let run = end.run.clone();
        self.store.end_heartbeat(end).await?;
        self.events.send(
            None,
            EventKind::HeartbeatDecided {
                run: run.key.clone(),
                outcome: run.outcome.to_string(),
                detail: marked_line(&run.detail, run.trust),
            },
        );
        self.deliveries.wake_pending().await?;
        Ok(HeartbeatResult::Ran(Box::new(run)))
    }

    /// Writes the checklist where the profile wants one and there is none. Says whether it did.
    fn make_checklist(&self, profile: &Profile) -> Result<bool, AgentError> {
        let path = self.home.workspace().join(CHECKLIST);
        if !profile.behaviour().heartbeat.create_checklist {
            return Ok(false);
        }
        std::fs::create_dir_all(self.home.workspace()).map_err(AgentError::file(self.home.workspace()))?;
        // A program may have laid a link here, which leads where it could not write: whatever is there, nothing is made.
        match std::fs::File::create_new(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            made => {
                let text = shipped_template(CHECKLIST).unwrap_or_default();
                made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(AgentError::file(&path))?;
                Ok(true)
            }
        }
    }
}

/// What parts of a run came to: a failure or a report of either counts, and what both said stands together.
fn together(first: HeartbeatRun, second: HeartbeatRun) -> HeartbeatRun {
    let weight = |run: &HeartbeatRun| match run.outcome {
        HeartbeatOutcome::Failed => 3,
        HeartbeatOutcome::Told => 2,
        HeartbeatOutcome::Remainder | HeartbeatOutcome::Cancelled => 1,
        HeartbeatOutcome::Repeated
        | HeartbeatOutcome::Divided
        | HeartbeatOutcome::Quiet
        | HeartbeatOutcome::Unchanged => 0,
    };
    let reports = [&first, &second].map(|run| run.report.as_deref());
    let report = reports.iter().flatten().copied().collect::<Vec<_>>().join("\n\n");
    let (requests, trust) = (first.requests + second.requests, first.trust.join(second.trust));
    let (input_tokens, output_tokens) =
        (first.input_tokens + second.input_tokens, first.output_tokens + second.output_tokens);
    let weightier = if weight(&first) > weight(&second) { first } else { second };
    let report = (!report.is_empty()).then_some(report);
    HeartbeatRun { report, requests, input_tokens, output_tokens, trust, ..weightier }
}
