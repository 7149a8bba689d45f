//! `limpid.toml` as plain values. Every key may be absent; an unknown key is an error that names the known ones.

mod agents;
mod by_hand;
mod catalogue;
mod chat;
mod error;
mod exec;
mod files;
mod heartbeat;
mod inbox;
mod limits;
mod live;
mod mail;
mod mcp;
mod memory;
mod modes;
mod notify;
mod page;
mod path;
mod policy;
mod prompts;
mod scheduling;
mod telemetry;
mod tools;
mod trust;
mod web;
mod window;
mod word;

use std::collections::BTreeMap;

use limpid_core::{DEFAULT_PROFILE, Effort, Protocol};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

pub use agents::AgentsConfig;
pub use catalogue::{CatalogueConfig, CatalogueUpdate};
pub use chat::{ChatConfig, UiSetting};
pub use error::ConfigError;
pub use exec::{ExecConfig, ExecFolder};
pub use files::FilesConfig;
pub use heartbeat::HeartbeatConfig;
pub use inbox::{GatewayConfig, InboxConfig};
pub use limits::{LimitsConfig, PathLimits};
pub use live::Live;
pub use mail::MailConfig;
pub use mcp::{McpConfig, McpEffect, McpServerConfig, McpToolConfig};
pub use memory::{MemoryConfig, SemanticConfig};
pub use modes::ModesConfig;
pub use notify::NotifyConfig;
pub use page::PageConfig;
pub use path::{CacheSetting, PathConfig};
pub use policy::{PolicyConfig, RuleConfig};
pub use prompts::PromptEntry;
pub use scheduling::SchedulingConfig;
pub use telemetry::{LogForm, TelemetryConfig};
pub use tools::ToolsConfig;
pub use trust::{PasteTrust, TrustConfig};
pub use web::{Engine, LocationConfig, SearchConfig, WebConfig};
pub use window::{Compaction, WindowConfig};
use word::{word, words};

/// What the owner has set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The agent.
    pub agent: AgentConfig,
    /// Agents that a turn hands work to.
    pub agents: AgentsConfig,
    /// The person that it works for.
    pub owner: OwnerConfig,
    /// The model that answers: `provider/model`. Default: what is found on the machine.
    pub model: Option<String>,
    /// Models that are asked in turn when the first one fails.
    pub fallback: Vec<String>,
    /// How much models are to reason: `default`, `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    #[serde(deserialize_with = "path::effort")]
    #[schemars(schema_with = "path::efforts", extend("default" = Effort::default().as_str()))]
    pub effort: Effort,
    /// What is set for single prompt paths.
    pub path: BTreeMap<String, PathConfig>,
    /// Providers by name.
    #[schemars(extend("x-by-hand" = by_hand::KEYS))]
    pub provider: BTreeMap<String, ProviderConfig>,
    /// What is known of models.
    pub catalogue: CatalogueConfig,
    /// Models in this process.
    pub local: LocalConfig,
    /// What the agent remembers.
    pub memory: MemoryConfig,
    /// Folders that file tools may touch besides the workspace.
    #[schemars(extend("x-by-hand" = by_hand::FOLDERS))]
    pub files: FilesConfig,
    /// Whether and how the model may run programs.
    #[schemars(extend("x-by-hand" = by_hand::PROGRAMS))]
    pub exec: ExecConfig,
    /// Texts of the owner's that no file of a profile holds.
    pub prompt: PromptConfig,
    /// Chats at the terminal and at the page.
    pub chat: ChatConfig,
    /// Whose text it is that comes in.
    pub trust: TrustConfig,
    /// Prompts that can be chosen as skills.
    pub prompts: Vec<PromptEntry>,
    /// How far a turn may go, and what may be spent.
    pub limits: LimitsConfig,
    /// The ledger of requests.
    pub ledger: LedgerConfig,
    /// What may be done without asking, what never, and what not without.
    #[schemars(extend("x-by-hand" = by_hand::RULES))]
    pub policy: PolicyConfig,
    /// How the model gets at its tools.
    pub tools: ToolsConfig,
    /// Conversations that are longer than the model's window.
    pub window: WindowConfig,
    /// The engine that searches the web. Without `engine` research only reads pages, and nothing searches; `engine = "duckduckgo"` needs
    /// no key.
    pub search: SearchConfig,
    /// Pages of the web.
    pub web: WebConfig,
    /// Where this machine is.
    pub location: LocationConfig,
    /// Whether anything is done later or again by itself.
    pub scheduling: SchedulingConfig,
    /// What is done when a message sounds like the work of another mode.
    pub modes: ModesConfig,
    /// What may be handed in from elsewhere, and how text messages are sent.
    #[schemars(extend("x-by-hand" = by_hand::DOORS))]
    pub inbox: InboxConfig,
    /// The page in the browser.
    #[schemars(extend("x-by-hand" = by_hand::DOORS))]
    pub page: PageConfig,
    /// Where the owner is told that something reached a conversation.
    pub notify: NotifyConfig,
    /// The look at what came in, unasked.
    pub heartbeat: HeartbeatConfig,
    /// How mail accounts are read.
    pub mail: MailConfig,
    /// Servers whose tools and prompts the agent borrows.
    #[schemars(extend("x-by-hand" = by_hand::PROGRAMS))]
    pub mcp: McpConfig,
    /// What is told of the agent's work, to a collector of traces and in the log of `limpid serve`.
    pub telemetry: TelemetryConfig,
}

