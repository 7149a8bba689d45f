//! Spending limits, counted from the request log: asked before a run in the background begins, and again wherever a
//! model is called.

use std::fmt;
use std::sync::Arc;

use limpid_config::{Config, Live};
use limpid_core::spend::{Amount, Limit, LimitState, Quantity, Scope};
use limpid_core::{ConversationId, FailureClass, Labelled, Money, Sentence, Trust, TurnId, sentence};
use limpid_model::ModelError;
use limpid_store::{Audience, ConversationKind, SpentRow, Store};

pub use limpid_core::spend::Spender;

use crate::deliveries::{Announcement, Deliveries};
use crate::error::AgentError;
use crate::host::Host;

/// Paths that nobody asked for.
const BACKGROUND: [&str; 2] = ["heartbeat", "task"];

/// The title of the notice about a limit.
const TITLE: &str = "Spending limit";

/// A limit that is reached, and what stops there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    reached: LimitState,
    /// Whether it is the half for what strangers' texts began, so that the owner's own work goes on.
    is_strangers_half: bool,
}

impl Stop {
    /// Why nothing is asked of a model.
    pub fn refusal(&self) -> AgentError {
        ModelError::new(FailureClass::Limit, self.to_string()).into()
    }

    /// What the owner is told: what stops, until when, and why.
    fn notice(&self) -> Sentence {
        // A limit is the owner's own line in limpid.toml.
        let why = Labelled::new(self, Trust::Owner);
        match (&self.reached.limit.scope, self.is_strangers_half) {
            (Scope::Path(path), true) => sentence!(
                "Work of the kind `{}` started by other people's messages stops until tomorrow. Your own goes on. Why: {}.",
                Labelled::new(path, Trust::Owner),
                why
            ),
            (_, true) => sentence!(
                "Background work started by other people's messages stops until tomorrow. Your own tasks and heartbeat items \
                 go on. Why: {}.",
                why
            ),
            (Scope::Run, false) => sentence!("A run in the background was stopped. Why: {}.", why),
            (Scope::Path(path), false) => sentence!(
                "Background work of the kind `{}` stops until tomorrow. Why: {}.",
                Labelled::new(path, Trust::Owner),
                why
            ),
            (Scope::Day | Scope::Background, false) => {
                sentence!("The heartbeat and all other background work stop until tomorrow. Why: {}.", why)
            }
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_wait = if self.reached.limit.scope == Scope::Run { "" } else { ", or wait until tomorrow" };
        write!(f, "{}; raise it under [limits]{or_wait}", self.reached)
    }
}

/// What the spending limits of limpid.toml say about a request.
#[derive(Clone)]
pub struct Spending {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    deliveries: Deliveries,
}

impl Spending {
    /// Counts the requests of a store; `deliveries` tell the owner that work in the background stops.
    pub fn new(store: Arc<dyn Store>, config: Live<Config>, host: Host, deliveries: Deliveries) -> Self {
        Self { store, config, host, deliveries }
    }

    /// The limits of a day with what was used of each today.
    ///
    /// # Errors
    /// When the request log cannot be read.
    pub async fn limits(&self) -> Result<Vec<LimitState>, AgentError> {
        let limits = self.config.limits.spending();
        let limits = limits.into_iter().filter(|limit| limit.scope != Scope::Run).collect();
        self.states(limits, None).await
    }

    /// Whether somebody may have a model asked now: by a path and in a turn, as far as these are known.
    ///
    /// # Errors
    /// [`FailureClass::Limit`] with the limit that is reached; or the request log cannot be read.
    pub async fn check(&self, spender: Spender, path: Option<&str>, turn: Option<&TurnId>) -> Result<(), AgentError> {
        self.limit_reached(spender, path, turn).await?.map_or(Ok(()), |stop| Err(stop.refusal()))
    }

    /// The same. When background work may not go on, the owner is told, once a day.
    ///
    /// # Errors
    /// As [`Self::check`]; or the store cannot be written.
    pub async fn check_and_tell(
        &self,
        spender: Spender,
        path: Option<&str>,
        turn: Option<&TurnId>,
    ) -> Result<(), AgentError> {
        let Some(stop) = self.limit_reached(spender, path, turn).await? else { return Ok(()) };
        if spender == Spender::Background {
            self.tell(&stop).await?;
        }
        Err(stop.refusal())
    }

    /// What keeps work in the background from beginning, if anything does. What a stranger's text begins has a half of each limit.
    ///
    /// # Errors
    /// When the request log cannot be read.
    pub async fn background_stop(&self, path: Option<&str>, by_strangers: bool) -> Result<Option<Stop>, AgentError> {
        match self.limit_reached(Spender::Background, path, None).await? {
            None if by_strangers => self.strangers_limit_reached(Spender::Background, path).await,
            stop => Ok(stop),
        }
    }

    /// Whether work in the background may begin. When it may not, the owner is told, once a day.
    ///
    /// # Errors
    /// As [`Self::check_and_tell`].
    pub async fn check_background_and_tell(&self, path: Option<&str>, by_strangers: bool) -> Result<(), AgentError> {
        let Some(stop) = self.background_stop(path, by_strangers).await? else { return Ok(()) };
        self.tell(&stop).await?;
        Err(stop.refusal())
    }

