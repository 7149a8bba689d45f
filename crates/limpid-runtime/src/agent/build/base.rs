//! What most services are made from, and the services that are made from nothing else.

use std::sync::Arc;

use limpid_channels::mail::Mailbox;
use limpid_config::{Config, Environment, Home, Live, Redactor, hex, process};
use limpid_context::{ContextDeps, TokenCalibration};
use limpid_model::Model;
use limpid_services::deliveries::{ConversationSignal, Deliveries};
use limpid_services::directory::Directory;
use limpid_services::drafts::{DraftOptions, Drafts};
use limpid_services::error::AgentError;
use limpid_services::events::EventBus;
use limpid_services::goals::{Goals, GoalsParts, NextTier};
use limpid_services::heartbeat::HeartbeatSettings;
use limpid_services::host::Host;
use limpid_services::inbox::{Inbox, InboxOptions};
use limpid_services::mail::{MailAccounts, MailOptions};
use limpid_services::mcp::{McpOptions, McpServers};
use limpid_services::memory::MemoryWriter;
use limpid_services::models::{ModelRegistry, ModelRegistryParts};
use limpid_services::modes::Modes;
use limpid_services::notifications::{NotificationOptions, Notifications, Notifier};
use limpid_services::profiles::{self, ProfileRegistry};
use limpid_services::skills::Skills;
use limpid_services::timers::SchedulerWaker;
use limpid_services::tools::PolicyRules;
use limpid_services::tools::{FileHistory, ToolExecutor, ToolExecutorParts};
use limpid_store::{SqliteOptions, SqliteStore, Store};

use crate::agent::options::AgentOptions;
use crate::settings::Rebuild;

/// What most services are made from.
pub(super) struct Base {
    pub(super) home: Home,
    pub(super) environment: Environment,
    pub(super) config: Live<Config>,
    pub(super) host: Host,
    pub(super) store: Arc<dyn Store>,
    pub(super) redactor: Redactor,
    pub(super) profiles: Arc<ProfileRegistry>,
    pub(super) events: EventBus,
    pub(super) waker: Arc<SchedulerWaker>,
    pub(super) directory: Directory,
    pub(super) deliveries: Deliveries,
}

impl Base {
    pub(super) fn open(options: &AgentOptions, signal: &ConversationSignal) -> Result<Self, AgentError> {
        let (home, environment) = (options.home.clone(), options.environment.clone());
        let store = match &options.store {
            Some(store) => Arc::clone(store),
            None => {
                let options = SqliteOptions { folders: home.named_folders(), ..SqliteOptions::default() };
                Arc::new(SqliteStore::open(home.database(), options)?)
            }
        };
        let config = Live::new(options.config.clone());
        // Copies that nobody edited follow a newer program. What cannot be read here is told when a prompt needs it.
        let _ = profiles::status(&home);
        let redactor = Redactor::new(&environment, &config.secret_variables());
        let holder = process::holder(&hex(&*options.ids));
        let (clock, ids) = (Arc::clone(&options.clock), Arc::clone(&options.ids));
        let host = Host::new(clock, ids, config.clone(), options.system_zone.clone(), &holder);
        let directory = Directory::new(Arc::clone(&store), config.clone(), host.clone());
        let deliveries =
            Deliveries::new(Arc::clone(&store), directory.clone(), host.clone(), redactor.clone(), signal.clone());
        Ok(Self {
            profiles: Arc::new(ProfileRegistry::new(home.clone())),
            events: EventBus::default(),
            waker: Arc::new(SchedulerWaker::new(home.wake_socket())),
            home,
            environment,
            config,
            host,
            store,
            redactor,
            directory,
            deliveries,
        })
    }

    pub(super) fn models(&self, only: Option<Arc<dyn Model>>) -> ModelRegistry {
        ModelRegistry::new(ModelRegistryParts {
            home: self.home.clone(),
            config: self.config.clone(),
            environment: self.environment.clone(),
            only,
            clock: Arc::clone(self.host.clock()),
            redactor: self.redactor.clone(),
        })
    }

    pub(super) fn memory(&self) -> MemoryWriter {
        MemoryWriter::new(Arc::clone(&self.store), self.host.clone(), self.redactor.clone())
    }

    pub(super) fn goals(&self, models: &Arc<ModelRegistry>, next_tier: NextTier) -> Goals {
        Goals::new(GoalsParts {
            store: Arc::clone(&self.store),
            config: self.config.clone(),
            host: self.host.clone(),
            events: self.events.clone(),
            directory: self.directory.clone(),
            models: Arc::clone(models),
            profiles: Arc::clone(&self.profiles),
            next_tier,
        })
    }

