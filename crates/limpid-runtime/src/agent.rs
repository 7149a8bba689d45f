//! The agent: the one handle that every surface calls. Clones share everything.

mod build;
mod options;
mod services;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_config::{Config, Home};
use limpid_store::{CostBy, CostQuery, CostRow, Store};
use tokio::sync::{broadcast, watch};

pub use self::options::AgentOptions;
use self::services::Services;
use crate::jobs::Jobs;
use crate::preview::{Preview, PreviewRequest, Previewer};
use crate::prompt_files::PromptFiles;
use crate::requests::Requests;
use limpid_context::ContextDeps;
use limpid_conversation::{ChatRequest, Conversations, TurnHandle};
use limpid_services::agents::Agents;
use limpid_services::deliveries::Deliveries;
use limpid_services::directory::Directory;
use limpid_services::drafts::Drafts;
use limpid_services::error::AgentError;
use limpid_services::events::Event;
use limpid_services::goals::Goals;
use limpid_services::heartbeat::HeartbeatSettings;
use limpid_services::inbox::Inbox;
use limpid_services::mail::MailAccounts;
use limpid_services::mcp::McpServers;
use limpid_services::memory::Memories;
use limpid_services::models::ModelRegistry;
use limpid_services::modes::Modes;
use limpid_services::notifications::Notifications;
use limpid_services::profiles::ProfileRegistry;
use limpid_services::settings_file::SettingsFile;
use limpid_services::skills::Skills;
use limpid_services::spending::Spending;
use limpid_services::tasks::Tasks;
use limpid_services::tools::{FileHistory, Tool, ToolExecutor};

/// An agent. It needs a Tokio runtime around it when it is asked to do something.
#[derive(Clone)]
pub struct Agent {
    services: Arc<Services>,
    conversations: Conversations,
    jobs: Arc<Jobs>,
    previewer: Arc<Previewer>,
    requests: Arc<Requests>,
    prompt_files: Arc<PromptFiles>,
}

