//! DuckDuckGo by its page without scripts: no key, and no promise that the page stays as it is.

use crate::tool::status;
use async_trait::async_trait;
use limpid_core::{Sentence, sentence};
use reqwest::Url;

use super::{Hit, SearchEngine, plain, with_query};
use crate::web::{Addresses, Ask, Web, host_of};

/// Where the page is.
const BASE: &str = "https://html.duckduckgo.com";

/// DuckDuckGo.
#[derive(Clone)]
pub struct DuckDuckGo {
    web: Web,
    base: String,
}

impl DuckDuckGo {
    /// The page at its own address or another.
    pub fn new(base: Option<&str>) -> Self {
        let addresses = if base.is_some() { Addresses::Any } else { Addresses::Public };
        Self { web: Web::new(addresses), base: base.unwrap_or(BASE).trim_end_matches('/').to_owned() }
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
        hits(&String::from_utf8_lossy(&page.body), count)
    }
}

fn hits(html: &str, count: usize) -> Result<Vec<Hit>, Sentence> {
    let mut hits = Vec::new();
    let mut rest = html;
    while hits.len() < count
        && let Some((link, behind)) = element(rest, "result__a")
    {
        let here = behind.find("result__a").map_or(behind, |next| &behind[..next]);
        let snippet = element(here, "result__snippet").map(|(snippet, _)| plain(snippet.text)).unwrap_or_default();
        rest = behind;
        // Paid ones lead through a page of their own.
        let Some(url) = link.href.and_then(target) else { continue };
        hits.push(Hit { title: plain(link.text), url, snippet });
    }
    if hits.is_empty() && !html.contains("no-results") {
        return Err("its page has neither hits nor says that there are none; it may want to see a person".into());
    }
    Ok(hits)
}

/// A link of the page.
struct Link<'h> {
    href: Option<&'h str>,
    text: &'h str,
}

/// The first link of a class, and what stands behind it.
fn element<'h>(html: &'h str, class: &str) -> Option<(Link<'h>, &'h str)> {
    let at = html.find(&format!("class=\"{class}\""))?;
    let start = html[..at].rfind('<')?;
    let open = at + html[at..].find('>')?;
    let tag = &html[start..open];
    let href = tag.find("href=\"").map(|at| &tag[at + "href=\"".len()..]);
    let href = href.and_then(|href| href.split('"').next());
    let end = open + html[open..].find("</a>")?;
    Some((Link { href, text: &html[open + 1..end] }, &html[end..]))
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
