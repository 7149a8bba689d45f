//! Questions to a provider that are no calls of a model: what it serves, and what it knows of that.

use limpid_core::causes;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::http::{client, headers, shown, url_of};
use super::{Endpoint, Timeouts};
use crate::reported::NoList;

/// Bytes that an answer may have; lists of gateways have a few million.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// A provider that is asked.
pub(crate) struct Listing {
    endpoint: Endpoint,
    client: reqwest::Client,
    headers: HeaderMap,
}

impl Listing {
    /// Makes what is needed to ask; nothing is sent yet but for what a key needs.
    pub(crate) async fn open(endpoint: &Endpoint) -> Result<Self, String> {
        let endpoint = endpoint.with_key().await?;
        let url = url_of(&endpoint, "")?;
        let client = client(&url, Timeouts::default()).map_err(|error| error.to_string())?;
        let headers = headers(&endpoint)?;
        Ok(Self { endpoint, client, headers })
    }

    /// Where it is, without secrets.
    pub(crate) fn shown(&self) -> String {
        url_of(&self.endpoint, "").map(|url| shown(&url)).unwrap_or_default()
    }

    /// The JSON at a path behind the base URL.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, NoList> {
        let url = url_of(&self.endpoint, path).map_err(NoList::Unusable)?;
        self.read(self.client.get(url)).await
    }

    /// The JSON at a path of the server itself: behind the base URL without its version.
    pub(crate) async fn get_root(&self, path: &str) -> Result<Value, NoList> {
        let base = self.endpoint.base_url.trim_end_matches('/');
        let base_url = base.strip_suffix("/v1").unwrap_or(base).to_owned();
        let root = Endpoint { base_url, ..self.endpoint.clone() };
        let url = url_of(&root, path).map_err(NoList::Unusable)?;
        self.read(self.client.get(url)).await
    }

    /// The JSON that a path answers to a body.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, NoList> {
        let url = url_of(&self.endpoint, path).map_err(NoList::Unusable)?;
        self.read(self.client.post(url).body(body.to_string())).await
    }

    async fn read(&self, request: reqwest::RequestBuilder) -> Result<Value, NoList> {
        let lost = |error: reqwest::Error| NoList::NoAnswer(causes(&error.without_url()));
        let mut response = request.headers(self.headers.clone()).send().await.map_err(lost)?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(NoList::Status(status));
        }
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(lost)? {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_ANSWER {
                return Err(NoList::NotAList);
            }
        }
        serde_json::from_slice(&body).map_err(|_| NoList::NotAList)
    }
}
