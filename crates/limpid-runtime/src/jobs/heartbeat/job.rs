//! What the heartbeat's runs work with.

use std::sync::Arc;

use limpid_config::{Config, Home, Live};
use limpid_context::ContextDeps;
use limpid_conversation::Conversations;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::events::EventBus;
use limpid_services::heartbeat::HeartbeatSettings;
use limpid_services::host::Host;
use limpid_services::models::ModelRegistry;
use limpid_services::modes::Modes;
use limpid_services::spending::Spending;
use limpid_store::Store;
use tokio::sync::Mutex;

use crate::jobs::deps::JobDeps;

/// Runs the heartbeat.
pub(crate) struct HeartbeatJob {
    pub(super) heartbeat: HeartbeatSettings,
    pub(super) store: Arc<dyn Store>,
    pub(super) config: Live<Config>,
    pub(super) host: Host,
    pub(super) home: Home,
    pub(super) models: Arc<ModelRegistry>,
    pub(super) spending: Spending,
    pub(super) directory: Directory,
    pub(super) deliveries: Deliveries,
    pub(super) events: EventBus,
    pub(super) context: ContextDeps,
    pub(super) conversations: Conversations,
    pub(super) modes: Modes,
    /// Held while the heartbeat runs in this process.
    pub(super) alone: Mutex<()>,
}

impl HeartbeatJob {
    pub(crate) fn new(deps: &JobDeps) -> Self {
        let context = deps.context.clone();
        Self {
            heartbeat: deps.heartbeat.clone(),
            store: Arc::clone(&context.store),
            config: context.config.clone(),
            host: context.host.clone(),
            home: context.home.clone(),
            models: Arc::clone(&context.models),
            spending: deps.spending.clone(),
            directory: deps.directory.clone(),
            deliveries: deps.deliveries.clone(),
            events: deps.events.clone(),
            conversations: deps.conversations.clone(),
            context,
            alone: Mutex::new(()),
            modes: deps.modes.clone(),
        }
    }
}
