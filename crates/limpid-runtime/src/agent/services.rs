//! The services of an agent.

use std::sync::Arc;

use crate::agent::settings::LiveSettings;
use crate::context::ContextDeps;
use crate::services::deliveries::Deliveries;
use crate::services::directory::Directory;
use crate::services::drafts::Drafts;
use crate::services::events::EventBus;
use crate::services::heartbeat::HeartbeatSettings;
use crate::services::inbox::Inbox;
use crate::services::mail::MailAccounts;
use crate::services::memory::Memories;
use crate::services::modes::Modes;
use crate::services::notifications::Notifications;
use crate::services::spending::Spending;
use crate::services::tasks::Tasks;
use crate::services::timers::SchedulerWaker;
use crate::services::tools::{FileHistory, ToolExecutor};

/// Every service once. Clones share them.
#[derive(Clone)]
pub(super) struct Services {
    /// What prompts are made from: home, settings, store, models, profiles, goals, skills, tools.
    pub(super) context: ContextDeps,
    pub(super) deliveries: Deliveries,
    pub(super) directory: Directory,
    pub(super) drafts: Drafts,
    pub(super) events: EventBus,
    /// Decides about calls of tools, and runs them.
    pub(super) executor: ToolExecutor,
    /// Versions of the files that prompts quote.
    pub(super) files: Arc<FileHistory>,
    pub(super) heartbeat: HeartbeatSettings,
    pub(super) inbox: Inbox,
    pub(super) mail: Arc<MailAccounts>,
    pub(super) memory: Memories,
    pub(super) modes: Modes,
    pub(super) notifications: Notifications,
    pub(super) settings: Arc<LiveSettings>,
    pub(super) spending: Spending,
    pub(super) tasks: Tasks,
    pub(super) waker: Arc<SchedulerWaker>,
}
