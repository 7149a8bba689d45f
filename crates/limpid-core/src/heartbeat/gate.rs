//! Whether a run is due: a function of what was set, what happened, and the moment.

use std::fmt;

use super::Settings;
use crate::FailureClass;

/// Provider errors in a row after which it pauses.
const REFUSALS: u32 = 3;

/// Days without any act of the owner after which it pauses.
const SILENT_DAYS: i64 = 7;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// What happened to the heartbeat so far. Times are in milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// When it was switched on.
    pub switched_on_ms: Option<i64>,
    /// When a run was tried last.
    pub attempted_ms: Option<i64>,
    /// When a run went well last.
    pub succeeded_ms: Option<i64>,
    /// Runs that failed since.
    pub failures: u32,
    /// Of these, the last ones in a row that the provider refused for good.
    pub refusals: u32,
    /// Why it pauses, and since when.
    pub paused: Option<(Pause, i64)>,
}

impl State {
    /// The state after a run that went well.
    #[must_use]
    pub fn succeeded(self, now_ms: i64) -> Self {
        Self { attempted_ms: Some(now_ms), succeeded_ms: Some(now_ms), failures: 0, refusals: 0, ..self }
    }

    /// The state after a run that failed.
    #[must_use]
    pub fn failed(self, class: FailureClass, now_ms: i64) -> Self {
        let refused = matches!(class, FailureClass::Key | FailureClass::Quota | FailureClass::UnknownModel);
        let refusals = if refused { self.refusals + 1 } else { 0 };
        let paused = if refusals >= REFUSALS { Some((Pause::Provider, now_ms)) } else { self.paused };
        Self { attempted_ms: Some(now_ms), failures: self.failures + 1, refusals, paused, ..self }
    }

    /// The state after the owner did something at this time: a pause that began before it ends.
    #[must_use]
    pub fn resumed(self, act_ms: Option<i64>) -> Self {
        match self.paused {
            Some((_, since_ms)) if act_ms.is_some_and(|act_ms| act_ms > since_ms) => {
                Self { paused: None, failures: 0, refusals: 0, ..self }
            }
            _ => self,
        }
    }
}

/// Why it pauses until the owner does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The provider refused three times in a row: no key, no quota, no such model.
    Provider,
    /// The owner has done nothing for seven days.
    Silence,
}

impl Pause {
    /// The pause's name, as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Silence => "silence",
        }
    }

    /// Reads a pause's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Provider, Self::Silence].into_iter().find(|pause| pause.as_str() == word)
    }
}

/// The moment at which somebody asks. Times are in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The time.
    pub now_ms: i64,
    /// The hour of the owner's day.
    pub hour: u8,
    /// When the next hour of the owner's day begins.
    pub next_hour_ms: i64,
    /// When the owner did anything last.
    pub acted_ms: Option<i64>,
    /// Runs of this day that asked a model about something of the owner's.
    pub runs_today: u32,
    /// Runs of this day that asked a model about nothing but what came in.
    pub news_runs_today: u32,
    /// How many a day may have of each of these.
    pub runs_a_day: u32,
    /// Whether everything that is done by itself is switched off.
    pub scheduling_off: bool,
    /// Whether another call of a model is in progress.
    pub busy: bool,
}

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// A run is due.
    Run,
    /// None is, for this reason and until this time, in milliseconds since 1970; no time: until something is set.
    Wait(Why, Option<i64>),
}

/// Why no run is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is switched off.
    Off,
    /// Everything that is done by itself is switched off.
    NoScheduling,
    /// Its hours never come.
    NoHours,
    /// It pauses until the owner does something.
    Paused(Pause),
    /// It is none of its hours.
    Hours,
    /// The interval has not passed.
    Interval,
    /// The last run failed.
    BackOff,
    /// The day has had its runs.
    DayIsFull,
    /// Another call of a model is in progress.
    Busy,
    /// There is no model.
    NoModel,
    /// Background work has used up its tokens or its money for today.
    Spent,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "it is switched off",
            Self::NoScheduling => "everything that is done by itself is switched off: [scheduling] in limpid.toml",
            Self::NoHours => "its hours start and end at the same time, so they never come",
            Self::Paused(Pause::Provider) => {
                "the provider refused three times in a row; it goes on when you have done something"
            }
            Self::Paused(Pause::Silence) => "you have not done anything for seven days; it goes on when you have",
            Self::Hours => "it is outside its hours",
            Self::Interval => "the interval has not passed",
            Self::BackOff => "the last run failed; it waits before it tries again",
            Self::DayIsFull => "the day has had as many runs as `[heartbeat] runs_a_day` allows",
            Self::Busy => "another call of a model is in progress",
            Self::NoModel => "no model is set and none was found",
            Self::Spent => "background work has used up what it may spend today",
        })
    }
}

/// Says whether a run is due. `state` is the one after [`State::resumed`].
pub fn gate(settings: &Settings, state: &State, moment: &Moment) -> Gate {
    let Moment { now_ms, .. } = *moment;
    if !settings.enabled {
        return Gate::Wait(Why::Off, None);
    }
    if moment.scheduling_off {
        return Gate::Wait(Why::NoScheduling, None);
    }
    if settings.never_runs() {
        return Gate::Wait(Why::NoHours, None);
    }
    let pause = state.paused.map(|(pause, _)| pause).or_else(|| silence(state, moment));
    if let Some(pause) = pause {
        return Gate::Wait(Why::Paused(pause), Some(now_ms + MINUTE_MS));
    }
    if let Some(until) = backs_off_until(state, now_ms).filter(|until| *until > now_ms) {
        return Gate::Wait(Why::BackOff, Some(until));
    }
    let interval = i64::from(settings.interval_minutes) * MINUTE_MS;
    // After a clock that was set back, what lies ahead is nothing to count from: it must not be silent until the old time
    // comes again.
    let known = [state.succeeded_ms, state.switched_on_ms];
    let since = match known.into_iter().flatten().filter(|since| *since <= now_ms).max() {
        Some(since) => since,
        None if known == [None, None] => now_ms,
        None => now_ms - interval,
    };
    if since + interval > now_ms {
        return Gate::Wait(Why::Interval, Some(since + interval));
    }
    if !settings.allows(moment.hour) {
        return Gate::Wait(Why::Hours, Some(moment.next_hour_ms));
    }
    // While one kind has runs left, a run may begin, with its part alone.
    if moment.runs_today.min(moment.news_runs_today) >= moment.runs_a_day {
        return Gate::Wait(Why::DayIsFull, Some(moment.next_hour_ms));
    }
    if moment.busy {
        return Gate::Wait(Why::Busy, Some(now_ms + MINUTE_MS));
    }
    Gate::Run
}

fn silence(state: &State, moment: &Moment) -> Option<Pause> {
    let acted = moment.acted_ms.max(state.switched_on_ms)?;
    (moment.now_ms - acted >= SILENT_DAYS * 24 * HOUR_MS).then_some(Pause::Silence)
}

/// After k failures in a row the next try waits 60 s · 2^(k-1), an hour at most.
fn backs_off_until(state: &State, now_ms: i64) -> Option<i64> {
    let doubled = state.failures.checked_sub(1)?.min(6);
    let attempted_ms = state.attempted_ms.filter(|attempted_ms| *attempted_ms <= now_ms)?;
    Some(attempted_ms + (MINUTE_MS << doubled).min(HOUR_MS))
}

#[cfg(test)]
mod tests;
