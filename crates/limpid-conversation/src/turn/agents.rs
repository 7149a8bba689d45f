//! Turns of agents: what ends them besides themselves. And turns that the ends of agents begin: who is told of their answers.

use limpid_core::agent::is_notice;
use limpid_core::message::OWNER_SAID_NO;
use limpid_core::{ConversationId, FailureClass, Labelled, Message, Purse, Role, Trust};
use limpid_model::ModelError;
use limpid_services::deliveries::visible_text;
use limpid_services::directory::is_run;
use limpid_services::drafts::asked_by;
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::notifications::{Matter, Notice};
use limpid_services::spending::{Spender, spender_of};
use limpid_store::{AgentFilter, DeliveryId, DeliveryOrigin, NewDelivery, SubAgent, TurnWrite};
use limpid_turn::result::{self, failure};
use limpid_turn::{Effect, HeldCall, Why};

use crate::event::TurnEvent;
use crate::turn::running::RunningTurn;
use crate::turn::title::is_made_of;

/// Whether a turn may ask a model.
pub(super) enum AgentsTurn {
    /// It may, and so somebody pays.
    GoesOn(Spender),
    /// Its agent has ended, by somebody else's doing.
    IsOver,
    /// The tokens of its tree are used up.
    HasNoTokens(AgentError),
}

/// The agent whose turn it is, where it is an agent's.
pub(super) async fn agent_of(turn: &mut RunningTurn) -> Result<Option<SubAgent>, AgentError> {
    let conversation = turn.writer.lease().conversation.clone();
    if is_run(&conversation) { Ok(turn.deps.store().agent_in(&conversation).await?) } else { Ok(None) }
}

/// A call that waits for the owner, as they are told of it: an agent's call says whose it is.
pub(super) fn named(agent: Option<&SubAgent>, held: HeldCall) -> HeldCall {
    let Some(agent) = agent else { return held };
    let reason = asked_by(agent, &held.why.reason);
    HeldCall { why: Why { reason, ..held.why }, ..held }
}

/// Whether the owner has said no to a call of this tool while the agent was at its task: then there is no other question.
pub(super) async fn was_refused(turn: &mut RunningTurn, tool: &str) -> Result<bool, AgentError> {
    let Some(agent) = agent_of(turn).await? else { return Ok(false) };
    let own = agent.works_in();
    let store = turn.deps.store();
    if store.has_own_result(&own, tool, &failure(OWNER_SAID_NO)).await? || store.has_refused_draft(&own, tool).await? {
        return Ok(true);
    }
    Ok(was_refused_in(turn.machine.in_flight(), tool))
}

/// The same in the messages of a turn that is under way.
fn was_refused_in(messages: &[Message], tool: &str) -> bool {
    let says_no = |message: &&Message| {
        message.role == Role::Tool && result::was_refused(&message.text, message.trust, OWNER_SAID_NO)
    };
    let refused: Vec<_> = messages.iter().filter(says_no).filter_map(|message| message.call_id.as_ref()).collect();
    let mut calls = messages.iter().flat_map(|message| &message.calls);
    calls.any(|call| call.name == tool && refused.contains(&&call.id))
}

/// What people see of a result: of an agent that did not come to its end only that, and no word of its own.
pub(super) fn seen(result: &str) -> &str {
    match result.split_once('\n') {
        Some((notice, _)) if is_notice(notice) && !notice.contains("] done") => notice,
        _ => result,
    }
}

