//! Calls of tools in a turn: which run, what came of each, and which wait for the owner.

use std::sync::Arc;

use limpid_config::{Redactor, TextKind};
use limpid_context::PrefixCache;
use limpid_core::agent::tells_of_agents;
use limpid_core::{CallId, Message, Role, ToolCall};
use limpid_services::error::AgentError;
use limpid_services::heartbeat;
use limpid_services::tools::{
    CallContext, Decision, Permit, ShownItems, ToolContext, ToolFinder, Written, is_of_public,
};
use limpid_store::{Kept, TurnWrite};
use limpid_turn::result::{failure, returned};
use limpid_turn::{Effect, Event, HeldCall, PlannedCall, ToolOutcome};

use crate::event::TurnEvent;
use crate::listeners::ask_owner;
use crate::turn::agents;
use crate::turn::clean_first;
use crate::turn::journal::Entry;
use crate::turn::replies::refused;
use crate::turn::reservations;
use crate::turn::running::RunningTurn;
use crate::turn::tool_tasks::FinishedCall;
use crate::turn::window_facts::{call_context, owners_words_for, says_nothing_private, shows_private};

/// What an agent reads whose owner has said no to such a call before.
const REFUSED_BEFORE: &str = "the owner said no to a call of this tool before, which holds for the whole task";

impl RunningTurn {
    /// Starts the calls that may run; the others are refused or wait for the owner.
    pub(super) async fn start_tools(&mut self, calls: Vec<PlannedCall>) -> Result<(), AgentError> {
        // A call that is made again after the program stopped is judged as it was before.
        self.calls.fetches.retain(|(id, _)| !calls.iter().any(|planned| planned.call.id == *id));
        let mut context = call_context(self).await?;
        context.owners_words = owners_words_for(self, calls.iter().map(|planned| &planned.call)).await?;
        let (mut permitted, mut spent) = (Vec::new(), Vec::new());
        let now_ms = self.deps.host().now_ms();
        for planned in calls {
            let id = planned.call.id.clone();
            let right = reservations::right_to(self, &planned.call, &context);
            context.reserved = right.is_some();
            match self.calls.tools.decide(&planned, &context, now_ms).await {
                Decision::Run(permit) => {
                    if let Err(error) = reservations::reserve(self, &permit, &context).await? {
                        let outcome = ToolOutcome::failed(error, || self.calls.tools.new_tag());
                        self.tool_refused(&planned.call, outcome).await?;
                        continue;
                    }
                    if let Some(at) = right {
                        // Before the next call is looked at, which may be an equal one.
                        self.calls.reservations.spend(at);
                        spent.push(Entry::Spent(at));
                    }
                    // So that an equal call of the same reply counts. Nothing that the model wrote keeps it from asking from here on.
                    if let Some(address) = permit.fetches() {
                        context.note_fetch(address);
                        self.calls.fetches.push((id, address.to_owned()));
                    }
                    let links = reservations::links_of(self, permit.call(), &context, (now_ms, planned.timeout));
                    let links = links.map(|(at, links)| {
                        self.calls.reservations.spend(at);
                        spent.push(Entry::Spent(at));
                        links
                    });
                    permitted.push((*permit, planned.timeout, links));
                }
                Decision::Refused(error) => {
                    let outcome = ToolOutcome::failed(error, || self.calls.tools.new_tag());
                    self.tool_refused(&planned.call, outcome).await?;
                }
                Decision::Ask(_) if agents::was_refused(self, &planned.call.name).await? => {
                    let outcome = ToolOutcome::refused(REFUSED_BEFORE);
                    self.tool_refused(&planned.call, outcome).await?;
                }
                Decision::Ask(why) => self.apply(Event::Held { id, why }, None, Vec::new()).await?,
            }
        }
        let started = self.started(permitted.iter().map(|(permit, ..)| permit));
        let rows = spent.into_iter().map(|entry| (entry, Kept::UntilEnd)).chain(started);
        let rows = rows.map(|(entry, kept)| Ok(TurnWrite::Event(entry.into_row(kept)?)));
        let rows = rows.collect::<Result<Vec<_>, AgentError>>()?;
        if !rows.is_empty() {
            self.commit(rows).await?;
        }
        for (permit, timeout, links) in permitted {
            let call = permit.call();
            self.listeners.send(&TurnEvent::ToolStarted {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            });
            self.trace.called(&call.id, &call.name, self.deps.host().now_ms());
            let context = self.tool_context(&call.id, &context);
            self.calls.run(permit, timeout, context, links);
        }
        Ok(())
    }

