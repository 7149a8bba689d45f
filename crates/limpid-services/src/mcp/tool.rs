//! A tool of a server.

use std::time::Duration;

use async_trait::async_trait;
use limpid_config::{McpEffect, McpServerConfig};
use limpid_core::policy::{Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_mcp::PATIENCE;
use limpid_tools::{Concerned, Tool, ToolContext};
use serde_json::{Map, Value};

use crate::mcp::defaults::with_defaults;
use crate::mcp::names::{offered_name, other_names};
use crate::mcp::record::{ToolRecord, ToolText, server_as_set};
use crate::mcp::servers::McpServers;
use crate::tools::SERVERS_GROUP;

/// A tool of a server, as the owner has looked at it. What the server says of it otherwise counts for nothing: whether it only
/// looks, for one.
pub(super) struct McpTool {
    servers: McpServers,
    server: String,
    /// The server's own name for it.
    own_name: String,
    /// The name that the model calls.
    name: String,
    /// What rules may call it besides.
    other_names: Vec<String>,
    group: String,
    text: ToolText,
    sha256: String,
    /// What stands for the owner's look at it.
    looked_at: String,
    /// What stands for the server as it was set.
    as_set: String,
    /// What the owner declares that its calls change.
    declared: Option<McpEffect>,
    seconds: u32,
}

impl McpTool {
    pub(super) fn new(
        servers: McpServers,
        (server, config): (&str, &McpServerConfig),
        (record, text): (&ToolRecord, &ToolText),
    ) -> Self {
        let own_name = record.name.as_str();
        Self {
            servers,
            looked_at: record.looked_at((server, config), text),
            as_set: server_as_set((server, config)),
            name: offered_name(server, own_name),
            other_names: other_names(server, own_name),
            group: group_of(server),
            sha256: text.sha256(own_name),
            text: text.clone(),
            declared: config.tools.get(own_name).and_then(|tool| tool.effect),
            seconds: config.seconds,
            own_name: own_name.to_owned(),
            server: server.to_owned(),
        }
    }
}

/// The group of a server's tools.
pub(super) fn group_of(server: &str) -> String {
    format!("{SERVERS_GROUP}{server}")
}

#[async_trait]
impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn other_names(&self) -> &[String] {
        &self.other_names
    }

    fn group(&self) -> &str {
        &self.group
    }

    fn class(&self) -> ToolClass {
        // Of an undeclared one modes think as of one that writes; each call of it waits like one that sends.
        self.declared.map_or(ToolClass::Write, |declared| declared.effect().class())
    }

    fn effect(&self, _: &Value) -> Effect {
        self.declared.map_or(Effect::Send, McpEffect::effect)
    }

    fn description(&self) -> &str {
        &self.text.description
    }

    fn schema(&self) -> Map<String, Value> {
        self.text.schema.clone()
    }

    /// A server takes what its schema says for what a call leaves out.
    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        with_defaults(&self.text.schema, arguments).into_iter().collect()
    }

    fn is_repeatable(&self) -> bool {
        self.declared == Some(McpEffect::Look)
    }

    fn destination(&self, _: &Value) -> Option<Destination> {
        Some(Destination::Place(format!("mcp {}", self.server)))
    }

    /// A yes holds for the text that the owner has looked at, and by [`Tool::looked_at`] for the server as they set it.
    fn bound_to(&self, _: &Value) -> Vec<String> {
        vec![self.server.clone(), self.sha256.clone()]
    }

    fn looked_at(&self, _: &Value) -> Option<String> {
        Some(self.looked_at.clone())
    }

    fn is_available(&self) -> bool {
        self.servers.is_there(&self.server, &self.own_name)
    }

    fn timeout(&self) -> Option<Duration> {
        // The server may have to be started first; each question has the time that the settings give it, in which that is not
        // counted which the owner takes to answer a question of the server's.
        Some(Duration::from_secs(u64::from(self.seconds) * 3) + PATIENCE)
    }

    /// What a number stands for at its server is for that to say.
    async fn concerns(&self, _: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::InArguments
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Value::Object(arguments) = arguments else { return Err(sentence!("the arguments must be an object")) };
        if !self.is_repeatable() {
            context.leaves().await?;
        }
        let call = (self.own_name.as_str(), self.sha256.as_str());
        self.servers.call((&self.server, &self.as_set), call, arguments, context.owner.clone()).await
    }
}
