//! Turns of agents: what ends them besides themselves. And turns that the ends of agents begin: who is told of their answers.

use limpid_core::{ConversationId, FailureClass};
use limpid_model::ModelError;
use limpid_services::deliveries::visible_text;
use limpid_services::directory::is_run;
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::notifications::Notice;
use limpid_services::spending::{Spender, spender_of};
use limpid_store::{DeliveryId, DeliveryOrigin, NewDelivery, TurnWrite};
use limpid_turn::Effect;

use crate::turn::running::RunningTurn;

/// Whether a turn may ask a model.
pub(super) enum AgentsTurn {
    /// It may, and so somebody pays.
    GoesOn(Spender),
    /// Its agent has ended, by somebody else's doing.
    IsOver,
    /// The tokens of its tree are used up.
    HasNoTokens(AgentError),
}

/// Says whether a turn may ask a model once more, where it is an agent's.
pub(super) async fn may_go_on(turn: &mut RunningTurn) -> Result<AgentsTurn, AgentError> {
    let usual = AgentsTurn::GoesOn(spender_of(&turn.requests.path));
    let conversation = &turn.writer.lease().conversation;
    if !is_run(conversation) {
        return Ok(usual);
    }
    let Some(agent) = turn.deps.store().agent_in(conversation).await? else { return Ok(usual) };
    if agent.state.is_over() {
        return Ok(AgentsTurn::IsOver);
    }
    if turn.deps.store().tokens_of_tree(&agent.root).await? >= agent.tokens {
        let why = format!("the agents of this message have used their {} tokens together", agent.tokens);
        return Ok(AgentsTurn::HasNoTokens(ModelError::new(FailureClass::Limit, why).into()));
    }
    Ok(AgentsTurn::GoesOn(if agent.in_background { Spender::Background } else { Spender::Owner }))
}

/// The conversation whose owner's lasting yeses hold in a turn: an agent has those of the chat that its tree began in.
pub(super) async fn granted_in(turn: &mut RunningTurn) -> Result<ConversationId, AgentError> {
    let conversation = turn.writer.lease().conversation.clone();
    if !is_run(&conversation) {
        return Ok(conversation);
    }
    let agent = turn.deps.store().agent_in(&conversation).await?;
    Ok(agent.map_or(conversation, |agent| agent.chat))
}

/// The answer of a turn that nobody waits for.
pub(super) struct Unheard {
    delivery: NewDelivery,
    notice: Option<Notice>,
}

/// The answer that a turn ends with, when the ends of agents began the turn and nobody listens: its owner is told, as of any
/// message that nobody waits for.
pub(super) async fn unheard(turn: &mut RunningTurn, effects: &[Effect]) -> Result<Option<Unheard>, AgentError> {
    let answer = effects.iter().find_map(|effect| match effect {
        Effect::Deliver { text } => Some(text),
        _ => None,
    });
    let conversation = &turn.writer.lease().conversation;
    let Some(answer) = answer.filter(|_| !is_run(conversation) && !turn.listeners.is_heard()) else { return Ok(None) };
    let deps = &turn.deps;
    let text = visible_text(deps.redactor(), answer.clone());
    if text.trim().is_empty() || !deps.store().answers_agents(turn.id()).await? {
        return Ok(None);
    }
    let title = deps.directory.existing(conversation).await?.title;
    let notice = deps.notifications.prepare(conversation, title.clone(), text.clone());
    let delivery = NewDelivery {
        key: format!("answer/{}", turn.id()),
        conversation: conversation.clone(),
        origin: DeliveryOrigin::Agent,
        title,
        text,
        trust: turn.written(),
        now_ms: deps.host().now_ms(),
    };
    Ok(Some(Unheard { delivery, notice }))
}

impl Unheard {
    /// The write that keeps it, before the turn ends.
    pub(super) fn write(&self, turn: &RunningTurn) -> TurnWrite {
        let by = self.notice.as_ref().map(|_| turn.deps.notifications.pending_notifications());
        TurnWrite::Tell(Box::new(self.delivery.clone()), by.unwrap_or_default())
    }

    /// Tells it, once it is kept.
    pub(super) fn tell(self, turn: &RunningTurn, id: DeliveryId) {
        let Self { delivery: NewDelivery { conversation, origin, title, text, .. }, notice } = self;
        let notifications = &turn.deps.notifications;
        if let Some(notice) = notice {
            notifications.send(&conversation, id, notice);
        }
        let change = EventKind::Delivered { origin: origin.to_string(), title, text, delivery: id.0 };
        notifications.announce(&conversation, id, change);
    }
}
