//! `open_url`: shows a page on the owner's screen.

use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::process::Command;

use crate::web::{Web, address_of, parse, server_of, with_address};
use crate::{Tool, ToolContext, echoed, read_arguments, schema_of};

/// Shows an address of the web to the owner.
#[async_trait]
pub trait Screen: Send + Sync {
    /// Opens it.
    ///
    /// # Errors
    /// A sentence: why it could not be opened.
    async fn open(&self, url: &str) -> Result<(), Sentence>;
}

/// The program of this system that opens addresses.
#[derive(Clone, Copy, Debug)]
pub struct SystemScreen;

#[async_trait]
impl Screen for SystemScreen {
    async fn open(&self, url: &str) -> Result<(), Sentence> {
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(program);
        // Limpid may be started in a stranger's folder, and a browser's script may load what lies there.
        command.arg(url).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().await.map_err(|error| {
            let why = echoed(limpid_core::io_cause(&error));
            sentence!("`{}` cannot be run: {}; give the owner the address instead", program, why)
        })?;
        if status.success() {
            return Ok(());
        }
        Err("there is no screen to open it on; give the owner the address instead".into())
    }
}

/// Opens an address on the owner's screen.
#[derive(Clone)]
pub struct OpenUrl {
    screen: Arc<dyn Screen>,
    web: Web,
}

impl OpenUrl {
    /// The tool over a screen. The web knows which addresses are of the owner's own network.
    pub fn new(screen: Arc<dyn Screen>, web: Web) -> Self {
        Self { screen, web }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
}

#[async_trait]
impl Tool for OpenUrl {
    fn name(&self) -> &'static str {
        "open_url"
    }

    fn group(&self) -> &'static str {
        "web"
    }

    /// An address can carry anything away.
    fn class(&self) -> ToolClass {
        ToolClass::Send
    }

    fn effect(&self, arguments: &Value) -> Effect {
        Effect::Show(arguments["url"].as_str().and_then(address_of))
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn names_own_network(&self, arguments: &Value) -> bool {
        self.web.names_own(arguments)
    }

    async fn leads_to_own_network(&self, arguments: &Value) -> bool {
        self.web.leads_to_own(arguments).await
    }

    fn canonical(&self, arguments: &Value) -> Value {
        with_address(arguments)
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        server_of(arguments.get("url")?.as_str()?)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { url } = read_arguments(arguments)?;
        let url = parse(&url)?;
        self.screen.open(url.as_str()).await?;
        Ok(sentence!("opened {}", context.words(url.host_str().unwrap_or_default())).into())
    }
}