    pub(super) fn skills(&self, files: Arc<FileHistory>) -> Skills {
        let (store, profiles) = (Arc::clone(&self.store), Arc::clone(&self.profiles));
        let (config, host, events) = (self.config.clone(), self.host.clone(), self.events.clone());
        Skills::new(self.home.clone(), store, config, host, events, profiles, files)
    }

    pub(super) fn mail(&self, mailbox: Arc<dyn Mailbox>) -> MailAccounts {
        MailAccounts::new(MailOptions {
            home: self.home.clone(),
            environment: self.environment.clone(),
            config: self.config.clone(),
            host: self.host.clone(),
            store: Arc::clone(&self.store),
            redactor: self.redactor.clone(),
            mailbox,
            waker: Arc::clone(&self.waker),
        })
    }

    pub(super) fn mcp(&self, options: &AgentOptions, skills: &Arc<Skills>) -> McpServers {
        McpServers::new(McpOptions {
            home: self.home.clone(),
            config: self.config.clone(),
            config_file: options.config_file.clone().unwrap_or_else(|| self.home.config()),
            environment: self.environment.clone(),
            host: self.host.clone(),
            helper: options.helper.clone(),
            skills: Arc::clone(skills),
            redactor: self.redactor.clone(),
        })
    }

    pub(super) fn notifications(&self, more: Vec<Arc<dyn Notifier>>) -> Notifications {
        Notifications::new(NotificationOptions {
            home: self.home.clone(),
            config: self.config.clone(),
            environment: self.environment.clone(),
            host: self.host.clone(),
            store: Arc::clone(&self.store),
            events: self.events.clone(),
            redactor: self.redactor.clone(),
            more,
        })
    }

    pub(super) fn modes(&self) -> Modes {
        let (store, profiles) = (Arc::clone(&self.store), Arc::clone(&self.profiles));
        Modes::new(store, self.config.clone(), self.host.clone(), profiles, self.directory.clone())
    }

    pub(super) fn inbox(&self) -> Inbox {
        Inbox::new(InboxOptions {
            home: self.home.clone(),
            environment: self.environment.clone(),
            config: self.config.clone(),
            host: self.host.clone(),
            store: Arc::clone(&self.store),
            redactor: self.redactor.clone(),
            events: self.events.clone(),
            waker: Arc::clone(&self.waker),
        })
    }

    pub(super) fn context(
        &self,
        models: Arc<ModelRegistry>,
        goals: Goals,
        skills: Arc<Skills>,
        rebuild: &Rebuild,
    ) -> ContextDeps {
        ContextDeps {
            home: self.home.clone(),
            config: self.config.clone(),
            host: self.host.clone(),
            policy: PolicyRules::new(self.home.clone(), self.config.clone(), rebuild.rules.clone()),
            profiles: Arc::clone(&self.profiles),
            models,
            redactor: self.redactor.clone(),
            store: Arc::clone(&self.store),
            goals,
            skills,
            tools: rebuild.tools.clone(),
            counts: Arc::new(TokenCalibration::new(Arc::clone(&self.store))),
        }
    }

    pub(super) fn executor(&self, context: &ContextDeps, files: &Arc<FileHistory>) -> ToolExecutor {
        ToolExecutor::new(ToolExecutorParts {
            tools: context.tools.clone(),
            policy: context.policy.clone(),
            files: Arc::clone(files),
            ids: Arc::clone(self.host.ids()),
            store: Arc::clone(&self.store),
        })
    }

    pub(super) fn heartbeat(&self, context: &ContextDeps) -> HeartbeatSettings {
        let (store, waker) = (Arc::clone(&self.store), Arc::clone(&self.waker));
        let (models, profiles) = (Arc::clone(&context.models), Arc::clone(&self.profiles));
        HeartbeatSettings::new(store, self.config.clone(), self.host.clone(), models, profiles, waker)
    }

    pub(super) fn drafts(&self, context: &ContextDeps, executor: &ToolExecutor) -> Drafts {
        Drafts::new(DraftOptions {
            config: self.config.clone(),
            host: self.host.clone(),
            store: Arc::clone(&self.store),
            directory: self.directory.clone(),
            deliveries: self.deliveries.clone(),
            events: self.events.clone(),
            redactor: self.redactor.clone(),
            profiles: Arc::clone(&self.profiles),
            tools: context.tools.clone(),
            executor: executor.clone(),
            policy: context.policy.clone(),
            waker: Arc::clone(&self.waker),
        })
    }
}
