//! One run of the heartbeat: whether it is due, whether a model is asked, and the run itself.

use std::sync::Arc;

use jiff::{Timestamp, ToSpan, Unit, ZonedRound};
use limpid_config::process;
use limpid_core::heartbeat::{Gate, Moment, News, Pause, Settings, State, Why, gate};
use limpid_core::{ConversationId, Trust};
use limpid_prompt::Profile;
use limpid_prompt::profile::shipped_template;
use limpid_store::{HeartbeatEnd, HeartbeatOutcome, HeartbeatRow, HeartbeatRun, RequestFilter, RunningHeartbeat};

use crate::agent::{Agent, Inner};
use crate::conversation::background_run::{BackgroundRun, RunInputs};
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::heartbeat::settings::of_row;
use crate::services::heartbeat::{PATH, TIMER};
use crate::services::spending::Spender;

/// A turn that began longer ago than this was cut off and keeps nothing from running.
const CUT_OFF_MS: i64 = 15 * 60_000;

/// Requests, the newest ones, among which a call outside of any turn is looked for.
const LOOKED_AT: u32 = 50;

/// When it is looked again after something stood in the way that the gate does not know.
pub(crate) const AGAIN_MS: i64 = 60_000;

/// The file of the workspace with what every run looks after.
const CHECKLIST: &str = "HEARTBEAT.md";

/// Who asked for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The scheduler, for this time.
    Slot(i64),
    /// A person.
    ByHand,
}

/// What came of asking for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beat {
    /// It ran.
    Ran(Box<HeartbeatRun>),
    /// It did not, for this reason.
    Waits(Why),
}

impl Agent {
    /// Runs the heartbeat, whatever the hour, the interval and the news; not when it or scheduling is switched off,
    /// and not while another call of a model is in progress.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn run_heartbeat(&self) -> Result<Beat, AgentError> {
        self.inner.beat(Asked::ByHand).await
    }
}

impl Inner {
    /// Runs the heartbeat when it may run.
    pub(crate) async fn beat(self: &Arc<Self>, asked: Asked) -> Result<Beat, AgentError> {
        // Two at once are one run and one `busy`.
        let Ok(_alone) = self.beating.try_lock() else { return Ok(Beat::Waits(Why::Busy)) };
        self.store.start_heartbeat(self.host.now_ms()).await?;
        let row = self.store.heartbeat().await?;
        if let Some(running) = row.running.clone() {
            return self.carry_on(running, &row).await;
        }
        match self.ready(asked, &row).await? {
            Ok(ready) => {
                self.store.heartbeat_waits(None).await?;
                self.start(asked, &row, ready).await
            }
            Err((why, until)) => {
                self.store.heartbeat_waits(Some((&why.to_string(), until))).await?;
                Ok(Beat::Waits(why))
            }
        }
    }

    /// Carries on a run that was cut off; one that lives is left alone.
    async fn carry_on(self: &Arc<Self>, running: RunningHeartbeat, row: &HeartbeatRow) -> Result<Beat, AgentError> {
        let mine = running.holder == self.host.holder();
        // Taking over one that lives does no harm, as its conversation has one worker; it only answers later.
        let lives = !process::is_dead(&running.holder) && self.host.now_ms() - running.began_ms < CUT_OFF_MS;
        if !mine && lives {
            return Ok(Beat::Waits(Why::Busy));
        }
        if !mine && !self.store.take_heartbeat(&running, self.host.holder()).await? {
            return Ok(Beat::Waits(Why::Busy));
        }
        let ready = self.model_of(&of_row(row)).await?;
        self.carry_out(running, ready).await
    }

    /// Whether a run may be, and with which model; else why not and until when.
    async fn ready(
        self: &Arc<Self>,
        asked: Asked,
        row: &HeartbeatRow,
    ) -> Result<Result<Option<String>, (Why, Option<i64>)>, AgentError> {
        let again = Some(self.host.now_ms() + AGAIN_MS);
        let (gate, state) = self.heartbeat_gate(row).await?;
        if state != row.state {
            self.store.resume_heartbeat().await?;
        }
        match (gate, asked) {
            (Gate::Wait(why @ (Why::Off | Why::NoScheduling | Why::Busy), until), _) => return Ok(Err((why, until))),
            (Gate::Wait(why, until), Asked::Slot(_)) => {
                if why == Why::Paused(Pause::Silence) {
                    let since =
                        state.switched_on_ms.unwrap_or_default().max(row.state.succeeded_ms.unwrap_or_default());
                    let key = format!("heartbeat-silence:{}", self.store.owner_acted_ms().await?.unwrap_or(since));
                    self.deliveries
                        .notice(None, &key, "The heartbeat pauses", format!("The heartbeat pauses: {why}."))
                        .await?;
                }
                return Ok(Err((why, until)));
            }
            (Gate::Wait(..), Asked::ByHand) if self.is_busy(row).await? => return Ok(Err((Why::Busy, again))),
            (Gate::Run, _) | (Gate::Wait(..), Asked::ByHand) => {}
        }
        let model = self.model_of(&of_row(row)).await?;
        if self.models.choose(model.as_deref()).await.is_err() {
            return Ok(Err((Why::NoModel, again)));
        }
        if matches!(asked, Asked::Slot(_))
            && self.spending.check_and_tell(Spender::Background, None, None).await.is_err()
        {
            return Ok(Err((Why::Spent, again)));
        }
        Ok(Ok(model))
    }

