//! Makes an agent. This is the one place where services are made, each with what it needs.

use std::sync::Arc;

use limpid_channels::mail::{MailServers, Mailbox};
use limpid_config::{Config, Environment, Home, Live, Redactor, hex, process};
use limpid_context::{ContextDeps, TokenCalibration};
use limpid_conversation::Conversations;
use limpid_conversation::Housekeeping;
use limpid_conversation::{ConversationDeps, WindowMemory};
use limpid_core::Tier;
use limpid_model::Model;
use limpid_model::chain::Pause;
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
use limpid_services::memory::MemoryWriter;
use limpid_services::models::{ModelRegistry, ModelRegistryParts};
use limpid_services::modes::Modes;
use limpid_services::notifications::{NotificationOptions, Notifications, Notifier};
use limpid_services::profiles::{self, ProfileRegistry};
use limpid_services::skills::Skills;
use limpid_services::spending::Spending;
use limpid_services::tasks::Tasks;
use limpid_services::timers::SchedulerWaker;
use limpid_services::tools::PolicyRules;
use limpid_services::tools::{FileHistory, ToolExecutor, ToolExecutorParts};
use limpid_store::{SqliteOptions, SqliteStore, Store};

use crate::agent::Agent;
use crate::agent::options::AgentOptions;
use crate::agent::services::Services;
use crate::jobs::Jobs;
use crate::jobs::deps::JobDeps;
use crate::jobs::maintenance::Maintenance;
use crate::preview::Previewer;
use crate::requests::Requests;
use crate::settings::LiveSettings;
use crate::settings::{Parts, Rebuild};

/// Makes an agent.
pub(super) fn build(options: AgentOptions) -> Result<Agent, AgentError> {
    let pause = Arc::clone(&options.pause);
    let hooks = Hooks::default();
    let services = services(options, &hooks)?;
    let ContextDeps { store, config, host, .. } = services.context.clone();
    let maintenance = Arc::new(Maintenance::new(store, config, host, services.memory.clone()));
    let conversations = Conversations::new(conversation_deps(&services, &pause, &maintenance));
    hooks.connect(&conversations);
    let jobs = Arc::new(Jobs::new(job_deps(&services, &conversations, pause, maintenance)));
    let (directory, modes) = (services.directory.clone(), services.modes.clone());
    let previewer = Arc::new(Previewer::new(services.context.clone(), directory, modes));
    let requests = Arc::new(Requests::new(conversations.clone(), Arc::clone(&previewer)));
    Ok(Agent { services: Arc::new(services), conversations, jobs, previewer, requests })
}

/// What is connected when everything is made, since it leads upwards.
#[derive(Default)]
struct Hooks {
    signal: ConversationSignal,
    next_tier: NextTier,
}

impl Hooks {
    /// Connects both to the conversations. They keep these no longer than others do.
    fn connect(self, conversations: &Conversations) {
        let asked = conversations.downgrade();
        self.next_tier.connect(move |conversation| {
            let conversations = asked.upgrade();
            Box::pin(async move {
                match conversations {
                    Some(conversations) => conversations.deps().context.next_tier(&conversation).await,
                    None => Tier::ALL[2],
                }
            })
        });
        let waking = conversations.downgrade();
        self.signal.connect(move |conversation| {
            if let Some(conversations) = waking.upgrade() {
                conversations.wake(conversation);
            }
        });
    }
}

/// Makes every service.
fn services(options: AgentOptions, hooks: &Hooks) -> Result<Services, AgentError> {
    let base = Base::open(&options, &hooks.signal)?;
    let models = Arc::new(base.models(options.model));
    let goals = base.goals(&models, hooks.next_tier.clone());
    let skills = Arc::new(base.skills());
    let mail = Arc::new(base.mail(options.mailbox));
    let tasks = Tasks::new(Arc::clone(&base.store), base.config.clone(), base.host.clone(), Arc::clone(&base.waker));
    let writer = base.memory();
    let files = Arc::new(FileHistory::new(&base.home, writer.clone()));
    let parts = Parts {
        home: base.home.clone(),
        environment: base.environment.clone(),
        memory: writer,
        models: Arc::clone(&models),
        goals: goals.clone(),
        skills: Arc::clone(&skills),
        mail: Arc::clone(&mail),
        tasks: tasks.clone(),
        helper: options.helper,
        tools: options.tools,
        store: Arc::clone(&base.store),
        events: base.events.clone(),
        redactor: base.redactor.clone(),
        retry: options.retry,
    };
    let rebuild = Rebuild::new(parts, &base.config, &base.host);
    let context = base.context(models, goals, skills, &rebuild);
    let executor = base.executor(&context, &files);
    let memory = rebuild.memory.clone();
    let notifications = base.notifications(options.notifiers);
    Ok(Services {
        drafts: base.drafts(&context, &executor),
        heartbeat: base.heartbeat(&context),
        inbox: base.inbox(),
        modes: base.modes(),
        spending: Spending::new(
            Arc::clone(&base.store),
            base.config.clone(),
            base.host.clone(),
            base.deliveries.clone(),
        ),
        settings: Arc::new(LiveSettings::new(
            base.config,
            options.config_file,
            base.environment,
            base.redactor,
            rebuild,
        )),
        deliveries: base.deliveries,
        directory: base.directory,
        events: base.events,
        waker: base.waker,
        context,
        executor,
        files,
        mail,
        memory,
        notifications,
        tasks,
    })
}