impl Agent {
    /// Opens an agent: its store is opened or made. Blocks while it does so.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn open(options: AgentOptions) -> Result<Self, AgentError> {
        build::build(options)
    }

    /// The home folder.
    pub fn home(&self) -> &Home {
        &self.services.context.home
    }

    /// What the owner has set.
    pub fn config(&self) -> &Config {
        &self.services.context.config
    }

    /// The file of the settings, for changing it.
    pub fn settings_file(&self) -> &SettingsFile {
        &self.services.settings_file
    }

    /// Counts up whenever settings or the files that `serve` follows have changed.
    pub fn settings_changes(&self) -> watch::Receiver<u64> {
        self.services.settings.changes()
    }

    /// Takes settings over that come from no file, such as those of a session whose owner has changed theirs. What needs a restart
    /// stays as it is.
    pub fn use_settings(&self, settings: Config) {
        self.services.settings.apply(settings, "", "");
        self.services.settings.rebuild();
        self.services.settings.publish_change();
    }

    /// What the agent keeps, for reading.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.services.context.store
    }

    /// What requests cost, summed: those of a time on, and before another. Days are the owner's, by the offset of today.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn costs(
        &self,
        by: CostBy,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
    ) -> Result<Vec<CostRow>, AgentError> {
        let utc_offset_min = self.zone().to_offset(self.now()).seconds() / 60;
        Ok(self.store().costs(CostQuery { by, since_ms, until_ms, utc_offset_min }).await?)
    }

    /// The owner's zone.
    pub fn zone(&self) -> TimeZone {
        self.services.context.host.zone()
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.services.context.host.now()
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.services.context.host.now_ms()
    }

    /// A secret that nobody can guess: 64 hexadecimal digits.
    pub fn new_secret(&self) -> String {
        (0..4).map(|_| self.services.context.host.tag()).collect()
    }

    /// Sees to it that from here on no text of this process repeats a secret; `name` stands in its place.
    pub fn learn_secret(&self, name: &str, secret: &str) {
        self.services.context.redactor.learn(name, secret);
    }

    /// What changes in the agent from here on: modes, prompts, goals, skills, windows.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.services.events.listen()
    }

    /// Sends a message: see [`Conversations::chat`].
    ///
    /// # Errors
    /// As there.
    pub async fn chat(&self, request: ChatRequest) -> Result<TurnHandle, AgentError> {
        self.conversations.chat(request).await
    }

    /// The prompt of the next turn: see [`Previewer::preview`].
    ///
    /// # Errors
    /// As there.
    pub async fn preview(&self, request: PreviewRequest) -> Result<Preview, AgentError> {
        self.previewer.preview(request).await
    }

    /// The files that prompts are made from.
    pub fn prompt_files(&self) -> &PromptFiles {
        &self.prompt_files
    }

    /// What prompts are made from.
    pub(crate) fn context(&self) -> &ContextDeps {
        &self.services.context
    }

    /// Decides about calls of tools, and runs them.
    pub(crate) fn executor(&self) -> &ToolExecutor {
        &self.services.executor
    }

    /// The conversations that this process works on.
    pub fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// Agents that turns hand work to.
    pub fn agents(&self) -> &Agents {
        &self.services.agents
    }

    /// Messages that nobody waits for, and what the owner has not read of them.
    pub fn deliveries(&self) -> &Deliveries {
        &self.services.deliveries
    }

    /// Finds and makes conversations.
    pub fn directory(&self) -> &Directory {
        &self.services.directory
    }

    /// Calls that wait for the owner.
    pub fn drafts(&self) -> &Drafts {
        &self.services.drafts
    }

    /// Versions of the files that prompts quote.
    pub fn file_history(&self) -> &FileHistory {
        &self.services.files
    }

    /// Goals of conversations.
    pub fn goals(&self) -> &Goals {
        &self.services.context.goals
    }

    /// What the owner sets of the heartbeat.
    pub fn heartbeat(&self) -> &HeartbeatSettings {
        &self.services.heartbeat
    }

    /// What came in, and the token of whoever hands something in.
    pub fn inbox(&self) -> &Inbox {
        &self.services.inbox
    }

    /// What the agent does by itself, and its runs by hand.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Mail accounts.
    pub fn mail(&self) -> &MailAccounts {
        &self.services.mail
    }

    /// Servers whose tools and prompts the agent borrows.
    pub fn mcp(&self) -> &McpServers {
        &self.services.mcp
    }

    /// What the agent remembers.
    pub fn memory(&self) -> &Memories {
        &self.services.memory
    }

    /// Which model answers.
    pub fn models(&self) -> &ModelRegistry {
        &self.services.context.models
    }

    /// The same, for another agent of this process.
    pub fn shared_models(&self) -> Arc<ModelRegistry> {
        Arc::clone(&self.services.context.models)
    }

    /// Modes of conversations.
    pub fn modes(&self) -> &Modes {
        &self.services.modes
    }

    /// Ways to tell the owner of what was delivered, and clients that are open.
    pub fn notifications(&self) -> &Notifications {
        &self.services.notifications
    }

    /// Profiles: those that ship and the files of the owner that change them.
    pub fn profiles(&self) -> &ProfileRegistry {
        &self.services.context.profiles
    }

    /// Requests that were sent, and answers outside of any turn.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// What is built in, what is in the owner's folders, and what programs and servers offer.
    pub fn skills(&self) -> &Skills {
        &self.services.context.skills
    }

    /// The spending limits, and what was used of them.
    pub fn spending(&self) -> &Spending {
        &self.services.spending
    }

    /// A tool by the name that models call.
    pub fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.services.context.tools.tool(name).cloned()
    }

    /// Every tool, whether it can be used now or not.
    pub(crate) fn all_tools(&self) -> Vec<Arc<dyn Tool>> {
        self.services.context.tools.all().to_vec()
    }

    /// Has tools made again: the owner has looked at those of a server.
    pub fn renew_tools(&self) {
        self.services.settings.rebuild();
    }

    /// What is to be done later.
    pub fn tasks(&self) -> &Tasks {
        &self.services.tasks
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("home", &self.services.context.home).finish_non_exhaustive()
    }
}
