//! The tools of AgentDojo as tools of Limpid: what each changes is read from `tools.toml`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass};
use limpid_runtime::tools::address_of;
use limpid_runtime::{Concerned, Tool, ToolContext};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::player::Player;
use super::world::{World, WorldCall, WorldTool};

/// What a tool changes, and who writes into its result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declared {
    effect: Changes,
    to: Option<String>,
    guests: Option<String>,
    result: Writer,
    #[serde(default)]
    first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Changes {
    Look,
    Fetch,
    Mailbox,
    ChangeOwned,
    Send,
    Pay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Writer {
    Others,
    Own,
}

/// The tools of a suite by their names.
pub(super) type Suite = BTreeMap<String, Declared>;

/// The tools of every suite.
pub(super) fn declared() -> Result<BTreeMap<String, Suite>, String> {
    toml::from_str(include_str!("tools.toml")).map_err(|error| format!("tools.toml: {error}"))
}

/// What a model can reserve before it reads anything, by suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reserved {
    /// The user tasks whose sends are whole in what the user typed.
    sends: BTreeMap<String, Vec<String>>,
    /// The call whose result has the links that a user task is about.
    links: BTreeMap<String, BTreeMap<String, LinksOf>>,
}

/// A call whose result has links.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinksOf {
    /// The tool.
    pub tool: String,
    /// All its arguments.
    pub arguments: Value,
}

impl Reserved {
    /// Whether the sends of a task are reserved.
    pub(super) fn sends(&self, suite: &str, task: &str) -> bool {
        self.sends.get(suite).is_some_and(|tasks| tasks.iter().any(|name| name == task))
    }

    /// The call whose links are reserved.
    pub(super) fn links(&self, suite: &str, task: &str) -> Option<&LinksOf> {
        self.links.get(suite)?.get(task)
    }
}

/// What a model can reserve before it reads anything, by suite.
pub(super) fn reserved() -> Result<Reserved, String> {
    toml::from_str(include_str!("reserved.toml")).map_err(|error| format!("reserved.toml: {error}"))
}

impl Declared {
    /// Whether a call sends or pays something.
    pub(super) fn sends(&self, arguments: &Value) -> bool {
        matches!(self.effect(arguments), Effect::Send | Effect::Pay)
    }

    /// Whether a call changes anything, or asks somebody else for something.
    pub(super) fn has_effect(&self) -> bool {
        self.effect != Changes::Look
    }

    /// Whether a call reads something and changes nothing.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self.effect, Changes::Look | Changes::Fetch)
    }

    /// The argument that has the address, of a tool that fetches.
    pub(super) fn fetches(&self) -> Option<&str> {
        self.to.as_deref().filter(|_| self.effect == Changes::Fetch)
    }

    /// Whether the model needs the result before it makes another call.
    pub(super) fn comes_first(&self) -> bool {
        self.first
    }

    fn argument<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        arguments.get(self.to.as_ref()?).filter(|value| !value.is_null())
    }

    fn effect(&self, arguments: &Value) -> Effect {
        let has_guests = |name: &String| arguments[name].as_array().is_none_or(|guests| !guests.is_empty());
        let sends = self.guests.as_ref().is_some_and(|name| !arguments[name].is_null() && has_guests(name));
        match self.effect {
            _ if sends => Effect::Send,
            Changes::Look => Effect::Look,
            Changes::Fetch => Effect::Fetch(self.argument(arguments).and_then(Value::as_str).and_then(address_of)),
            Changes::Mailbox => Effect::Mailbox,
            Changes::ChangeOwned => Effect::ChangeOwned,
            Changes::Send => Effect::Send,
            Changes::Pay => Effect::Pay,
        }
    }
}

/// A tool of AgentDojo.
pub(super) struct PlayedTool {
    name: &'static str,
    tool: WorldTool,
    declared: Declared,
    world: Arc<World>,
    player: Arc<Player>,
}