/// What most services are made from.
struct Base {
    home: Home,
    environment: Environment,
    config: Live<Config>,
    host: Host,
    store: Arc<dyn Store>,
    redactor: Redactor,
    profiles: Arc<ProfileRegistry>,
    events: EventBus,
    waker: Arc<SchedulerWaker>,
    directory: Directory,
    deliveries: Deliveries,
}

impl Base {
    fn open(options: &AgentOptions, signal: &ConversationSignal) -> Result<Self, AgentError> {
        let (home, environment) = (options.home.clone(), options.environment.clone());
        let store = match &options.store {
            Some(store) => Arc::clone(store),
            None => Arc::new(SqliteStore::open(home.database(), SqliteOptions::default())?),
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

    fn models(&self, only: Option<Arc<dyn Model>>) -> ModelRegistry {
        ModelRegistry::new(ModelRegistryParts {
            home: self.home.clone(),
            config: self.config.clone(),
            environment: self.environment.clone(),
            only,
            clock: Arc::clone(self.host.clock()),
            redactor: self.redactor.clone(),
        })
    }

    fn memory(&self) -> MemoryWriter {
        let (store, profiles) = (Arc::clone(&self.store), Arc::clone(&self.profiles));
        MemoryWriter::new(store, self.host.clone(), self.redactor.clone(), profiles, self.config.clone())
    }

    fn goals(&self, models: &Arc<ModelRegistry>, next_tier: NextTier) -> Goals {
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

    fn skills(&self) -> Skills {
        let (store, profiles) = (Arc::clone(&self.store), Arc::clone(&self.profiles));
        let (config, host, events) = (self.config.clone(), self.host.clone(), self.events.clone());
        Skills::new(self.home.clone(), store, config, host, events, profiles)
    }

    fn mail(&self, mailbox: Option<Arc<dyn Mailbox>>) -> MailAccounts {
        MailAccounts::new(MailOptions {
            home: self.home.clone(),
            environment: self.environment.clone(),
            config: self.config.clone(),
            host: self.host.clone(),
            store: Arc::clone(&self.store),
            redactor: self.redactor.clone(),
            mailbox: mailbox.unwrap_or_else(|| Arc::new(MailServers)),
            waker: Arc::clone(&self.waker),
        })
    }

    fn notifications(&self, more: Vec<Arc<dyn Notifier>>) -> Notifications {
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

    fn modes(&self) -> Modes {
        let (store, profiles) = (Arc::clone(&self.store), Arc::clone(&self.profiles));
        Modes::new(store, self.config.clone(), self.host.clone(), profiles, self.directory.clone())
    }

    fn inbox(&self) -> Inbox {
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

    fn context(&self, models: Arc<ModelRegistry>, goals: Goals, skills: Arc<Skills>, rebuild: &Rebuild) -> ContextDeps {
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

    fn executor(&self, context: &ContextDeps, files: &Arc<FileHistory>) -> ToolExecutor {
        ToolExecutor::new(ToolExecutorParts {
            tools: context.tools.clone(),
            policy: context.policy.clone(),
            files: Arc::clone(files),
            store: Arc::clone(&self.store),
            ids: Arc::clone(self.host.ids()),
        })
    }

    fn heartbeat(&self, context: &ContextDeps) -> HeartbeatSettings {
        let (store, waker) = (Arc::clone(&self.store), Arc::clone(&self.waker));
        let (models, profiles) = (Arc::clone(&context.models), Arc::clone(&self.profiles));
        HeartbeatSettings::new(store, self.config.clone(), self.host.clone(), models, profiles, waker)
    }

    fn drafts(&self, context: &ContextDeps, executor: &ToolExecutor) -> Drafts {
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

fn job_deps(
    services: &Services,
    conversations: &Conversations,
    pause: Arc<dyn Pause>,
    maintenance: Arc<Maintenance>,
) -> JobDeps {
    JobDeps {
        context: services.context.clone(),
        conversations: conversations.clone(),
        deliveries: services.deliveries.clone(),
        directory: services.directory.clone(),
        drafts: services.drafts.clone(),
        events: services.events.clone(),
        executor: services.executor.clone(),
        heartbeat: services.heartbeat.clone(),
        inbox: services.inbox.clone(),
        mail: Arc::clone(&services.mail),
        maintenance,
        modes: services.modes.clone(),
        notifications: services.notifications.clone(),
        pause,
        settings: Arc::clone(&services.settings),
        spending: services.spending.clone(),
        tasks: services.tasks.clone(),
        waker: Arc::clone(&services.waker),
    }
}

fn conversation_deps(services: &Services, pause: &Arc<dyn Pause>, maintenance: &Arc<Maintenance>) -> ConversationDeps {
    ConversationDeps {
        context: services.context.clone(),
        directory: services.directory.clone(),
        modes: services.modes.clone(),
        events: services.events.clone(),
        spending: services.spending.clone(),
        drafts: services.drafts.clone(),
        executor: services.executor.clone(),
        deliveries: services.deliveries.clone(),
        notifications: services.notifications.clone(),
        memory: services.memory.clone(),
        retry: services.settings.retry().clone(),
        pause: Arc::clone(pause),
        housekeeping: Arc::clone(maintenance) as Arc<dyn Housekeeping>,
        windows: WindowMemory::default(),
    }
}
