//! All servers, and the one way to a connection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use limpid_config::{Config, Environment, Home, Live, McpEffect, McpServerConfig, Redactor};
use limpid_core::form::AskOwner;
use limpid_core::{Labelled, Sentence, Trust, sentence};
use limpid_mcp::{Address, Asking, Connection, KeptLogin, Listed, OfferedTool, Program, Revision, Server};
use limpid_tools::Tool;
use serde_json::{Map, Value};

use crate::host::Host;
use crate::mcp::link::{Connected, Link};
use crate::mcp::prompts;
use crate::mcp::record::{RecordName, ServerRecord, server_as_set};
use crate::mcp::resource_tool::ReadResource;
use crate::mcp::tool::McpTool;
use crate::skills::Skills;

/// Variables of this program's own that a server gets; what else it needs, its settings say.
const HANDED_ON: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// The shortest pause between two looks at lists that change.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// The longest one, of a server that says without end that they have changed.
const BETWEEN_CHANGES: Duration = Duration::from_secs(60);

/// What servers are made from.
pub struct McpOptions {
    /// The folder with what the owner has looked at.
    pub home: Home,
    /// Which servers there are.
    pub config: Live<Config>,
    /// The file that the settings come from, which commands change.
    pub config_file: PathBuf,
    /// Variables that are handed on, and secrets.
    pub environment: Environment,
    /// The clock.
    pub host: Host,
    /// The binary whose hidden sub-command ends a program with everything that it started.
    pub helper: Option<PathBuf>,
    /// Where prompts of servers are registered.
    pub skills: Arc<Skills>,
    /// Takes tokens out of texts.
    pub redactor: Redactor,
}

/// The servers of an agent. Clones share everything.
#[derive(Clone)]
pub struct McpServers(Arc<Inner>);

struct Inner {
    options: McpOptions,
    links: Mutex<BTreeMap<String, Arc<Link>>>,
    /// Tools, by server and the server's own name, of which the server says something else than what was looked at.
    withdrawn: Mutex<BTreeSet<(String, String)>>,
    /// Servers that the owner has not said yes to: nothing starts or reaches them.
    held: Mutex<BTreeSet<String>>,
}

impl McpServers {
    /// The servers of a home. None is started by this.
    pub fn new(options: McpOptions) -> Self {
        Self(Arc::new(Inner { options, links: Mutex::default(), withdrawn: Mutex::default(), held: Mutex::default() }))
    }

    pub(super) fn options(&self) -> &McpOptions {
        &self.0.options
    }

