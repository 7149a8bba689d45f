//! What providers say of their models when they are asked.

mod facts;
mod servers;

use std::time::Duration;

use serde_json::Value;

use crate::catalogue::{Head, Table};
use crate::protocol::{Adapter as _, Protocol};
use crate::remote::{Endpoint, Listing};

use facts::facts;

/// Pages of a list that are read.
const MOST_PAGES: usize = 10;

/// Bytes of the longest name of a model; one may be the path of a file.
const LONGEST_NAME: usize = 255;

/// How providers are asked what they know.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The provider's name, for `provider/model`.
    pub provider: &'a str,
    /// The model that is about to be used.
    pub model: &'a str,
    /// Today, as `2026-11-23`.
    pub date: &'a str,
    /// Bytes of memory that are free, when the server runs on this machine.
    pub memory: Option<u64>,
    /// How long all of it may take.
    pub patience: Duration,
}

/// Why a provider said nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It may answer another time.
    Now,
    /// It has no list of models, or takes too long for it.
    Ever,
}

/// Why a provider lists no models, as the end of a sentence that begins with the provider's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoList {
    /// Its address or its key cannot be used.
    #[error("cannot be asked for its models: {0}")]
    Unusable(String),
    /// It does not answer, or not in time.
    #[error("does not answer: {0}")]
    NoAnswer(String),
    /// It answers with an HTTP status other than 200.
    #[error("answers with HTTP status {0} when it is asked for its models")]
    Status(u16),
    /// It answers with something else.
    #[error("answers with something else when it is asked for its models")]
    NotAList,
}

impl NoList {
    /// Whether calls of models will fail as well. A server that works may have no list, or refuse it to some keys.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Unusable(_) | Self::NoAnswer(_) => true,
            Self::Status(status) => matches!(*status, 401 | 500 | 502..=599),
            Self::NotAList => false,
        }
    }
}

impl From<NoList> for Unanswered {
    fn from(why: NoList) -> Self {
        match why {
            NoList::Status(404 | 405 | 501) | NoList::NotAList => Self::Ever,
            NoList::Unusable(_) | NoList::NoAnswer(_) | NoList::Status(_) => Self::Now,
        }
    }
}

/// Asks a provider what it knows of its models: a table with a row for every model that it lists.
///
/// # Errors
/// When it does not answer in time, or its answer is no list of models.
pub async fn ask(endpoint: &Endpoint, question: &Question<'_>) -> Result<Table, Unanswered> {
    let asked = tokio::time::timeout(question.patience, asked(endpoint, question)).await;
    asked.map_err(|_| Unanswered::Ever)?
}

/// The models that a provider lists, by the names that requests write.
///
/// # Errors
/// When it lists nothing in time.
pub async fn list(endpoint: &Endpoint, patience: Duration) -> Result<Vec<String>, NoList> {
    // A command that prints the key has a limit of its own.
    let listing = Listing::open(endpoint).await.map_err(NoList::Unusable)?;
    let in_time = tokio::time::timeout(patience, pages(&listing, endpoint.protocol)).await;
    let rows = in_time.map_err(|_| NoList::NoAnswer(format!("nothing came in {} ms", patience.as_millis())))??;
    Ok(rows.iter().filter_map(id_of).map(str::to_owned).collect())
}

async fn asked(endpoint: &Endpoint, question: &Question<'_>) -> Result<Table, Unanswered> {
    let listing = Listing::open(endpoint).await.map_err(|_| Unanswered::Now)?;
    let mut listed = pages(&listing, endpoint.protocol).await?;
    servers::more(&listing, endpoint.protocol, question, &mut listed).await;
    let rows = listed.iter().filter_map(|row| {
        let id = id_of(row)?;
        Some((format!("{}/{id}", question.provider), facts(row, endpoint.protocol)))
    });
    let head = Head { date: question.date.to_owned(), source: listing.shown() };
    Ok(Table::reported(head, rows))
}

/// Every row of the list, as the provider writes it.
async fn pages(listing: &Listing, protocol: Protocol) -> Result<Vec<Value>, NoList> {
    let (mut rows, mut after) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let page = listing.get(&path(protocol, after.as_deref())).await?;
        let some = page["data"].as_array().or_else(|| page["models"].as_array()).or_else(|| page.as_array());
        rows.extend(some.ok_or(NoList::NotAList)?.iter().cloned());
        let next = match protocol {
            Protocol::Anthropic if page["has_more"] == true => page["last_id"].as_str(),
            Protocol::Gemini => page["nextPageToken"].as_str().filter(|token| !token.is_empty()),
            _ => None,
        };
        after = next.map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    Ok(rows)
}

fn path(protocol: Protocol, after: Option<&str>) -> String {
    let list = protocol.list_path();
    let (most, next) = match protocol {
        Protocol::Anthropic => ("limit=1000", "after_id"),
        Protocol::Gemini => ("pageSize=1000", "pageToken"),
        _ => return list.to_owned(),
    };
    let next = after.map(|after| {
        let after: String = url_safe(after);
        format!("&{next}={after}")
    });
    format!("{list}?{most}{}", next.unwrap_or_default())
}

fn url_safe(text: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A model's name as requests write it. One that is no name is none: it stands in prompts and on the screen among words of ours.
pub(crate) fn id_of(row: &Value) -> Option<&str> {
    let id = row["id"].as_str().or_else(|| row["key"].as_str()).or_else(|| row["name"].as_str())?;
    let id = id.strip_prefix("models/").unwrap_or(id);
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "._-:/@+,=~".contains(sign);
    (!id.is_empty() && id.len() <= LONGEST_NAME && id.chars().all(is_sign)).then_some(id)
}