impl Config {
    /// Reads the text of a configuration; `file` is how errors name it.
    ///
    /// # Errors
    /// When it is not TOML, has a key that is not known, or a value that cannot be.
    ///
    /// ```
    /// let error = limpid_config::Config::parse("modle = \"openai/gpt-5\"", "limpid.toml").unwrap_err();
    /// assert!(error.to_string().starts_with("limpid.toml: line 1, column 1\n"));
    /// ```
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::new(&error, text, file))
    }

    /// The environment variables that hold secrets because the owner says so.
    pub fn secret_variables(&self) -> Vec<&str> {
        let keys = self.provider.values().map(|provider| &provider.api_key_env);
        let tokens = self.inbox.gateway.iter().map(|gateway| &gateway.token_env);
        let own = keys.chain(tokens).chain([&self.notify.ntfy_token_env]).filter_map(Option::as_deref);
        own.chain(self.mcp.servers.values().flat_map(McpServerConfig::secret_variables).map(String::as_str)).collect()
    }
}

/// The agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// What the agent calls itself. Default: the profile's name.
    pub name: Option<String>,
    /// The profile whose prompts it uses.
    pub profile: String,
    /// The mode that new conversations begin in.
    pub mode: String,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { name: None, profile: DEFAULT_PROFILE.to_owned(), mode: "assistant".to_owned() }
    }
}

/// The person that the agent works for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OwnerConfig {
    /// What the agent calls them; it stands among the pinned memories under the key `owner`.
    pub name: Option<String>,
    /// Your time zone, such as Europe/Berlin. Default: the machine's.
    #[serde(deserialize_with = "zone")]
    #[schemars(with = "Option<String>")]
    pub zone: Option<jiff::tz::TimeZone>,
}

/// A provider; one that Limpid does not know by name needs an address, and speaks OpenAI Chat Completions unless `protocol`
/// says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// Where it is: `https://api.example.com/v1`. Default: the provider's own address.
    pub base_url: Option<String>,
    /// What it speaks: `openai-chat`, `openai-responses`, `anthropic`, `gemini` or `ollama`.
    #[serde(deserialize_with = "protocol")]
    #[schemars(schema_with = "protocols")]
    pub protocol: Option<Protocol>,
    /// The environment variable that holds its key; the key itself never stands in a file.
    pub api_key_env: Option<String>,
    /// A command that prints its key, for keys that live only for a while.
    pub api_key_command: Vec<String>,
    /// The header that the key goes in, when it is not the protocol's.
    pub key_header: Option<String>,
    /// More headers of every request.
    pub headers: BTreeMap<String, String>,
    /// What is put behind every address.
    pub query: BTreeMap<String, String>,
    /// More fields of the body. A field that is in it already stays as it is.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Models in this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Threads. Default: physical cores minus one, at least one.
    pub threads: Option<u32>,
    /// The window in tokens. Default: the model's, as far as memory goes.
    pub window: Option<u32>,
}

/// Texts of the owner's that no file of a profile holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PromptConfig {
    /// Additional instructions; they end the prompt of the `ollm` profile.
    #[schemars(extend("x-long" = true))]
    pub additional_instructions: String,
    /// Whether the `ollm` prompt carries its sanity checks.
    pub sanity_checks: bool,
}

impl Default for PromptConfig {
    fn default() -> Self {
        Self { additional_instructions: String::new(), sanity_checks: true }
    }
}

/// The ledger of requests.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LedgerConfig {
    /// Days that a request is kept.
    pub keep_days: u32,
    /// Megabytes of text that the ledger holds; older requests go first.
    pub keep_megabytes: u64,
}

impl Default for LedgerConfig {
    fn default() -> Self {
        Self { keep_days: 90, keep_megabytes: 1000 }
    }
}

fn protocol<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Protocol>, D::Error> {
    word(from, &Protocol::ALL, Protocol::as_str).map(Some)
}

fn protocols(_: &mut SchemaGenerator) -> Schema {
    words(&Protocol::ALL, Protocol::as_str)
}

fn zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<jiff::tz::TimeZone>, D::Error> {
    let name = String::deserialize(deserializer)?;
    limpid_core::zone::stored(&name).map(Some).ok_or_else(|| {
        D::Error::custom(format!("\"{name}\" isn't a time zone; write an IANA name such as Europe/Berlin"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-011
    #[test]
    fn errors_name_line_column_excerpt_and_what_is_known() {
        let wrong = [
            "[agent]\nname = \"Ada\"\nprofil = \"kai\"\n",
            "[owner]\nzone = \"Europe/Berln\"\n",
            "[limits]\ncalls_with_tools = \"many\"\n",
            "[provider.openai]\napi_key = \"sk-1\"\n",
            "model = openai/gpt\n",
            "[agent\n",
        ];
        let errors: Vec<String> =
            wrong.iter().map(|text| Config::parse(text, "limpid.toml").unwrap_err().to_string()).collect();
        insta::assert_snapshot!(errors.join("\n\n"));
    }

    #[test]
    fn an_empty_file_is_the_default_and_every_key_is_read() {
        assert_eq!(Config::parse("", "limpid.toml").unwrap(), Config::default());
        let config = Config::parse(include_str!("config/full.toml"), "limpid.toml").unwrap();
        insta::assert_debug_snapshot!(config);
    }
}
