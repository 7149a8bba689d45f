//! The services of an agent.

use std::sync::Arc;

use limpid_context::ContextDeps;
use limpid_services::agents::Agents;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::drafts::Drafts;
use limpid_services::events::EventBus;
use limpid_services::heartbeat::HeartbeatSettings;
use limpid_services::inbox::Inbox;
use limpid_services::mail::MailAccounts;
use limpid_services::mcp::McpServers;
use limpid_services::memory::Memories;
use limpid_services::modes::Modes;
use limpid_services::notifications::Notifications;
use limpid_services::settings_file::SettingsFile;
use limpid_services::spending::Spending;
use limpid_services::tasks::Tasks;
use limpid_services::timers::SchedulerWaker;
use limpid_services::tools::{FileHistory, ToolExecutor};

use crate::settings::LiveSettings;

/// Every service once. Clones share them.
#[derive(Clone)]
pub(super) struct Services {
    /// Agents that turns hand work to.
    pub(super) agents: Agents,
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
    pub(super) mcp: McpServers,
    pub(super) memory: Memories,
    pub(super) modes: Modes,
    pub(super) notifications: Notifications,
    pub(super) settings: Arc<LiveSettings>,
    pub(super) settings_file: SettingsFile,
    pub(super) spending: Spending,
    pub(super) tasks: Tasks,
    pub(super) waker: Arc<SchedulerWaker>,
}
