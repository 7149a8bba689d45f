//! The markers of a reply change the goal in the transaction that stores the reply.

use limpid_core::Role;
use limpid_core::goal::{GoalAuthor, Marker, Rejected, advance, scan};
use limpid_store::{StoreError, TurnWrite, Written};
use limpid_turn::{Effect, Finish, Outcome};

use crate::conversation::event::TurnEvent;
use crate::conversation::turn::running::Driver;
use crate::services::error::AgentError;
use crate::services::goals::{Cause, Changed, Goals, TRIES};

/// What one reply says about the goal.
#[derive(Debug, Default)]
struct Markers {
    good: Vec<Marker>,
    bad: Vec<Rejected>,
}

impl Markers {
    fn of(reply: &str) -> Self {
        let mut markers = Self::default();
        for marker in scan(reply).into_iter().filter_map(|line| line.marker) {
            match marker {
                Ok(marker) => markers.good.push(marker),
                Err(rejected) => markers.bad.push(rejected),
            }
        }
        markers
    }
}

impl Driver<'_> {
    /// Writes all or nothing, with what the final text of the turn says about the goal.
    pub(crate) async fn commit_and_advance(
        &mut self,
        writes: Vec<TurnWrite>,
        reply: Option<&str>,
    ) -> Result<Vec<Written>, AgentError> {
        let markers = reply.map(Markers::of).unwrap_or_default();
        self.report(&markers.bad);
        if markers.good.is_empty() {
            return self.commit(writes).await;
        }
        let goals = self.worker.inner.goals.clone();
        for _ in 1..TRIES {
            let Changed { value: refused, append, .. } = self.plan(&goals, &markers.good).await?;
            let changed = TurnWrite::Goals(append.clone());
            match self.commit(std::iter::once(changed).chain(writes.clone()).collect()).await {
                // A command or another process has changed the goal since it was read.
                Err(AgentError::Store(StoreError::Conflict { .. })) => {}
                committed => {
                    let written = committed?;
                    self.report(&refused);
                    goals.publish(&self.worker.conversation, &append.records);
                    return Ok(written);
                }
            }
        }
        Err(StoreError::Conflict { what: "goal log" }.into())
    }

    async fn plan(
        &self,
        goals: &Goals,
        markers: &[Marker],
    ) -> Result<Changed<Vec<limpid_core::goal::GoalError>>, AgentError> {
        let cause = Cause {
            by: GoalAuthor::Marker,
            trust: self.trust(),
            turn: Some(&self.id),
            tier: self.tier(),
            now_ms: self.worker.inner.host.now_ms(),
        };
        goals.plan(&self.worker.conversation, cause, |manager| Ok(advance(manager, markers))).await
    }

    fn report(&self, refused: &[impl ToString]) {
        for refusal in refused {
            self.worker.listeners.send(&TurnEvent::Notice(format!("goal: {}", refusal.to_string())));
        }
    }
}

/// The text whose markers count: that of a turn that was answered whole. Where the answer was cut
/// off, so may be its last line.
pub(crate) fn final_text(effects: &[Effect]) -> Option<&str> {
    let finish = effects.iter().find_map(|effect| match effect {
        Effect::End { outcome: Outcome::Answered { finish }, .. } => Some(*finish),
        _ => None,
    })?;
    let text = effects.iter().find_map(|effect| match effect {
        Effect::StoreMessages { batch } => batch.iter().rfind(|message| message.role == Role::Assistant),
        _ => None,
    })?;
    match finish {
        Finish::Stop => Some(&text.text),
        Finish::Length => text.text.rfind('\n').map(|at| &text.text[..=at]),
        Finish::Moderated => None,
    }
}
