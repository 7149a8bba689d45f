//! What tools and their arguments are called here, where the provider knows them by other names.

use std::collections::{BTreeMap, HashMap};

use limpid_core::ToolCall;
use serde_json::Value;

use super::message::WireMessage;
use super::schema::without_nulls;
use crate::json::to_json;

/// Tools by the names under which they were declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Originals {
    tools: HashMap<String, Original>,
}

/// A tool as it is here.
#[derive(Clone, Debug, Default)]
struct Original {
    name: String,
    /// Names of arguments: the provider's by the tool's.
    arguments: BTreeMap<String, String>,
    /// The schema, when the provider has its strict form, in which what may be absent may be null.
    strict: Option<Value>,
}

impl Originals {
    /// A tool that is declared under its own name.
    pub(super) fn add(&mut self, name: &str, arguments: BTreeMap<String, String>) {
        self.tools.insert(name.to_owned(), Original { name: name.to_owned(), arguments, strict: None });
    }

    /// The tool of this name is declared under another one.
    pub(super) fn declared_as(&mut self, name: &str, taken: String) {
        if let Some(original) = self.tools.remove(name) {
            self.tools.insert(taken, original);
        }
    }

    /// A tool is declared with the strict form of this schema.
    pub(super) fn is_strict(&mut self, name: &str, schema: Value) {
        if let Some(original) = self.tools.get_mut(name) {
            original.strict = Some(schema);
        }
    }

    /// Gives the arguments of earlier calls the names that the model reads in the tools.
    pub(super) fn rename_arguments(&self, messages: &mut [WireMessage<'_>]) {
        let names =
            |tool: &str| self.tools.get(tool).map(|original| &original.arguments).filter(|names| !names.is_empty());
        for message in messages {
            if !message.calls.iter().any(|call| names(&call.name).is_some()) {
                continue;
            }
            for call in message.calls.to_mut() {
                if let Some(names) = names(&call.name) {
                    change(&mut call.arguments, |arguments| rename(arguments, &|name| names.get(name).cloned()));
                }
            }
        }
    }

    /// Makes a call that came what the tool knows.
    pub(crate) fn restore(&self, call: &mut ToolCall) {
        let Some(original) = self.tools.get(&call.name) else { return };
        call.name.clone_from(&original.name);
        if let Some(schema) = &original.strict {
            change(&mut call.arguments, |arguments| without_nulls(arguments, schema));
        }
        if !original.arguments.is_empty() {
            let own: HashMap<&String, &String> = original.arguments.iter().map(|(own, taken)| (taken, own)).collect();
            let own = |name: &str| own.get(&name.to_owned()).map(|own| (*own).clone());
            change(&mut call.arguments, |arguments| rename(arguments, &own));
        }
    }
}

/// Changes arguments, if they are JSON and it makes a difference.
fn change(arguments: &mut String, change: impl FnOnce(&mut Value)) {
    let Ok(mut value) = serde_json::from_str::<Value>(arguments) else { return };
    let before = value.clone();
    change(&mut value);
    if value != before {
        *arguments = to_json(&value);
    }
}

/// Renames the fields of all objects, in their order.
fn rename(value: &mut Value, name: &dyn Fn(&str) -> Option<String>) {
    match value {
        Value::Object(fields) => {
            let renamed = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                rename(&mut value, name);
                (name(&key).unwrap_or(key), value)
            });
            *fields = renamed.collect();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, name)),
        _ => {}
    }
}
