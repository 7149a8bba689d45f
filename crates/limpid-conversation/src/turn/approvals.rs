//! Calls that wait for the owner: the question, its answer, and what is done when nobody can be asked.

use std::sync::Arc;

use limpid_context::convert;
use limpid_core::draft::{
    MOST_AFTER_STRANGERS, MOST_DRAFTS, MOST_OF_BACKGROUND, MOST_OF_BACKGROUND_AFTER_STRANGERS, MOST_OF_BACKGROUND_RUN,
    MOST_OF_RUN_AFTER_STRANGERS, MOST_OF_TURN_AFTER_STRANGERS,
};
use limpid_core::{CallId, Message, Role, ToolCall, Trust};
use limpid_prompt::Inputs;
use limpid_services::directory::is_run;
use limpid_services::drafts::{held_words, led_by, new_draft};
use limpid_services::error::AgentError;
use limpid_services::spending::{Spender, spender_of};
use limpid_services::tools::{CallContext, CallDescription, TurnToolExecutor, is_refused};
use limpid_store::{Draft, DraftRoom, RequestFilter, SubAgent};
use limpid_turn::{Event, HeldCall, ToolOutcome, Why};

use crate::event::{ApprovalAnswer, QuestionPart, TurnEvent};
use crate::question_id::QuestionId;
use crate::turn::agents::{agent_of, granted_in, named};
use crate::turn::clean_first;
use crate::turn::open_question::OpenQuestion;
use crate::turn::running::RunningTurn;
use crate::turn::tool_tasks::FinishedCall;
use crate::turn::window_facts::{call_context, owners_words_for};

/// Asks the owner about calls in one question, when somebody is there to answer.
pub(super) async fn ask_owner(turn: &mut RunningTurn, calls: Vec<HeldCall>) -> Result<(), AgentError> {
    if !turn.listeners.can_answer() {
        for held in calls {
            keep_as_draft(turn, held).await?;
        }
        return Ok(());
    }
    let mut context = call_context(turn).await?;
    context.owners_words = owners_words_for(turn, calls.iter().map(|held| &held.call)).await?;
    let agent = agent_of(turn).await?;
    let tools = Arc::clone(&turn.calls.tools);
    let asked_about: Vec<CallId> = calls.iter().map(|held| held.call.id.clone()).collect();
    let mut parts = Vec::new();
    for held in calls {
        parts.extend(part(&tools, named(agent.as_ref(), held), &context).await);
    }
    // Whatever was asked about these calls before is no question any more.
    turn.asked.retain(|open| !asked_about.contains(open.id.call()));
    turn.asked.extend(parts.iter().map(OpenQuestion::of));
    if !parts.is_empty() {
        turn.listeners.send(&TurnEvent::ApprovalRequested { parts, can_clean: context.trust.is_foreign() });
    }
    Ok(())
}

/// Takes the owner's answer; one to a question that is not open, such as one about the call as it was before, changes nothing.
pub(super) async fn take_answer(
    turn: &mut RunningTurn,
    question: &QuestionId,
    answer: ApprovalAnswer,
) -> Result<(), AgentError> {
    let call = question.call();
    let Some(at) = turn.asked.iter().position(|open| open.id == *question) else { return Ok(()) };
    let OpenQuestion { lasting, .. } = turn.asked.swap_remove(at);
    if !turn.held().iter().any(|held| held.call.id == *call) {
        return Ok(());
    }
    let context = call_context(turn).await?;
    if answer == ApprovalAnswer::Always
        && let Some(grant) = lasting
    {
        let place = granted_in(turn).await?;
        turn.deps.drafts.grant(&place, grant).await?;
    }
    let cleans = answer == ApprovalAnswer::CleanFirst && context.trust.is_foreign();
    if cleans {
        clean_first::begin(turn, call).await?;
    }
    let approved = answer != ApprovalAnswer::No;
    let at_ms = turn.deps.host().now_ms();
    turn.apply(Event::Decided { id: call.clone(), approved, at_ms }, None, Vec::new()).await?;
    // Behind the answer, so that a turn which has lost it to a crash asks again and does not end.
    if cleans {
        turn.apply(Event::EndAfterCalls, None, Vec::new()).await?;
    }
    Ok(())
}

/// Whoever could have answered is gone.
pub(super) async fn ask_nobody(turn: &mut RunningTurn) -> Result<(), AgentError> {
    for held in turn.held() {
        keep_as_draft(turn, held).await?;
    }
    Ok(())
}

async fn part(tools: &TurnToolExecutor, held: HeldCall, context: &CallContext) -> Option<QuestionPart> {
    let (call, described) = as_asked(tools, &held.call, context).await?;
    let (ToolCall { id, name, arguments }, Why { reason, about, bound_to }) = (call, held.why);
    let CallDescription { destination, folder, pattern, whole } = described;
    // What a yes does not let run, a lasting one is not kept for.
    let pattern = pattern.filter(|_| !is_refused(&bound_to));
    let id = QuestionId::new(id);
    Some(QuestionPart { id, name, arguments, about, destination, folder, reason, pattern, whole })
}

