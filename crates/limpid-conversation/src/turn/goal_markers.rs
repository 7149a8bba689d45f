//! The markers of a reply change the goal in the transaction that stores the reply.

use limpid_core::goal::{GoalAuthor, GoalError, Marker, Rejected, advance, scan};
use limpid_core::{Role, Tier, Trust};
use limpid_services::error::AgentError;
use limpid_services::goals::{Cause, Changed, TRIES};
use limpid_store::{GoalAppend, StoreError, TurnWrite};
use limpid_turn::{Effect, Finish, Outcome};

use crate::deps::ConversationDeps;
use crate::turn::transaction::TurnWriter;

/// What one reply says about the goal.
#[derive(Default)]
pub(crate) struct GoalMarkers {
    good: Vec<Marker>,
    bad: Vec<Rejected>,
    tries: u32,
    /// What the newest plan appends and refuses.
    planned: Option<(GoalAppend, Vec<GoalError>)>,
}

impl GoalMarkers {
    pub(crate) fn of(reply: &str) -> Self {
        let mut markers = Self::default();
        for marker in scan(reply).into_iter().filter_map(|line| line.marker) {
            match marker {
                Ok(marker) => markers.good.push(marker),
                // One notice for each kind of fault: an answer may have any number of such lines.
                Err(rejected) if markers.bad.contains(&rejected) => {}
                Err(rejected) => markers.bad.push(rejected),
            }
        }
        markers
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.good.is_empty() && self.bad.is_empty()
    }

    /// What the person is told of markers that change nothing; each once.
    pub(crate) fn refused(&mut self) -> impl Iterator<Item = String> + use<> {
        let bad = std::mem::take(&mut self.bad).into_iter().map(|bad| bad.to_string());
        let mut planned = self.planned.take().map(|(_, refused)| refused).unwrap_or_default();
        planned.dedup();
        bad.chain(planned.into_iter().map(|refused| refused.to_string())).map(|why| format!("goal: {why}"))
    }

    /// What is written into the goal's log, by the goal as it stands now; nothing when no marker is good.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn plan(
        &mut self,
        deps: &ConversationDeps,
        writer: &TurnWriter,
        trust: Trust,
        tier: Tier,
    ) -> Result<Option<TurnWrite>, AgentError> {
        if self.good.is_empty() {
            return Ok(None);
        }
        self.tries += 1;
        let (turn, now_ms) = (Some(writer.turn()), deps.host().now_ms());
        // Nobody was asked about a line of an answer.
        let cause = Cause { by: GoalAuthor::Marker, trust, turn, permitted: false, tier, now_ms };
        let conversation = &writer.lease().conversation;
        let Changed { value: refused, append, .. } =
            deps.context.goals.plan(conversation, cause, |manager| Ok(advance(manager, &self.good))).await?;
        self.planned = Some((append.clone(), refused));
        Ok(Some(TurnWrite::Goals(append)))
    }

    /// Whether a command or another process has changed the goal since it was read, so that it is planned again.
    pub(crate) fn may_try_again(&self, error: &AgentError) -> bool {
        self.tries < TRIES && matches!(error, AgentError::Store(StoreError::Conflict { .. }))
    }

    /// Tells everybody what was written.
    pub(crate) fn tell(&self, deps: &ConversationDeps, writer: &TurnWriter) {
        if let Some((append, _)) = &self.planned {
            deps.context.goals.publish(&writer.lease().conversation, &append.records);
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
