//! Conversations without an agent around them, for the tests of this crate.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::{Config, Environment, Home, Live, RandomIds, Redactor, SystemClock};
use limpid_context::{ContextDeps, TokenCalibration};
use limpid_core::RetryPlan;
use limpid_core::policy::OwnerRules;
use limpid_model::Model;
use limpid_model::chain::RealPause;
use limpid_services::deliveries::{ConversationSignal, Deliveries};
use limpid_services::directory::Directory;
use limpid_services::drafts::{DraftOptions, Drafts};
use limpid_services::events::EventBus;
use limpid_services::goals::{Goals, GoalsParts, NextTier};
use limpid_services::host::Host;
use limpid_services::memory::{Memories, MemoryWriter};
use limpid_services::models::{ModelRegistry, ModelRegistryParts};
use limpid_services::modes::Modes;
use limpid_services::notifications::{NotificationOptions, Notifications};
use limpid_services::profiles::ProfileRegistry;
use limpid_services::skills::Skills;
use limpid_services::spending::Spending;
use limpid_services::timers::SchedulerWaker;

use limpid_services::tools::{FileHistory, PolicyRules, Tool, ToolCatalog, ToolExecutor, ToolExecutorParts};
use limpid_store::{SqliteOptions, SqliteStore, Store};

use crate::{ConversationDeps, Conversations, Housekeeping, WindowMemory};

struct Nothing;

#[async_trait]
impl Housekeeping for Nothing {
    async fn when_idle(&self) {}
}

/// Conversations in a folder, answered by a model that may call these tools.
pub(crate) fn conversations(
    folder: &tempfile::TempDir,
    model: Arc<dyn Model>,
    tools: &[Arc<dyn Tool>],
    config: &str,
) -> Conversations {
    let (home, environment) = (Home::new(folder.path()), Environment::default());
    let config = Live::new(Config::parse(config, "limpid.toml").unwrap());
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(home.database(), SqliteOptions::default()).unwrap());
    let redactor = Redactor::default();
    let host = Host::new(Arc::new(SystemClock), Arc::new(RandomIds), config.clone(), jiff::tz::TimeZone::UTC, "test");
    let events = EventBus::default();
    let profiles = Arc::new(ProfileRegistry::new(home.clone()));
    let directory = Directory::new(Arc::clone(&store), config.clone(), host.clone());
    let signal = ConversationSignal::default();
    let deliveries = Deliveries::new(Arc::clone(&store), directory.clone(), host.clone(), redactor.clone(), signal);
    let models = Arc::new(ModelRegistry::new(ModelRegistryParts {
        home: home.clone(),
        config: config.clone(),
        environment: environment.clone(),
        only: Some(model),
        clock: Arc::clone(host.clock()),
        redactor: redactor.clone(),
    }));
    let goals = Goals::new(GoalsParts {
        store: Arc::clone(&store),
        config: config.clone(),
        host: host.clone(),
        events: events.clone(),
        directory: directory.clone(),
        models: Arc::clone(&models),
        profiles: Arc::clone(&profiles),
        next_tier: NextTier::default(),
    });
    let profiles_of_skills = Arc::clone(&profiles);
    let skills =
        Skills::new(home.clone(), Arc::clone(&store), config.clone(), host.clone(), events.clone(), profiles_of_skills);
    let writer = MemoryWriter::new(Arc::clone(&store), host.clone(), redactor.clone());
    let tools = Live::new(ToolCatalog::new(Vec::new(), tools));
    let policy = PolicyRules::new(home.clone(), config.clone(), Live::new(Arc::new(OwnerRules::default())));
    let executor = ToolExecutor::new(ToolExecutorParts {
        tools: tools.clone(),
        policy: policy.clone(),
        files: Arc::new(FileHistory::new(&home, config.clone(), writer.clone())),
        store: Arc::clone(&store),
        ids: Arc::clone(host.ids()),
    });
    let drafts = Drafts::new(DraftOptions {
        config: config.clone(),
        host: host.clone(),
        store: Arc::clone(&store),
        directory: directory.clone(),
        deliveries: deliveries.clone(),
        events: events.clone(),
        redactor: redactor.clone(),
        profiles: Arc::clone(&profiles),
        tools: tools.clone(),
        executor: executor.clone(),
        policy: policy.clone(),
        waker: Arc::new(SchedulerWaker::new(home.wake_socket())),
    });
    let notifications = Notifications::new(NotificationOptions {
        home: home.clone(),
        config: config.clone(),
        environment,
        host: host.clone(),
        store: Arc::clone(&store),
        events: events.clone(),
        redactor: redactor.clone(),
        more: Vec::new(),
    });
    let modes = Modes::new(Arc::clone(&store), config.clone(), host.clone(), Arc::clone(&profiles), directory.clone());
    Conversations::new(ConversationDeps {
        modes,
        directory,
        spending: Spending::new(Arc::clone(&store), config.clone(), host.clone(), deliveries.clone()),
        drafts,
        executor,
        deliveries,
        notifications,
        memory: Memories::new(writer, None, config.clone(), host.clone()),
        retry: Live::new(RetryPlan::default()),
        pause: Arc::new(RealPause),
        housekeeping: Arc::new(Nothing),
        windows: WindowMemory::default(),
        events,
        context: ContextDeps {
            home,
            config,
            host,
            policy,
            profiles,
            models,
            redactor,
            counts: Arc::new(TokenCalibration::new(Arc::clone(&store))),
            store,
            goals,
            skills: Arc::new(skills),
            tools,
        },
    })
}
