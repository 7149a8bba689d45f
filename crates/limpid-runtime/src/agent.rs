//! The agent: the one handle that every surface calls. Clones share everything.

pub(crate) mod parts;
pub(crate) mod settings;
pub(crate) mod tools;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_channels::mail::{MailServers, Mailbox};
use limpid_config::{Clock, Config, Environment, Home, Ids, Live, RandomIds, Redactor, SystemClock, hex, process};
use limpid_core::policy::OwnerRules;
use limpid_core::{RetryPlan, Tier};
use limpid_model::Model;
use limpid_model::chain::{Pause, RealPause};
use limpid_store::{SqliteOptions, SqliteStore, Store};
use tokio::sync::{broadcast, watch};

use crate::agent::parts::{Built, Parts};
use crate::context::ContextDeps;
use crate::context::TokenCalibration;
use crate::conversation::conversations::{ChatRequest, Conversations, TurnHandle};
use crate::conversation::deps::{ConversationDeps, WindowMemory};
use crate::conversation::housekeeping::Housekeeping;
use crate::jobs::Jobs;
use crate::jobs::maintenance::Maintenance;
use crate::services::deliveries::{ConversationSignal, Deliveries};
use crate::services::directory::Directory;
use crate::services::drafts::{DraftOptions, Drafts};
use crate::services::error::AgentError;
use crate::services::events::{Event, EventBus};
use crate::services::goals::{Goals, GoalsParts, NextTier};
use crate::services::heartbeat::HeartbeatSettings;
use crate::services::host::Host;
use crate::services::inbox::{Inbox, InboxOptions};
use crate::services::mail::{MailAccounts, MailOptions};
use crate::services::memory::{Memories, MemoryWriter};
use crate::services::models::{ModelRegistry, ModelRegistryParts};
use crate::services::modes::Modes;
use crate::services::notifications::{NotificationOptions, Notifications, Notifier};
use crate::services::profiles::{self, ProfileRegistry};
use crate::services::skills::Skills;
use crate::services::spending::Spending;
use crate::services::tasks::Tasks;
use crate::services::timers::SchedulerWaker;
use crate::services::tools::PolicyRules;
use crate::services::tools::{FileHistory, Tool, ToolCatalog, ToolExecutor, ToolExecutorParts};

/// An agent. It needs a Tokio runtime around it when it is asked to do something.
#[derive(Clone)]
pub struct Agent {
    pub(crate) inner: Arc<Inner>,
    conversations: Conversations,
    jobs: Arc<Jobs>,
}

/// What an agent is made of.
#[derive(Clone)]
pub struct AgentOptions {
    /// The folder that holds everything.
    pub home: Home,
    /// What the owner has set.
    pub config: Config,
    /// The file that `config` was read from; while the agent serves, its changes are taken over. Absent: none is
    /// looked at.
    pub config_file: Option<PathBuf>,
    /// Environment variables as the binary read them.
    pub environment: Environment,
    /// The machine's time zone, used when the owner has set none.
    pub system_zone: TimeZone,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where names and tags come from.
    pub ids: Arc<dyn Ids>,
    /// Where things are kept; absent: the SQLite file of the home folder.
    pub store: Option<Arc<dyn Store>>,
    /// A model that answers whichever is asked for; absent: the one that is asked for.
    pub model: Option<Arc<dyn Model>>,
    /// The binary whose hidden sub-commands make the sandbox that programs run in, as `sandbox::main` carries them out;
    /// absent: no programs are run.
    pub helper: Option<PathBuf>,
    /// Tools besides Limpid's own.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Ways to tell the owner something, besides those of the configuration.
    pub notifiers: Vec<Arc<dyn Notifier>>,
    /// How often one request is tried.
    pub retry: RetryPlan,
    /// The servers of mail accounts; absent: the accounts' own, by IMAP and SMTP.
    pub mailbox: Option<Arc<dyn Mailbox>>,
    /// How time is waited for, between tries and for summaries.
    pub pause: Arc<dyn Pause>,
}

impl AgentOptions {
    /// The options of an agent with the machine's clock and randomness and nothing set.
    pub fn new(home: Home) -> Self {
        Self {
            home,
            config: Config::default(),
            config_file: None,
            environment: Environment::default(),
            system_zone: TimeZone::UTC,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            store: None,
            model: None,
            helper: None,
            tools: Vec::new(),
            notifiers: Vec::new(),
            retry: RetryPlan::default(),
            mailbox: None,
            pause: Arc::new(RealPause),
        }
    }
}

