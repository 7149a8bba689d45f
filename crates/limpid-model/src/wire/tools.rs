//! The tools of a call as a provider gets them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use limpid_core::{FailureClass, ToolProtocol};
use limpid_prompt::{Loading, OfferedTool, Prompt};
use serde_json::value::RawValue;

use super::call::WireCall;
use super::originals::Originals;
use super::schema::{SchemaRules, strict};
use crate::json::to_raw;
use crate::model::{ModelCall, ModelCard, ModelError, ToolUse};

/// One declared tool.
#[derive(Clone, Debug)]
pub(crate) struct WireTool<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) description: &'a str,
    /// The schema in words that the provider takes.
    pub(crate) schema: Cow<'a, RawValue>,
    /// Whether the provider is to hold every argument to the schema.
    pub(crate) strict: bool,
    /// Whether it is read only where a result loads it.
    pub(crate) deferred: bool,
}

impl WireCall<'_> {
    /// Leaves out declared tools.
    pub(crate) fn leave_out(&mut self, names: &BTreeSet<String>) {
        self.tools.retain(|tool| !names.contains(&*tool.name));
        self.load_declared();
        if let ToolUse::Must(name) = &*self.choice
            && names.contains(name)
        {
            self.choice = Cow::Borrowed(&ToolUse::Auto);
        }
        // Providers refuse calls in the messages of a request that declares no tools.
        if self.tools.is_empty() && !names.is_empty() {
            self.flatten();
        }
    }

    /// Has nothing load what is not declared: such a request is refused.
    pub(super) fn load_declared(&mut self) {
        let tools = &self.tools;
        for message in &mut self.messages {
            message.loads.retain(|name| tools.iter().any(|tool| tool.deferred && tool.name == *name));
        }
    }

    /// Declares what was found in full, behind the others, and nothing else.
    pub(crate) fn declare_all(&mut self) {
        let loads = self.messages.iter_mut().flat_map(|message| std::mem::take(&mut message.loads));
        let loads: Vec<Cow<'_, str>> = loads.collect();
        let place = |tool: &WireTool<'_>| loads.iter().position(|name| *name == tool.name);
        self.tools.retain(|tool| !tool.deferred || place(tool).is_some());
        self.tools.sort_by_key(|tool| if tool.deferred { place(tool) } else { None });
        self.tools.iter_mut().for_each(|tool| tool.deferred = false);
    }

    /// Has the provider hold the arguments of a tool to its schema, wherever that has a strict form.
    pub(crate) fn be_strict(&mut self, is_loose: impl Fn(&str) -> bool) {
        for tool in self.tools.iter_mut().filter(|tool| !is_loose(&tool.name)) {
            let Ok(schema) = serde_json::from_str(tool.schema.get()) else { continue };
            if let Some(strict) = strict(&schema) {
                tool.schema = Cow::Owned(to_raw(&strict));
                tool.strict = true;
                self.originals.is_strict(&tool.name, schema);
            }
        }
    }
}

/// The tools that this model may call: those that the prompt declares, or those that its text lists, as far as their schemas
/// can be made to fit.
pub(super) fn offered<'a>(
    card: &ModelCard,
    call: &'a ModelCall,
    rules: SchemaRules,
    originals: &mut Originals,
) -> Result<Vec<WireTool<'a>>, ModelError> {
    let search = card.abilities.tool_search == Some(true) && card.tools == ToolProtocol::Native;
    let offered = tools_of(card, &call.prompt);
    if let ToolUse::Must(name) = &call.tools
        && !offered.iter().any(|tool| tool.name() == name)
    {
        let message =
            format!("the tool `{name}` must be called, but the prompt does not offer it; add it to the path's tools");
        return Err(ModelError::new(FailureClass::Malformed, message));
    }
    let declared: Vec<&OfferedTool> =
        if search { call.prompt.declarations().collect() } else { offered.iter().collect() };
    let fitted = declared.into_iter().filter_map(|tool| {
        let fitted = rules.fit(tool.schema()).ok()?;
        originals.add(tool.name(), fitted.renamed);
        let name = Cow::Borrowed(tool.name());
        let deferred = search && tool.loading() != Loading::Always;
        Some(WireTool { name, description: tool.description(), schema: fitted.schema, strict: false, deferred })
    });
    Ok(fitted.collect())
}

/// The tools of a prompt that are for this model.
fn tools_of<'a>(card: &ModelCard, prompt: &'a Prompt) -> &'a [OfferedTool] {
    match card.tools {
        ToolProtocol::None => &[],
        ToolProtocol::Native => prompt.tools(),
        ToolProtocol::Json => prompt.offered(),
    }
}

/// What a person is told about the tools of a prompt that this model cannot get.
pub(crate) fn left_out(card: &ModelCard, prompt: &Prompt, rules: SchemaRules) -> Vec<String> {
    let unfit = tools_of(card, prompt).iter().filter(|tool| rules.fit(tool.schema()).is_err());
    let line = |tool: &OfferedTool| {
        let (tool, model) = (tool.name(), card.name());
        format!(
            "{model} does not get the tool `{tool}`, because the schema of its arguments does not describe an object; correct \
             the schema or remove the tool"
        )
    };
    unfit.map(line).collect()
}
