//! What jobs work with.

use std::sync::Arc;

use limpid_context::ContextDeps;
use limpid_conversation::Conversations;
use limpid_model::chain::Pause;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::drafts::Drafts;
use limpid_services::events::EventBus;
use limpid_services::heartbeat::HeartbeatSettings;
use limpid_services::inbox::Inbox;
use limpid_services::mail::MailAccounts;
use limpid_services::mcp::McpServers;
use limpid_services::modes::Modes;
use limpid_services::notifications::Notifications;
use limpid_services::spending::Spending;
use limpid_services::tasks::Tasks;
use limpid_services::timers::SchedulerWaker;
use limpid_services::tools::ToolExecutor;

use crate::jobs::maintenance::Maintenance;
use crate::settings::LiveSettings;

/// What jobs work with. Each takes its own part of it.
pub(crate) struct JobDeps {
    /// What prompts are made from: home, settings, store, models and more.
    pub(crate) context: ContextDeps,
    pub(crate) conversations: Conversations,
    pub(crate) deliveries: Deliveries,
    pub(crate) directory: Directory,
    pub(crate) drafts: Drafts,
    pub(crate) events: EventBus,
    pub(crate) executor: ToolExecutor,
    pub(crate) heartbeat: HeartbeatSettings,
    pub(crate) inbox: Inbox,
    pub(crate) mail: Arc<MailAccounts>,
    pub(crate) maintenance: Arc<Maintenance>,
    pub(crate) mcp: McpServers,
    pub(crate) modes: Modes,
    pub(crate) notifications: Notifications,
    pub(crate) pause: Arc<dyn Pause>,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) spending: Spending,
    pub(crate) tasks: Tasks,
    pub(crate) waker: Arc<SchedulerWaker>,
}
