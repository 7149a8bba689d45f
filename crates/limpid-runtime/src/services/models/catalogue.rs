//! The table of models in the home folder: fetched when the owner asks for it, or every week when they want that.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use limpid_config::{CatalogueUpdate, Home, MAX_FILE, private_file, read_text};
use limpid_model::catalogue::{Head, LARGEST_LIST, Table, TableChanges, fetch_list};

use crate::agent::{Agent, Inner};
use crate::jobs::scheduler::Job;
use crate::services::error::AgentError;

/// The kind of the timer of the weekly update, and its name.
const KIND: &str = "catalogue";
const NAME: &str = "weekly";

const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// What an update of the table did.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelUpdate {
    /// Where the table is from, and the day of its facts.
    pub head: Head,
    /// What is known otherwise from now on.
    pub changes: TableChanges,
}

impl Agent {
    /// Replaces the table of models by a public list: models.dev's, or one in a file, which may also be litellm's.
    ///
    /// # Errors
    /// When the list cannot be had or is not one, or the home cannot be written; the old table stays in use.
    pub async fn update_models(&self, from: Option<&Path>) -> Result<ModelUpdate, AgentError> {
        self.inner.update_models(from).await
    }
}

impl Inner {
    async fn update_models(&self, from: Option<&Path>) -> Result<ModelUpdate, AgentError> {
        let url = &self.config.catalogue.url;
        let (name, text) = match from {
            Some(path) => (path.display().to_string(), read_list(path)?),
            None => (url.clone(), fetch_list(url).await.map_err(AgentError::Invalid)?),
        };
        let date = self.host.now().to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string();
        let home = self.home.clone();
        // Millions of bytes are parsed, while other conversations go on.
        let done = tokio::task::spawn_blocking(move || replace(&home, &name, &text, date)).await;
        let update = done.map_err(|error| AgentError::Invalid(error.to_string()))??;
        self.shelf.forget();
        Ok(update)
    }

    /// Has the table updated every week, counted from the day of the one that is there.
    pub(crate) async fn plan_catalogue(&self) -> Result<(), AgentError> {
        if self.config.catalogue.update != CatalogueUpdate::Weekly {
            return Ok(self.store.remove_timer(KIND, NAME).await?);
        }
        let now_ms = self.host.now_ms();
        let fetched = fetched_table(&self.home).ok().flatten();
        let day = fetched.and_then(|table| format!("{}T00:00:00Z", table.head().date).parse::<jiff::Timestamp>().ok());
        // A clock that was set back must not keep the update away until the old time comes again.
        let due_ms = day.map_or(now_ms, |day| day.as_millisecond().min(now_ms).saturating_add(WEEK_MS));
        Ok(self.store.set_timer(KIND, NAME, due_ms).await?)
    }
}

/// The weekly update. A list that is fetched twice does no harm.
pub(crate) struct CatalogueJob;

#[async_trait]
impl Job for CatalogueJob {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, inner: &Arc<Inner>, _name: &str, _slot_ms: i64) -> Result<Option<i64>, AgentError> {
        if inner.config.catalogue.update != CatalogueUpdate::Weekly {
            return Ok(None);
        }
        inner.update_models(None).await?;
        Ok(Some(inner.host.now_ms().saturating_add(WEEK_MS)))
    }
}

/// The table that was fetched, unless the shipped one is newer: the program was updated since.
///
/// # Errors
/// When there is one that cannot be read.
pub(crate) fn fetched_table(home: &Home) -> Result<Option<Table>, AgentError> {
    let path = home.model_table();
    let Some(text) = read_text(&path)? else { return Ok(None) };
    let name = path.display().to_string();
    let table = Table::read(&name, text).map_err(|error| {
        AgentError::Invalid(format!("{error}; write it again with `limpid model update`, or remove it"))
    })?;
    Ok((table.head().date >= Table::shipped().head().date).then_some(table))
}

fn read_list(path: &Path) -> Result<String, AgentError> {
    let file = std::fs::File::open(path).map_err(AgentError::file(path))?;
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
