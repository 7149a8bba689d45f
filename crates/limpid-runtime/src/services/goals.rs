//! Goals of conversations: their log is read and written here and nowhere else, and whoever changes one goes through
//! the rules of [`GoalManager`].
//!
//! - `by_hand`: what the owner does with goals.
//! - `advance`: what the markers of a reply change.
//! - `show`: goals as a person reads them.

pub(crate) mod display;
pub(crate) mod owner;
pub(crate) mod tools;

use std::sync::Arc;

use limpid_core::goal::manager::Change;
use limpid_core::goal::{GoalAuthor, GoalError, GoalManager, GoalRecord, Goals, Room};
use limpid_core::{ConversationId, Tier, Trust, TurnId};
use limpid_prompt::{Estimate, TokenCounter as _};
use limpid_store::{Conversation, GoalAppend, GoalLog, Store, StoreError};

use crate::agent::Inner;
use crate::context::window_state_of;
use crate::services::error::AgentError;
use crate::services::events::{EventBus, EventKind};

pub(crate) use crate::conversation::turn::goal_markers::final_text;
pub use crate::services::goals::display::{goal_text, goals_text, record_text, step_text};
pub use crate::services::goals::owner::{GoalChange, GoalHistory};
pub(crate) use crate::services::goals::tools::{CREATE_GOAL, GROUP as GOAL_TOOLS};

/// Times that a change is tried when somebody else changes the same goals meanwhile.
pub(crate) const TRIES: u32 = 8;

/// The goals of every conversation: whatever changes them holds one of these.
#[derive(Clone)]
pub(crate) struct GoalBook {
    store: Arc<dyn Store>,
    bus: EventBus,
}

/// Why goals change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause<'a> {
    pub(crate) by: GoalAuthor,
    pub(crate) trust: Trust,
    pub(crate) turn: Option<&'a TurnId>,
    pub(crate) tier: Tier,
    pub(crate) now_ms: i64,
}

/// Goals as they were read.
pub(crate) struct Kept {
    pub(crate) goals: Goals,
    /// What could not be read, or did not fit, for the person.
    pub(crate) troubles: Vec<String>,
    last: u64,
}

/// Goals as a change leaves them.
pub(crate) struct Changed<T> {
    pub(crate) value: T,
    pub(crate) goals: Goals,
    /// What happened, as it is written; nothing when the change came to nothing.
    pub(crate) append: GoalAppend,
}

impl GoalBook {
    pub(crate) fn new(store: Arc<dyn Store>, bus: EventBus) -> Self {
        Self { store, bus }
    }

    /// The goals of a conversation as they stand.
    pub(crate) async fn goals(&self, conversation: &ConversationId) -> Result<Kept, AgentError> {
        let GoalLog { records, broken, last } = self.store.goal_log(conversation).await?;
        let (goals, misfits) = Goals::fold(&records);
        let unread = broken.iter().map(|broken| {
            format!("record {} of the goals cannot be read and is left out ({})", broken.id, broken.reason)
        });
        let troubles = unread.chain(misfits.iter().map(ToString::to_string)).collect();
        Ok(Kept { goals, troubles, last })
    }

    /// What a change would come to; nothing is written.
    pub(crate) async fn plan<T>(
        &self,
        conversation: &ConversationId,
        cause: Cause<'_>,
        act: impl Fn(&mut GoalManager<'_>) -> Result<T, GoalError>,
    ) -> Result<Changed<T>, AgentError> {
        let kept = self.goals(conversation).await?;
        let Cause { by, trust, turn, now_ms, tier } = cause;
        let change = Change { by, trust, turn, now_ms, room: room(tier) };
        let mut manager = GoalManager::new(kept.goals, change);
        let value = act(&mut manager)?;
        let (goals, records) = manager.finish();
        Ok(Changed { value, goals, append: GoalAppend { after: kept.last, records } })
    }

    /// Changes the goals of a conversation, all or nothing.
    pub(crate) async fn change<T>(
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
                    self.tell(conversation, &changed.append.records);
                    return Ok(changed);
                }
            }
        }
        Err(StoreError::Conflict { what: "goal log" }.into())
    }

    /// Tells everybody who watches what has happened to goals.
    pub(crate) fn tell(&self, conversation: &ConversationId, records: &[GoalRecord]) {
        let Some(last) = records.last() else { return };
        let what: Vec<&str> = records.iter().map(|record| record.event.name()).collect();
        let change = EventKind::GoalUpdated { goal: last.event.goal().to_string(), what: what.join(", ") };
        self.bus.send(Some(conversation), change);
    }
}

impl Inner {
    /// Has the goals of a conversation stand again as they did after so many records of their log.
    pub(crate) async fn restore_goals(
        &self,
        conversation: &Conversation,
        records: u64,
        tier: Option<Tier>,
    ) -> Result<(), AgentError> {
        let log = self.store.goal_log(&conversation.id).await?.records;
        if log.len() as u64 <= records {
            return Ok(());
        }
        let (earlier, _) = Goals::fold(&log[..records as usize]);
        let tier = tier.or_else(|| window_state_of(Some(conversation)).tier()).unwrap_or(Tier::ALL[2]);
        let cause = Cause { by: GoalAuthor::Owner, trust: Trust::Owner, turn: None, tier, now_ms: self.host.now_ms() };
        self.goal_book().change(&conversation.id, cause, |manager| manager.restore(earlier.clone(), records)).await?;
        Ok(())
    }

    /// The goals of every conversation.
    pub(crate) fn goal_book(&self) -> GoalBook {
        GoalBook::new(Arc::clone(&self.store), self.bus.clone())
    }
}

/// The room of a tier. Counted by the plain estimate, so that what fits once fits whenever it is looked at again.
pub(crate) fn room(tier: Tier) -> Room<'static> {
    Room { allotment: tier.goal_allotment() as usize, count: &|text| Estimate::default().count(text) }
}
