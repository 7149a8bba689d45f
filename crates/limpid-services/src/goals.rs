//! Goals of conversations: their log is read and written here and nowhere else, and whoever changes one goes through
//! the rules of [`GoalManager`].

mod display;
mod owner;
mod tools;

use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use limpid_config::{Config, Live};
use limpid_core::goal::manager::Change;
use limpid_core::goal::{self, GoalAuthor, GoalError, GoalManager, GoalRecord, Room};
use limpid_core::{ConversationId, Tier, Trust, TurnId};
use limpid_prompt::{Estimate, TokenCounter as _};
use limpid_store::{Conversation, GoalAppend, GoalLog, Store, StoreError};

use crate::directory::Directory;
use crate::error::AgentError;
use crate::events::{EventBus, EventKind};
use crate::host::Host;
use crate::models::ModelRegistry;
use crate::profiles::ProfileRegistry;

pub use display::{goal_text, goals_text, record_text, steps_text};
pub use owner::{GoalChange, GoalHistory};
pub use tools::{CREATE_GOAL, GOAL_TOOLS, tools};

/// Times that a change is tried when somebody else changes the same goals meanwhile.
pub const TRIES: u32 = 8;

/// The goals of every conversation: whatever changes them holds one of these.
#[derive(Clone)]
pub struct Goals {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    events: EventBus,
    directory: Directory,
    models: Arc<ModelRegistry>,
    profiles: Arc<ProfileRegistry>,
    next_tier: NextTier,
}

/// What goals are made of.
pub struct GoalsParts {
    /// Where their log is.
    pub store: Arc<dyn Store>,
    /// What the owner has set.
    pub config: Live<Config>,
    /// The time.
    pub host: Host,
    /// Who watches.
    pub events: EventBus,
    /// The conversations that they belong to.
    pub directory: Directory,
    /// The models that a new conversation may have.
    pub models: Arc<ModelRegistry>,
    /// The profiles that a new conversation may have.
    pub profiles: Arc<ProfileRegistry>,
    /// How large the next prompt of a conversation is.
    pub next_tier: NextTier,
}

/// Asks for the tier of a conversation's next prompt. Goals are changed below what makes prompts, so that connects itself.
#[derive(Clone, Default)]
pub struct NextTier(Arc<OnceLock<Box<TierOf>>>);

type TierOf = dyn Fn(Conversation) -> BoxFuture<'static, Tier> + Send + Sync;

impl NextTier {
    /// What says it. The first one stays.
    pub fn connect(&self, tier_of: impl Fn(Conversation) -> BoxFuture<'static, Tier> + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(tier_of));
    }

    async fn of(&self, conversation: Conversation) -> Tier {
        match self.0.get() {
            Some(tier_of) => tier_of(conversation).await,
            None => Tier::ALL[2],
        }
    }
}

/// Why goals change.
#[derive(Clone, Copy, Debug)]
pub struct Cause<'a> {
    /// Who changes them.
    pub by: GoalAuthor,
    /// The least trusted text that whoever changes them has read.
    pub trust: Trust,
    /// The turn, when it happens in one.
    pub turn: Option<&'a TurnId>,
    /// Whether the policy of calls has let the change through.
    pub permitted: bool,
    /// How large the prompt is that shows them.
    pub tier: Tier,
    /// When, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Goals as they were read.
pub struct LoadedGoals {
    /// The goals.
    pub goals: goal::Goals,
    /// What could not be read, or did not fit, for the person.
    pub warnings: Vec<String>,
    last: u64,
}

/// Goals as a change leaves them.
pub struct Changed<T> {
    /// What the change gave.
    pub value: T,
    /// The goals after it.
    pub goals: goal::Goals,
    /// What happened, as it is written; nothing when the change came to nothing.
    pub append: GoalAppend,
}

impl Goals {
    /// The goals of a store.
    pub fn new(parts: GoalsParts) -> Self {
        let GoalsParts { store, config, host, events, directory, models, profiles, next_tier } = parts;
        Self { store, config, host, events, directory, models, profiles, next_tier }
    }

