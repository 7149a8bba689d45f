//! Hands batches over to the collector, by the HTTP client that the rest of the program uses.

use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::Client;
use reqwest::redirect::Policy;
use tokio::runtime::Runtime;

use crate::traces::{PATIENCE, Trouble};

/// Bytes of an answer that are read; what a collector says is of no use here.
const MOST: usize = 64 * 1024;

/// Sends batches. It is used from the thread of the queue alone, and has a runtime of its own there, so nothing that the agent
/// does waits for it.
pub(crate) struct Sender {
    /// Where the collector is, as people are told.
    collector: String,
    trouble: Trouble,
    was_told: AtomicBool,
    client: OnceLock<(Runtime, Client)>,
}

impl Sender {
    pub(crate) fn new(collector: &str, trouble: Trouble) -> Self {
        let collector = collector.to_owned();
        Self { collector, trouble, was_told: AtomicBool::new(false), client: OnceLock::new() }
    }

    fn client(&self) -> Result<&(Runtime, Client), HttpError> {
        if let Some(made) = self.client.get() {
            return Ok(made);
        }
        // Refused only when the program has chosen a provider of its own, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = Client::builder()
            .user_agent(concat!("limpid/", env!("CARGO_PKG_VERSION")))
            // No other address than the owner's gets spans.
            .redirect(Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .build()?;
        Ok(self.client.get_or_init(|| (runtime, client)))
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (runtime, client) = self.client()?;
        let request = reqwest::Request::try_from(request)?;
        runtime.block_on(async {
            let mut answer = client.execute(request).await.map_err(reqwest::Error::without_url)?;
            let mut said = Vec::new();
            while let Some(piece) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
                if said.len() + piece.len() > MOST {
                    break;
                }
                said.extend_from_slice(&piece);
            }
            Ok(Response::builder().status(answer.status()).body(said.into())?)
        })
    }
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.send(request);
        let why = match &sent {
            Ok(answer) if answer.status().is_success() => {
                self.was_told.store(false, Ordering::Relaxed);
                return sent;
            }
            Ok(answer) => format!("it answered with status {}", answer.status().as_u16()),
            Err(error) => innermost(error),
        };
        if !self.was_told.swap(true, Ordering::Relaxed) {
            (self.trouble)(&format!("traces are not sent to {}: {why}", self.collector));
        }
        sent
    }
}

/// The cause of an error that has no other: `Connection refused`.
fn innermost(error: &HttpError) -> String {
    let mut cause: &dyn std::error::Error = error.as_ref();
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<io::Error>() {
        Some(error) => error.kind().to_string(),
        None => cause.to_string(),
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("collector", &self.collector).finish_non_exhaustive()
    }
}
