//! The tools of a prompt: described by the profile, with schemas whose bytes never change.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::inputs::{Inputs, ToolInput};
use crate::profile::{Profile, tier};
use crate::prompt::{Loading, OfferedTool};
use crate::scope::Scope;

/// The tools that travel, in the order of the inputs, so that a tool that becomes available later is appended.
pub(super) fn sent(scope: &Scope<'_>) -> Vec<OfferedTool> {
    described(scope, scope.sent())
}

/// The tools that wait, as they are declared to a model that reads them only when a result names them.
pub(super) fn waiting(scope: &Scope<'_>) -> Vec<OfferedTool> {
    described(scope, &scope.waiting())
}

/// The tools that exist on a path of a profile as they would be declared, whether they travel or not; none on a path that
/// is not there.
pub fn callable_tools(profile: &Profile, path: &str, inputs: &Inputs) -> Vec<OfferedTool> {
    let Ok(path) = profile.path(path) else { return Vec::new() };
    let scope = Scope::new(inputs, profile, path, tier(path, inputs), "");
    described(&scope, scope.existing())
}

fn described<'a>(scope: &Scope<'a>, tools: &[&'a ToolInput]) -> Vec<OfferedTool> {
    let tools = tools.iter().map(|tool| {
        let told = scope.profile().tool(&tool.name).map_or(&[][..], |text| &text.parameters);
        let schema = Described { object: &tool.schema, told, level: Level::Schema };
        OfferedTool {
            name: tool.name.clone(),
            group: tool.group.clone(),
            description: scope.description(tool).into_owned(),
            // An object with text keys is always JSON.
            schema: serde_json::to_string(&schema).unwrap_or_default(),
            loading: Loading::Always,
        }
    });
    tools.collect()
}

/// A schema with what the profile says of an argument at its end; every other key keeps its place.
struct Described<'a> {
    object: &'a Map<String, Value>,
    told: &'a [(String, String)],
    level: Level<'a>,
}

#[derive(Clone, Copy)]
enum Level<'a> {
    /// The schema itself.
    Schema,
    /// Its `properties`.
    Properties,
    /// One argument, and what is said of it.
    Argument(&'a str),
}

impl Serialize for Described<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.object {
            match (self.level, value) {
                (Level::Argument(_), _) if key == "description" => {}
                (Level::Schema, Value::Object(object)) if key == "properties" => {
                    map.serialize_entry(key, &Self { object, told: self.told, level: Level::Properties })?;
                }
                (Level::Properties, Value::Object(object)) => match self.told.iter().find(|(name, _)| name == key) {
                    Some((_, text)) => {
                        map.serialize_entry(key, &Self { object, told: &[], level: Level::Argument(text) })?;
                    }
                    None => map.serialize_entry(key, value)?,
                },
                _ => map.serialize_entry(key, value)?,
            }
        }
        if let Level::Argument(text) = self.level {
            map.serialize_entry("description", text)?;
        }
        map.end()
    }
}
