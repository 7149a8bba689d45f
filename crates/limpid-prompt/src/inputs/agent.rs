//! The model, its tools, the machine and the time.

use super::arguments::schema_in_short;
use super::history::StateInput;
use limpid_core::ToolProtocol;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Whether replies may hold user-interface trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UiMode {
    /// Text only.
    #[default]
    None,
    /// A reply may hold a tree.
    Dynamic,
    /// A reply is one tree.
    Interactive,
}

/// The model that will read the prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelInfo {
    /// The model's name as the provider knows it.
    pub id: String,
    /// The provider's name.
    pub provider: String,
    /// Whether the model runs on this machine.
    pub local: bool,
    /// The selected window in tokens.
    pub window: Option<u32>,
    /// The window that is really used, in tokens. Absent: 85 % of `window`.
    pub usable_window: Option<u32>,
    /// Whether the model can call tools.
    pub tools: bool,
    /// How it is made to call them.
    pub tool_protocol: ToolProtocolName,
    /// Whether it takes declarations of tools that it reads only when a result names them.
    pub tool_search: bool,
    /// Whether it reads images.
    pub vision: bool,
    /// Whether it reasons before it answers.
    pub thinking: bool,
    /// Which state of earlier messages it gets back.
    #[schemars(extend("x-opaque" = true))]
    pub state: StateReader,
}

/// Which state of earlier messages a model gets back. By default none: most providers refuse what they do not know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StateReader {
    /// The protocol whose state it reads.
    pub protocol: String,
    /// Whether it reads the state of every model of its provider, and not only its own.
    pub of_provider: bool,
    /// Whether state is refused when anything before it is not what it was.
    pub bound: bool,
}

impl ModelInfo {
    /// Whether this model reads a state, as far as that depends on who made it.
    pub fn reads(&self, state: &StateInput) -> bool {
        let (provider, id) = state.model.split_once('/').unwrap_or_default();
        state.protocol == self.state.protocol && provider == self.provider && (self.state.of_provider || id == self.id)
    }
}

impl Default for ModelInfo {
    fn default() -> Self {
        Self {
            id: String::new(),
            provider: String::new(),
            local: false,
            window: None,
            usable_window: None,
            tools: true,
            tool_protocol: ToolProtocolName::Native,
            tool_search: false,
            vision: false,
            thinking: false,
            state: StateReader::default(),
        }
    }
}

/// How tool calls are obtained from a model; see [`ToolProtocol`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolProtocolName {
    /// Not at all.
    None,
    /// By the provider's own protocol.
    #[default]
    Native,
    /// By a reply that is held to a JSON schema; the prompt lists the tools.
    Json,
}

impl From<ToolProtocol> for ToolProtocolName {
    fn from(protocol: ToolProtocol) -> Self {
        match protocol {
            ToolProtocol::None => Self::None,
            ToolProtocol::Native => Self::Native,
            ToolProtocol::Json => Self::Json,
        }
    }
}

/// One tool that exists in this turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolInput {
    /// The name that the model calls.
    pub name: String,
    /// The group it belongs to: memory, schedule, skills, …
    pub group: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments; its keys keep their order.
    pub schema: ArgumentSchema,
    /// How the model gets at it.
    pub reach: ToolPlacement,
}

/// The JSON schema of a tool's arguments. Clones share it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArgumentSchema(Arc<Map<String, Value>>);

impl From<Map<String, Value>> for ArgumentSchema {
    fn from(schema: Map<String, Value>) -> Self {
        Self(Arc::new(schema))
    }
}

impl Deref for ArgumentSchema {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Serialize for ArgumentSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ArgumentSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for ArgumentSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Map::<String, Value>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Map::<String, Value>::json_schema(generator)
    }
}

impl ToolInput {
    /// Its arguments on one line: `key: string, hours?: integer`.
    pub fn arguments(&self) -> String {
        schema_in_short(&self.schema)
    }
}

/// How a model gets at a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolPlacement {
    /// It travels with its schema, and texts may speak of it.
    #[default]
    Declared,
    /// It came, or was asked for by its name, after the conversation began: it travels behind the declared ones.
    Added,
    /// It was found in this conversation: it travels behind the declared ones. Texts that were sent before do not speak
    /// of it, so none does.
    Found,
    /// It is found by `find_tools`, and does not travel until then.
    Deferred,
    /// There is no room for it, and no way to find it.
    LeftOut,
}

impl ToolPlacement {
    /// The word for it, as inputs write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Added => "added",
            Self::Found => "found",
            Self::Deferred => "deferred",
            Self::LeftOut => "left-out",
        }
    }
}

/// When the turn began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeInfo {
    /// Local time with offset: `2026-04-11T02:00:00+02:00`.
    pub local: String,
    /// The IANA zone: `Europe/Berlin`.
    pub zone: String,
    /// The same instant in UTC: `2026-04-11T00:00:00Z`.
    pub utc: String,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlatformInfo {
    /// The operating system in Go's spelling: linux, darwin, windows.
    pub os: String,
    /// The processor in Go's spelling: amd64, arm64.
    pub arch: String,
    /// The operating system's name for people: Linux, macOS.
    pub name: String,
    /// Language and version that the program was built with: `Rust 1.95.0`.
    pub runtime: String,
}