/// A call that waits as it would run, and what the owner is told of it; nothing of one that can be none.
async fn as_asked(
    tools: &TurnToolExecutor,
    call: &ToolCall,
    context: &CallContext,
) -> Option<(ToolCall, CallDescription)> {
    let call = tools.as_run(call, context.trust);
    let described = tools.describe(&call, context).await?;
    Some((call, described))
}

/// Nobody can be asked: the call is kept as a draft, and the model is told so.
async fn keep_as_draft(turn: &mut RunningTurn, held: HeldCall) -> Result<(), AgentError> {
    let mut context = call_context(turn).await?;
    context.owners_words = owners_words_for(turn, std::iter::once(&held.call)).await?;
    let tools = Arc::clone(&turn.calls.tools);
    let Some((call, described)) = as_asked(&tools, &held.call, &context).await else { return Ok(()) };
    let agent = agent_of(turn).await?;
    let held = named(agent.as_ref(), HeldCall { call, ..held });
    let deps = Arc::clone(&turn.deps);
    let led_by = led_by_text(turn).await?;
    let trust = context.trust;
    let place = (&turn.writer.lease().conversation, turn.id());
    let new = new_draft(place, &held, described, (led_by, trust), deps.host().now_ms());
    let outcome = match deps.drafts.keep(new, draft_room(turn, agent.as_ref(), trust)).await? {
        Some(draft) => {
            tell_of_draft(turn, &draft).await?;
            ToolOutcome::done(held_words(draft.id), String::new)
        }
        None => ToolOutcome::refused(
            "not done and not kept: too many drafts wait for the owner already, from this turn, from this run or chat, or from all \
             work of this kind; they have to answer some first. Say in your answer what was not done, so that they \
             can ask for it, and do not call it again.",
        ),
    };
    turn.tool_done(FinishedCall::new(held.call.id, outcome)).await
}

/// Which text led to what the model calls: everything that it has read is in the newest request of the turn.
async fn led_by_text(turn: &mut RunningTurn) -> Result<String, AgentError> {
    let store = turn.deps.store();
    let newest = RequestFilter { turn: Some(turn.id().clone()), limit: 1, ..RequestFilter::default() };
    let mut sent = Vec::new();
    for summary in store.requests(newest).await?.rows {
        sent.extend(store.request(&summary.id).await?.into_iter().flat_map(|request| request.messages));
    }
    let Inputs { history, user, .. } = &turn.requests.inputs;
    let asked = user.iter().map(|user| Message::new(Role::User, user.text.clone(), Trust::from(user.trust)));
    let asked: Vec<Message> = asked.collect();
    let running = asked.iter().chain(turn.machine.in_flight()).map(convert::in_flight);
    let messages: Vec<_> = history.iter().cloned().chain(running).collect();
    Ok(led_by(&messages, &sent))
}

/// An agent that works in the background shares the room of whatever started it. What a stranger's text led to has places of its own,
/// in all and in the background, and leaves most of them to other runs and chats: a chat and all its agents have as many as one turn, for
/// an agent that comes back begins another.
fn draft_room(turn: &RunningTurn, agent: Option<&SubAgent>, trust: Trust) -> DraftRoom {
    let (open, of_background, of_run) = match trust.is_foreign() {
        true => (MOST_AFTER_STRANGERS, MOST_OF_BACKGROUND_AFTER_STRANGERS, MOST_OF_RUN_AFTER_STRANGERS),
        false => (MOST_DRAFTS, MOST_OF_BACKGROUND, MOST_OF_BACKGROUND_RUN),
    };
    let of_turn = match spender_of(&turn.requests.path) {
        Spender::Background => of_run,
        Spender::Owner if trust.is_foreign() => MOST_OF_TURN_AFTER_STRANGERS,
        Spender::Owner => MOST_DRAFTS,
    };
    let of_chat = match agent {
        Some(agent) if agent.in_background => Some(of_run),
        None if spender_of(&turn.requests.path) == Spender::Background => None,
        _ => trust.is_foreign().then_some(MOST_OF_TURN_AFTER_STRANGERS),
    };
    DraftRoom { open, of_turn, of_chat, of_background: (of_background, of_run) }
}

/// Whoever listens in a chat is told at once; nobody else is lost sight of.
async fn tell_of_draft(turn: &mut RunningTurn, draft: &Draft) -> Result<(), AgentError> {
    let deps = &turn.deps;
    let is_chat = !is_run(&turn.writer.lease().conversation);
    if is_chat && turn.listeners.is_heard() && spender_of(&turn.requests.path) == Spender::Owner {
        turn.listeners.send(&TurnEvent::DraftKept(draft.id));
        return Ok(());
    }
    deps.drafts.tell_kept(draft, "It calls").await
}