/// What all clones of an agent share.
pub(crate) struct Inner {
    pub(crate) home: Home,
    pub(crate) config: Live<Config>,
    pub(crate) config_file: Option<PathBuf>,
    /// Variables of secrets that the configuration named when the agent was opened.
    pub(crate) named_at_start: Vec<String>,
    /// Counts changes of settings and of the files that `serve` follows.
    pub(crate) changes: watch::Sender<u64>,
    /// What tools and rules are built from again.
    pub(crate) parts: Parts,
    pub(crate) environment: Environment,
    pub(crate) host: Host,
    pub(crate) directory: Directory,
    pub(crate) modes: Modes,
    pub(crate) deliveries: Deliveries,
    pub(crate) notifications: Notifications,
    pub(crate) spending: Spending,
    pub(crate) inbox: Inbox,
    pub(crate) drafts: Drafts,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) models: Arc<ModelRegistry>,
    pub(crate) tools: Live<ToolCatalog>,
    /// Decides about calls of tools, and runs them.
    pub(crate) executor: ToolExecutor,
    /// Versions of the files that prompts quote.
    pub(crate) files: Arc<FileHistory>,
    pub(crate) goals: Goals,
    pub(crate) skills: Arc<Skills>,
    pub(crate) mail: Arc<MailAccounts>,
    pub(crate) bus: EventBus,
    pub(crate) retry: Live<RetryPlan>,
    pub(crate) pause: Arc<dyn Pause>,
    /// What the owner wrote down about calls of tools.
    pub(crate) rules: Live<Arc<OwnerRules>>,
    pub(crate) profiles: Arc<ProfileRegistry>,
    pub(crate) redactor: Redactor,
    pub(crate) memory: Memories,
    /// What prompts are made from.
    pub(crate) context: ContextDeps,
    pub(crate) heartbeat: HeartbeatSettings,
    pub(crate) tasks: Tasks,
    pub(crate) waker: Arc<SchedulerWaker>,
    pub(crate) conversations: Conversations,
}

