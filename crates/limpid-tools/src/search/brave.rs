//! Brave Search, by its API and the owner's key.

use crate::tool::status;
use async_trait::async_trait;
use limpid_core::{Sentence, sentence};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{Hit, SearchEngine, field, with_query};
use crate::web::{Addresses, Ask, Web, host_of};

/// Where the API is.
const BASE: &str = "https://api.search.brave.com";

/// Brave Search.
#[derive(Clone)]
pub struct Brave {
    web: Web,
    base: String,
    key: HeaderValue,
}

impl Brave {
    /// The API with a key, at its own address or another.
    ///
    /// # Errors
    /// When the key holds what no key has.
    pub fn new(key: &str, base: Option<&str>) -> Result<Self, Sentence> {
        let mut key = HeaderValue::try_from(key.trim()).map_err(|_| "the key holds characters that no key has")?;
        key.set_sensitive(true);
        // An address of the owner's may be anywhere; its own is of the public web.
        let addresses = if base.is_some() { Addresses::Any } else { Addresses::Public };
        let base = base.unwrap_or(BASE).trim_end_matches('/').to_owned();
        Ok(Self { web: Web::new(addresses), base, key })
    }
}

#[async_trait]
impl SearchEngine for Brave {
    fn name(&self) -> &'static str {
        "Brave"
    }

    fn host(&self) -> String {
        host_of(&self.base).unwrap_or_default()
    }

    async fn search(&self, query: &str, count: usize) -> Result<Vec<Hit>, Sentence> {
        let url = format!("{}/res/v1/web/search", self.base);
        let url = with_query(&url, &[("q", query), ("count", &count.to_string())])?;
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json")),
            (HeaderName::from_static("x-subscription-token"), self.key.clone()),
        ]);
        let page = self.web.get(&url, &Ask { headers, ..Ask::default() }).await?;
        match page.status.as_u16() {
            200 => hits(&page.body, count),
            401 | 403 | 422 => Err(sentence!("it does not take the key ({})", status(page.status))),
            429 => Err("it takes no more queries with this key for now (429)".into()),
            _ => Err(sentence!("it answers {}", status(page.status))),
        }
    }
}

fn hits(body: &[u8], count: usize) -> Result<Vec<Hit>, Sentence> {
    let value: Value = serde_json::from_slice(body).map_err(|_| "it answers something that is no JSON")?;
    if value["type"].as_str() != Some("search") {
        return Err("its answer is not one to a search".into());
    }
    // Without hits there is no list of them.
    let results = value.pointer("/web/results").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let hit = |row: &Value| Hit {
        title: field(row, "title"),
        url: field(row, "url").split_whitespace().collect(),
        snippet: field(row, "description"),
    };
    Ok(results.iter().map(hit).take(count).collect())
}
