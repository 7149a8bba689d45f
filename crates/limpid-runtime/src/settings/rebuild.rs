//! What is built from limpid.toml: tools, rules, the semantic index. It is built at the start and again
//! whenever the file changes, in this one place.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::{Config, Environment, Home, Live, Redactor};
use limpid_core::RetryPlan;
use limpid_core::policy::OwnerRules;
use limpid_formats::Parser;
use limpid_services::agents::Agents;
use limpid_services::events::EventBus;
use limpid_services::goals::Goals;
use limpid_services::host::Host;
use limpid_services::mail::MailAccounts;
use limpid_services::mcp::McpServers;
use limpid_services::memory::{Memories, MemoryWriter, SemanticIndex};
use limpid_services::models::ModelRegistry;
use limpid_services::skills::Skills;
use limpid_services::tasks::Tasks;
use limpid_services::tools::{Tool, ToolCatalog};
use limpid_store::Store;

use crate::settings::tools::{ToolParts, borrowed_tools, own_tools};

/// What does not change while the agent runs.
pub(crate) struct Parts {
    pub(crate) agents: Agents,
    pub(crate) home: Home,
    pub(crate) environment: Environment,
    pub(crate) memory: MemoryWriter,
    pub(crate) models: Arc<ModelRegistry>,
    pub(crate) goals: Goals,
    pub(crate) skills: Arc<Skills>,
    pub(crate) mail: Arc<MailAccounts>,
    pub(crate) mcp: McpServers,
    pub(crate) tasks: Tasks,
    pub(crate) helper: Option<PathBuf>,
    /// What parses pages of the web.
    pub(crate) parser: Parser,
    /// Tools besides Limpid's own.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) events: EventBus,
    pub(crate) redactor: Redactor,
    /// How long to wait between tries, and how often to try until limpid.toml changes.
    pub(crate) retry: RetryPlan,
}

/// What was built, where everybody reads it. It is replaced as a whole.
pub(crate) struct Rebuild {
    parts: Parts,
    pub(crate) tools: Live<ToolCatalog>,
    /// What the owner wrote down about calls of tools.
    pub(crate) rules: Live<Arc<OwnerRules>>,
    /// How often a request is tried.
    pub(crate) retry: Live<RetryPlan>,
    /// What the agent remembers, with the index that says what queries mean.
    pub(crate) memory: Memories,
}

/// What one configuration gives.
struct Built {
    tools: ToolCatalog,
    rules: Arc<OwnerRules>,
    /// What queries mean, when that is switched on.
    semantics: Option<Arc<SemanticIndex>>,
}

impl Rebuild {
    /// Builds everything for the first time.
    pub(crate) fn new(parts: Parts, config: &Live<Config>, host: &Host) -> Self {
        let Built { tools, rules, semantics } = parts.build(config);
        let memory = Memories::new(parts.memory.clone(), semantics, config.clone(), host.clone());
        Self { tools: Live::new(tools), rules: Live::new(rules), retry: Live::new(parts.retry), memory, parts }
    }

    /// Builds everything again by another configuration, and replaces what there was.
    pub(crate) fn run(&self, config: &Config) {
        self.parts.models.forget();
        let retry = RetryPlan { tries: config.limits.tries.max(1), ..self.parts.retry };
        // No `..` here: what is built and not replaced would go by the old settings.
        let Built { tools, rules, semantics } = self.parts.build(config);
        self.tools.replace(tools);
        self.rules.replace(rules);
        self.memory.replace_index(semantics);
        self.retry.replace(retry);
    }
}

impl Parts {
    /// Builds everything by a configuration.
    fn build(&self, config: &Config) -> Built {
        let store = &self.store;
        let known = (&self.events, &self.redactor);
        let semantics = SemanticIndex::new(&config.memory.semantic, store, &self.models, known).map(Arc::new);
        let mut own = own_tools(&ToolParts {
            store,
            memory: &self.memory,
            home: &self.home,
            config,
            environment: &self.environment,
            helper: self.helper.as_deref(),
            parser: &self.parser,
            goals: &self.goals,
            skills: &self.skills,
            tasks: &self.tasks,
            mail: &self.mail,
            semantics: semantics.as_ref(),
            agents: &self.agents,
        });
        let borrowed = borrowed_tools(&self.mcp, config, own.iter().chain(&self.tools));
        own.extend(borrowed);
        let tools = ToolCatalog::new(own, &self.tools);
        Built { tools, rules: Arc::new(config.policy.rules()), semantics }
    }
}
