//! What a new table says otherwise than the one before it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::table::Table;

/// What changes when a table takes another one's place. What neither says is as the shipped table says it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableChanges {
    /// Models that were not known before.
    pub added: Vec<String>,
    /// Models that are not known any more.
    pub gone: Vec<String>,
    /// Models of which something else is said.
    pub changed: Vec<ModelChange>,
}

/// A model of which something else is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelChange {
    /// Its name: `provider/id`.
    pub name: String,
    /// What is said otherwise.
    pub facts: Vec<FactChange>,
}

/// A fact that changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactChange {
    /// Its name, as `models.toml` writes it.
    pub fact: String,
    /// What was said before; null: nothing.
    pub before: Value,
    /// What is said now; null: nothing.
    pub after: Value,
}

type Rows = BTreeMap<String, Map<String, Value>>;

impl TableChanges {
    /// What changes when `after` takes the place of `before`; absent: there was only the shipped table.
    pub fn between(before: Option<&Table>, after: &Table) -> Self {
        let shipped = Table::shipped();
        let (before, after) = (over(&shipped, before), over(&shipped, Some(after)));
        let missing_in =
            |one: &Rows, other: &Rows| other.keys().filter(|name| !one.contains_key(*name)).cloned().collect();
        let changed = before.iter().filter_map(|(name, old)| {
            let facts = facts(old, after.get(name)?);
            (!facts.is_empty()).then(|| ModelChange { name: name.clone(), facts })
        });
        Self { added: missing_in(&before, &after), gone: missing_in(&after, &before), changed: changed.collect() }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }
}

/// What is known with a table in front of another one.
fn over(shipped: &Table, table: Option<&Table>) -> Rows {
    let mut rows = Rows::new();
    for (name, facts) in [shipped].into_iter().chain(table).flat_map(Table::lines) {
        let facts: Map<String, Value> = serde_json::from_str(facts).unwrap_or_default();
        let row = rows.entry(name.to_lowercase()).or_default();
        for (fact, value) in facts {
            match (row.get_mut(&fact), value) {
                // Prices count amount by amount.
                (Some(Value::Object(known)), Value::Object(amounts)) => known.extend(amounts),
                (_, value) => drop(row.insert(fact, value)),
            }
        }
    }
    rows
}

fn facts(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<FactChange> {
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    // Where a fact is from is no fact about the model.
    let differing = names.into_iter().filter(|name| *name != "source" && old.get(*name) != new.get(*name));
    let of = |row: &Map<String, Value>, name: &String| row.get(name).cloned().unwrap_or_default();
    differing.map(|name| FactChange { fact: name.clone(), before: of(old, name), after: of(new, name) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(models: &str) -> Table {
        let text = format!("{{\"form\":1,\"date\":\"2026-12-01\",\"source\":\"s\",\"models\":{{{models}}}}}");
        Table::read("table", text).unwrap()
    }

    // MOD-121
    #[test]
    fn what_changes_is_told_fact_by_fact() {
        assert!(TableChanges::between(None, &table("")).is_empty());
        let old = table("\"x/a\":{\"window\":10,\"source\":\"one\"},\"x/b\":{}");
        let new = table(
            "\"x/a\":{\"window\":20,\"source\":\"two\",\"price\":{\"input\":1.5}},\"x/c\":{},\
             \"openai/gpt-4.1\":{\"price\":{\"input\":9.0}}",
        );
        let changes = TableChanges::between(Some(&old), &new);
        assert_eq!((changes.added, changes.gone), (vec!["x/c".to_owned()], vec!["x/b".to_owned()]));
        let told: Vec<String> = changes
            .changed
            .iter()
            .flat_map(|model| model.facts.iter().map(|fact| format!("{} {} {}", model.name, fact.fact, fact.after)))
            .collect();
        assert!(told[0].starts_with("openai/gpt-4.1 price {") && told[0].contains("\"input\":9.0"), "{told:?}");
        assert_eq!(told[1..], ["x/a price {\"input\":1.5}", "x/a window 20"]);
    }
}
