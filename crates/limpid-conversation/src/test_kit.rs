//! Conversations without an agent around them, for the tests of this crate.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::{Config, Environment, Home, Live, RandomIds, Redactor, SystemClock};
use limpid_context::{ContextDeps, TokenCalibration};
use limpid_core::RetryPlan;
use limpid_core::policy::OwnerRules;
use limpid_model::Model;
use limpid_model::chain::RealPause;
use limpid_services::agents::{AgentRuns, Agents, AgentsParts};
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
use limpid_telemetry::Traces;

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
    let events = EventBus::default();
    let context = context(folder, model, tools, config, &events);
    let ContextDeps { home, config, host, policy, profiles, redactor, store, tools, .. } = context.clone();
    let directory = Directory::new(Arc::clone(&store), config.clone(), host.clone());
    let signal = ConversationSignal::default();
    let deliveries = Deliveries::new(Arc::clone(&store), directory.clone(), host.clone(), redactor.clone(), signal);
    let writer = MemoryWriter::new(Arc::clone(&store), host.clone(), redactor.clone());
    let executor = ToolExecutor::new(ToolExecutorParts {
        tools: tools.clone(),
        policy: policy.clone(),
        files: Arc::new(FileHistory::new(&home, config.clone(), writer.clone())),
        ids: Arc::clone(host.ids()),
        store: Arc::clone(&store),
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
        tools,
        executor: executor.clone(),
        policy,
        waker: Arc::new(SchedulerWaker::new(home.wake_socket())),
    });
    let notifications = Notifications::new(NotificationOptions {
        home,
        config: config.clone(),
        environment: Environment::default(),
        host: host.clone(),
        store: Arc::clone(&store),
        events: events.clone(),
        redactor,
        more: Vec::new(),
    });
    let agents = Agents::new(AgentsParts {
        store: Arc::clone(&store),
        config: config.clone(),
        host: host.clone(),
        redactor: context.redactor.clone(),
        skills: Arc::clone(&context.skills),
        events: events.clone(),
        signal: ConversationSignal::default(),
        runs: AgentRuns::default(),
        pause: Arc::new(RealPause),
    });
    Conversations::new(ConversationDeps {
        agents,
        modes: Modes::new(Arc::clone(&store), config.clone(), host.clone(), profiles, directory.clone()),
        directory,
        spending: Spending::new(store, config.clone(), host.clone(), deliveries.clone()),
        drafts,
        executor,
        deliveries,
        notifications,
        memory: Memories::new(writer, None, config, host),
        retry: Live::new(RetryPlan::default()),
        pause: Arc::new(RealPause),
        back_offs: Arc::default(),
        housekeeping: Arc::new(Nothing),
        windows: WindowMemory::default(),
        traces: Traces::default(),
        events,
        context,
    })
}

/// What prompts are made from in a folder.
fn context(
    folder: &tempfile::TempDir,
    model: Arc<dyn Model>,
    tools: &[Arc<dyn Tool>],
    config: &str,
    events: &EventBus,
) -> ContextDeps {
    let home = Home::new(folder.path());
    let config = Live::new(Config::parse(config, "limpid.toml").unwrap());
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(home.database(), SqliteOptions::default()).unwrap());
    let redactor = Redactor::default();
    let host = Host::new(Arc::new(SystemClock), Arc::new(RandomIds), config.clone(), jiff::tz::TimeZone::UTC, "test");
    let profiles = Arc::new(ProfileRegistry::new(home.clone()));
    let models = Arc::new(ModelRegistry::new(ModelRegistryParts {
        home: home.clone(),
        config: config.clone(),
        environment: Environment::default(),
        only: Some(model),
        clock: Arc::clone(host.clock()),
        redactor: redactor.clone(),
    }));
    let goals = Goals::new(GoalsParts {
        store: Arc::clone(&store),
        config: config.clone(),
        host: host.clone(),
        events: events.clone(),
        directory: Directory::new(Arc::clone(&store), config.clone(), host.clone()),
        models: Arc::clone(&models),
        profiles: Arc::clone(&profiles),
        next_tier: NextTier::default(),
    });
    let skills = Skills::new(
        home.clone(),
        Arc::clone(&store),
        config.clone(),
        host.clone(),
        events.clone(),
        Arc::clone(&profiles),
        Arc::new(FileHistory::new(
            &home,
            config.clone(),
            MemoryWriter::new(Arc::clone(&store), host.clone(), redactor.clone()),
        )),
    );
    ContextDeps {
        policy: PolicyRules::new(home.clone(), config.clone(), Live::new(Arc::new(OwnerRules::default()))),
        home,
        config,
        host,
        profiles,
        models,
        redactor,
        counts: Arc::new(TokenCalibration::new(Arc::clone(&store))),
        store,
        goals,
        skills: Arc::new(skills),
        tools: Live::new(ToolCatalog::new(Vec::new(), tools)),
    }
}
