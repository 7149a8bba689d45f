//! How a turn that a crash interrupted is carried on.

use std::collections::VecDeque;
use std::sync::Arc;

use limpid_context::{FindTools, History, PrefixCache, window_state_of};
use limpid_core::{CallId, Role, TurnId};
use limpid_services::error::AgentError;
use limpid_services::models::ModelRegistry;
use limpid_services::modes::{is_set, with_mode_of_chat};
use limpid_services::profiles::Reader;
use limpid_services::tools::OUTCOME_UNKNOWN;
use limpid_services::tools::{AgentScope, Reservations, TurnToolExecutor, trust_read_in};
use limpid_store::{InboundId, Lease, StoredMessage};
use limpid_turn::{Effect, Event, PlannedCall, ToolOutcome, Turn};

use crate::deps::ConversationDeps;
use crate::listeners::Listeners;
use crate::turn::journal::{Entry, Reserved, entries, was_started};
use crate::turn::requests::TurnRequests;
use crate::turn::running::{RunningTurn, TurnSeed};
use crate::turn::start::start_of;
use crate::turn::tool_tasks::ToolCalls;
use crate::turn::trace::TurnTrace;
use crate::turn::transaction::TurnWriter;

/// Carries on a turn that a crash interrupted, from its journal.
///
/// # Errors
/// When its journal or what it needs cannot be read; then it is over.
pub(crate) async fn resume(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    listeners: &Arc<Listeners>,
    id: &TurnId,
) -> Result<RunningTurn, AgentError> {
    deps.executor.files().settle().await?;
    let listed = deps.store().turn_events(id).await?;
    let entries = entries(&listed).map_err(|bad| bad.of_turn(id, &lease.conversation))?;
    let Some(Entry::Started(started)) = entries.first() else {
        // It had taken nothing yet: its messages wait for the next turn.
        return Err(AgentError::Invalid("the program stopped before the turn began".to_owned()));
    };
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let conversation = with_mode_of_chat(deps.store(), deps.config(), conversation).await?;
    let mut past = History::read(deps.store(), &conversation, &mut Vec::new()).await?;
    let listed = deps.store().messages(&lease.conversation, past.view.through).await?.rows;
    let own: Vec<StoredMessage> = listed.into_iter().filter(|row| row.turn == *id).collect();
    past.without(&own);
    let events = entries.iter().filter_map(|entry| match entry {
        Entry::Event(event, _) => Some(event.clone()),
        Entry::Started(_) | Entry::ToolsStarted(_) | Entry::Skills(_) | Entry::Reserved(_) | Entry::Spent(_) => None,
    });
    let machine = Turn::resume(start_of(started, &past), events);
    let asked = own.len().saturating_sub(machine.in_flight().len());
    let waited = own.iter().take(asked.saturating_sub(1));
    past.unanswered = waited.map(|row| limpid_core::Entry { id: row.id, message: row.message.clone() }).collect();

    let (loaded, profile) = deps.context.profiles.load(&started.profile, Reader::Prompts(&started.path))?;
    let mut models = deps.context.models.for_turn(Some(&started.model)).await?;
    let card = window_state_of(Some(&conversation)).fit(models[0].info(), deps.host().now_ms()).card;
    models[0] = ModelRegistry::resized(&models[0], &card);
    let profile = deps.context.profiles.fitting(&loaded, profile, (&started.path, &started.inputs), &mut Vec::new())?;
    let mode = &started.inputs.mode;
    let agent = deps.store().agent_in(&conversation.id).await?;
    if let Some(over) = agent.as_ref().filter(|agent| agent.state.is_over()) {
        return Err(AgentError::Invalid(format!("agent {} has ended: {}", over.id, over.state)));
    }
    let scope = agent.map(|agent| AgentScope::new(&agent, &profile));
    let set = is_set(Some(&conversation), mode);
    let policy =
        deps.context.policy.for_turn(&profile, &started.path, (mode, set), scope).read_by(conversation.audience);
    let found = PrefixCache::of(&conversation).tools.found;
    let finder = FindTools::of_turn(&profile, &started.path, &started.inputs, found);
    // Those under way count when they are made again.
    let made = machine.calls().filter(|call| !machine.is_open(&call.id)).map(|call| call.name.as_str());
    let tools = deps.executor.for_turn(policy, finder, made);
    let unknown = unknown_outcomes(&machine, &entries, &tools);
    let fetches = fetches(&machine, &entries, &tools);
    let models = (profile, started.path.clone(), models);
    let mut inputs = started.inputs.clone();
    // Calls of its newest reply are judged before the next request, by what that reply was made from.
    past.show(&mut inputs);
    let said = (inputs, past);
    let mut requests = TurnRequests::new(models, said, (started.effort, started.cache));
    requests.in_flight = own.iter().skip(asked).map(|row| row.id).collect();
    let seed = TurnSeed {
        steering: waiting_to_steer(&entries, &machine, asked, &own),
        machine,
        effects: Vec::new(),
        requests,
        calls: ToolCalls::new(tools, reserved(&entries)).with_fetches(fetches),
        writer: TurnWriter::of(lease.clone(), id.clone()),
        answers: Vec::new(),
        read: trust_read_in(deps.store(), id).await?,
        was_resumed: true,
        trace: TurnTrace::begin(deps, &lease.conversation, id, &started.path, deps.host().now_ms()).await,
    };
    let mut turn = RunningTurn::new(Arc::clone(deps), Arc::clone(listeners), seed);
    for event in unknown {
        turn.apply(event, None, Vec::new()).await?;
    }
    turn.carry_on();
    Ok(turn)
}

/// Calls that were begun, may have done anything, and must not be done again.
fn unknown_outcomes(machine: &Turn, entries: &[Entry], tools: &TurnToolExecutor) -> Vec<Event> {
    let mut events = Vec::new();
    for effect in machine.pending() {
        let Effect::RunTools { calls } = effect else { continue };
        for PlannedCall { call, .. } in calls {
            if was_started(entries, &call.id) && !tools.is_repeatable(&call.name) {
                let outcome = ToolOutcome::refused(OUTCOME_UNKNOWN);
                events.push(Event::ToolDone { id: call.id, outcome });
            }
        }
    }
    events
}

/// The addresses that the turn has asked for, each with its call.
fn fetches(machine: &Turn, entries: &[Entry], tools: &TurnToolExecutor) -> Vec<(CallId, String)> {
    let started = machine.calls().filter(|call| was_started(entries, &call.id));
    started.filter_map(|call| Some((call.id.clone(), tools.fetched_by(call)?))).collect()
}

/// The rights to send that the turn holds still.
fn reserved(entries: &[Entry]) -> Reservations {
    let mut held = Reservations::default();
    for entry in entries {
        match entry {
            Entry::Reserved(Reserved::By { call, calls }) => held.add(Some(CallId::new(call)), calls.clone()),
            Entry::Reserved(Reserved::Unknown(calls)) => held.add(None, calls.clone()),
            Entry::Spent(at) => held.spend(*at),
            _ => {}
        }
    }
    held
}

/// The accepted messages that were given to the machine and stand in no stored batch.
fn waiting_to_steer(entries: &[Entry], machine: &Turn, asked: usize, own: &[StoredMessage]) -> VecDeque<InboundId> {
    let placed = own.iter().skip(asked).filter(|row| row.message.role == Role::User).count();
    debug_assert_eq!(own.len().saturating_sub(asked), machine.in_flight().len());
    let steering = entries.iter().filter_map(|entry| match entry {
        Entry::Event(Event::Steer(_), inbound) => *inbound,
        _ => None,
    });
    steering.skip(placed).collect()
}
