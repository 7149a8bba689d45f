//! The bridge: tools, prompts and texts of the agent's, lent over MCP to a program that thinks for itself.
//!
//! A client is a program of somebody's, and what it has read nobody knows. So its calls are judged as those of a turn that has
//! read a stranger's text: what changes something of the owner's is kept as a draft. All clients of a home share one
//! conversation, in which no model of the agent's answers; so goals and agents are there again after a restart.
//!
//! # Layout
//! - `calls`: one call, from the policy to its result.
//! - `delegation`: what agents that a client starts need of the store.
//! - `prompts`, `resources`: texts.
//! - `token`: who may ask over HTTP.

mod calls;
mod delegation;
mod prompts;
mod resources;
mod token;

use std::sync::Arc;

use async_trait::async_trait;
use limpid_context::{BuiltContext, Fit, Gathered, Occasion, build, window_state_of};
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Trust};
use limpid_mcp::serving::{
    Endpoint, HttpOptions, Lends, Lent, LentAnswer, LentPrompt, LentResource, LentTool, Refusal, endpoint, serve_stdio,
};
use limpid_model::ModelCard;
use limpid_prompt::boundary::fence;
use limpid_prompt::inputs::ToolInput;
use limpid_prompt::prompt::OfferedTool;
use limpid_prompt::render::callable_tools;
use limpid_prompt::shown::Drawn;
use limpid_services::error::AgentError;
use limpid_services::goals::GOAL_TOOLS;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Agent;

/// The path whose tools are lent.
const PATH: &str = "bridge";

/// Who wrote what a client sends.
const CLIENTS: Trust = Trust::Outside;

/// What an agent lends.
pub struct Bridge {
    agent: Agent,
    about: Lent,
}

impl Bridge {
    /// What an agent lends under its owner's profile.
    ///
    /// # Errors
    /// When profile or store cannot be read.
    pub async fn open(agent: Agent) -> Result<Self, AgentError> {
        let about = Lent { name: String::new(), version: String::new(), instructions: String::new() };
        let mut bridge = Self { agent, about };
        let profile = bridge.agent.config().agent.profile.clone();
        let built = bridge.built(&profile, PATH).await?;
        bridge.about = Lent {
            name: built.gathered.inputs.agent_name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: text_of(&built),
        };
        Ok(bridge)
    }

    /// Lends it to one client, over these, until its input ends.
    ///
    /// # Errors
    /// When what the client sends first is none of the protocol's beginnings.
    pub async fn serve<R, W>(self, input: R, output: W) -> Result<(), AgentError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        serve_stdio(Arc::new(self), input, output).await.map_err(AgentError::Invalid)
    }

    /// What answers at a path of an HTTP server; who may ask is decided before it.
    pub fn endpoint(self: &Arc<Self>, options: HttpOptions) -> Endpoint {
        endpoint(Arc::clone(self) as Arc<dyn Lends>, options)
    }

    /// What a path of a profile says and offers now, to a model of which nothing is known.
    async fn built(&self, profile: &str, path: &str) -> Result<BuiltContext, AgentError> {
        let context = self.agent.context();
        let card = ModelCard::default();
        let occasion = Occasion {
            conversation: None,
            profile,
            path: Some(path),
            mode: self.agent.modes().of_next(path),
            card: &card,
            window: &window_state_of(None),
            text: "",
            // There is no message.
            trust: Trust::File,
            boundary: None,
            unanswered: &[],
            now: context.host.now(),
            fit: Fit::AsIs,
        };
        let mut built = build(context, occasion).await?;
        // Elsewhere they wait until somebody speaks of goals.
        let Gathered { inputs, policy, .. } = &mut built.gathered;
        let known: Vec<String> = inputs.tools.iter().map(|tool| tool.name.clone()).collect();
        let is_new = |tool: &ToolInput| tool.group == GOAL_TOOLS && !known.contains(&tool.name);
        inputs.tools.extend(context.tools.inputs(policy).into_iter().filter(is_new));
        Ok(built)
    }

    /// What is lent now.
    async fn lent(&self) -> Result<BuiltContext, AgentError> {
        self.built(&self.agent.config().agent.profile, PATH).await
    }

    /// A text as a client reads it: a stranger's words stand in a boundary, nothing in them is fetched by a client that draws them, and
    /// known secrets are taken out that it could not have guessed.
    fn shown(&self, text: Labelled<String>) -> String {
        let (text, trust) = text.into_parts();
        let text = self.agent.context().redactor.clean(text);
        if trust.is_foreign() { Drawn::new(&fence(&text, &self.agent.context().host.tag())).into() } else { text }
    }
}

/// What a prompt says.
fn text_of(built: &BuiltContext) -> String {
    let texts: Vec<&str> = built.prompt.messages().iter().map(|message| message.text().trim()).collect();
    texts.join("\n\n").trim().to_owned()
}

/// The tools that a path offers, whether a model would get them at once or find them.
fn tools_of(built: &BuiltContext) -> Vec<OfferedTool> {
    let gathered = &built.gathered;
    callable_tools(&gathered.profile, &gathered.path, &gathered.inputs)
}

/// Something went wrong here.
fn trouble(error: impl Into<AgentError>) -> Refusal {
    Refusal::Trouble(error.into().to_string())
}

#[async_trait]
impl Lends for Bridge {
    fn about(&self) -> Lent {
        self.about.clone()
    }

    async fn tools(&self) -> Result<Vec<LentTool>, Refusal> {
        let built = self.lent().await.map_err(trouble)?;
        let catalog = &self.agent.context().tools;
        let lent = tools_of(&built).into_iter().map(|tool| LentTool {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: serde_json::from_str(tool.schema()).unwrap_or_default(),
            only_reads: catalog
                .tool(tool.name())
                .is_some_and(|tool| tool.effect(&Value::Object(Map::new())) == Effect::Look),
        });
        Ok(lent.collect())
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<LentAnswer, Refusal> {
        self.call_tool(tool, arguments).await
    }

    async fn prompts(&self) -> Result<Vec<LentPrompt>, Refusal> {
        prompts::list(self).await.map_err(trouble)
    }

    async fn prompt(&self, name: &str) -> Result<String, Refusal> {
        prompts::text(self, name).await
    }

    async fn resources(&self) -> Result<Vec<LentResource>, Refusal> {
        resources::list(self).await.map_err(trouble)
    }

    async fn templates(&self) -> Result<Vec<LentResource>, Refusal> {
        resources::templates(self).await.map_err(trouble)
    }

    async fn resource(&self, uri: &str) -> Result<(String, &'static str), Refusal> {
        resources::read(self, uri).await
    }
}
