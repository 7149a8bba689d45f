//! Engines that search the web: one trait, one file an engine.

mod brave;
mod duckduckgo;
mod searxng;

use async_trait::async_trait;
use limpid_core::Sentence;

pub use brave::Brave;
pub use duckduckgo::DuckDuckGo;
pub use searxng::Searxng;

/// Something that searches the web.
#[async_trait]
pub trait SearchEngine: Send + Sync {
    /// Its name, for people and errors.
    fn name(&self) -> &'static str;

    /// The host that queries go to.
    fn host(&self) -> String;

    /// Looks for a query; at most `count` hits, the best first. No hits are no failure.
    ///
    /// # Errors
    /// A sentence: the engine could not be reached, refused, or answered something else.
    async fn search(&self, query: &str, count: usize) -> Result<Vec<Hit>, Sentence>;
}

/// One hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// The page's title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says around the words.
    pub snippet: String,
}

/// A text of an engine's on one line, without marks of HTML.
fn plain(text: &str) -> String {
    let text = if text.contains(['<', '&']) { crate::web::bare(text) } else { text.to_owned() };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An address of an engine with a query behind.
fn with_query(base: &str, pairs: &[(&str, &str)]) -> Result<String, Sentence> {
    let mut url = crate::web::parse(base)?;
    url.query_pairs_mut().extend_pairs(pairs);
    Ok(url.into())
}

/// A text field of a JSON object.
fn field(value: &serde_json::Value, name: &str) -> String {
    value.get(name).and_then(serde_json::Value::as_str).map(plain).unwrap_or_default()
}