impl Agent {
    /// Opens an agent: its store is opened or made. Blocks while it does so.
    ///
    /// # Errors
    /// When the store cannot be opened.
    pub fn open(options: AgentOptions) -> Result<Self, AgentError> {
        let store = match options.store {
            Some(store) => store,
            None => Arc::new(SqliteStore::open(options.home.database(), SqliteOptions::default())?),
        };
        let config = Live::new(options.config);
        let named_at_start = config.secret_variables().into_iter().map(str::to_owned).collect();
        // Copies that nobody edited follow a newer program. What cannot be read here is told when a prompt needs it.
        let _ = profiles::status(&options.home);
        let redactor = Redactor::new(&options.environment, &config.secret_variables());
        let profiles = Arc::new(ProfileRegistry::new(options.home.clone()));
        let (home, environment) = (options.home.clone(), options.environment.clone());
        let holder = process::holder(&hex(&*options.ids));
        let host = Host::new(options.clock, options.ids, config.clone(), options.system_zone, &holder);
        let memory = MemoryWriter::new(
            Arc::clone(&store),
            host.clone(),
            redactor.clone(),
            Arc::clone(&profiles),
            config.clone(),
        );
        let directory = Directory::new(Arc::clone(&store), config.clone(), host.clone());
        let signal = ConversationSignal::default();
        let deliveries =
            Deliveries::new(Arc::clone(&store), directory.clone(), host.clone(), redactor.clone(), signal.clone());
        let waker = Arc::new(SchedulerWaker::new(home.wake_socket()));
        let tasks = Tasks::new(Arc::clone(&store), config.clone(), host.clone(), Arc::clone(&waker));
        let spending = Spending::new(Arc::clone(&store), config.clone(), host.clone(), deliveries.clone());
        let bus = EventBus::default();
        let notifications = Notifications::new(NotificationOptions {
            home: home.clone(),
            config: config.clone(),
            environment: environment.clone(),
            host: host.clone(),
            store: Arc::clone(&store),
            events: bus.clone(),
            redactor: redactor.clone(),
            more: options.notifiers,
        });
        let inbox = Inbox::new(InboxOptions {
            home: home.clone(),
            environment: environment.clone(),
            config: config.clone(),
            host: host.clone(),
            store: Arc::clone(&store),
            redactor: redactor.clone(),
            events: bus.clone(),
            waker: Arc::clone(&waker),
        });
        let skills = Arc::new(Skills::new(
            home.clone(),
            Arc::clone(&store),
            config.clone(),
            host.clone(),
            bus.clone(),
            Arc::clone(&profiles),
        ));
        let models = Arc::new(ModelRegistry::new(ModelRegistryParts {
            home: home.clone(),
            config: config.clone(),
            environment: environment.clone(),
            only: options.model,
            clock: Arc::clone(host.clock()),
            redactor: redactor.clone(),
        }));
        let next_tier = NextTier::default();
        let goals = Goals::new(GoalsParts {
            store: Arc::clone(&store),
            config: config.clone(),
            host: host.clone(),
            events: bus.clone(),
            directory: directory.clone(),
            models: Arc::clone(&models),
            profiles: Arc::clone(&profiles),
            next_tier: next_tier.clone(),
        });
        let files = Arc::new(FileHistory::new(&home, memory.clone()));
        let mail = Arc::new(MailAccounts::new(MailOptions {
            home: home.clone(),
            environment: environment.clone(),
            config: config.clone(),
            host: host.clone(),
            store: Arc::clone(&store),
            redactor: redactor.clone(),
            mailbox: options.mailbox.unwrap_or_else(|| Arc::new(MailServers)),
            waker: Arc::clone(&waker),
        }));
        let parts = Parts {
            models,
            goals: goals.clone(),
            tasks: tasks.clone(),
            memory,
            skills,
            mail,
            helper: options.helper,
            tools: options.tools,
            store: Arc::clone(&store),
            bus: bus.clone(),
            redactor: redactor.clone(),
            retry: options.retry,
            home,
            environment,
        };
        let Built { tools, rules, semantics } = parts.build(&config);
        let memory = Memories::new(parts.memory.clone(), semantics, config.clone(), host.clone());
        let (tools, rules, retry) = (Live::new(tools), Live::new(rules), Live::new(parts.retry));
        let policy = PolicyRules::new(options.home.clone(), config.clone(), rules.clone());
        let executor = ToolExecutor::new(ToolExecutorParts {
            tools: tools.clone(),
            policy: policy.clone(),
            files: Arc::clone(&files),
            store: Arc::clone(&store),
            ids: Arc::clone(host.ids()),
        });
        let context = ContextDeps {
            home: options.home.clone(),
            config: config.clone(),
            host: host.clone(),
            policy: policy.clone(),
            profiles: Arc::clone(&profiles),
            models: Arc::clone(&parts.models),
            redactor: redactor.clone(),
            store: Arc::clone(&store),
            goals: goals.clone(),
            skills: Arc::clone(&parts.skills),
            tools: tools.clone(),
            counts: Arc::new(TokenCalibration::new(Arc::clone(&store))),
        };
        let heartbeat = HeartbeatSettings::new(
            Arc::clone(&store),
            config.clone(),
            host.clone(),
            Arc::clone(&parts.models),
            Arc::clone(&profiles),
            Arc::clone(&waker),
        );
        let drafts = Drafts::new(DraftOptions {
            config: config.clone(),
            host: host.clone(),
            store: Arc::clone(&store),
            directory: directory.clone(),
            deliveries: deliveries.clone(),
            events: bus.clone(),
            redactor: redactor.clone(),
            profiles: Arc::clone(&profiles),
            tools: tools.clone(),
            executor: executor.clone(),
            policy,
            waker: Arc::clone(&waker),
        });
        let maintenance = Arc::new(Maintenance::new(Arc::clone(&store), config.clone(), host.clone(), memory.clone()));
        let modes =
            Modes::new(Arc::clone(&store), config.clone(), host.clone(), Arc::clone(&profiles), directory.clone());
        let conversations = Conversations::new(ConversationDeps {
            context: context.clone(),
            directory: directory.clone(),
            modes: modes.clone(),
            bus: bus.clone(),
            spending: spending.clone(),
            drafts: drafts.clone(),
            executor: executor.clone(),
            deliveries: deliveries.clone(),
            notifications: notifications.clone(),
            memory: memory.clone(),
            retry: retry.clone(),
            pause: Arc::clone(&options.pause),
            housekeeping: Arc::clone(&maintenance) as Arc<dyn Housekeeping>,
            windows: WindowMemory::default(),
        });
        let inner = Inner {
            context,
            profiles,
            executor,
            files,
            redactor,
            goals,
            memory,
            heartbeat,
            tasks,
            waker,
            host,
            directory,
            deliveries,
            models: Arc::clone(&parts.models),
            notifications,
            spending,
            inbox,
            drafts,
            environment: options.environment,
            rules,
            home: options.home,
            config,
            tools,
            mail: Arc::clone(&parts.mail),
            skills: Arc::clone(&parts.skills),
            bus,
            store,
            retry,
            parts,
            config_file: options.config_file,
            named_at_start,
            changes: watch::Sender::new(0),
            pause: options.pause,
            modes,
            conversations: conversations.clone(),
        };
        let inner = Arc::new(inner);
        let made = Arc::downgrade(&inner);
        next_tier.connect(move |conversation| {
            let inner = made.upgrade();
            Box::pin(async move {
                match inner {
                    Some(inner) => inner.context.next_tier(&conversation).await,
                    None => Tier::ALL[2],
                }
            })
        });
        let waking = conversations.downgrade();
        signal.connect(move |conversation| {
            if let Some(conversations) = waking.upgrade() {
                conversations.wake(conversation);
            }
        });
        let jobs = Arc::new(Jobs::new(&inner, maintenance));
        Ok(Self { conversations, inner, jobs })
    }

