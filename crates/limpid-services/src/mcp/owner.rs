//! What the owner does with servers: sees them, adds and takes them out, looks at what they offer, switches them on and off.

use limpid_config::McpServerConfig;
use limpid_core::Sentence;
use limpid_mcp::LoginWish;
use serde_json::Value;

use crate::error::AgentError;
use crate::mcp::names::{offered_name, other_names};
use crate::mcp::prompts;
use crate::mcp::record::{RecordName, ServerRecord, ToolRecord, ToolText, tell_others};
use crate::mcp::servers::McpServers;
use crate::mcp::settings;

/// A server as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRow {
    /// The owner's name for it.
    pub name: String,
    /// Whether it is used.
    pub enabled: bool,
    /// The program with its arguments, or the address.
    pub target: String,
    /// Its tools, as far as is known.
    pub tools: Vec<ToolRow>,
    /// Tools that were too many or too large.
    pub left_out: usize,
    /// What keeps it from being used.
    pub problem: Option<String>,
}

/// A tool as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRow {
    /// The server's own name for it.
    pub name: String,
    /// The name that the model calls, and that the owner's rules name.
    pub called: String,
    /// What their rules that ask and forbid may call it besides.
    pub other_names: Vec<String>,
    /// Whether a model is offered it.
    pub state: ToolState,
    /// What the owner declares that its calls change.
    pub effect: Option<&'static str>,
}

/// Whether a model is offered a tool, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// It is.
    Ready,
    /// The owner has not looked at it yet.
    New,
    /// The server says something else of it than what the owner has looked at.
    Changed,
    /// The server does not have it any more.
    Gone,
    /// The owner has switched it off.
    Off,
}

impl ToolState {
    /// Its word, as listings show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::New => "new",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Off => "off",
        }
    }
}

/// A tool that waits for the owner to look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReview {
    /// The server's own name for it.
    pub name: String,
    /// What the owner looked at before: description and schema, as text.
    pub before: Option<String>,
    /// What the server says now, in the same form.
    pub now: String,
    /// The hash of that, by which it is enabled.
    pub sha256: String,
}

impl ToolReview {
    /// What the owner is told who enables a text in the place of another one.
    pub const ENDS_YESES: &str = "What you allowed for the rest of a conversation ends for each tool whose \
                                  text has changed: its calls are asked about anew.";

    /// Whether it stands in the place of a text that the owner looked at, so that lasting yeses to the tool end.
    pub const fn ends_yeses(&self) -> bool {
        self.before.is_some()
    }
}

/// A server to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewServer {
    /// The owner's name for it.
    pub name: String,
    /// What `limpid.toml` will say of it.
    pub config: McpServerConfig,
}

/// What a server answered when it was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// How the connection began: `handshake` or `discovery`.
    pub revision: &'static str,
    /// How many tools it offers.
    pub tools: usize,
    /// How many prompts.
    pub prompts: usize,
    /// How many resources.
    pub resources: usize,
    /// The names of prompts that cannot be chosen, and why.
    pub left_out: Vec<(String, String)>,
}

impl McpServers {
    /// Every server of the settings, and what is known of it. None is connected to.
    pub fn list(&self) -> Vec<ServerRow> {
        let servers = &self.options().config.mcp.servers;
        servers.iter().map(|(name, config)| self.row(name, config)).collect()
    }

    fn row(&self, name: &str, config: &McpServerConfig) -> ServerRow {
        let (record, problem) = match ServerRecord::read(&self.options().home, &RecordName::of(name, Some(config))) {
            Ok(record) => (record, None),
            Err(error) => (ServerRecord::default(), Some(error.to_string())),
        };
        let tool = |tool: &ToolRecord| {
            let own = config.tools.get(&tool.name);
            let state = match tool {
                _ if own.is_some_and(|own| !own.enabled) => ToolState::Off,
                tool if tool.usable().is_some() => ToolState::Ready,
                ToolRecord { gone: true, .. } => ToolState::Gone,
                ToolRecord { looked: None, .. } => ToolState::New,
                _ => ToolState::Changed,
            };
            let effect = own.and_then(|own| own.effect).map(limpid_config::McpEffect::as_str);
            let (called, other_names) = (offered_name(name, &tool.name), other_names(name, &tool.name));
            ToolRow { name: tool.name.clone(), called, other_names, state, effect }
        };
        let words = config.command.iter().chain(&config.args).cloned().collect::<Vec<_>>().join(" ");
        ServerRow {
            name: name.to_owned(),
            enabled: config.enabled,
            target: config.url.clone().unwrap_or(words),
            tools: record.tools.iter().map(tool).collect(),
            left_out: record.left_out,
            problem,
        }
    }

    /// Connects to a server that is in the settings, and counts what it offers.
    ///
    /// # Errors
    /// When there is no such server, or no connection to it.
    pub async fn probe(&self, server: &str) -> Result<Probed, AgentError> {
        let config = McpServerConfig { enabled: true, ..self.known(server)?.clone() };
        self.probe_by(server, &config).await.map_err(told)
    }

    /// The same by other settings. What is looked at is kept.
    async fn probe_by(&self, server: &str, config: &McpServerConfig) -> Result<Probed, Sentence> {
        let link = self.new_link(server, config)?;
        let connected = link.connect(None).await?;
        let (crate::mcp::link::Connected::Before(connection) | crate::mcp::link::Connected::Now(connection, _)) =
            connected;
        let failed = |error: limpid_mcp::McpError| error.sentence(server);
        let tools = link.look(&connection).await.map_err(failed)?;
        self.saw(&link, &connection, &tools);
        let prompts = connection.prompts().await.map_err(failed)?;
        let resources = connection.resources().await.map_err(failed)?;
        let skills = &self.options().skills;
        let left_out = prompts::register(skills, server, &connection, self.options().host.now_ms()).await;
        skills.forget_server(server);
        let probed = Probed {
            revision: connection.revision().as_str(),
            tools: tools.items.len(),
            prompts: prompts.items.len(),
            resources: resources.items.len(),
            left_out,
        };
        drop(connection);
        link.close().await;
        Ok(probed)
    }

