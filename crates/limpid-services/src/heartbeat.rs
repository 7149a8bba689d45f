//! The heartbeat: the agent looks at what has come in, unasked, and speaks only when something needs its owner. Here is
//! what the owner sets, and when a run is due; the runs are a job.
//!
//! Whether a run is due is decided by [`limpid_core::heartbeat::gate`]. A run that has nothing new to look at asks no
//! model; one that asks is a turn of a hidden conversation, and its result is written in one transaction.

mod decision_tool;
mod gate;
mod opening;
mod part;
mod settings;
mod standing;

use std::sync::Arc;

use limpid_config::{Config, Live, process};
use limpid_core::heartbeat::{Gate, Settings};
use limpid_prompt::Profile;
use limpid_store::{HeartbeatRun, Listed, Store};

pub use self::decision_tool::{HEARTBEAT_DECISION, tools};
pub use self::gate::CUT_OFF_MS;
pub use self::opening::{HeartbeatOpening, default_opening};
pub use self::part::{HeartbeatPart, has_unread, sees_more_than_one};
pub use self::settings::{HeartbeatChange, read_settings, settings_of};
pub use self::standing::{DueItems, StandingItem, additions, has_new_items, standing_items, standing_mark};

use crate::error::AgentError;
use crate::host::Host;
use crate::models::ModelRegistry;
use crate::profiles::{ProfileRegistry, Reader};
use crate::timers::SchedulerWaker;

/// The path of a profile that renders a heartbeat.
pub const PATH: &str = "heartbeat";

/// The kind of its timer, and the timer's name.
pub const TIMER: &str = "heartbeat";

/// How many reports a run is shown.
pub const PREVIOUS: u32 = 3;

/// When to look again after a reason to wait that the gate does not know, in milliseconds.
pub const RETRY_MS: i64 = 60_000;

const HOUR_MS: i64 = 3_600_000;

/// What the owner sets of the heartbeat, and when a run is due.
#[derive(Clone)]
pub struct HeartbeatSettings {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    models: Arc<ModelRegistry>,
    profiles: Arc<ProfileRegistry>,
    waker: Arc<SchedulerWaker>,
}

impl HeartbeatSettings {
    /// The heartbeat of a store; `waker` wakes whoever runs it.
    pub fn new(
        store: Arc<dyn Store>,
        config: Live<Config>,
        host: Host,
        models: Arc<ModelRegistry>,
        profiles: Arc<ProfileRegistry>,
        waker: Arc<SchedulerWaker>,
    ) -> Self {
        Self { store, config, host, models, profiles, waker }
    }

    /// The newest runs, newest first: however many messages of strangers were looked at, those that read none are among them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn log(&self, limit: u32) -> Result<Listed<HeartbeatRun>, AgentError> {
        Ok(self.store.heartbeat_log(limit).await?)
    }

    /// The runs that ended in a span of time, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn runs_between(&self, since_ms: i64, until_ms: i64) -> Result<Listed<HeartbeatRun>, AgentError> {
        Ok(self.store.heartbeat_runs_between(since_ms, until_ms).await?)
    }

    /// The owner's profile, which heartbeats are run with.
    ///
    /// # Errors
    /// When the owner's files cannot be read, or there is no such profile.
    pub fn profile(&self) -> Result<Arc<Profile>, AgentError> {
        let name = &self.config.agent.profile;
        self.profiles.profile(name, Reader::Owner)
    }

    /// The first of the models set for heartbeats that can be used; none: the one that is set for all.
    pub async fn model(&self, settings: &Settings) -> Option<String> {
        for name in settings.model.iter().chain(&self.config.heartbeat.model) {
            if self.models.choose(Some(name)).await.is_ok() {
                return Some(name.clone());
            }
        }
        None
    }

    /// Sets the timer when there is none; the interval counts from now when the heartbeat never ran.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn schedule(&self) -> Result<(), AgentError> {
        self.store.start_heartbeat(self.host.now_ms()).await?;
        // A run that its process left is carried on at once, not at the next time.
        let running = self.store.heartbeat().await?.running;
        if running.is_some_and(|running| process::is_dead(&running.holder)) {
            return Ok(self.store.set_timer(TIMER, TIMER, self.host.now_ms()).await?);
        }
        let timers = self.store.timers().await?.rows;
        if !timers.iter().any(|timer| timer.kind == TIMER) {
            self.set_timer().await?;
        }
        Ok(())
    }

    /// Moves the timer forward when it was counted from a clock that was ahead.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        let timers = self.store.timers().await?.rows;
        let Some(due_ms) = timers.into_iter().find(|timer| timer.kind == TIMER).map(|timer| timer.due_ms) else {
            return Ok(());
        };
        match self.next_due_ms().await? {
            Some(next_ms) if next_ms < due_ms => Ok(self.store.set_timer(TIMER, TIMER, next_ms).await?),
            _ => Ok(()),
        }
    }

    /// When a run can be due next, in milliseconds since 1970; none when something must be set first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn next_due_ms(&self) -> Result<Option<i64>, AgentError> {
        let row = self.store.heartbeat().await?;
        // A time that was counted before the clock was set back is none to wait for.
        let waits =
            row.waits.as_ref().and_then(|(_, until)| *until).filter(|until| *until < self.host.now_ms() + HOUR_MS);
        Ok(match self.gate(&row).await?.0 {
            Gate::Wait(_, until) => until,
            Gate::Run => Some(waits.unwrap_or_default().max(self.host.now_ms() + RETRY_MS)),
        })
    }

    /// Sets the timer to when a run can be due next, or removes it.
    async fn set_timer(&self) -> Result<(), AgentError> {
        match self.next_due_ms().await? {
            Some(due_ms) => self.store.set_timer(TIMER, TIMER, due_ms).await?,
            None => self.store.remove_timer(TIMER, TIMER).await?,
        }
        Ok(())
    }
}
