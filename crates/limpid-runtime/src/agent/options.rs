//! What an agent is opened with.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use limpid_channels::mail::{MailServers, Mailbox};
use limpid_config::{Clock, Config, Environment, Home, Ids, RandomIds, SystemClock};
use limpid_core::RetryPlan;
use limpid_formats::{Parser, Parsing};
use limpid_model::Model;
use limpid_model::chain::{Pause, RealPause};
use limpid_services::models::ModelRegistry;
use limpid_services::notifications::Notifier;
use limpid_services::tools::Tool;
use limpid_store::Store;
use limpid_telemetry::Traces;

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
    /// The models of another agent of this process; absent: models of its own. An open model holds gigabytes, so agents of one
    /// home share them.
    pub models: Option<Arc<ModelRegistry>>,
    /// A model that answers whichever is asked for; absent: the one that is asked for.
    pub model: Option<Arc<dyn Model>>,
    /// The binary whose hidden sub-commands make the sandbox that programs run in, as `sandbox::main` carries them out, and
    /// parse pages and mail, as `worker::main` does; absent: no programs are run, and `parsing` says what holds for pages
    /// and mail.
    pub helper: Option<PathBuf>,
    /// Where pages and mail are parsed; by the helper, unless chosen otherwise.
    pub parsing: Parsing,
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
    /// Where turns, requests and calls are told of; nowhere, unless somebody looks.
    pub traces: Traces,
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
            models: None,
            model: None,
            helper: None,
            parsing: Parsing::default(),
            tools: Vec::new(),
            notifiers: Vec::new(),
            retry: RetryPlan::default(),
            mailbox: None,
            pause: Arc::new(RealPause),
            traces: Traces::default(),
        }
    }

    /// A parser of what strangers wrote. Each has workers of its own.
    pub(crate) fn parser(&self) -> Parser {
        Parser::new(self.parsing, self.helper.clone())
    }

    /// The servers of mail accounts that no other are set for.
    pub(crate) fn mail_servers(&self) -> Arc<dyn Mailbox> {
        Arc::new(MailServers::new(self.parser()))
    }
}
