//! What is built from limpid.toml: tools, rules, the semantic index. It is built at the start and again
//! whenever the file changes, in this one place.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::{Config, Environment, Home, Redactor};
use limpid_core::RetryPlan;
use limpid_core::policy::OwnerRules;
use limpid_store::Store;

use crate::agent::tools::{ToolParts, own_tools};
use crate::services::events::EventBus;
use crate::services::goals::Goals;
use crate::services::mail::MailAccounts;
use crate::services::memory::{MemoryWriter, SemanticIndex};
use crate::services::models::ModelRegistry;
use crate::services::skills::Skills;
use crate::services::tasks::Tasks;
use crate::services::tools::{Tool, ToolCatalog};

/// What does not change while the agent runs.
pub(crate) struct Parts {
    pub(crate) home: Home,
    pub(crate) environment: Environment,
    pub(crate) memory: MemoryWriter,
    pub(crate) models: Arc<ModelRegistry>,
    pub(crate) goals: Goals,
    pub(crate) skills: Arc<Skills>,
    pub(crate) mail: Arc<MailAccounts>,
    pub(crate) tasks: Tasks,
    pub(crate) helper: Option<PathBuf>,
    /// Tools besides Limpid's own.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: EventBus,
    pub(crate) redactor: Redactor,
    /// How long to wait between tries, and how often to try until limpid.toml changes.
    pub(crate) retry: RetryPlan,
}

/// What was built.
pub(crate) struct Built {
    pub(crate) tools: ToolCatalog,
    pub(crate) rules: Arc<OwnerRules>,
    /// What queries mean, when that is switched on.
    pub(crate) semantics: Option<Arc<SemanticIndex>>,
}

impl Parts {
    /// Builds everything by a configuration.
    pub(crate) fn build(&self, config: &Config) -> Built {
        let store = &self.store;
        let known = (&self.bus, &self.redactor);
        let semantics = SemanticIndex::new(&config.memory.semantic, store, &self.models, known).map(Arc::new);
        let own = own_tools(&ToolParts {
            store,
            memory: &self.memory,
            home: &self.home,
            config,
            environment: &self.environment,
            helper: self.helper.as_deref(),
            goals: &self.goals,
            skills: &self.skills,
            tasks: &self.tasks,
            mail: &self.mail,
            semantics: semantics.as_ref(),
        });
        let tools = ToolCatalog::new(own, &self.tools);
        let mut rules = config.policy.rules();
        rules.hosts.extend(tools.fixed_destinations());
        Built { tools, rules: Arc::new(rules), semantics }
    }
}
