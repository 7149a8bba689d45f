//! Where a text comes from, as a part says it.

use limpid_core::Trust;

use crate::inputs::{Inputs, TrustName};
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

/// Who wrote a text of the owner's that comes from there: a prompt file, or the owner themselves.
pub(super) fn trust_of(origin: &str) -> TrustName {
    let file = ["home:", "shipped:", "workspace:"].iter().any(|place| origin.starts_with(place));
    if file { TrustName::File } else { TrustName::Owner }
}

/// The less trusted of two labels.
pub(super) fn join(one: TrustName, other: TrustName) -> TrustName {
    Trust::from(one).join(other.into()).into()
}
