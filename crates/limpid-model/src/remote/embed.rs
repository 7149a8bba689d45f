//! Embeddings over HTTP, as OpenAI's interface has them and Ollama, llama.cpp and LM Studio speak it.

use std::sync::{Arc, OnceLock};

use futures_util::future::{BoxFuture, FutureExt};
use limpid_core::recall::Embedding;
use limpid_core::{FailureClass, causes};
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::json;

use super::http::{client, headers, shown, url_of};
use super::{Endpoint, Timeouts, keyed};
use crate::embed::Embedder;
use crate::errors::Service;
use crate::model::ModelError;
use crate::protocol::Adapter as _;

/// Bytes that one answer may have: a few hundred embeddings of the longest kind.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// An embedder behind a provider's HTTP interface.
pub struct RemoteEmbedder {
    name: String,
    model: String,
    url: reqwest::Url,
    timeouts: Timeouts,
    headers: HeaderMap,
    /// Present where a command prints the key.
    endpoint: Option<Endpoint>,
    /// Made when it is first needed, as a model's.
    client: OnceLock<Result<reqwest::Client, ModelError>>,
    service: Arc<Service>,
}

impl RemoteEmbedder {
    /// Makes an embedder; nothing is sent yet.
    ///
    /// # Errors
    /// When the provider has no embeddings in this form, the base URL is none, or the key cannot stand in a header.
    pub fn new(provider: &str, model: &str, endpoint: Endpoint) -> Result<Self, ModelError> {
        let refused = |why: String| ModelError::new(FailureClass::Malformed, why);
        let path = endpoint.protocol.embeddings_path().ok_or_else(|| {
            refused(format!(
                "{provider} gives no embeddings; take a model of another provider, such as ollama/nomic-embed-text"
            ))
        })?;
        let url = url_of(&endpoint, path).map_err(refused)?;
        let headers = headers(&endpoint).map_err(refused)?;
        let name = format!("{provider}/{model}");
        let service = Arc::new(Service {
            name: name.clone(),
            target: shown(&url),
            key: endpoint.key.clone(),
            key_variable: endpoint.key_variable.clone(),
            listed: Vec::new(),
        });
        let (model, timeouts) = (model.to_owned(), endpoint.timeouts);
        let endpoint = endpoint.key_command.is_some().then_some(endpoint);
        Ok(Self { name, model, url, timeouts, headers, endpoint, client: OnceLock::new(), service })
    }

    fn client(&self) -> Result<reqwest::Client, ModelError> {
        let made = self.client.get_or_init(|| {
            client(&self.url, self.timeouts)
                .map_err(|error| self.service.transport(&format!("no HTTP client can be made: {}", causes(&error))))
        });
        made.clone()
    }
}

impl Embedder for RemoteEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'static, Result<Vec<Option<Embedding>>, ModelError>> {
        let (client, service, idle) = (self.client(), Arc::clone(&self.service), self.timeouts.idle);
        let (url, mut headers, model) = (self.url.clone(), self.headers.clone(), self.model.clone());
        let endpoint = self.endpoint.clone();
        async move {
            let mut service = service;
            if let Some(endpoint) = endpoint {
                let (with_key, known) = keyed(&endpoint, &service).await?;
                (headers, service) = (with_key, known);
            }
            let body = json!({ "model": model, "input": texts }).to_string();
            let request = client?.post(url).headers(headers).body(body);
            let asked = tokio::time::timeout(idle, ask(request, &service)).await;
            let answer = asked.map_err(|_| service.transport(&format!("no answer within {} s", idle.as_secs())))??;
            read(&answer, texts.len()).ok_or_else(|| service.garbage(&String::from_utf8_lossy(&answer)))
        }
        .boxed()
    }
}

async fn ask(request: reqwest::RequestBuilder, service: &Service) -> Result<Vec<u8>, ModelError> {
    let lost = |error: &reqwest::Error| service.transport(&causes(error));
    let mut response = request.send().await.map_err(|error| lost(&error.without_url()))?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| lost(&error.without_url()))? {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_ANSWER {
            return Err(service.flood(MAX_ANSWER));
        }
    }
    if status.is_success() {
        Ok(body)
    } else {
        Err(service.status_error(status.as_u16(), &String::from_utf8_lossy(&body), None))
    }
}

/// The embeddings of so many texts, in their order; none when the answer does not hold them.
fn read(answer: &[u8], texts: usize) -> Option<Vec<Option<Embedding>>> {
    let mut rows = serde_json::from_slice::<Answer>(answer).ok()?.data;
    if rows.iter().all(|row| row.index.is_some()) {
        rows.sort_by_key(|row| row.index);
    }
    (rows.len() == texts).then(|| rows.iter().map(|row| Embedding::new(&row.embedding)).collect())
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: Option<usize>,
    embedding: Vec<f32>,
}
