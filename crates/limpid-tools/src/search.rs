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

    /// The host that queries go to, as rules name it.
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
    /// The page's title, as HTML.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it says around the words, as HTML.
    pub snippet: String,
}

/// An address of an engine with a query behind.
fn with_query(base: &str, pairs: &[(&str, &str)]) -> Result<String, Sentence> {
    let mut url = crate::web::parse(base)?;
    url.query_pairs_mut().extend_pairs(pairs);
    Ok(url.into())
}

/// A text field of a JSON object.
fn field(value: &serde_json::Value, name: &str) -> String {
    value.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}
