//! DuckDuckGo by its page without scripts: no key, and no promise that the page stays as it is.

use crate::tool::status;
use async_trait::async_trait;
use limpid_core::{Sentence, sentence};
use limpid_formats::{Found, Parser};
use reqwest::Url;

use super::{Hit, SearchEngine, with_query};
use crate::web::{Addresses, Ask, Web, host_of};

/// Where the page is.
const BASE: &str = "https://html.duckduckgo.com";

/// DuckDuckGo.
#[derive(Clone)]
pub struct DuckDuckGo {
    web: Web,
    base: String,
    parser: Parser,
}

impl DuckDuckGo {
    /// The page at its own address or another, which this parser parses.
    pub fn new(base: Option<&str>, parser: Parser) -> Self {
        let addresses = if base.is_some() { Addresses::Any } else { Addresses::Public };
        Self { web: Web::new(addresses), base: base.unwrap_or(BASE).trim_end_matches('/').to_owned(), parser }
    }
}

#[async_trait]
impl SearchEngine for DuckDuckGo {
    fn name(&self) -> &'static str {
        "DuckDuckGo"
    }

    fn host(&self) -> String {
        host_of(&self.base).unwrap_or_default()
    }

    async fn search(&self, query: &str, count: usize) -> Result<Vec<Hit>, Sentence> {
        let url = with_query(&format!("{}/html/", self.base), &[("q", query)])?;
        let page = self.web.get(&url, &Ask::default()).await?;
        // It answers 202 when it takes a program for one.
        if page.status.as_u16() != 200 {
            return Err(sentence!("it answers {}; it may take this machine for a robot", status(page.status)));
        }
        let says_none = String::from_utf8_lossy(&page.body).contains("no-results");
        let found = self.parser.hits(page.body, "result__a", "result__snippet").await;
        let found = found.map_err(|broken| sentence!("its page cannot be read: {}", broken.why()))?;
        if found.is_empty() && !says_none {
            return Err("its page has neither hits nor says that there are none; it may want to see a person".into());
        }
        // Paid ones lead through a page of their own.
        let hit = |found: Found| {
            let url = target(found.href.as_deref()?)?;
            Some(Hit { title: found.title, url, snippet: found.snippet })
        };
        Ok(found.into_iter().filter_map(hit).take(count).collect())
    }
}

/// Where a link leads: the page's own links carry it in their query.
fn target(href: &str) -> Option<String> {
    let href = href.replace("&amp;", "&");
    let url = Url::parse("https://duckduckgo.com").ok()?.join(&href).ok()?;
    if url.path() == "/y.js" {
        return None;
    }
    let carried = url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, place)| place.into_owned());
    Some(carried.unwrap_or_else(|| url.to_string()))
}