    /// The tools that the owner has looked at, but for those whose name is taken: `taken` are the names that others have. None of this
    /// needs a connection.
    pub fn tools(&self, taken: &BTreeSet<String>) -> Vec<Arc<dyn Tool>> {
        let servers: Vec<(&String, &McpServerConfig, ServerRecord)> = self
            .enabled()
            // What cannot be read is told by `limpid mcp list` and `limpid doctor`.
            .filter_map(|(name, config)| {
                let record = ServerRecord::read(&self.options().home, &RecordName::of(name, Some(config)));
                Some((name, config, record.ok()?))
            })
            .collect();
        self.withdrawn().clear();
        let mut known: Vec<McpTool> = Vec::new();
        for (server, config, record) in &servers {
            let is_on = |name: &str| config.tools.get(name).is_none_or(|tool| tool.enabled);
            for tool in record.tools.iter().filter(|tool| is_on(&tool.name)) {
                let usable = tool.usable();
                known.extend(usable.map(|text| McpTool::new(self.clone(), (server, config), (tool, text))));
            }
        }
        // A server that looks for names of one hash takes its own tools away, and no name ever means one of two.
        let mut counts: BTreeMap<String, usize> = taken.iter().map(|name| (name.clone(), 1)).collect();
        for tool in &known {
            *counts.entry(tool.name().to_owned()).or_default() += 1;
        }
        known.retain(|tool| counts.get(tool.name()) == Some(&1));
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        tools.extend(known.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>));
        if !servers.is_empty() {
            tools.push(Arc::new(ReadResource(self.clone())));
        }
        tools
    }

    /// Whether the server says the same of a tool as the owner has looked at, as far as is known.
    pub(super) fn is_there(&self, server: &str, tool: &str) -> bool {
        !self.withdrawn().contains(&(server.to_owned(), tool.to_owned()))
    }

    /// What the owner declares that reading a resource of a server changes.
    pub(super) fn resources_of(&self, server: &str) -> Option<McpEffect> {
        self.options().config.mcp.servers.get(server).filter(|config| config.enabled)?.resources
    }

    /// What stands for a server as it is set; none where there is none of that name.
    pub(super) fn as_set(&self, server: &str) -> Option<String> {
        Some(server_as_set((server, self.options().config.mcp.servers.get(server)?)))
    }

    /// Calls a tool by the server's own name for it. `as_set` stands for the server that the call was judged for, `looked` is the hash of
    /// the text that the owner has looked at, and `owner` the way to them for what the server wants to know meanwhile.
    ///
    /// # Errors
    /// A sentence: why it was not called, or what went wrong.
    pub(super) async fn call(
        &self,
        (server, as_set): (&str, &str),
        (tool, looked): (&str, &str),
        arguments: Map<String, Value>,
        owner: Option<AskOwner>,
    ) -> Result<Labelled<String>, Sentence> {
        let (link, connection) = self.connected(server).await?;
        link.check(as_set, (tool, looked))?;
        let asking = owner.map(|owner| Asking { server: server.to_owned(), owner });
        let answer = connection.call(tool, arguments, asking).await.map_err(|error| error.sentence(server))?;
        let text = if answer.text.trim().is_empty() { "(no text)".to_owned() } else { answer.text };
        if answer.failed {
            return Err(sentence!("the tool says that it failed: {}", Labelled::outside(text)));
        }
        Ok(Labelled::outside(text))
    }

    /// A connection to a server, made if there is none.
    ///
    /// # Errors
    /// A sentence: why there is none.
    pub(super) async fn connected(&self, server: &str) -> Result<(Arc<Link>, Arc<Connection>), Sentence> {
        let link = self.link(server)?;
        match link.connect(self.revision(server)).await? {
            Connected::Before(connection) => Ok((link, connection)),
            Connected::Now(connection, tools) => {
                self.saw(&link, &connection, &tools);
                if link.is_first_time() {
                    tokio::spawn(follow(Arc::downgrade(&self.0), Arc::downgrade(&link)));
                }
                Ok((link, connection))
            }
        }
    }

    /// Connects to every server in the background, so that its prompts can be chosen before one of its tools was called.
    pub fn connect_all(&self) {
        for (name, _) in self.enabled() {
            let (servers, name) = (self.clone(), name.clone());
            tokio::spawn(async move {
                // Why there is none is told when it is needed.
                let _ = servers.connected(&name).await;
            });
        }
    }

    /// Connects to every server, and registers their prompts. Returns why some cannot be chosen.
    pub async fn register_prompts(&self) -> Vec<String> {
        let names: Vec<String> = self.enabled().map(|(name, _)| name.clone()).collect();
        let mut problems = Vec::new();
        for name in names {
            match self.connected(&name).await {
                Ok((link, connection)) => {
                    let now_ms = self.options().host.now_ms();
                    let skills = &self.options().skills;
                    let left_out = prompts::register(skills, &link.name, &connection, now_ms).await;
                    problems.extend(left_out.into_iter().map(|(name, why)| format!("{name}: {why}")));
                }
                Err(why) => problems.push(why.into_text()),
            }
        }
        problems
    }

    /// Closes every connection, and waits until the servers have ended.
    pub async fn close(&self) {
        let links: Vec<Arc<Link>> = std::mem::take(&mut *self.links()).into_values().collect();
        for link in links {
            self.options().skills.forget_server(&link.name);
            link.close().await;
        }
    }

    /// Takes in what a server says of its tools.
    pub(super) fn saw(&self, link: &Link, connection: &Connection, tools: &Listed<OfferedTool>) {
        let Inner { options: McpOptions { home, host, .. }, .. } = &*self.0;
        let revision = connection.revision().as_str();
        let changed = ServerRecord::change(home, &RecordName::of(&link.name, Some(&link.config)), |record| {
            record.see(tools, revision, host.now_ms());
            let is_other = |tool: &&crate::mcp::record::ToolRecord| tool.looked.is_some() && tool.usable().is_none();
            record.tools.iter().filter(is_other).map(|tool| tool.name.clone()).collect::<Vec<_>>()
        });
        // Where it cannot be written down, each call is still held against what the server says now.
        let mut withdrawn = self.withdrawn();
        withdrawn.retain(|(server, _)| *server != link.name);
        withdrawn.extend(changed.unwrap_or_default().into_iter().map(|tool| (link.name.clone(), tool)));
    }

    /// How the last connection to a server began.
    fn revision(&self, server: &str) -> Option<Revision> {
        let record = ServerRecord::read(&self.options().home, &self.record_name(server)).ok()?;
        Revision::parse(record.revision.as_deref()?)
    }

    /// What the record of a server is called, by its settings as they are now.
    pub(super) fn record_name(&self, server: &str) -> RecordName {
        RecordName::of(server, self.options().config.mcp.servers.get(server))
    }

    /// The servers that are used.
    pub(super) fn enabled(&self) -> impl Iterator<Item = (&String, &McpServerConfig)> {
        self.options().config.mcp.servers.iter().filter(|(_, config)| config.enabled)
    }

    /// The link to a server, by its settings as they are now.
    fn link(&self, server: &str) -> Result<Arc<Link>, Sentence> {
        let name = || Labelled::new(server.to_owned(), Trust::Owner);
        let config = self.options().config.mcp.servers.get(server).filter(|config| config.enabled);
        let Some(config) = config else { return Err(sentence!("there is no MCP server `{}` in limpid.toml", name())) };
        let mut links = self.links();
        if let Some(link) = links.get(server).filter(|link| link.config == *config) {
            return Ok(Arc::clone(link));
        }
        let link = Arc::new(self.new_link(server, config)?);
        if links.insert(server.to_owned(), Arc::clone(&link)).is_some() {
            // The prompts of the new one come with its connection.
            self.options().skills.forget_server(server);
        }
        Ok(link)
    }

    /// Keeps a server from being started or reached in any way until it is let go: the owner has not said yes to it.
    pub fn hold(&self, server: &str) {
        self.held().insert(server.to_owned());
    }

    /// The owner has said yes to a server that was held.
    pub fn let_go(&self, server: &str) {
        self.held().remove(server);
    }

    /// A link to a server that nobody else uses. Every connection is made from one.
    pub(super) fn new_link(&self, server: &str, config: &McpServerConfig) -> Result<Link, Sentence> {
        if self.held().contains(server) {
            let name = Labelled::new(server.to_owned(), Trust::Owner);
            return Err(sentence!("the owner has not said yes to the MCP server `{}`, so it is not used", name));
        }
        // A token of the settings counts before a login.
        let login = config.url.as_ref().filter(|_| config.token_env.is_none()).map(|url| self.kept_login(server, url));
        Ok(Link::new((server, config), self.server(server, config)?, self.options().helper.clone(), login))
    }

    /// What a login at a server gave; no text repeats its tokens.
    pub(super) fn kept_login(&self, server: &str, url: &str) -> KeptLogin {
        let McpOptions { home, redactor, .. } = self.options();
        let redactor = redactor.clone();
        KeptLogin::new(home.mcp_login(server), url, move |token| redactor.learn_given("mcp login", token))
    }

    /// What the settings of a server mean.
    fn server(&self, name: &str, config: &McpServerConfig) -> Result<Server, Sentence> {
        let McpOptions { environment, home, .. } = self.options();
        let variable = |variable: &String| {
            let missing = || {
                let (name, variable) = (name.to_owned(), variable.clone());
                let (name, variable) = (Labelled::new(name, Trust::Owner), Labelled::new(variable, Trust::Owner));
                sentence!("the MCP server `{}` needs the variable {}, which is not set", name, variable)
            };
            environment.get(variable).map(str::to_owned).ok_or_else(missing)
        };
        if let Some(url) = &config.url {
            let mut headers: Vec<(String, String)> =
                config.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            if let Some(token) = &config.token_env {
                headers.push(("authorization".to_owned(), format!("Bearer {}", variable(token)?)));
            }
            return Ok(Server::Address(Address { url: url.clone(), headers }));
        }
        let mut variables: BTreeMap<String, String> = BTreeMap::new();
        variables
            .extend(HANDED_ON.iter().filter_map(|name| Some(((*name).to_owned(), environment.get(name)?.to_owned()))));
        for name in &config.env_from {
            variables.insert(name.clone(), variable(name)?);
        }
        variables.extend(config.env.clone());
        // An empty folder that nobody else writes: programs load what lies where they start.
        let folder = home.mcp().join("empty");
        std::fs::create_dir_all(&folder)
            .map_err(|error| sentence!("no folder for MCP servers: {}", Labelled::new(error, Trust::Owner)))?;
        let command = config.command.clone().unwrap_or_default();
        let (arguments, variables) = (config.args.clone(), variables.into_iter().collect());
        Ok(Server::Program(Program { command, arguments, variables, folder }))
    }

    fn links(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Link>>> {
        self.0.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn withdrawn(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.0.withdrawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows a server from its first connection on: takes in what has changed, registers its prompts, and connects again when it
/// has died, after pauses that grow. It ends when the settings have another server in its place.
async fn follow(servers: Weak<Inner>, link: Weak<Link>) {
    let mut known: Weak<Connection> = Weak::new();
    let mut has_changed = false;
    let mut pause = Duration::ZERO;
    loop {
        let (Some(inner), Some(link)) = (servers.upgrade(), link.upgrade()) else { return };
        let (servers, changes) = (McpServers(inner), Arc::clone(&link.changes));
        let (skills, now_ms) = (Arc::clone(&servers.options().skills), servers.options().host.now_ms());
        match servers.link(&link.name) {
            Ok(used) if Arc::ptr_eq(&used, &link) => {}
            Ok(_) => return,
            // It is not used any more.
            Err(_) => {
                servers.links().remove(&link.name);
                skills.forget_server(&link.name);
                return;
            }
        }
        match link.connect(servers.revision(&link.name)).await {
            Ok(connected) => {
                let connection = match connected {
                    Connected::Before(connection) => connection,
                    Connected::Now(connection, tools) => {
                        servers.saw(&link, &connection, &tools);
                        connection
                    }
                };
                if has_changed && let Ok(tools) = link.look(&connection).await {
                    servers.saw(&link, &connection, &tools);
                }
                let is_known = known.upgrade().is_some_and(|known| Arc::ptr_eq(&known, &connection));
                if has_changed || !is_known {
                    prompts::register(&skills, &link.name, &connection, now_ms).await;
                    known = Arc::downgrade(&connection);
                }
            }
            // Its prompts cannot be chosen until it is there again.
            Err(_) => skills.forget_server(&link.name),
        }
        drop((servers, link));
        has_changed = tokio::time::timeout(BETWEEN_LOOKS, changes.notified()).await.is_ok();
        // A server that says without end that it has changed is looked at ever more seldom.
        if has_changed {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).clamp(BETWEEN_LOOKS, BETWEEN_CHANGES);
        } else {
            pause /= 2;
        }
    }
}