    /// Begins a run, or ends it at once when there is nothing new.
    async fn start(
        self: &Arc<Self>,
        asked: Asked,
        row: &HeartbeatRow,
        model: Option<String>,
    ) -> Result<Beat, AgentError> {
        let key = match asked {
            Asked::Slot(slot_ms) => format!("heartbeat-{slot_ms}"),
            Asked::ByHand => self.host.new_id("heartbeat-"),
        };
        if let Some(last) = self.store.heartbeat_runs(1).await?.rows.pop().filter(|last| last.key == key) {
            return Ok(Beat::Ran(Box::new(last)));
        }
        let by_hand = asked == Asked::ByHand;
        let running =
            RunningHeartbeat { key, holder: self.host.holder().to_owned(), by_hand, began_ms: self.host.now_ms() };
        let profile = self.heartbeat_profile()?;
        if self.make_checklist(&profile)? {
            return self.nothing_new(&running, row, "HEARTBEAT.md was made; write your tasks at its end").await;
        }
        let card = self.models.choose(model.as_deref()).await?.info().clone();
        let look = self.heartbeat_look(profile.name(), &card).await?;
        // Also before a run by hand, so that a check that cannot be asked is heard of.
        let check = self.heartbeat_check().await?;
        if by_hand {
            // An opening always says something; a profile without one has its list alone.
            if look.is_empty() && self.default_opening()?.is_none() {
                return self.nothing_new(&running, row, "there is nothing to look at: HEARTBEAT.md has no tasks").await;
            }
        } else {
            let news = News { check, ..look.news };
            if !news.is_new(row.quiet_mark.as_deref()) {
                let why = if news.check == Some(false) { "the check said no" } else { "nothing is new" };
                return self.nothing_new(&running, row, why).await;
            }
        }
        if !self.store.begin_heartbeat(&running).await? {
            return Ok(Beat::Waits(Why::Busy));
        }
        self.carry_out(running, model).await
    }

    async fn carry_out(self: &Arc<Self>, running: RunningHeartbeat, model: Option<String>) -> Result<Beat, AgentError> {
        let run = BackgroundRun {
            key: running.key.clone(),
            path: PATH,
            profile: Some(self.config.agent.profile.clone()),
            model,
            audience: self.directory.audience_of_reports().await?,
            text: String::new(),
            extra: RunInputs::default(),
        };
        let end = self.run_in_background(run).await?;
        let end = self.conclude(&running, end).await?;
        self.finish_beat(end).await
    }

