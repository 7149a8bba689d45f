//! A call with the names that its provider takes.

use std::borrow::Cow;

use limpid_prompt::inputs::CallInput;

use super::call::WireCall;
use super::names::NameRules;
use crate::model::ToolUse;

impl WireCall<'_> {
    /// Gives everything the names that the provider takes.
    pub(crate) fn fit_names(&mut self, rules: NameRules) {
        for message in &mut self.messages {
            let fits = |call: &CallInput| {
                matches!((rules.call(&call.id), rules.tool(&call.name)), (Cow::Borrowed(_), Cow::Borrowed(_)))
            };
            if !message.calls.iter().all(fits) {
                for call in message.calls.to_mut() {
                    (call.id, call.name) = (rules.call(&call.id).into_owned(), rules.tool(&call.name).into_owned());
                }
            }
            message.call_id = message.call_id.take().map(|id| fitted(id, |id| rules.call(id)));
            message.tool = message.tool.take().map(|name| fitted(name, |name| rules.tool(name)));
            for name in &mut message.loads {
                *name = fitted(std::mem::take(name), |name| rules.tool(name));
            }
        }
        for tool in &mut self.tools {
            if let Cow::Owned(taken) = rules.tool(&tool.name) {
                self.originals.declared_as(&tool.name, taken.clone());
                tool.name = Cow::Owned(taken);
            }
        }
        if let ToolUse::Must(name) = &*self.choice
            && let Cow::Owned(name) = rules.tool(name)
        {
            self.choice = Cow::Owned(ToolUse::Must(name));
        }
    }
}

/// A name after the map; one that the map leaves alone stays borrowed.
fn fitted<'a>(name: Cow<'a, str>, map: impl Fn(&str) -> Cow<'_, str>) -> Cow<'a, str> {
    let changed = match map(&name) {
        Cow::Borrowed(_) => None,
        Cow::Owned(changed) => Some(changed),
    };
    changed.map_or(name, Cow::Owned)
}
