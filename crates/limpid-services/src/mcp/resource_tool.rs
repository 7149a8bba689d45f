//! Resources of servers, on request: one is read when a model asks for it.

use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use limpid_config::McpEffect;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_tools::{Tool, ToolContext, read_arguments, schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::servers::McpServers;

/// The name that the model calls.
pub(super) const NAME: &str = "read_mcp_resource";

/// The longest time that any server may take for an answer, three times: it may have to be started first.
const LONGEST: Duration = Duration::from_secs(3 * 60);

/// Lists what servers have to read, and reads it.
pub(super) struct ReadResource(pub(super) McpServers);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    server: String,
    uri: Option<String>,
}

impl ReadResource {
    /// What the owner declares that reading from a server changes; undeclared, the server may hear anything in an address.
    fn declared(&self, arguments: &Value) -> Effect {
        let server = arguments.get("server").and_then(Value::as_str).unwrap_or_default();
        self.0.resources_of(server).map_or(Effect::Send, McpEffect::effect)
    }
}

#[async_trait]
impl Tool for ReadResource {
    fn name(&self) -> &'static str {
        NAME
    }

    fn group(&self) -> &'static str {
        "mcp"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Write
    }

    fn effect(&self, arguments: &Value) -> Effect {
        self.declared(arguments)
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        let server = arguments.get("server")?.as_str()?;
        Some(Destination::Place(format!("mcp {server}")))
    }

    fn timeout(&self) -> Option<Duration> {
        Some(LONGEST)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        if self.declared(&arguments) != Effect::Look {
            context.leaves().await?;
        }
        let Arguments { server, uri } = read_arguments(arguments)?;
        let (_, connection) = self.0.connected(&server).await?;
        let failed = |error: limpid_mcp::McpError| error.sentence(&server);
        let text = match uri.filter(|uri| !uri.trim().is_empty()) {
            Some(uri) => connection.resource(&uri).await.map_err(failed)?,
            None => {
                let listed = connection.resources().await.map_err(failed)?;
                let mut text = String::new();
                for resource in &listed.items {
                    // Writing into a text cannot fail.
                    let _ = writeln!(text, "{} {}: {}", resource.uri, resource.name, resource.description);
                }
                if listed.left_out > 0 {
                    let _ = writeln!(text, "({} more are left out)", listed.left_out);
                }
                text
            }
        };
        Ok(Labelled::outside(if text.trim().is_empty() { "(nothing)".to_owned() } else { text }))
    }
}
