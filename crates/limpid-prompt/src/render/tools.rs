//! The tools of a prompt: described by the profile, with schemas whose bytes never change (PRO-042).

use serde_json::Value;

use crate::inputs::ToolInput;
use crate::prompt::OfferedTool;
use crate::scope::Scope;

/// The tools that the path offers, in the order of the inputs, so that a tool that becomes available later is appended.
pub(super) fn offered(scope: &Scope<'_>) -> Vec<OfferedTool> {
    scope
        .offered()
        .iter()
        .map(|tool| OfferedTool {
            name: tool.name.clone(),
            group: tool.group.clone(),
            description: scope.description(tool).to_owned(),
            schema: schema(tool, scope),
        })
        .collect()
}

/// The schema with what the profile says of the arguments. Keys keep their order.
fn schema(tool: &ToolInput, scope: &Scope<'_>) -> String {
    let told = scope.profile().tool(&tool.name).map_or(&[][..], |text| &text.parameters);
    if told.is_empty() {
        return serde_json::to_string(&tool.schema).unwrap_or_default();
    }
    let mut schema = tool.schema.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, text) in told {
            if let Some(argument) = properties.get_mut(name).and_then(Value::as_object_mut) {
                argument.insert("description".to_owned(), text.as_str().into());
            }
        }
    }
    Value::Object(schema).to_string()
}
