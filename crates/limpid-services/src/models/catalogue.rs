//! The table of models in the home folder: fetched when the owner asks for it, or every week when they want that.

use std::io::Read as _;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_config::{Home, MAX_FILE, private_file, read_text, regular_file};
use limpid_model::catalogue::{Head, LARGEST_LIST, Table, TableChanges, fetch_list};

use crate::error::AgentError;

/// What an update of the table did.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelUpdate {
    /// Where the table is from, and the day of its facts.
    pub head: Head,
    /// What is known otherwise from now on.
    pub changes: TableChanges,
}

/// Replaces the table of a home by a list: the one at `url`, or one in a file.
///
/// # Errors
/// When the list cannot be had or is not one, or the home cannot be written; the old table stays in use.
pub(super) async fn update(
    home: &Home,
    url: &str,
    from: Option<&Path>,
    now: Timestamp,
) -> Result<ModelUpdate, AgentError> {
    let (name, text) = match from {
        Some(path) => (path.display().to_string(), read_list(path)?),
        None => (url.to_owned(), fetch_list(url).await.map_err(AgentError::Invalid)?),
    };
    let date = now.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string();
    let home = home.clone();
    // Millions of bytes are parsed, while other conversations go on.
    let done = tokio::task::spawn_blocking(move || replace(&home, &name, &text, date)).await;
    done.map_err(|error| AgentError::Invalid(error.to_string()))?
}

/// The table that was fetched, unless the shipped one is newer: the program was updated since.
///
/// # Errors
/// When there is one that cannot be read.
pub fn fetched_table(home: &Home) -> Result<Option<Table>, AgentError> {
    let path = home.model_table();
    let Some(text) = read_text(&path)? else { return Ok(None) };
    let name = path.display().to_string();
    let table = Table::read(&name, text).map_err(|error| {
        AgentError::Invalid(format!("{error}; write it again with `limpid model update`, or remove it"))
    })?;
    Ok((table.head().date >= Table::shipped().head().date).then_some(table))
}

fn read_list(path: &Path) -> Result<String, AgentError> {
    let file = regular_file::open(path).map_err(AgentError::file(path))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_LIST as u64 + 1).read_to_end(&mut bytes).map_err(AgentError::file(path))?;
    String::from_utf8(bytes).map_err(|_| AgentError::Invalid(format!("{}: it is not text", path.display())))
}

/// Makes a table of a list and puts it in the place of the old one, which stays whole until then.
fn replace(home: &Home, name: &str, text: &str, date: String) -> Result<ModelUpdate, AgentError> {
    let head = Head { date, source: shown(name) };
    let table = Table::import(&shown(name), text, head.clone())
        .map_err(|error| AgentError::Invalid(format!("{error}; what was known before stays in use")))?;
    if table.text().len() as u64 > MAX_FILE {
        let why = format!("{}: its table would be larger than {} MB", shown(name), MAX_FILE >> 20);
        return Err(AgentError::Invalid(why));
    }
    // One that cannot be read was not in use.
    let before = fetched_table(home).ok().flatten();
    let changes = TableChanges::between(before.as_ref(), &table);
    private_file::write(&home.model_table(), table.text())?;
    Ok(ModelUpdate { head, changes })
}

/// The name of a list: an address without what may be a secret in it.
fn shown(name: &str) -> String {
    let name = name.split(['?', '#']).next().unwrap_or_default();
    match name.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?.1))) {
        Some((scheme, rest)) => format!("{scheme}://{rest}"),
        None => name.to_owned(),
    }
}
