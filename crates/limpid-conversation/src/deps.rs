//! What conversations work with.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_config::{Config, Live, Redactor};
use limpid_context::ContextDeps;
use limpid_core::{ConversationId, RetryPlan};
use limpid_model::BackOffs;
use limpid_model::chain::Pause;
use limpid_services::agents::Agents;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::drafts::Drafts;
use limpid_services::events::EventBus;
use limpid_services::host::Host;
use limpid_services::memory::Memories;
use limpid_services::modes::Modes;
use limpid_services::notifications::Notifications;
use limpid_services::spending::Spending;
use limpid_services::tools::ToolExecutor;
use limpid_store::Store;
use limpid_telemetry::Traces;

use crate::housekeeping::Housekeeping;

/// What conversations work with. Made once, and shared by all of them.
pub struct ConversationDeps {
    /// What prompts are made from: store, host, settings, models, profiles, goals and skills among it.
    pub context: ContextDeps,
    /// Finds and creates conversations.
    pub directory: Directory,
    /// Which mode is on.
    pub modes: Modes,
    /// Where changes are told.
    pub events: EventBus,
    /// What models may still cost.
    pub spending: Spending,
    /// Calls that wait for the owner.
    pub drafts: Drafts,
    /// The one place where tools run.
    pub executor: ToolExecutor,
    /// Agents that turns hand work to.
    pub agents: Agents,
    /// Messages that nobody waits for.
    pub deliveries: Deliveries,
    /// Ways to tell the owner of a delivery.
    pub notifications: Notifications,
    /// What the agent remembers.
    pub memory: Memories,
    /// How often one request is tried.
    pub retry: Live<RetryPlan>,
    /// How time is waited for, between tries and for summaries.
    pub pause: Arc<dyn Pause>,
    /// Providers that are left alone for a while, the same for all conversations.
    pub back_offs: Arc<BackOffs>,
    /// What is done when a conversation has nothing left to do.
    pub housekeeping: Arc<dyn Housekeeping>,
    /// What this process knows of the windows of conversations.
    pub windows: WindowMemory,
    /// Where turns, requests and calls are told of.
    pub traces: Traces,
}

impl ConversationDeps {
    /// The store.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.context.store
    }

    /// The process around.
    pub(crate) fn host(&self) -> &Host {
        &self.context.host
    }

    /// What the owner has set.
    pub(crate) fn config(&self) -> &Config {
        &self.context.config
    }

    /// Takes known secrets out of texts.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.context.redactor
    }
}

/// What a process knows of the windows of its conversations, so that nothing is told or looked at twice.
#[derive(Default)]
pub struct WindowMemory {
    /// Conversations whose owner knows that the window fills up.
    warned: Mutex<HashSet<ConversationId>>,
    /// Conversations that no earlier process can have left without a compaction that was due.
    looked_after: Mutex<HashSet<ConversationId>>,
}

impl WindowMemory {
    /// Says once that a window fills up, until it was made smaller.
    pub(crate) fn warn_once(&self, conversation: &ConversationId) -> bool {
        lock(&self.warned).insert(conversation.clone())
    }

    /// The window was made smaller.
    pub(crate) fn is_smaller(&self, conversation: &ConversationId) {
        lock(&self.warned).remove(conversation);
    }

    /// Whether this process looks after a conversation's window.
    pub(crate) fn looks_after(&self, conversation: &ConversationId) -> bool {
        lock(&self.looked_after).contains(conversation)
    }

    /// This process looks after a conversation's window from here on.
    pub(crate) fn look_after(&self, conversation: &ConversationId) {
        lock(&self.looked_after).insert(conversation.clone());
    }
}

fn lock(set: &Mutex<HashSet<ConversationId>>) -> MutexGuard<'_, HashSet<ConversationId>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}