    /// Connects to a new server and writes it into the settings. None of its tools is used before [`McpServers::enable`].
    ///
    /// # Errors
    /// When one of that name is there, it cannot be connected to, or the settings cannot be written.
    pub async fn add(&self, new: &NewServer) -> Result<Probed, AgentError> {
        self.can_add(new)?;
        let NewServer { name, config } = new;
        ServerRecord::forget(&self.options().home, &RecordName::of(name, Some(config)))?;
        let probed = self.probe_by(name, config).await.map_err(told)?;
        settings::put(&self.options().config_file, name, config)?;
        Ok(probed)
    }

    /// Puts a server on the web into `limpid.toml` that its owner has to log in at first. Where it cannot be added, its login is
    /// forgotten: no later server of that name inherits one.
    ///
    /// # Errors
    /// When the login comes to nothing, or the server cannot be added.
    pub async fn add_with_login(&self, new: &NewServer, tell: impl FnOnce(&str, &str)) -> Result<Probed, AgentError> {
        self.can_add(new)?;
        let added = match self.login((&new.name, new.config.url.as_deref()), LoginWish::default(), tell).await {
            Ok(()) => self.add(new).await,
            Err(error) => Err(error),
        };
        if added.is_err() {
            self.forget_login(&new.name)?;
        }
        added
    }

    fn can_add(&self, NewServer { name, config }: &NewServer) -> Result<(), AgentError> {
        if self.options().config.mcp.servers.contains_key(name) {
            let advice = format!("take it out first: limpid mcp remove {name}");
            return Err(AgentError::Invalid(format!("there is an MCP server `{name}`; {advice}")));
        }
        settings::check(name, config)
    }

    /// What waits for the owner to look at: of one tool, or of all.
    ///
    /// # Errors
    /// When there is no such tool, or what is known of the server cannot be read.
    pub fn waiting(&self, server: &str, tool: Option<&str>) -> Result<Vec<ToolReview>, AgentError> {
        let record = ServerRecord::read(&self.options().home, &self.record_name(server))?;
        if let Some(tool) = tool.filter(|tool| !record.tools.iter().any(|known| known.name == *tool)) {
            let advice = format!("`limpid mcp list` lists those of `{server}`");
            return Err(AgentError::NotFound { what: "MCP tool", name: tool.to_owned(), advice });
        }
        let review = |known: &ToolRecord| {
            let now = known.now.as_ref()?;
            Some(ToolReview {
                name: known.name.clone(),
                before: known.looked.as_ref().map(shown),
                now: shown(now),
                sha256: now.sha256(&known.name),
            })
        };
        let wanted = record.tools.iter().filter(|known| tool.is_none_or(|tool| known.name == tool));
        Ok(wanted.filter_map(review).collect())
    }

    /// The owner has looked at these: from here on they may be used. What the server says otherwise by now still waits.
    /// A lasting yes to calls of one of them was given to the text before, and ends.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub fn enable(&self, server: &str, looked: &[ToolReview]) -> Result<(), AgentError> {
        let (home, now_ms) = (&self.options().home, self.options().host.now_ms());
        ServerRecord::change(home, &self.record_name(server), |record| {
            for tool in &mut record.tools {
                let says = tool.now.as_ref().map(|now| now.sha256(&tool.name));
                if looked.iter().any(|looked| looked.name == tool.name && Some(&looked.sha256) == says.as_ref()) {
                    tool.look(now_ms);
                }
            }
            record.tools.retain(|tool| !tool.gone);
        })?;
        tell_others(home, now_ms)
    }

    /// Switches a server on or off, or one of its tools.
    ///
    /// # Errors
    /// When there is no such server, or the settings cannot be written.
    pub fn switch(&self, server: &str, tool: Option<&str>, on: bool) -> Result<(), AgentError> {
        let config = self.known(server)?;
        let is_on = tool.map_or(config.enabled, |tool| config.tools.get(tool).is_none_or(|tool| tool.enabled));
        if is_on == on { Ok(()) } else { settings::switch(&self.options().config_file, server, tool, on) }
    }

    /// Takes a server out of the settings, and forgets what was looked at.
    ///
    /// # Errors
    /// When there is no such server, or the settings cannot be written.
    pub fn remove(&self, server: &str) -> Result<(), AgentError> {
        self.known(server)?;
        // The setting goes last: while it is there, what failed can be tried again, and no later server inherits a yes or a login.
        self.forget_login(server)?;
        ServerRecord::forget(&self.options().home, &self.record_name(server))?;
        settings::remove(&self.options().config_file, server)
    }

    pub(super) fn known(&self, server: &str) -> Result<&McpServerConfig, AgentError> {
        self.options().config.mcp.servers.get(server).ok_or_else(|| {
            let advice = "`limpid mcp list` lists them".to_owned();
            AgentError::NotFound { what: "MCP server", name: server.to_owned(), advice }
        })
    }
}

pub(super) fn told(sentence: Sentence) -> AgentError {
    AgentError::Invalid(sentence.into_parts().0)
}

/// A tool's text as the owner looks at it: every byte of it that a model will read.
fn shown(text: &ToolText) -> String {
    let schema = serde_json::to_string_pretty(&Value::Object(text.schema.clone())).unwrap_or_default();
    format!("{}\n{schema}\n", text.description)
}