    /// The goals of a conversation as they are now.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load(&self, conversation: &ConversationId) -> Result<LoadedGoals, AgentError> {
        let GoalLog { records, broken, last } = self.store.goal_log(conversation).await?;
        let (goals, misfits) = goal::Goals::fold(&records);
        let unread = broken.iter().map(|broken| {
            format!("record {} of the goals cannot be read and is left out ({})", broken.id, broken.reason)
        });
        let warnings = unread.chain(misfits.iter().map(ToString::to_string)).collect();
        Ok(LoadedGoals { goals, warnings, last })
    }

    /// Who wrote the least trusted text of any goal of a conversation; what cannot be read may be anybody's.
    pub(crate) async fn trust(&self, conversation: &ConversationId) -> Trust {
        self.load(conversation).await.map_or(Trust::Outside, |loaded| loaded.goals.trust())
    }

    /// What a change would come to; nothing is written.
    ///
    /// # Errors
    /// When the rules of goals refuse it, or the store cannot be read.
    pub async fn plan<T>(
        &self,
        conversation: &ConversationId,
        cause: Cause<'_>,
        act: impl Fn(&mut GoalManager<'_>) -> Result<T, GoalError>,
    ) -> Result<Changed<T>, AgentError> {
        let kept = self.load(conversation).await?;
        let Cause { by, trust, turn, permitted, now_ms, tier } = cause;
        let change = Change { by, trust, turn, permitted, now_ms, room: room(tier) };
        let mut manager = GoalManager::new(kept.goals, change);
        let value = act(&mut manager)?;
        let (goals, records) = manager.finish();
        Ok(Changed { value, goals, append: GoalAppend { after: kept.last, records } })
    }

    /// What the owner is told of a change: which goals and steps it would touch, as they are. It is made of the very goals that the
    /// change would leave. None when they cannot be read.
    pub(crate) async fn in_words<T>(
        &self,
        conversation: &ConversationId,
        act: impl Fn(&mut GoalManager<'_>) -> Result<T, GoalError>,
    ) -> Option<String> {
        let before = self.load(conversation).await.ok()?.goals;
        let mut manager = self.tried(before.clone());
        Some(match act(&mut manager) {
            Ok(_) => display::change_text(&before, &manager.finish().0),
            Err(_) => display::change_text(&before, &before),
        })
    }

    /// What is found among the goals of a conversation; nothing is changed.
    pub(crate) async fn found<T>(
        &self,
        conversation: &ConversationId,
        find: impl Fn(&GoalManager<'_>) -> Option<T>,
    ) -> Option<T> {
        let goals = self.load(conversation).await.ok()?.goals;
        find(&self.tried(goals))
    }

    /// A manager whose changes are not written. Whether they fit the prompt is for the change itself to say.
    fn tried(&self, goals: goal::Goals) -> GoalManager<'static> {
        let room = Room { allotment: usize::MAX, count: &|_| 0 };
        let (by, now_ms) = (GoalAuthor::Tool, self.host.now_ms());
        GoalManager::new(goals, Change { by, trust: Trust::Owner, turn: None, permitted: true, now_ms, room })
    }

    /// Changes the goals of a conversation, all or nothing.
    ///
    /// # Errors
    /// When the rules of goals refuse it, or the store fails.
    pub async fn change<T>(
        &self,
        conversation: &ConversationId,
        cause: Cause<'_>,
        act: impl Fn(&mut GoalManager<'_>) -> Result<T, GoalError>,
    ) -> Result<Changed<T>, AgentError> {
        for _ in 1..TRIES {
            let changed = self.plan(conversation, cause, &act).await?;
            if changed.append.records.is_empty() {
                return Ok(changed);
            }
            match self.store.append_goal_log(conversation, changed.append.clone()).await {
                Err(StoreError::Conflict { .. }) => {}
                written => {
                    written?;
                    self.publish(conversation, &changed.append.records);
                    return Ok(changed);
                }
            }
        }
        Err(StoreError::Conflict { what: "goal log" }.into())
    }

    /// Has the goals of a conversation be again what they were after so many records of their log. `tier` is the size of the
    /// prompt that shows them.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn restore(&self, conversation: &ConversationId, records: u64, tier: Tier) -> Result<(), AgentError> {
        let log = self.store.goal_log(conversation).await?.records;
        if log.len() as u64 <= records {
            return Ok(());
        }
        let (earlier, _) = goal::Goals::fold(&log[..records as usize]);
        self.change(conversation, self.owner(tier), |manager| manager.restore(earlier.clone(), records)).await?;
        Ok(())
    }

    /// Whether every goal of a conversation that may come into the prompt fits another tier.
    ///
    /// # Errors
    /// [`GoalError::DoesNotFit`] with the sizes.
    pub async fn check_fits(&self, conversation: &ConversationId, tier: Tier) -> Result<(), AgentError> {
        let loaded = self.load(conversation).await?;
        Ok(loaded.goals.shown().map_or(Ok(()), |goal| room(tier).check(goal))?)
    }

    /// The owner changes them, by hand, now.
    fn owner(&self, tier: Tier) -> Cause<'static> {
        let now_ms = self.host.now_ms();
        Cause { by: GoalAuthor::Owner, trust: Trust::Owner, turn: None, permitted: true, tier, now_ms }
    }

    /// Tells everybody who watches what has happened to goals.
    pub fn publish(&self, conversation: &ConversationId, records: &[GoalRecord]) {
        let Some(last) = records.last() else { return };
        let what: Vec<&str> = records.iter().map(|record| record.event.name()).collect();
        let change = EventKind::GoalUpdated { goal: last.event.goal().to_string(), what: what.join(", ") };
        self.events.send(Some(conversation), change);
    }
}

/// The room of a tier. Counted by the plain estimate, so that what fits once fits whenever it is looked at again.
fn room(tier: Tier) -> Room<'static> {
    Room { allotment: tier.goal_allotment() as usize, count: &|text| Estimate::default().count(text) }
}
