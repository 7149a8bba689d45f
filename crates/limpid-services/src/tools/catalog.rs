//! All tools of the agent, by name.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use limpid_config::LimitsConfig;
use limpid_core::policy::Effect;
use limpid_prompt::inputs::{ArgumentSchema, ToolInput};
use limpid_tools::Tool;
use serde_json::Value;

use crate::tools::policy::ToolPolicy;

/// Every tool there is, in the order in which they are declared.
#[derive(Clone)]
pub struct ToolCatalog {
    tools: Vec<Arc<dyn Tool>>,
    /// The schema of each, once it was asked for: a tool's schema never changes.
    schemas: Arc<OnceLock<Vec<ArgumentSchema>>>,
}

impl ToolCatalog {
    /// Limpid's own tools, then those of whoever uses it as a library; a name that is taken is not taken twice.
    pub fn new(mut tools: Vec<Arc<dyn Tool>>, more: &[Arc<dyn Tool>]) -> Self {
        for tool in more {
            if !tools.iter().any(|known| known.name() == tool.name()) {
                tools.push(Arc::clone(tool));
            }
        }
        Self { tools, schemas: Arc::default() }
    }

    /// A tool by name.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// How long a call of a tool may take: its own limit, else that of the settings.
    pub fn time_limit(&self, name: &str, limits: &LimitsConfig) -> Duration {
        let own = self.tool(name).and_then(|tool| tool.timeout());
        own.unwrap_or_else(|| Duration::from_secs(limits.tool_seconds))
    }

    /// Every tool, whether it is there now or not.
    pub fn all(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    /// The names of those that are there now.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(|tool| tool.is_available()).map(|tool| tool.name())
    }

    /// Whether a tool is there now that sends something to others.
    pub fn sends(&self) -> bool {
        let effect = |tool: &Arc<dyn Tool>| tool.effect(&Value::Object(serde_json::Map::new()));
        let mut there = self.tools.iter().filter(|tool| tool.is_available());
        there.any(|tool| matches!(effect(tool), Effect::Send | Effect::Pay))
    }

    /// The tools as prompts are made from them: those that the policy offers.
    pub fn inputs(&self, policy: &ToolPolicy) -> Vec<ToolInput> {
        let schemas = self.schemas.get_or_init(|| self.tools.iter().map(|tool| tool.schema().into()).collect());
        let input = |(tool, schema): (&Arc<dyn Tool>, &ArgumentSchema)| ToolInput {
            name: tool.name().to_owned(),
            group: tool.group().to_owned(),
            description: tool.description().to_owned(),
            schema: schema.clone(),
            ..ToolInput::default()
        };
        let offered =
            self.tools.iter().zip(schemas).filter(|(tool, _)| tool.is_available() && policy.declares(&***tool));
        offered.map(input).collect()
    }
}