    /// The home folder.
    pub fn home(&self) -> &Home {
        &self.inner.home
    }

    /// What the owner has set.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Counts up whenever settings or the files that `serve` follows have changed.
    pub fn settings_changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// What the agent keeps, for reading.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The owner's zone.
    pub fn zone(&self) -> TimeZone {
        self.inner.host.zone()
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.inner.host.now()
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.inner.host.now_ms()
    }

    /// Profiles: those that ship and the files of the owner that change them.
    pub fn profiles(&self) -> &ProfileRegistry {
        &self.inner.profiles
    }

    /// What changes in the agent from here on: modes, prompts, goals, skills, windows.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.inner.bus.listen()
    }

    /// Sends a message: see [`Conversations::chat`].
    ///
    /// # Errors
    /// As there.
    pub async fn chat(&self, request: ChatRequest) -> Result<TurnHandle, AgentError> {
        self.conversations.chat(request).await
    }

    /// The conversations that this process works on.
    pub fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// What kind of effect a tool has; none when there is no such tool.
    pub fn tool_class(&self, name: &str) -> Option<limpid_core::ToolClass> {
        self.inner.tools.tool(name).map(|tool| tool.class())
    }

    /// Messages that nobody waits for, and what the owner has not read of them.
    pub fn deliveries(&self) -> &Deliveries {
        &self.inner.deliveries
    }

    /// Versions of the files that prompts quote.
    pub fn file_history(&self) -> &FileHistory {
        &self.inner.files
    }

    /// What the owner sets of the heartbeat.
    pub fn heartbeat(&self) -> &HeartbeatSettings {
        &self.inner.heartbeat
    }

    /// What the agent does by itself, and its runs by hand.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Goals of conversations.
    pub fn goals(&self) -> &Goals {
        &self.inner.goals
    }

    /// What the agent remembers.
    pub fn memory(&self) -> &Memories {
        &self.inner.memory
    }

    /// Modes of conversations.
    pub fn modes(&self) -> &Modes {
        &self.inner.modes
    }

    /// Which model answers.
    pub fn models(&self) -> &ModelRegistry {
        &self.inner.models
    }

    /// What is to be done later.
    pub fn tasks(&self) -> &Tasks {
        &self.inner.tasks
    }

    /// Calls that wait for the owner.
    pub fn drafts(&self) -> &Drafts {
        &self.inner.drafts
    }

    /// What came in, and the token of whoever hands something in.
    pub fn inbox(&self) -> &Inbox {
        &self.inner.inbox
    }

    /// Mail accounts.
    pub fn mail(&self) -> &MailAccounts {
        &self.inner.mail
    }

    /// Ways to tell the owner of what was delivered, and clients that are open.
    pub fn notifications(&self) -> &Notifications {
        &self.inner.notifications
    }

    /// What is built in, what is in the owner's folders, and what programs and servers offer.
    pub fn skills(&self) -> &Skills {
        &self.inner.skills
    }

    /// The spending limits, and what was used of them.
    pub fn spending(&self) -> &Spending {
        &self.inner.spending
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("home", &self.inner.home).finish_non_exhaustive()
    }
}