    /// Ends a run for which no model was asked: it counts as one that went well.
    async fn nothing_new(
        self: &Arc<Self>,
        running: &RunningHeartbeat,
        row: &HeartbeatRow,
        why: &str,
    ) -> Result<Beat, AgentError> {
        let now_ms = self.host.now_ms();
        let run = HeartbeatRun {
            key: running.key.clone(),
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
        self.finish_beat(HeartbeatEnd {
            run,
            state: row.state.clone().succeeded(now_ms),
            quiet_mark: row.quiet_mark.clone(),
            remainder_mark: row.remainder_mark.clone(),
            deliveries: Vec::new(),
            consumed: Vec::new(),
            asked: Vec::new(),
            timer: None,
        })
        .await
    }

    /// Writes the end of a run, with the time of the next one, and sees to its message.
    async fn finish_beat(self: &Arc<Self>, mut end: HeartbeatEnd) -> Result<Beat, AgentError> {
        let row = self.store.heartbeat().await?;
        let after = HeartbeatRow { state: end.state.clone(), running: None, ..row };
        if let Gate::Wait(_, Some(next_ms)) = self.heartbeat_gate(&after).await?.0 {
            end.timer = Some((TIMER.to_owned(), next_ms));
        }
        let run = end.run.clone();
        self.store.end_heartbeat(end).await?;
        self.bus.send(
            None,
            EventKind::HeartbeatDecided {
                run: run.key.clone(),
                outcome: run.outcome.to_string(),
                detail: run.detail.clone(),
            },
        );
        self.deliveries.wake_pending().await?;
        Ok(Beat::Ran(Box::new(run)))
    }

    /// What the gate says of a row at this moment, and the state that it judged: a pause that the owner has ended is
    /// over in it.
    pub(crate) async fn heartbeat_gate(&self, row: &HeartbeatRow) -> Result<(Gate, State), AgentError> {
        let now = self.host.now().to_zoned(self.host.zone());
        let begun_hour = now.round(ZonedRound::new().smallest(Unit::Hour).mode(jiff::RoundMode::Trunc));
        let next_hour = begun_hour.and_then(|hour| hour.checked_add(1.hour()));
        let now_ms = now.timestamp().as_millisecond();
        let day_ms = now.start_of_day().map_or(now_ms, |day| day.timestamp().as_millisecond());
        let acted_ms = self.store.owner_acted_ms().await?;
        let state = row.state.clone().resumed(acted_ms);
        let moment = Moment {
            now_ms,
            hour: now.hour().unsigned_abs(),
            next_hour_ms: next_hour.map_or(now_ms + 3_600_000, |hour| hour.timestamp().as_millisecond()),
            acted_ms,
            runs_today: self.store.heartbeat_calls(day_ms).await?,
            runs_a_day: self.config.heartbeat.runs_a_day,
            scheduling_off: !self.config.scheduling.enabled,
            busy: self.is_busy(row).await?,
        };
        let settings = of_row(row);
        let gate = match gate(&settings, &state, &moment) {
            // The day that follows has runs again.
            Gate::Wait(why @ Why::DayIsFull, _) => {
                let tomorrow = now.tomorrow().and_then(|day| day.start_of_day());
                let until = tomorrow.ok().and_then(|day| settings.first_allowed(&day));
                Gate::Wait(why, until.map(|until| until.timestamp().as_millisecond()))
            }
            Gate::Wait(why @ (Why::Interval | Why::Hours | Why::BackOff), Some(until)) => {
                let from = Timestamp::from_millisecond(until).map(|at| at.to_zoned(self.host.zone()));
                let allowed = from.ok().and_then(|from| settings.first_allowed(&from));
                Gate::Wait(why, Some(allowed.map_or(until, |allowed| allowed.timestamp().as_millisecond())))
            }
            other => other,
        };
        Ok((gate, state))
    }

    /// Whether another call of a model is in progress, here or in another process.
    async fn is_busy(&self, row: &HeartbeatRow) -> Result<bool, AgentError> {
        let own = row.running.as_ref().map(|running| format!("run-{}", running.key));
        let since_ms = self.host.now_ms() - CUT_OFF_MS;
        for turn in self.store.unfinished_turns().await?.rows {
            if Some(turn.conversation.as_str()) != own.as_deref() && self.is_worked_on(&turn.conversation).await? {
                return Ok(true);
            }
        }
        // Summaries, tests and replays are calls outside of any turn.
        let newest = RequestFilter { since_ms: Some(since_ms), limit: LOOKED_AT, ..RequestFilter::default() };
        for request in self.store.requests(newest).await?.rows {
            let left = request.holder.as_deref().is_some_and(process::is_dead);
            let open = request.turn.is_none() && request.end.is_none() && !left;
            let lives = match &request.conversation {
                Some(conversation) => open && self.is_worked_on(conversation).await?,
                None => open,
            };
            if lives {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a process that lives works on a conversation: a turn that a dead one left keeps nothing from running.
    async fn is_worked_on(&self, conversation: &ConversationId) -> Result<bool, AgentError> {
        let lease = self.store.lease(conversation).await?;
        Ok(lease.is_some_and(|lease| {
            lease.holder == self.host.holder()
                || (lease.until_ms > self.host.now_ms() && !process::is_dead(&lease.holder))
        }))
    }

    /// The model of its own, when there is one that can be had.
    pub(crate) async fn model_of(&self, settings: &Settings) -> Result<Option<String>, AgentError> {
        for name in settings.model.iter().chain(&self.config.heartbeat.model) {
            if self.models.choose(Some(name)).await.is_ok() {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    }

    /// The profile of heartbeats: the owner's. A profile without a path of its own for them has one that it is lent.
    pub(crate) fn heartbeat_profile(&self) -> Result<Arc<Profile>, AgentError> {
        let name = &self.config.agent.profile;
        self.profiles.profile(name)
    }

    /// Writes the checklist where the profile wants one and there is none. Says whether it did.
    fn make_checklist(&self, profile: &Profile) -> Result<bool, AgentError> {
        let path = self.home.workspace().join(CHECKLIST);
        if !profile.behaviour().heartbeat.create_checklist || path.exists() {
            return Ok(false);
        }
        std::fs::create_dir_all(self.home.workspace()).map_err(AgentError::file(self.home.workspace()))?;
        std::fs::write(&path, shipped_template(CHECKLIST).unwrap_or_default()).map_err(AgentError::file(&path))?;
        Ok(true)
    }
}