/// The tools of a suite, for an agent.
pub(super) fn tools(
    suite: &str,
    declared: &Suite,
    world: &Arc<World>,
    player: &Arc<Player>,
) -> Result<Vec<Arc<dyn Tool>>, String> {
    let tool = |tool: WorldTool| {
        let unknown = || format!("tools.toml does not say what {} changes", tool.name);
        let declared = declared.get(&tool.name).ok_or_else(unknown)?;
        // Once for each tool of a suite.
        let name = Box::leak(tool_name(suite, &tool.name).into_boxed_str());
        let (world, player) = (Arc::clone(world), Arc::clone(player));
        Ok(Arc::new(PlayedTool { name, declared: declared.clone(), tool, world, player }) as Arc<dyn Tool>)
    };
    world.tools(suite)?.into_iter().map(tool).collect()
}

/// What Limpid calls a tool: some of AgentDojo's have a name that one of Limpid's own has.
pub(super) fn tool_name(suite: &str, name: &str) -> String {
    format!("{suite}_{name}")
}

#[async_trait]
impl Tool for PlayedTool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        "agentdojo"
    }

    fn class(&self) -> ToolClass {
        match self.declared.effect {
            Changes::Look | Changes::Fetch => ToolClass::Read,
            Changes::Mailbox if self.declared.guests.is_none() => ToolClass::Write,
            Changes::ChangeOwned => ToolClass::Remember,
            Changes::Mailbox | Changes::Send | Changes::Pay => ToolClass::Send,
        }
    }

    fn effect(&self, arguments: &Value) -> Effect {
        self.declared.effect(arguments)
    }

    fn schema(&self) -> Map<String, Value> {
        self.tool.schema.clone()
    }

    async fn concerns(&self, _: &Value, _: Option<&ConversationId>) -> Concerned {
        // AgentDojo's tools have no way to look up what a number stands for.
        Concerned::InArguments
    }

    fn is_repeatable(&self) -> bool {
        !self.declared.has_effect()
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        match self.declared.argument(arguments)? {
            Value::String(text) => Some(Destination::Place(text.clone())),
            Value::Array(texts) => {
                let to = texts.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                Some(Destination::People { from: None, to })
            }
            _ => None,
        }
    }

    fn is_steady(&self, arguments: &Value) -> bool {
        // Whatever changes a mailbox or a channel waits.
        self.declared.effect(arguments) == Effect::Look
    }

    fn is_public(&self) -> bool {
        self.declared.effect == Changes::Fetch
    }

    fn result_chars(&self) -> Option<usize> {
        // A mark behind a cut would not be read.
        Some(1_000_000)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let call = WorldCall { name: self.tool.name.clone(), arguments };
        self.player.runs(&call, context.approved);
        // The measure itself is broken when the world does not answer; the tool says so.
        let said = self.world.call(&call).map_err(|error| Sentence::from(Labelled::outside(error)))?;
        let text = match self.declared.result {
            Writer::Others => Labelled::outside(said.text),
            Writer::Own => context.words(said.text),
        };
        if said.failed { Err(text.into()) } else { Ok(text) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    // SEC-065 SEC-096
    #[test]
    fn every_tool_is_declared_and_a_calendar_entry_with_guests_is_sent() {
        let suites = declared().unwrap();
        let names: BTreeSet<&String> = suites.values().flat_map(BTreeMap::keys).collect();
        assert_eq!((suites.values().map(BTreeMap::len).sum::<usize>(), names.len()), (74, 69));
        let event = &suites["workspace"]["create_calendar_event"];
        let effect = |arguments: Value| event.effect(&arguments);
        assert_eq!(effect(json!({ "participants": ["a@b.test"] })), Effect::Send);
        assert_eq!(effect(json!({ "participants": "a@b.test" })), Effect::Send);
        for alone in [json!({}), json!({ "participants": null }), json!({ "participants": [] })] {
            assert_eq!(effect(alone), Effect::Mailbox);
        }
        let page = &suites["slack"]["get_webpage"];
        assert_eq!(page.effect(&json!({ "url": "www.a.test" })), Effect::Fetch(None));
    }
}
