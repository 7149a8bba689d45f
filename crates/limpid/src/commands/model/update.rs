//! `model update`: what is known of models, from a public list.

use std::path::Path;

use limpid_model::catalogue::FactChange;
use limpid_runtime::{AgentError, ModelUpdate};
use serde_json::{Value, json};

use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Lines of each kind that are shown; a first update changes hundreds of models.
const SHOWN: usize = 20;

/// Updates the table and shows what changed.
///
/// # Errors
/// When the list cannot be had or is not one.
pub(super) async fn run(context: &Context, from: Option<&Path>, json: bool) -> Result<(), Failure> {
    let updated = context.agent()?.models().update(from).await.map_err(|error| match error {
        AgentError::Invalid(what) if from.is_some() => Failure::new(ExitStatus::Files, what),
        AgentError::Invalid(what) => Failure::new(ExitStatus::Failed, what),
        other => Failure::from(other),
    })?;
    if json {
        let ModelUpdate { head, changes } = &updated;
        return output::json(
            "update",
            &json!({
                "source": head.source, "date": head.date,
                "added": changes.added, "gone": changes.gone, "changed": changes.changed,
            }),
        );
    }
    output::data(&told(&updated))
}

fn told(updated: &ModelUpdate) -> String {
    let ModelUpdate { head, changes } = updated;
    let mut lines = Vec::new();
    lines.extend(some(&changes.added, |name| format!("new      {name}")));
    lines.extend(some(&changes.gone, |name| format!("gone     {name}")));
    lines.extend(some(&changes.changed, |model| {
        let facts: Vec<String> = model.facts.iter().flat_map(fact).collect();
        format!("changed  {}: {}", model.name, facts.join(", "))
    }));
    let sums = [("new", changes.added.len()), ("changed", changes.changed.len()), ("gone", changes.gone.len())];
    let sums = sums.map(|(what, count)| format!("{count} {what}")).join(", ");
    lines.push(match changes.is_empty() {
        true => format!("Nothing changes by {} of {}.", head.source, head.date),
        false => format!("Models: {sums}, by {} of {}.", head.source, head.date),
    });
    lines.join("\n") + "\n"
}

/// The first lines of a list, and how many more there are.
fn some<T>(of: &[T], line: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> = of.iter().take(SHOWN).map(line).collect();
    if of.len() > SHOWN {
        lines.push(format!("         … and {} more (all with --json)", of.len() - SHOWN));
    }
    lines
}

/// What changed, amount by amount where it is a price.
fn fact(change: &FactChange) -> Vec<String> {
    let (Value::Object(before), Value::Object(after)) = (&change.before, &change.after) else {
        return vec![format!("{} {} → {}", change.fact, value(&change.before), value(&change.after))];
    };
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let of = |row: &serde_json::Map<String, Value>, name: &String| row.get(name).map_or("?".to_owned(), value);
    let differ = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    differ.map(|name| format!("{} {name} {} → {}", change.fact, of(before, name), of(after, name))).collect()
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "?".to_owned(),
        Value::String(word) => word.clone(),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}
