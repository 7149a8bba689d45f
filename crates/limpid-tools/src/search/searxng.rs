//! SearXNG: the owner's own server, whose settings allow answers in JSON.

use crate::tool::status;
use async_trait::async_trait;
use limpid_core::{Sentence, sentence};
use serde_json::Value;

use super::{Hit, SearchEngine, field, with_query};
use crate::web::{Addresses, Ask, Web, server_of};

/// A SearXNG server.
#[derive(Clone)]
pub struct Searxng {
    web: Web,
    base: String,
}

impl Searxng {
    /// The server at an address, which may be one of the owner's own network.
    pub fn new(base: &str) -> Self {
        Self { web: Web::new(Addresses::Any), base: base.trim_end_matches('/').to_owned() }
    }
}

#[async_trait]
impl SearchEngine for Searxng {
    fn name(&self) -> &'static str {
        "SearXNG"
    }

    fn host(&self) -> String {
        server_of(&self.base).map(|server| server.to_string()).unwrap_or_default()
    }

    async fn search(&self, query: &str, count: usize) -> Result<Vec<Hit>, Sentence> {
        let url = with_query(&format!("{}/search", self.base), &[("q", query), ("format", "json")])?;
        let page = self.web.get(&url, &Ask::default()).await?;
        if page.status.as_u16() == 403 {
            return Err("it answers 403; allow the format `json` in its settings.yml".into());
        }
        if !page.is_ok() {
            return Err(sentence!("it answers {}", status(page.status)));
        }
        hits(&page.body, count)
    }
}

fn hits(body: &[u8], count: usize) -> Result<Vec<Hit>, Sentence> {
    let value: Value = serde_json::from_slice(body).map_err(|_| "it answers something that is no JSON")?;
    let results = value["results"].as_array().ok_or("its answer has no results in it")?;
    let hits: Vec<Hit> = results
        .iter()
        .map(|row| Hit {
            title: field(row, "title"),
            url: field(row, "url").split_whitespace().collect(),
            snippet: field(row, "content"),
        })
        .take(count)
        .collect();
    let silent = value["unresponsive_engines"].as_array().filter(|engines| !engines.is_empty());
    match silent {
        // Nobody was asked, so nothing is known of hits.
        Some(engines) if hits.is_empty() => Err(sentence!("none of its engines answers ({} failed)", engines.len())),
        _ => Ok(hits),
    }
}