    /// What is written down of calls that are about to run: those that are not made again, and those that ask for an address.
    fn started<'p>(&self, permits: impl Iterator<Item = &'p Permit>) -> Option<(Entry, Kept)> {
        let (mut started, mut kept) = (Vec::new(), Kept::UntilEnd);
        for permit in permits {
            let call = permit.call();
            if permit.fetches().is_some() {
                // Later turns have to know which addresses were asked for.
                kept = Kept::Afterwards;
            } else if self.calls.tools.is_repeatable(&call.name) {
                continue;
            }
            started.push(call.id.clone());
        }
        (!started.is_empty()).then_some((Entry::ToolsStarted(started), kept))
    }

    /// Takes in that a call was refused, which never ran.
    async fn tool_refused(&mut self, call: &ToolCall, outcome: ToolOutcome) -> Result<(), AgentError> {
        if let Some((_, result)) = self.take_in(FinishedCall::new(call.id.clone(), outcome)).await? {
            self.listeners.send(&refused(call, result));
        }
        Ok(())
    }

    /// Takes in what came of a call.
    pub(super) async fn tool_done(&mut self, call: FinishedCall) -> Result<(), AgentError> {
        let Some((id, result)) = self.take_in(call).await? else { return Ok(()) };
        self.listeners.send(&TurnEvent::ToolDone { id, result });
        if let Some(notice) = self.deps.memory.take_search_notice() {
            self.listeners.send(&TurnEvent::Notice(notice));
        }
        Ok(())
    }

    /// Keeps the result of a call; which it was and what is shown of it, as the model reads it.
    async fn take_in(&mut self, call: FinishedCall) -> Result<Option<(CallId, String)>, AgentError> {
        let FinishedCall { event, shown } = call;
        let event = self.without_secrets(event);
        self.trace.returned(&event, self.deps.host().now_ms());
        // Only a tool of agents tells of their ends: the same words in a page are the page's, and are shown whole.
        let is_of_agent = |id: &CallId| self.machine.name_of(id).is_some_and(tells_of_agents);
        let is_of_agent = matches!(&event, Event::ToolDone { id, .. } if is_of_agent(id));
        let (id, result) = match &event {
            Event::ToolDone { id, outcome } => {
                clean_first::note(self, id, outcome);
                let text = outcome.text();
                (id.clone(), if outcome.failed { failure(text) } else { returned(text.to_owned()) })
            }
            Event::Timer { id } => {
                let why = "it took too long and was stopped";
                clean_first::note(self, id, &ToolOutcome::refused(why));
                (id.clone(), failure(why))
            }
            _ => return Ok(None),
        };
        if !shown.is_empty() {
            self.calls.listings.insert(id.clone());
        }
        let shown = (!shown.is_empty()).then_some(TurnWrite::Shown(shown));
        let writes = shown.into_iter().chain(self.found_tools().await?).collect();
        self.apply(event, None, writes).await?;
        let result = if is_of_agent { agents::seen(&result).to_owned() } else { result };
        Ok(Some((id, result)))
    }

    /// Tools that were found since the last result: the conversation keeps them with this one.
    async fn found_tools(&mut self) -> Result<Option<TurnWrite>, AgentError> {
        let Some(found) = self.calls.finder().and_then(ToolFinder::take_changes) else { return Ok(None) };
        let conversation = self.deps.directory.existing(&self.writer.lease().conversation).await?;
        Ok(Some(TurnWrite::Conversation(vec![PrefixCache::with_found_tools(&conversation, found)])))
    }

    fn without_secrets(&self, event: Event) -> Event {
        match event {
            // What anybody can read holds no secret of the owner's, and a guess that is struck out is a guess that is confirmed.
            Event::ToolDone { id, outcome } if self.is_public_call(&id) && is_of_public(outcome.text()) => {
                Event::ToolDone { id, outcome }
            }
            Event::ToolDone { id, outcome } => {
                let name = self.machine.name_of(&id);
                let kind = name.map_or(TextKind::Said, |name| self.calls.tools.kind_of_result(name, &outcome));
                Event::ToolDone { id, outcome: outcome.map(|text| self.redactor().clean_as(kind, text)) }
            }
            other => other,
        }
    }

    fn is_public_call(&self, id: &CallId) -> bool {
        self.machine.name_of(id).is_some_and(|name| says_nothing_private(self, name))
    }

    /// What strikes the owner's secrets out of what the model says. After a stranger's text, in a window that shows nothing of the owner's,
    /// the model can only repeat a guess.
    pub(super) fn redactor_of_reply(&self) -> Redactor {
        let is_foreign = self.trust().is_foreign();
        if is_foreign && !shows_private(self) { Redactor::default() } else { self.redactor() }
    }

    /// What strikes the owner's secrets out of texts. The windows of research workers and of strangers' turns show nothing of the
    /// owner's, so there it knows none: what is struck out of a stranger's guesses would tell which one is right.
    pub(super) fn redactor(&self) -> Redactor {
        if self.calls.tools.shows_nothing_private() { Redactor::default() } else { self.deps.redactor().clone() }
    }

    /// Whether a stranger's text that this turn has read may have led to a call that looks at what came in. The lists that the turn
    /// was shown before do not count: who asks for all that is new is shown one list after the other.
    fn may_be_led(&self) -> bool {
        let listings = &self.calls.listings;
        let is_list = |message: &Message| message.call_id.as_ref().is_some_and(|id| listings.contains(id));
        let in_flight = self.machine.in_flight().iter();
        in_flight
            .filter(|message| message.role == Role::Tool && !is_list(message))
            .any(|message| message.trust.is_foreign())
    }

    fn tool_context(&self, call: &CallId, context: &CallContext) -> ToolContext {
        // A heartbeat looks at what came in for the owner, whoever wrote it.
        let shown = match self.may_be_led() && self.requests.path != heartbeat::PATH {
            true => ShownItems::unkept(),
            false => ShownItems::default(),
        };
        ToolContext {
            now: self.deps.host().now(),
            zone: self.deps.host().zone(),
            conversation: self.writer.lease().conversation.clone(),
            turn: self.id().clone(),
            call: call.clone(),
            trust: context.trust,
            tier: self.requests.tier(),
            read_only: self.calls.tools.is_read_only(),
            approved: false,
            snapshot: None,
            bans: limpid_core::policy::Bans::default(),
            unused_skills: Vec::new(),
            private_place: None,
            may_lead_to_key: true,
            drawn: false,
            program: None,
            send_state: None,
            tools_of_agents: None,
            shown,
            written: Written::default(),
            owner: self.listeners.can_answer().then(|| ask_owner(self.id().clone(), Arc::clone(&self.listeners))),
        }
    }

    /// The calls that wait for the owner.
    pub(super) fn held(&self) -> Vec<HeldCall> {
        let held = self.machine.pending().into_iter().filter_map(|effect| match effect {
            Effect::AskOwner { calls } => Some(calls),
            _ => None,
        });
        held.flatten().collect()
    }

    /// Whether a question is open.
    pub(super) fn is_asking(&self) -> bool {
        !self.held().is_empty()
    }
}
