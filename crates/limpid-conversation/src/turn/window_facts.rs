//! What a tainted turn is judged by besides its label: what is private in its window, and which addresses are known.

use std::sync::Arc;

use limpid_core::agent::RESEARCH;
use limpid_core::message::FAILED;
use limpid_core::policy::{OwnersWords, TypedAddresses, rights_to_fetch, written_addresses};
use limpid_core::{ConversationId, Message, Role, ToolCall, TurnId};
use limpid_prompt::{Inputs, Profile};
use limpid_services::directory::task_of_run;
use limpid_services::error::AgentError;
use limpid_services::tools::{CallContext, TurnToolExecutor, WindowFacts, address_of, holds_private, owners_words};
use limpid_store::{Store, TypedOrCalled};

use crate::turn::agents;
use crate::turn::journal::{Entry, entries, was_started};
use crate::turn::running::RunningTurn;

/// What the policy needs to know besides the call.
pub(super) async fn call_context(turn: &mut RunningTurn) -> Result<CallContext, AgentError> {
    let trust = turn.trust();
    let conversation = turn.writer.lease().conversation.clone();
    let granted_in = agents::granted_in(turn).await?;
    let grants = turn.deps.drafts.grants(&granted_in).await?;
    // In a clean turn nothing of it counts.
    let window = if trust.is_foreign() { window_facts(turn).await? } else { WindowFacts::unknown() };
    let fetched = fetched(turn);
    let owners_words = Arc::default();
    Ok(CallContext { conversation: Some(conversation), trust, grants, window, reserved: false, fetched, owners_words })
}

/// What calls could tell a research worker of the owner's or, once a stranger's text was read, a search service; nothing where there is
/// no such call.
pub(super) async fn owners_words_for(
    turn: &mut RunningTurn,
    mut calls: impl Iterator<Item = &ToolCall>,
) -> Result<Arc<OwnersWords>, AgentError> {
    let tools = &turn.calls.tools;
    let may_search = turn.trust().is_foreign();
    if !calls.any(|call| call.name == RESEARCH || (may_search && tools.searches(call))) {
        return Ok(Arc::default());
    }
    // In the conversation of an agent nobody types.
    let agent = agents::agent_of(turn).await?;
    let is_agent = agent.is_some();
    let place = agent.map_or_else(|| turn.writer.lease().conversation.clone(), |agent| agent.chat);
    let said = turn.deps.store().typed_and_called(&place).await?;
    let mut typed: Vec<String> = said
        .into_iter()
        .filter_map(|said| match said {
            TypedOrCalled::Typed(text) => Some(text),
            TypedOrCalled::Called(..) => None,
        })
        .collect();
    // A planned task that they typed is typed for each of its runs.
    let task = match task_of_run(&place) {
        Some(id) => turn.deps.store().task(id).await?,
        None => None,
    };
    typed.extend(
        task.filter(|task| task.new.typed && !task.new.trust.is_foreign())
            .into_iter()
            .flat_map(|task| [task.new.prompt, task.new.description]),
    );
    let is_public = |name: &str| turn.calls.tools.is_public(name);
    let mut inputs = turn.requests.inputs.clone();
    // What an agent is told later is as much of its task as what it was told at first.
    if is_agent && let Some(told) = inputs.user.take() {
        inputs.delegate.context = Some([inputs.delegate.context.unwrap_or_default(), told.text].join("\n"));
    }
    Ok(Arc::new(owners_words(prompts_of(turn), &inputs, turn.machine.in_flight(), &typed, is_public)))
}

/// The addresses that the turn has asked for.
fn fetched(turn: &RunningTurn) -> Vec<String> {
    turn.calls.fetches.iter().map(|(_, address)| address.clone()).collect()
}

/// Whether the window of a turn shows something that is private to the owner.
pub(super) fn shows_private(turn: &RunningTurn) -> bool {
    let (inputs, in_flight) = (&turn.requests.inputs, turn.machine.in_flight());
    let is_public = |name: &str| says_nothing_private(turn, name);
    if turn.calls.tools.is_research() {
        // Its task was written while the turn that sent it was clean, or the owner has confirmed it.
        holds_private(prompts_of(turn), &Inputs { user: None, ..inputs.clone() }, in_flight, is_public)
    } else {
        holds_private(prompts_of(turn), inputs, in_flight, is_public)
    }
}

/// The profile and the path that render the prompts of a turn.
fn prompts_of(turn: &RunningTurn) -> (&Profile, &str) {
    (&turn.requests.profile, &turn.requests.path)
}

/// Whether nothing of the owner's is in the results of a tool of this name. What the turn has not got was refused, so its result says
/// nothing.
pub(super) fn says_nothing_private(turn: &RunningTurn, name: &str) -> bool {
    !turn.machine.has_tool(name) || turn.calls.tools.is_public(name)
}

/// Looks a tainted window through.
async fn window_facts(turn: &mut RunningTurn) -> Result<WindowFacts, AgentError> {
    let place = (&turn.writer.lease().conversation, turn.id());
    let tools = &turn.calls.tools;
    let typed = turn.calls.typed.get_or_try_init(|| typed_addresses(turn.deps.store(), tools, place));
    let mut named = typed.await?.clone();
    fetched(turn).iter().for_each(|address| named.fetched(address));
    let in_flight = turn.machine.in_flight();
    let is_private = shows_private(turn);
    // What a call was refused with repeats the model's own words.
    let is_read = |message: &&Message| message.role == Role::Tool && message.trust.is_foreign();
    let results = in_flight.iter().filter(is_read).filter(|message| !message.text.starts_with(FAILED));
    // Where something private is in the window it does not matter which links were read.
    let read = match is_private {
        true => Vec::new(),
        false => normal(results.flat_map(|message| written_addresses(&message.text))),
    };
    Ok(WindowFacts { is_private, named, link: None, read })
}

/// The addresses in what the owner typed in a conversation, and which of them turns before this one asked for. All of it is read, so
/// a turn asks once.
async fn typed_addresses(
    store: &dyn Store,
    tools: &TurnToolExecutor,
    (conversation, this): (&ConversationId, &TurnId),
) -> Result<TypedAddresses, AgentError> {
    let mut named = TypedAddresses::default();
    let mut journal: Option<(TurnId, Option<Vec<Entry>>)> = None;
    for said in store.typed_and_called(conversation).await? {
        match said {
            TypedOrCalled::Typed(text) => named.message(normal(rights_to_fetch(&text))),
            TypedOrCalled::Called(turn, _) if turn == *this => {}
            TypedOrCalled::Called(turn, calls) => {
                let fetches = calls.iter().filter_map(|call| Some((&call.id, tools.fetched_by(call)?)));
                let fetches: Vec<_> = fetches.filter(|(_, address)| named.contains(address)).collect();
                if fetches.is_empty() {
                    continue;
                }
                let started = match journal.take().filter(|(of, _)| *of == turn) {
                    Some((_, started)) => started,
                    None => entries(&store.turn_events(&turn).await?).ok(),
                };
                // A call that was refused, or that waits, has sent nothing: else it would choose what is next. Where that
                // cannot be read, each was sent.
                let was_sent = |id| started.as_ref().is_none_or(|all| was_started(all, id));
                let left = fetches.iter().filter(|(id, _)| was_sent(id));
                left.for_each(|(_, address)| named.fetched(address));
                journal = Some((turn, started));
            }
        }
    }
    Ok(named)
}

/// Addresses in their normal form.
fn normal<'t>(addresses: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    addresses.into_iter().filter_map(address_of).collect()
}
