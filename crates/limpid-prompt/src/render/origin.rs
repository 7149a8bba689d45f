//! Where a text comes from, as a part says it.

use crate::inputs::Inputs;
use crate::template::Name;

/// The origin of an input: what the inputs themselves say of it, a goal's name, else the field.
pub(super) fn of_input(name: &Name, inputs: &Inputs) -> String {
    let field = name.to_string();
    let root = name.path.first().map_or("", String::as_str);
    if let Some(origin) = inputs.origins.get(&field).or_else(|| inputs.origins.get(root)) {
        return origin.clone();
    }
    match (root, &inputs.goal) {
        ("goal", Some(goal)) => format!("goal:{}", goal.id),
        _ => format!("input:{field}"),
    }
}
