//! The tools that the model may call, and the one place where one runs (ARC-003).
//!
//! A tool is a small file: its name, its arguments as a Rust type, and what it does. What the model is told about it
//! stands in the profile's `tools/*.md`.

mod get_local_time;
mod memory_query;
mod memory_store;
mod schema;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use limpid_core::{ConversationId, ToolCall, Trust, TurnId};
use limpid_prompt::inputs::ToolInput;
use limpid_store::Store;
use limpid_turn::ToolOutcome;
use serde_json::{Map, Value};

pub use get_local_time::GetLocalTime;
pub use memory_query::MemoryQuery;
pub(crate) use memory_query::recall;
pub use memory_store::MemoryStoreTool;
pub use schema::schema_of;

use crate::world::{Clock, Ids, hex};

/// Something that the model may have done.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The name that the model calls.
    fn name(&self) -> &'static str;

    /// The group that texts list it under.
    fn group(&self) -> &'static str;

    /// The JSON schema of its arguments; [`schema_of`] makes it from a Rust type.
    fn schema(&self) -> Map<String, Value>;

    /// Whether a call of unknown fate may simply be made again. One that may not is reported as of unknown outcome
    /// after a crash (SEC-041).
    fn is_repeatable(&self) -> bool;

    /// How long a call may take, when that is not the usual time.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Calls that one message of the person allows, and what is said of one more.
    fn calls_a_message(&self) -> Option<(u32, &'static str)> {
        None
    }

    /// Does it. The error is read by the model: what was wrong and what to do.
    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<ToolText, String>;
}

/// What a tool returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolText {
    /// The text, whole.
    pub text: String,
    /// Who wrote the least trusted text in it.
    pub trust: Trust,
}

impl ToolText {
    /// A text of the program's own or of the owner's.
    pub fn own(text: impl Into<String>) -> Self {
        Self { text: text.into(), trust: Trust::Owner }
    }
}

/// What a tool may use.
#[derive(Clone)]
pub struct ToolContext {
    /// What the agent keeps.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The owner's zone.
    pub zone: TimeZone,
    /// The conversation.
    pub conversation: ConversationId,
    /// The turn.
    pub turn: TurnId,
    /// Who wrote the least trusted text that the model has read in this turn.
    pub trust: Trust,
}

impl ToolContext {
    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }
}

/// Every tool there is, in the order in which they are declared.
#[derive(Clone)]
pub struct ToolBox {
    tools: Vec<Arc<dyn Tool>>,
}

impl ToolBox {
    /// Limpid's own tools, then those of whoever uses it as a library; a name that is taken is not taken twice.
    pub fn new(more: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(MemoryStoreTool), Arc::new(MemoryQuery), Arc::new(GetLocalTime)];
        for tool in more {
            if !tools.iter().any(|known| known.name() == tool.name()) {
                tools.push(tool);
            }
        }
        Self { tools }
    }

    /// A tool by name.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// The tools as prompts are made from them. Without memory its tools do not exist (KAI-031).
    pub(crate) fn inputs(&self, memory: bool) -> Vec<ToolInput> {
        let there = self.tools.iter().filter(|tool| memory || tool.group() != "memory");
        let input = |tool: &Arc<dyn Tool>| ToolInput {
            name: tool.name().to_owned(),
            group: tool.group().to_owned(),
            description: String::new(),
            schema: tool.schema(),
        };
        there.map(input).collect()
    }
}

/// The tools of one turn: they know how often each was called.
pub(crate) struct TurnTools {
    tools: ToolBox,
    ids: Arc<dyn Ids>,
    calls: Mutex<HashMap<String, u32>>,
}

impl TurnTools {
    /// `before` are the names of calls that this turn has already made.
    pub(crate) fn new<'a>(tools: ToolBox, ids: Arc<dyn Ids>, before: impl Iterator<Item = &'a str>) -> Self {
        let mut calls = HashMap::new();
        for name in before {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
        Self { tools, ids, calls: Mutex::new(calls) }
    }

    /// Whether a call of unknown fate may be made again.
    pub(crate) fn is_repeatable(&self, name: &str) -> bool {
        self.tools.tool(name).is_some_and(|tool| tool.is_repeatable())
    }

    /// Runs one call. This is the only place where a tool runs; a tool that panics has failed, no more (KAI-113).
    pub(crate) async fn run(&self, context: ToolContext, call: ToolCall) -> ToolOutcome {
        match self.try_run(context, call).await {
            Ok(ToolText { text, trust }) => {
                let boundary = trust.is_foreign().then(|| hex(&*self.ids));
                ToolOutcome::Done { text, trust, boundary }
            }
            Err(error) => ToolOutcome::Failed { error },
        }
    }

    async fn try_run(&self, context: ToolContext, call: ToolCall) -> Result<ToolText, String> {
        let Some(tool) = self.tools.tool(&call.name).map(Arc::clone) else {
            return Err(format!("there is no tool `{}`", call.name));
        };
        if let Some((limit, refusal)) = tool.calls_a_message()
            && self.count(&call.name) > limit
        {
            return Err(refusal.to_owned());
        }
        let arguments: Value = serde_json::from_str(&call.arguments).map_err(|error| error.to_string())?;
        // A task of its own keeps a panic from reaching the turn.
        let task = tokio::spawn(async move { tool.run(&context, arguments).await });
        let _stop = StopWithUs(task.abort_handle());
        task.await.unwrap_or_else(|_| Err(format!("`{}` broke off; its outcome is unknown", call.name)))
    }

    fn count(&self, name: &str) -> u32 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }
}

/// Ends a task when whoever waits for it stops waiting: at a time-out or a cancel.
struct StopWithUs(tokio::task::AbortHandle);

impl Drop for StopWithUs {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads arguments into a type; the error names the field.
pub(crate) fn read_arguments<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("wrong arguments: {error}"))
}
