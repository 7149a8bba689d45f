//! The shipped table of models: `cargo xtask catalogue FILE` makes it from a list that others publish.

use std::fs;
use std::path::Path;

use limpid_model::catalogue::{Head, Table};

/// Where the table is.
const TABLE: &str = "crates/limpid-model/src/catalogue/models.json";

/// Writes the table from a list, as it was on a day.
pub(crate) fn run(root: &Path, list: &Path, head: Head) -> Result<(), String> {
    let name = list.display().to_string();
    let text = fs::read_to_string(list).map_err(|error| format!("{name}: {error}"))?;
    let table = Table::import(&name, &text, head).map_err(|error| error.to_string())?;
    fs::write(root.join(TABLE), table.text()).map_err(|error| format!("{TABLE}: {error}"))
}