/// Says whether a turn may ask a model once more, where it is an agent's.
pub(super) async fn may_go_on(turn: &mut RunningTurn) -> Result<AgentsTurn, AgentError> {
    // What strangers ask for has the limits of what nobody asked for.
    let is_strangers = turn.calls.tools.is_for_strangers();
    let usual = if is_strangers { Spender::Background } else { spender_of(&turn.requests.path) };
    let usual = AgentsTurn::GoesOn(usual);
    let Some(agent) = agent_of(turn).await? else { return Ok(usual) };
    if agent.state.is_over() {
        return Ok(AgentsTurn::IsOver);
    }
    let purse = Purse::of(agent.new.by_strangers, turn.written());
    if turn.deps.store().tokens_of_tree(&agent.root, purse).await? >= agent.tokens {
        let why = format!("the agents of this message have used their {} tokens together", agent.tokens);
        return Ok(AgentsTurn::HasNoTokens(ModelError::new(FailureClass::Limit, why).into()));
    }
    Ok(AgentsTurn::GoesOn(if agent.in_background || is_strangers { Spender::Background } else { Spender::Owner }))
}

/// Says which agents in the background a stopped turn leaves at work: stopping them is an act of its own.
pub(super) async fn tell_who_goes_on(turn: &mut RunningTurn) -> Result<(), AgentError> {
    let conversation = turn.writer.lease().conversation.clone();
    if is_run(&conversation) {
        return Ok(());
    }
    let filter = AgentFilter { conversation: Some(conversation), open: true, ..AgentFilter::default() };
    let mut open = turn.deps.store().agents(filter).await?.rows;
    open.reverse();
    for agent in open.iter().filter(|agent| !agent.new.waited_for) {
        let id = agent.id;
        let label = agent.new.label_of_ours().map(|label| format!(" ({label})")).unwrap_or_default();
        let told = format!("agent {id}{label} goes on in the background; `limpid agent cancel {id}` stops it");
        turn.listeners.send(&TurnEvent::Notice(told));
    }
    Ok(())
}

/// The conversation whose owner's lasting yeses hold in a turn: an agent has those of the chat that its tree began in, but a
/// research worker, which is sent out with its task alone.
pub(super) async fn granted_in(turn: &mut RunningTurn) -> Result<ConversationId, AgentError> {
    let agent = agent_of(turn).await?.filter(|agent| !agent.is_research());
    Ok(agent.map_or_else(|| turn.writer.lease().conversation.clone(), |agent| agent.chat))
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
    // A title is the beginning of a message, which may be somebody else's, also where the owner has changed a word of it.
    let said =
        deps.store().messages(conversation, None).await?.rows.into_iter().filter(|row| row.message.role == Role::User);
    let has_made = said.filter(|row| is_made_of(&title, row.typed.as_deref().unwrap_or(&row.message.text)));
    let of_title = has_made.map(|row| row.message.trust).fold(Trust::Owner, Trust::join).of_strangers();
    let labelled = |text: &String, trust| Labelled::new(text.clone(), trust);
    let notice = labelled(&text, turn.written());
    let key = format!("answer/{}", turn.id());
    let matter = Matter::of(&key, DeliveryOrigin::Agent);
    let notice = deps.notifications.prepare(conversation, &matter, labelled(&title, of_title), notice);
    let delivery = NewDelivery {
        key,
        conversation: conversation.clone(),
        origin: DeliveryOrigin::Agent,
        title,
        text,
        trust: turn.written().join(of_title),
        draft: None,
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

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, ToolCall};

    use super::*;

    // SEC-051
    #[test]
    fn only_the_owner_refuses_a_tool() {
        let said = |text: &str, trust| {
            let call = ToolCall { id: CallId::new("a"), name: "desk__look".to_owned(), arguments: "{}".to_owned() };
            let calling = Message { calls: vec![call], ..Message::new(Role::Assistant, "", Trust::Owner) };
            [calling, Message { call_id: Some(CallId::new("a")), ..Message::new(Role::Tool, text, trust) }]
        };
        let no = failure(OWNER_SAID_NO);
        assert!(was_refused_in(&said(&no, Trust::Owner), "desk__look"));
        assert!(!was_refused_in(&said(&no, Trust::Owner), "web_fetch"));
        for trust in [Trust::Guest, Trust::Outside] {
            assert!(!was_refused_in(&said(&no, trust), "desk__look"), "a server's own words: {trust}");
        }
        assert!(!was_refused_in(&said(&failure("the owner said nothing"), Trust::Owner), "desk__look"));
    }
}
