//! What every command starts from: the home folder, what the owner has set, and the agent when one is needed.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::tz::TimeZone;
use limpid_config::read_text;
use limpid_core::RetryPlan;
use limpid_prompt::{Profile, Profiles};
use limpid_runtime::{Agent, AgentOptions, Config, Event, Home, Traces, Trouble, own_profile_files};
use tokio::sync::broadcast::Receiver;

use super::log::{Log, LogLine};
use crate::environment::Environment;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// What a command works with.
#[derive(Debug)]
pub struct Context {
    /// The environment.
    pub environment: Environment,
    /// The home folder.
    pub home: Home,
    /// What the owner has set.
    pub config: Config,
    /// What changes in the agents that were opened.
    changes: Mutex<Vec<Receiver<Event>>>,
    /// Where the turns of all agents are told of, once one was opened.
    traces: OnceLock<Traces>,
    /// The log, when this command keeps one.
    log: Arc<OnceLock<Arc<Log>>>,
}

impl Context {
    /// Reads `limpid.toml`, when there is one.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn new(environment: Environment) -> Result<Self, Failure> {
        let home = Home::new(environment.home.clone());
        let file = home.config();
        let text = read_text(&file).map_err(|error| {
            Failure::new(ExitStatus::Files, error)
                .advise("Make the file readable, or say where another home is: --home DIR.")
        })?;
        let config = match text {
            Some(text) => Config::parse(&text, &file.display().to_string())
                .map_err(|error| Failure::new(ExitStatus::Files, error))?,
            None => Config::default(),
        };
        Ok(Self { environment, home, config, changes: Mutex::default(), traces: OnceLock::new(), log: Arc::default() })
    }

    /// Opens the agent.
    ///
    /// # Errors
    /// When its store cannot be opened.
    pub fn agent(&self) -> Result<Agent, Failure> {
        let agent = Agent::open(self.options())?;
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).push(agent.subscribe());
        Ok(agent)
    }

    /// What has changed so far and nobody has taken.
    pub fn changes(&self) -> Vec<Event> {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = |changes: &mut Receiver<Event>| std::iter::from_fn(|| changes.try_recv().ok()).collect::<Vec<_>>();
        changes.iter_mut().flat_map(heard).collect()
    }

    /// Whoever prints events as they come takes them from here; nobody tells them again.
    pub fn take_changes(&self, agent: &Agent) -> Receiver<Event> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        agent.subscribe()
    }

    /// What an agent of this home is made of.
    pub fn options(&self) -> AgentOptions {
        AgentOptions {
            config: self.config.clone(),
            config_file: Some(self.home.config()),
            environment: limpid_runtime::Environment::new(self.environment.variables.clone()),
            system_zone: TimeZone::system(),
            helper: self.environment.program.clone(),
            retry: RetryPlan { tries: self.config.limits.tries.max(1), ..RetryPlan::default() },
            traces: self.traces(),
            ..AgentOptions::new(self.home.clone())
        }
    }

    /// What goes wrong beside the command is told in this log from here on.
    pub(super) fn log_to(&self, log: &Arc<Log>) {
        let _ = self.log.set(Arc::clone(log));
    }

    /// Sends what waits to be sent, for a few seconds at most.
    pub(super) async fn close(&self) {
        if let Some(traces) = self.traces.get() {
            traces.close().await;
        }
    }

    fn traces(&self) -> Traces {
        let open = || {
            let Some(collector) = &self.config.telemetry.traces else { return Traces::default() };
            let log = Arc::clone(&self.log);
            let trouble: Trouble = Arc::new(move |words| match log.get() {
                Some(log) => log.write(&LogLine::no_traces(words)),
                None => output::tell(words),
            });
            Traces::to(collector, env!("CARGO_PKG_NAME"), &trouble)
        };
        self.traces.get_or_init(open).clone()
    }

    /// The shipped profiles with the owner's files in place.
    ///
    /// # Errors
    /// When the owner's files cannot be read.
    pub fn profiles(&self) -> Result<Profiles, Failure> {
        let files = own_profile_files(&self.home).map_err(|error| Failure::new(ExitStatus::Files, error))?;
        Ok(Profiles::with_home(files))
    }

    /// One profile: the one that was named, else the owner's.
    ///
    /// # Errors
    /// When it does not exist or has errors.
    pub fn profile(&self, name: Option<&str>) -> Result<Arc<Profile>, Failure> {
        let name = name.unwrap_or(&self.config.agent.profile);
        self.profiles()?.get(name).cloned().map_err(Failure::from)
    }
}
