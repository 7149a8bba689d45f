//! Makes an agent. This is the one place where services are made, each with what it needs.

mod base;

use std::sync::Arc;

use limpid_context::ContextDeps;
use limpid_conversation::{AgentRunner, ConversationDeps, Conversations, Housekeeping, WindowMemory};
use limpid_core::Tier;
use limpid_model::chain::Pause;
use limpid_services::agents::{AgentRuns, Agents, AgentsParts};
use limpid_services::deliveries::ConversationSignal;
use limpid_services::error::AgentError;
use limpid_services::goals::NextTier;
use limpid_services::settings_file::SettingsFile;
use limpid_services::skills::Skills;
use limpid_services::spending::Spending;
use limpid_services::tasks::Tasks;
use limpid_services::tools::FileHistory;
use limpid_telemetry::Traces;

use crate::agent::Agent;
use crate::agent::build::base::Base;
use crate::agent::options::AgentOptions;
use crate::agent::services::Services;
use crate::jobs::Jobs;
use crate::jobs::deps::JobDeps;
use crate::jobs::maintenance::Maintenance;
use crate::preview::Previewer;
use crate::prompt_files::PromptFiles;
use crate::requests::Requests;
use crate::settings::LiveSettings;
use crate::settings::{Parts, Rebuild};

/// Makes an agent.
pub(super) fn build(options: AgentOptions) -> Result<Agent, AgentError> {
    let (pause, traces) = (Arc::clone(&options.pause), options.traces.clone());
    let hooks = Hooks::default();
    let services = services(options, &hooks)?;
    let ContextDeps { store, config, host, .. } = services.context.clone();
    let maintenance = Arc::new(Maintenance::new(store, config, host, services.memory.clone()));
    let conversations = Conversations::new(conversation_deps(&services, &pause, &maintenance, traces));
    hooks.connect(&conversations);
    let jobs = Arc::new(Jobs::new(job_deps(&services, &conversations, pause, maintenance)));
    let (directory, modes) = (services.directory.clone(), services.modes.clone());
    let previewer = Arc::new(Previewer::new(services.context.clone(), directory, modes));
    let requests = Arc::new(Requests::new(conversations.clone(), Arc::clone(&previewer)));
    let (context, files) = (services.context.clone(), Arc::clone(&services.files));
    let prompt_files = Arc::new(PromptFiles::new(context, Arc::clone(&previewer), files));
    Ok(Agent { services: Arc::new(services), conversations, jobs, previewer, requests, prompt_files })
}

/// What is connected when everything is made, since it leads upwards.
#[derive(Default)]
struct Hooks {
    signal: ConversationSignal,
    next_tier: NextTier,
    runs: AgentRuns,
}

impl Hooks {
    /// Connects them to the conversations. They keep these no longer than others do.
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
        self.runs.connect(AgentRunner::new(conversations.downgrade()));
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
    let parser = options.parser();
    let mailbox = options.mailbox.clone().unwrap_or_else(|| options.mail_servers());
    let models = options.models.clone().unwrap_or_else(|| Arc::new(base.models(options.model.clone())));
    let goals = base.goals(&models, hooks.next_tier.clone());
    let writer = base.memory();
    let files = Arc::new(FileHistory::new(&base.home, base.config.clone(), writer.clone()));
    let skills = Arc::new(base.skills(Arc::clone(&files)));
    let mail = Arc::new(base.mail(mailbox));
    let mcp = base.mcp(&options, &skills);
    let tasks = Tasks::new(Arc::clone(&base.store), base.config.clone(), base.host.clone(), Arc::clone(&base.waker));
    let agents = agents(&base, hooks, &skills, &options.pause);
    let parts = Parts {
        agents: agents.clone(),
        home: base.home.clone(),
        environment: base.environment.clone(),
        memory: writer,
        models: Arc::clone(&models),
        goals: goals.clone(),
        skills: Arc::clone(&skills),
        mail: Arc::clone(&mail),
        mcp: mcp.clone(),
        tasks: tasks.clone(),
        helper: options.helper,
        parser,
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
        agents,
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
        settings_file: SettingsFile::new(
            options.config_file.clone().unwrap_or_else(|| base.home.config()),
            base.redactor.clone(),
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
        mcp,
        memory,
        notifications,
        tasks,
    })
}

/// Makes the agents that turns hand work to.
fn agents(base: &Base, hooks: &Hooks, skills: &Arc<Skills>, pause: &Arc<dyn Pause>) -> Agents {
    Agents::new(AgentsParts {
        store: Arc::clone(&base.store),
        config: base.config.clone(),
        host: base.host.clone(),
        redactor: base.redactor.clone(),
        skills: Arc::clone(skills),
        events: base.events.clone(),
        signal: hooks.signal.clone(),
        runs: hooks.runs.clone(),
        pause: Arc::clone(pause),
    })
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
        mcp: services.mcp.clone(),
        modes: services.modes.clone(),
        notifications: services.notifications.clone(),
        pause,
        settings: Arc::clone(&services.settings),
        spending: services.spending.clone(),
        tasks: services.tasks.clone(),
        waker: Arc::clone(&services.waker),
    }
}

fn conversation_deps(
    services: &Services,
    pause: &Arc<dyn Pause>,
    maintenance: &Arc<Maintenance>,
    traces: Traces,
) -> ConversationDeps {
    ConversationDeps {
        context: services.context.clone(),
        directory: services.directory.clone(),
        modes: services.modes.clone(),
        events: services.events.clone(),
        spending: services.spending.clone(),
        drafts: services.drafts.clone(),
        executor: services.executor.clone(),
        agents: services.agents.clone(),
        deliveries: services.deliveries.clone(),
        notifications: services.notifications.clone(),
        memory: services.memory.clone(),
        retry: services.settings.retry().clone(),
        pause: Arc::clone(pause),
        back_offs: Arc::default(),
        housekeeping: Arc::clone(maintenance) as Arc<dyn Housekeeping>,
        windows: WindowMemory::default(),
        traces,
    }
}
