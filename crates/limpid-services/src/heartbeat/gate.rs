//! Whether a run may be now.

use jiff::{Timestamp, ToSpan, Unit, ZonedRound};
use limpid_config::process;
use limpid_core::ConversationId;
use limpid_core::heartbeat::{Gate, Moment, State, Why, gate};
use limpid_store::{Audience, HeartbeatCalls, HeartbeatRow, RequestFilter};

use crate::error::AgentError;
use crate::heartbeat::{HeartbeatSettings, settings_of};

/// A turn that began longer ago than this, in milliseconds, was cut off and keeps nothing from running.
pub const CUT_OFF_MS: i64 = 15 * 60_000;

/// What is said while what came in waits for the next day.
const NEWS_WAIT: &str = "new messages wait until tomorrow, because the heartbeat has looked at messages as often as it may today; \
                         raise `runs_a_day` under [heartbeat] of limpid.toml to let it look more often";

/// What is said while the owner's own items wait for the next day.
const ITEMS_WAIT: &str = "your own items wait until tomorrow, because the heartbeat has looked at them as often as it may today; \
                          raise `runs_a_day` under [heartbeat] of limpid.toml to let it look more often";

/// Requests, the newest ones, among which a call outside of any turn is looked for.
const LOOKED_AT: u32 = 50;

impl HeartbeatSettings {
    /// What the gate says of a row at this moment, and the state that it judged: a pause that the owner has ended is
    /// over in it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn gate(&self, row: &HeartbeatRow) -> Result<(Gate, State), AgentError> {
        let now = self.host.now().to_zoned(self.host.zone());
        let begun_hour = now.round(ZonedRound::new().smallest(Unit::Hour).mode(jiff::RoundMode::Trunc));
        let next_hour = begun_hour.and_then(|hour| hour.checked_add(1.hour()));
        let now_ms = now.timestamp().as_millisecond();
        let calls = self.calls_today().await?;
        let acted_ms = self.store.owner_acted_ms().await?;
        let state = row.state.clone().resumed(acted_ms);
        let moment = Moment {
            now_ms,
            hour: now.hour().unsigned_abs(),
            next_hour_ms: next_hour.map_or(now_ms + 3_600_000, |hour| hour.timestamp().as_millisecond()),
            acted_ms,
            runs_today: calls.of_owner,
            news_runs_today: calls.of_news,
            runs_a_day: self.config.heartbeat.runs_a_day,
            scheduling_off: !self.config.scheduling.enabled,
            busy: self.is_busy(row).await?,
        };
        let settings = settings_of(row);
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

    /// Why what came in waits, if the day has had its runs for nothing else. They have their own number: who writes often keeps no item
    /// of the owner's from being looked at.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn news_wait(&self) -> Result<Option<&'static str>, AgentError> {
        Ok((self.calls_today().await?.of_news >= self.config.heartbeat.runs_a_day).then_some(NEWS_WAIT))
    }

    /// Why the owner's own items wait, if the day has had its runs for them. What came in waits for none of these.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn items_wait(&self) -> Result<Option<&'static str>, AgentError> {
        Ok((self.calls_today().await?.of_owner >= self.config.heartbeat.runs_a_day).then_some(ITEMS_WAIT))
    }

    async fn calls_today(&self) -> Result<HeartbeatCalls, AgentError> {
        let day = self.host.now().to_zoned(self.host.zone()).start_of_day();
        let day_ms = day.map_or(self.host.now_ms(), |day| day.timestamp().as_millisecond());
        Ok(self.store.heartbeat_calls(day_ms).await?)
    }

    /// Whether another call of a model is in progress, here or in another process. Turns that a stranger's text began, as those of guests
    /// and of agents that a page had started, keep nothing of the owner's waiting, nor does a summary of what guests said.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn is_busy(&self, row: &HeartbeatRow) -> Result<bool, AgentError> {
        let own = row.running.as_ref().map(|running| format!("run-{}", running.key));
        // A turn that began before waits for its owner, or was left.
        let since_ms = self.host.now_ms() - CUT_OFF_MS;
        for turn in self.store.unfinished_turns().await?.rows {
            let is_other = Some(turn.conversation.as_str()) != own.as_deref() && turn.began_ms > since_ms;
            if is_other
                && self.is_worked_on(&turn.conversation).await?
                && !self.store.begun_by_strangers(&turn.id).await?
            {
                return Ok(true);
            }
        }
        // Summaries, tests and replays are calls outside of any turn.
        let newest = RequestFilter { since_ms: Some(since_ms), limit: LOOKED_AT, ..RequestFilter::default() };
        for request in self.store.requests(newest).await?.rows {
            let left = request.holder.as_deref().is_some_and(process::is_dead);
            let open = request.turn.is_none() && request.end.is_none() && !left;
            let lives = match &request.conversation {
                Some(id) => {
                    let own = self.store.conversation(id).await?;
                    let is_guests = own.is_some_and(|own| own.audience == Audience::Strangers);
                    open && !is_guests && self.is_worked_on(id).await?
                }
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
}
