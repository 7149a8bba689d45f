//! Calls of tools that run, each in a task of its own.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use limpid_core::CallId;
use limpid_core::policy::TypedAddresses;
use limpid_services::tools::{Permit, Reservations, ToolContext, ToolFinder, TurnToolExecutor};
use limpid_store::ItemId;
use limpid_turn::{Event, ToolOutcome};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use crate::turn::opened_links::OpenedLinks;

/// The tools of a turn, and the calls of them that run.
pub(crate) struct ToolCalls {
    pub(super) tools: Arc<TurnToolExecutor>,
    running: JoinSet<FinishedCall>,
    /// Addresses that the owner typed in the conversation and earlier turns fetched, once a call needed to know.
    pub(super) typed: OnceCell<TypedAddresses>,
    /// Addresses that this turn had the right to ask for and so asked for, each with its call.
    pub(super) fetches: Vec<(CallId, String)>,
    /// Rights that this turn reserved.
    pub(super) reservations: Reservations,
    /// Calls whose results show items of the inbox, as this process knows.
    pub(super) listings: HashSet<CallId>,
}

/// What came of a call.
pub(crate) struct FinishedCall {
    pub(super) event: Event,
    /// The items of the inbox that its result shows.
    pub(super) shown: Vec<ItemId>,
}

impl FinishedCall {
    /// One that shows no item of the inbox.
    pub(crate) fn new(id: CallId, outcome: ToolOutcome) -> Self {
        Self { event: Event::ToolDone { id, outcome }, shown: Vec::new() }
    }
}

impl ToolCalls {
    pub(crate) fn new(tools: TurnToolExecutor, reservations: Reservations) -> Self {
        Self {
            tools: Arc::new(tools),
            running: JoinSet::new(),
            typed: OnceCell::new(),
            fetches: Vec::new(),
            reservations,
            listings: HashSet::new(),
        }
    }

    /// The same of a turn that has asked for these addresses.
    pub(super) fn with_fetches(self, fetches: Vec<(CallId, String)>) -> Self {
        Self { fetches, ..self }
    }

    /// Waits for the next call that is done, for ever when none runs.
    pub(crate) async fn next(&mut self) -> FinishedCall {
        loop {
            match self.running.join_next().await {
                Some(Ok(done)) => return done,
                // Tools run in tasks of their own, so nothing of theirs can break this one; only a stop ends it.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// What finds more tools, where the turn's prompt offers it.
    pub(crate) fn finder(&self) -> Option<&dyn ToolFinder> {
        self.tools.finder()
    }

    /// Stops what runs.
    pub(crate) fn stop_all(&mut self) {
        self.running.abort_all();
    }

    /// Runs a call, and with it the links of its result, where the turn reserved them.
    pub(super) fn run(&mut self, permit: Permit, timeout: Duration, context: ToolContext, links: Option<OpenedLinks>) {
        let tools = Arc::clone(&self.tools);
        let (id, shown) = (permit.call().id.clone(), context.shown.clone());
        self.running.spawn(async move {
            match tokio::time::timeout(timeout, tools.run(context.clone(), permit)).await {
                Ok(outcome) if outcome.failed => FinishedCall::new(id, outcome),
                Ok(outcome) => {
                    let outcome = match links {
                        Some(links) => links.open(&tools, &context, &id, outcome).await,
                        None => outcome,
                    };
                    let shown = shown.take().into_iter().map(ItemId).collect();
                    FinishedCall { event: Event::ToolDone { id, outcome }, shown }
                }
                Err(_) => FinishedCall { event: Event::Timer { id }, shown: Vec::new() },
            }
        });
    }
}
