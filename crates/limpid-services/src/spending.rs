//! Spending limits, counted from the request log: asked before a run in the background begins, and again wherever a
//! model is called.

use std::sync::Arc;

use limpid_config::{Config, Live};
use limpid_core::spend::{Amount, Limit, LimitState, Quantity, Scope};
use limpid_core::{ConversationId, FailureClass, Labelled, Money, Trust, TurnId, sentence};
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
        match self.limit_reached(spender, path, turn).await? {
            Some(reached) => Err(refusal(&reached).into()),
            None => Ok(()),
        }
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
        let Some(reached) = self.limit_reached(spender, path, turn).await? else { return Ok(()) };
        if spender == Spender::Background {
            self.tell(&reached).await?;
        }
        Err(refusal(&reached).into())
    }

    /// Tells the owner that work in the background stops at a limit.
    async fn tell(&self, reached: &LimitState) -> Result<(), AgentError> {
        let today = self.host.now().to_zoned(self.host.zone()).date();
        // A limit is the owner's own line in limpid.toml.
        let text = sentence!("Work in the background stops here: {}.", Labelled::new(reached, Trust::Owner));
        let key = format!("limit:{}:{today}", reached.limit.key);
        self.deliveries.notice(None, &key, Announcement::new(TITLE.into(), text)).await?;
        Ok(())
    }

    /// Whether work in the background may go on that a stranger's text began; the owner is told when it may not, once a day.
    ///
    /// # Errors
    /// As [`Self::check_and_tell`].
    pub async fn check_for_strangers(&self) -> Result<(), AgentError> {
        self.check_and_tell(Spender::Background, None, None).await?;
        match self.strangers_limit_reached().await? {
            Some(reached) => {
                self.tell(&reached).await?;
                Err(refusal(&reached).into())
            }
            None => Ok(()),
        }
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
    ) -> Result<Option<LimitState>, AgentError> {
        let concerns = |limit: &Limit| match (&limit.scope, spender) {
            (Scope::Background, Spender::Owner) => false,
            (Scope::Run, _) => turn.is_some(),
            (Scope::Path(of), _) => Some(of.as_str()) == path,
            _ => true,
        };
        let limits: Vec<Limit> = self.config.limits.spending().into_iter().filter(concerns).collect();
        let states = self.states(limits, turn).await?;
        let reached = states.into_iter().find(|state| state.stops(spender, path));
        let Some(turn) = turn.filter(|_| reached.is_none() && spender == Spender::Background) else {
            return Ok(reached);
        };
        if self.store.begun_by_strangers(turn).await? { self.strangers_limit_reached().await } else { Ok(None) }
    }

    /// The limit of background work that stands against what a stranger's text began, if one does: half of each, so that whoever writes
    /// to the owner leaves the other half to what the owner planned.
    async fn strangers_limit_reached(&self) -> Result<Option<LimitState>, AgentError> {
        let mut limits = self.config.limits.spending();
        limits.retain(|limit| limit.scope == Scope::Background);
        let day = self.store.spent(self.day_began_ms(), None).await?;
        let used = sum(day.iter().filter(|row| row.by_strangers && (row.in_background || is_background(&row.path))));
        let state = |limit: Limit| LimitState {
            used: used.like(limit.cap),
            limit: Limit {
                key: format!("{} (the half for what others began)", limit.key),
                cap: half(limit.cap),
                ..limit
            },
        };
        Ok(limits.into_iter().map(state).find(|state| state.stops(Spender::Background, None)))
    }

    /// Limits with what was used of them.
    async fn states(&self, limits: Vec<Limit>, turn: Option<&TurnId>) -> Result<Vec<LimitState>, AgentError> {
        let of_day = limits.iter().any(|limit| limit.scope != Scope::Run);
        let day = if of_day { self.store.spent(self.day_began_ms(), None).await? } else { Vec::new() };
        let run = match turn.filter(|_| limits.iter().any(|limit| limit.scope == Scope::Run)) {
            Some(turn) => self.store.spent(i64::MIN, Some(turn)).await?,
            None => Vec::new(),
        };
        let used = |scope: &Scope| match scope {
            Scope::Run => sum(run.iter()),
            Scope::Day => sum(day.iter()),
            Scope::Background => sum(day.iter().filter(|row| row.in_background || is_background(&row.path))),
            Scope::Path(path) => sum(day.iter().filter(|row| row.path == *path)),
        };
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

/// Why a request did not leave.
fn refusal(reached: &LimitState) -> ModelError {
    let advice = "raise it under [limits], or wait until it is free again";
    ModelError::new(FailureClass::Limit, format!("{reached}; {advice}"))
}

/// What others may use of a limit of work in the background.
const fn half(cap: Quantity) -> Quantity {
    match cap {
        Quantity::Tokens(tokens) => Quantity::Tokens(tokens / 2),
        Quantity::Money(money) => Quantity::Money(Money(money.0 / 2)),
    }
}

fn is_background(path: &str) -> bool {
    BACKGROUND.contains(&path)
}

fn sum<'a>(rows: impl Iterator<Item = &'a SpentRow>) -> Amount {
    rows.fold(Amount::default(), |mut sum, row| {
        sum.tokens = sum.tokens.saturating_add(row.tokens);
        sum.money.0 = sum.money.0.saturating_add(row.money.0);
        sum
    })
}
