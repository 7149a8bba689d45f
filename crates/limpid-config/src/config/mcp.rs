//! `[mcp.servers.NAME]`: servers of the Model Context Protocol, whose tools and prompts the agent borrows.

use std::collections::BTreeMap;

use limpid_core::policy::{AFTER_SERVER, Effect};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::word::{word, words};

/// Characters of a server's name.
const MOST_NAME: usize = 32;

/// Servers of the Model Context Protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    /// The servers by the owner's names for them.
    #[serde(deserialize_with = "servers")]
    pub servers: BTreeMap<String, McpServerConfig>,
}

/// One server: a program that is started, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpServerConfig {
    /// Whether it is used.
    pub enabled: bool,
    /// The program: a path, or a name that is looked for in PATH.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it gets besides PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_ALL, TZ and TMPDIR.
    pub env: BTreeMap<String, String>,
    /// Names of variables of this program's own that are handed on to it, such as a key.
    pub env_from: Vec<String>,
    /// Where it is, for one that is spoken to over HTTP.
    pub url: Option<String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// The environment variable that holds its bearer token; the token itself never stands in a file.
    pub token_env: Option<String>,
    /// Seconds that an answer may take.
    pub seconds: u32,
    /// What it changes to read a resource of it, in the words of [`McpToolConfig::effect`]; absent: each waits for the owner.
    #[serde(deserialize_with = "effect")]
    #[schemars(schema_with = "effects")]
    pub resources: Option<McpEffect>,
    /// What is set for single tools, by the server's own names for them.
    pub tools: BTreeMap<String, McpToolConfig>,
    /// What the owner looked at of it is kept under this, where that is not its name; no file can set it.
    #[serde(skip)]
    pub kept_as: Option<String>,
}

impl Default for McpServerConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            env_from: Vec::new(),
            url: None,
            headers: BTreeMap::new(),
            token_env: None,
            seconds: 60,
            resources: None,
            tools: BTreeMap::new(),
            kept_as: None,
        }
    }
}

impl McpServerConfig {
    /// The variables that hold secrets of it.
    pub(super) fn secret_variables(&self) -> impl Iterator<Item = &String> {
        self.env_from.iter().chain(&self.token_env)
    }
}

/// What is set for one tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpToolConfig {
    /// Whether it is used.
    pub enabled: bool,
    /// What its calls change: `look`, `remember`, `change`, `files`, `run`, `mailbox`, `send`, `pay`, `device` or `change-self`.
    #[serde(deserialize_with = "effect")]
    #[schemars(schema_with = "effects")]
    pub effect: Option<McpEffect>,
}

impl Default for McpToolConfig {
    fn default() -> Self {
        Self { enabled: true, effect: None }
    }
}

/// What the calls of a tool change, as the owner declares it: an effect that needs nothing else to be known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpEffect {
    /// They look.
    Look,
    /// They keep something new.
    Remember,
    /// They change or remove something that the owner has.
    Change,
    /// They change files; which ones, nobody here knows.
    Files,
    /// They run a program.
    Run,
    /// They change something in a mailbox or at a service of the owner's.
    Mailbox,
    /// Something leaves for other people or machines.
    Send,
    /// They pay or order something.
    Pay,
    /// They write to a device.
    Device,
    /// They change what the agent is told or may do.
    ChangeSelf,
}

impl McpEffect {
    /// Every effect that can be declared.
    pub const ALL: [Self; 10] = [
        Self::Look,
        Self::Remember,
        Self::Change,
        Self::Files,
        Self::Run,
        Self::Mailbox,
        Self::Send,
        Self::Pay,
        Self::Device,
        Self::ChangeSelf,
    ];

    /// Its word, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Remember => "remember",
            Self::Change => "change",
            Self::Files => "files",
            Self::Run => "run",
            Self::Mailbox => "mailbox",
            Self::Send => "send",
            Self::Pay => "pay",
            Self::Device => "device",
            Self::ChangeSelf => "change-self",
        }
    }

    /// The effect as the policy judges it.
    pub const fn effect(self) -> Effect {
        match self {
            Self::Look => Effect::Look,
            Self::Remember => Effect::Remember,
            Self::Change => Effect::ChangeOwned,
            Self::Files => Effect::Files,
            Self::Run => Effect::Run,
            Self::Mailbox => Effect::Mailbox,
            Self::Send => Effect::Send,
            Self::Pay => Effect::Pay,
            Self::Device => Effect::Device,
            Self::ChangeSelf => Effect::ChangeSelf,
        }
    }
}

fn effect<'de, D: Deserializer<'de>>(from: D) -> Result<Option<McpEffect>, D::Error> {
    word(from, &McpEffect::ALL, McpEffect::as_str).map(Some)
}

fn effects(_: &mut SchemaGenerator) -> Schema {
    words(&McpEffect::ALL, McpEffect::as_str)
}

fn servers<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, McpServerConfig>, D::Error> {
    let servers = BTreeMap::<String, McpServerConfig>::deserialize(from)?;
    for (name, server) in &servers {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(is_plain) {
            let why = "cannot name a server; take letters, digits, `-` and `_`, at most 32";
            return Err(D::Error::custom(format!("`{name}` {why}")));
        }
        // Whatever stands before the first two underscores of a tool's name is its server.
        if name.contains(AFTER_SERVER) || name.starts_with('_') || name.ends_with('_') {
            let why = "cannot name a server, whose tools are called `SERVER__TOOL`; take `_` only once in a row, and not at either end";
            return Err(D::Error::custom(format!("`{name}` {why}")));
        }
        if server.command.is_some() == server.url.is_some() {
            let why = "needs either `command`, a program that is started, or `url`, an address";
            return Err(D::Error::custom(format!("the server `{name}` {why}")));
        }
        if let Some(url) = server.url.as_ref().filter(|url| !url.starts_with("https://") && !url.starts_with("http://"))
        {
            return Err(D::Error::custom(format!("the server `{name}`: `{url}` must begin with https:// or http://")));
        }
        if server.seconds == 0 {
            return Err(D::Error::custom(format!("the server `{name}`: `seconds` must be at least 1")));
        }
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use crate::Config;

    // SUR-011 SUR-034
    #[test]
    fn a_server_is_a_program_or_an_address_and_a_wrong_one_says_what_to_write() {
        let error = |text: &str| Config::parse(text, "limpid.toml").unwrap_err().to_string();
        let table = [
            ("[mcp.servers.a]\n", "needs either `command`"),
            ("[mcp.servers.a]\ncommand = \"x\"\nurl = \"http://localhost/\"\n", "needs either `command`"),
            ("[mcp.servers.\"a b\"]\ncommand = \"x\"\n", "cannot name a server"),
            ("[mcp.servers.a__b]\ncommand = \"x\"\n", "only once in a row"),
            ("[mcp.servers.a_]\ncommand = \"x\"\n", "not at either end"),
            ("[mcp.servers._a]\ncommand = \"x\"\n", "not at either end"),
            ("[mcp.servers.a]\nurl = \"ftp://x/\"\n", "must begin with https://"),
            ("[mcp.servers.a]\ncommand = \"x\"\nseconds = 0\n", "at least 1"),
            ("[mcp.servers.a]\ncommand = \"x\"\ntools = { y = { effect = \"read\" } }\n", "change-self"),
            ("[mcp.servers.a]\ncommand = \"x\"\ntoken = \"secret\"\n", "token"),
        ];
        for (text, why) in table {
            let said = error(text);
            assert!(said.contains(why), "{text}{said}");
        }
    }
}