    /// Tells the owner what stops at a limit, once a day.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn tell(&self, stop: &Stop) -> Result<(), AgentError> {
        let today = self.host.now().to_zoned(self.host.zone()).date();
        let key = format!("limit:{}:{today}", stop.reached.limit.key);
        self.deliveries.notice(None, &key, Announcement::new(TITLE.into(), stop.notice())).await?;
        Ok(())
    }

    /// Who wants a request of a path for a conversation.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn spender_in(&self, conversation: Option<&ConversationId>, path: &str) -> Result<Spender, AgentError> {
        let own = match conversation {
            Some(id) => self.store.conversation(id).await?,
            None => None,
        };
        let is_not_owners = own.is_some_and(|own| {
            matches!(own.kind, ConversationKind::Task | ConversationKind::Run) || own.audience == Audience::Strangers
        });
        Ok(if is_not_owners { Spender::Background } else { spender_of(path) })
    }

    /// The limit that stands against a request, if one does.
    async fn limit_reached(
        &self,
        spender: Spender,
        path: Option<&str>,
        turn: Option<&TurnId>,
    ) -> Result<Option<Stop>, AgentError> {
        let mut limits = self.limits_on(spender, path);
        limits.retain(|limit| turn.is_some() || limit.scope != Scope::Run);
        let states = self.states(limits, turn).await?;
        let reached = states.into_iter().find(|state| state.stops(spender, path));
        let stop = reached.map(|reached| Stop { reached, is_strangers_half: false });
        let Some(turn) = turn.filter(|_| stop.is_none()) else { return Ok(stop) };
        if self.store.begun_by_strangers(turn).await? {
            self.strangers_limit_reached(spender, path).await
        } else {
            Ok(None)
        }
    }

    /// The limit of a day that stands against what a stranger's text began, if one does: half of each, so that whoever writes to the
    /// owner leaves the other half to the owner.
    async fn strangers_limit_reached(&self, spender: Spender, path: Option<&str>) -> Result<Option<Stop>, AgentError> {
        let mut limits = self.limits_on(spender, path);
        limits.retain(|limit| limit.scope != Scope::Run);
        let mut day = self.store.spent(self.day_began_ms(), None).await?;
        day.retain(|row| row.by_strangers);
        let state = |limit: Limit| LimitState {
            used: used_of(&limit.scope, &day).like(limit.cap),
            limit: Limit {
                key: format!("{} (the half for other people's messages)", limit.key),
                cap: half(limit.cap),
                ..limit
            },
        };
        let reached = limits.into_iter().map(state).find(LimitState::is_used_up);
        Ok(reached.map(|reached| Stop { reached, is_strangers_half: true }))
    }

    /// The limits that can stand against a request.
    fn limits_on(&self, spender: Spender, path: Option<&str>) -> Vec<Limit> {
        let concerns = |limit: &Limit| match (&limit.scope, spender) {
            (Scope::Background, Spender::Owner) => false,
            (Scope::Path(of), _) => Some(of.as_str()) == path,
            _ => true,
        };
        self.config.limits.spending().into_iter().filter(concerns).collect()
    }

    /// Limits with what was used of them.
    async fn states(&self, limits: Vec<Limit>, turn: Option<&TurnId>) -> Result<Vec<LimitState>, AgentError> {
        let of_day = limits.iter().any(|limit| limit.scope != Scope::Run);
        let day = if of_day { self.store.spent(self.day_began_ms(), None).await? } else { Vec::new() };
        let run = match turn.filter(|_| limits.iter().any(|limit| limit.scope == Scope::Run)) {
            Some(turn) => self.store.spent(i64::MIN, Some(turn)).await?,
            None => Vec::new(),
        };
        let used = |scope: &Scope| used_of(scope, if *scope == Scope::Run { &run } else { &day });
        let state = |limit: Limit| LimitState { used: used(&limit.scope).like(limit.cap), limit };
        Ok(limits.into_iter().map(state).collect())
    }

    /// When the owner's day began, in milliseconds since 1970.
    fn day_began_ms(&self) -> i64 {
        let now = self.host.now().to_zoned(self.host.zone());
        now.start_of_day().map_or(i64::MIN, |start| start.timestamp().as_millisecond())
    }
}

/// Who wants a request of a path.
pub fn spender_of(path: &str) -> Spender {
    if is_background(path) { Spender::Background } else { Spender::Owner }
}

/// What others may use of a limit.
const fn half(cap: Quantity) -> Quantity {
    match cap {
        Quantity::Tokens(tokens) => Quantity::Tokens(tokens / 2),
        Quantity::Money(money) => Quantity::Money(Money(money.0 / 2)),
    }
}

fn is_background(path: &str) -> bool {
    BACKGROUND.contains(&path)
}

/// What rows used of what a limit is about.
fn used_of(scope: &Scope, rows: &[SpentRow]) -> Amount {
    let counts = |row: &&SpentRow| match scope {
        Scope::Run | Scope::Day => true,
        Scope::Background => row.in_background || is_background(&row.path),
        Scope::Path(path) => row.path == *path,
    };
    rows.iter().filter(counts).fold(Amount::default(), |mut sum, row| {
        sum.tokens = sum.tokens.saturating_add(row.tokens);
        sum.money.0 = sum.money.0.saturating_add(row.money.0);
        sum
    })
}
