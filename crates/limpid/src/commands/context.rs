//! What every command starts from: the home folder, what the owner has set, and the agent when one is needed.

use std::sync::Arc;

use jiff::tz::TimeZone;
use limpid_core::RetryPlan;
use limpid_prompt::fs::read_profiles;
use limpid_prompt::{Layer, Profile, Profiles};
use limpid_runtime::{Agent, AgentOptions, Config, Home};

use crate::environment::Environment;
use crate::failure::{ExitStatus, Failure};

/// What a command works with.
#[derive(Debug)]
pub struct Context {
    /// The environment.
    pub environment: Environment,
    /// The home folder.
    pub home: Home,
    /// What the owner has set.
    pub config: Config,
}

impl Context {
    /// Reads `limpid.toml`, when there is one.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn new(environment: Environment) -> Result<Self, Failure> {
        let home = Home::new(environment.home.clone());
        let file = home.config();
        let config = match std::fs::read_to_string(&file) {
            Ok(text) => Config::parse(&text, &file.display().to_string())
                .map_err(|error| Failure::new(ExitStatus::Files, error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Config::default(),
            Err(error) => {
                return Err(Failure::new(ExitStatus::Files, format!("{}: {error}", file.display()))
                    .advise("Make the file readable, or say where another home is: --home DIR."));
            }
        };
        Ok(Self { environment, home, config })
    }

    /// Opens the agent.
    ///
    /// # Errors
    /// When its store cannot be opened.
    pub fn agent(&self) -> Result<Agent, Failure> {
        Ok(Agent::open(self.options())?)
    }

    /// What an agent of this home is made of.
    pub fn options(&self) -> AgentOptions {
        AgentOptions {
            config: self.config.clone(),
            environment: limpid_runtime::Environment::new(self.environment.variables.clone()),
            system_zone: TimeZone::system(),
            helper: self.environment.program.clone(),
            retry: RetryPlan { tries: self.config.limits.tries.max(1), ..RetryPlan::default() },
            ..AgentOptions::new(self.home.clone())
        }
    }

    /// The shipped profiles with the owner's files in place.
    ///
    /// # Errors
    /// When the owner's files cannot be read.
    pub fn profiles(&self) -> Result<Profiles, Failure> {
        let files = read_profiles(&self.home.profiles(), Layer::Home)
            .map_err(|error| Failure::new(ExitStatus::Files, error))?;
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
