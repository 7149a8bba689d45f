//! A model behind a provider's HTTP interface.

use std::collections::VecDeque;
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use tokio_util::sync::CancellationToken;

use limpid_core::FailureClass;

use crate::errors::Service;
use crate::json_tools::JsonReply;
use crate::key::ApiKey;
use crate::model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
use crate::protocol::{Decoder, Dialect, Frames, MAX_FRAME, Protocol};
use crate::wire::{CallIds, WireCall};

/// Bytes that one reply may have.
const MAX_REPLY: usize = 64 * 1024 * 1024;

/// Bytes of an error's body that are read.
const MAX_ERROR: usize = 64 * 1024;

/// How long a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To take the connection.
    pub connect: Duration,
    /// To say something more, from the request to the first byte and between any two later ones.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// 10 s and 5 minutes: a local server may read a long prompt for that long.
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_mins(5) }
    }
}

/// Where a provider is and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The protocol.
    pub protocol: Protocol,
    /// In what it differs from others of that protocol.
    pub dialect: Dialect,
    /// The URL that the protocol's paths follow; a name and password in it are sent as such and shown nowhere.
    pub base_url: String,
    /// The key, if it wants one.
    pub key: Option<ApiKey>,
    /// The variable that the key is usually in, for error messages.
    pub key_variable: Option<String>,
    /// How long it may take.
    pub timeouts: Timeouts,
}

/// A model behind a provider's HTTP interface.
pub struct RemoteModel {
    card: ModelCard,
    endpoint: Endpoint,
    url: reqwest::Url,
    /// Made when it is first needed: reading the system's certificates takes a while.
    client: OnceLock<Result<reqwest::Client, ModelError>>,
    headers: HeaderMap,
    service: Arc<Service>,
}

impl RemoteModel {
    /// Makes a model; nothing is sent yet.
    ///
    /// # Errors
    /// When the base URL is none, or the key cannot stand in a header.
    pub fn new(card: ModelCard, endpoint: Endpoint) -> Result<Self, ModelError> {
        let refused = |why: String| ModelError::new(FailureClass::Malformed, why);
        let url = endpoint_url(&endpoint, &card.id).map_err(refused)?;
        let headers = headers(&endpoint).map_err(refused)?;
        let service = Arc::new(Service {
            name: card.name(),
            target: shown(&url),
            key: endpoint.key.clone(),
            key_variable: endpoint.key_variable.clone(),
        });
        Ok(Self { card, endpoint, url, client: OnceLock::new(), headers, service })
    }

    fn client(&self) -> Result<&reqwest::Client, ModelError> {
        let made = self.client.get_or_init(|| {
            client(&self.url, self.endpoint.timeouts)
                .map_err(|error| self.service.transport(&format!("no HTTP client can be made: {}", causes(&error))))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Model for RemoteModel {
    fn info(&self) -> &ModelCard {
        &self.card
    }

    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        let wire = WireCall::new(&self.card, call)?;
        Ok(Prepared {
            target: shown(&self.url),
            body: self.endpoint.protocol.body(&wire, self.endpoint.dialect),
            protocol: self.endpoint.protocol.name(),
            call: call.clone(),
        })
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let ids = CallIds::new(&prepared.call);
        let json = WireCall::new(&self.card, &prepared.call).is_ok_and(|wire| wire.json_tools);
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(prepared.body);
        let reply = Reply {
            request: Some(request),
            response: None,
            protocol: self.endpoint.protocol,
            frames: self.endpoint.protocol.frames(),
            decoder: self.endpoint.protocol.decoder(ids.clone()),
            json: json.then(|| JsonReply::new(ids)),
            idle: self.endpoint.timeouts.idle,
            service: Arc::clone(&self.service),
            cancel,
            ready: VecDeque::new(),
            received: 0,
            seen: false,
            over: false,
        };
        stream::unfold(reply, |mut reply| async move { reply.next().await.map(|event| (event, reply)) }).boxed()
    }
}

/// One reply while it comes in.
struct Reply {
    request: Option<reqwest::RequestBuilder>,
    response: Option<reqwest::Response>,
    protocol: Protocol,
    frames: Frames,
    decoder: Box<dyn Decoder>,
    json: Option<JsonReply>,
    idle: Duration,
    service: Arc<Service>,
    cancel: CancellationToken,
    ready: VecDeque<ModelEvent>,
    received: usize,
    seen: bool,
    over: bool,
}

impl Reply {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if self.cancel.is_cancelled() && !self.over {
                self.over = true;
                return Some(Err(self.service.cancelled()));
            }
            if let Some(event) = self.ready.pop_front() {
                self.over |= matches!(event, ModelEvent::End(_));
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if let Err(error) = self.advance().await {
                self.over = true;
                return Some(Err(error));
            }
        }
    }

    /// Takes the next step: sends the request, or reads more of the reply.
    async fn advance(&mut self) -> Result<(), ModelError> {
        if let Some(request) = self.request.take() {
            let response = within(&self.cancel, self.idle, request.send()).await;
            let response = response.map_err(|lost| self.lost(lost))?;
            return self.accept(response).await;
        }
        let Some(response) = &mut self.response else { return Err(self.service.transport("there is no reply")) };
        match within(&self.cancel, self.idle, response.chunk()).await {
            Ok(Some(bytes)) => {
                self.received += bytes.len();
                if self.received > MAX_REPLY {
                    return Err(self.service.flood(MAX_REPLY));
                }
                let payloads = self.frames.feed(&bytes).map_err(|_| self.service.flood(MAX_FRAME))?;
                payloads.iter().try_for_each(|payload| self.decode(payload))
            }
            Ok(None) => self.finish(None),
            Err(Lost::Cancelled) => Err(self.service.cancelled()),
            Err(lost) => {
                let error = self.lost(lost);
                self.finish(Some(error))
            }
        }
    }

    /// Looks at the head of the reply.
    async fn accept(&mut self, mut response: reqwest::Response) -> Result<(), ModelError> {
        let status = response.status().as_u16();
        let content_type =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = content_type.to_ascii_lowercase();
        if !response.status().is_success() {
            let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let retry_after = retry_after.and_then(|text| text.trim().parse::<f64>().ok());
            let retry_after = retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let body = self.read_some(&mut response).await?;
            return Err(self.service.status_error(status, &body, retry_after));
        }
        if content_type.starts_with("text/html") {
            let body = self.read_some(&mut response).await?;
            return Err(self.service.garbage(&body));
        }
        // A server that does not stream answers with one document.
        if content_type.starts_with("application/json") && self.protocol != Protocol::Ollama {
            self.frames = Frames::whole();
        }
        self.response = Some(response);
        Ok(())
    }

    /// The beginning of a body that is no stream.
    async fn read_some(&self, response: &mut reqwest::Response) -> Result<String, ModelError> {
        let mut body = Vec::new();
        while body.len() < MAX_ERROR {
            match within(&self.cancel, self.idle, response.chunk()).await {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Err(Lost::Cancelled) => return Err(self.service.cancelled()),
                // What has come says more than that no more came.
                Ok(None) | Err(_) => break,
            }
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn decode(&mut self, payload: &str) -> Result<(), ModelError> {
        let mut events = Vec::new();
        let result = self.decoder.feed(payload, &mut events);
        self.push(events);
        result.map_err(|fault| self.service.fault(fault, self.seen))
    }

    /// Ends the reply when there is no more to read; `lost` is why, when the connection was not closed properly.
    fn finish(&mut self, lost: Option<ModelError>) -> Result<(), ModelError> {
        if lost.is_none()
            && let Some(payload) = self.frames.finish().filter(|payload| !payload.trim().is_empty())
        {
            // Half a document at the end is a reply that broke off, unless nothing else ever came.
            match self.decode(&payload) {
                Err(error) if !self.seen => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        if self.ready.iter().any(|event| matches!(event, ModelEvent::End(_))) {
            return Ok(());
        }
        let mut events = Vec::new();
        match self.decoder.finish(&mut events) {
            Ok(()) => {
                self.push(events);
                Ok(())
            }
            Err(fault) => Err(lost.unwrap_or_else(|| self.service.fault(fault, self.seen))),
        }
    }

    fn push(&mut self, events: Vec<ModelEvent>) {
        self.seen |= !events.is_empty();
        for event in events {
            match &mut self.json {
                Some(json) => self.ready.extend(json.feed(event)),
                None => self.ready.push_back(event),
            }
        }
    }

    fn lost(&self, lost: Lost) -> ModelError {
        match lost {
            Lost::Cancelled => self.service.cancelled(),
            Lost::Silent => self.service.transport(&format!("nothing came for {}", span(self.idle))),
            Lost::Broken(why) => self.service.transport(&why),
        }
    }
}

/// Why a wait for the server ended without what was waited for.
enum Lost {
    Cancelled,
    Silent,
    Broken(String),
}

async fn within<T>(
    cancel: &CancellationToken,
    idle: Duration,
    work: impl Future<Output = Result<T, reqwest::Error>>,
) -> Result<T, Lost> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Lost::Cancelled),
        done = tokio::time::timeout(idle, work) => match done {
            Err(_) => Err(Lost::Silent),
            // The error would print the URL, and with it a password that may stand in it.
            Ok(result) => result.map_err(|error| Lost::Broken(causes(&error.without_url()))),
        },
    }
}

/// The whole URL of the calls.
fn endpoint_url(endpoint: &Endpoint, model: &str) -> Result<reqwest::Url, String> {
    let base = endpoint.base_url.trim();
    let parsed =
        reqwest::Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(mut parsed) = parsed else {
        // What is no URL may still hold a password.
        let shown = if base.contains('@') { "it" } else { base };
        return Err(format!("the base URL is not valid ({shown}); write one such as http://127.0.0.1:8080/v1"));
    };
    let path = endpoint.protocol.path(model);
    let (path, query) = path.split_once('?').map_or((path.as_str(), None), |(path, query)| (path, Some(query)));
    let path = format!("{}{path}", parsed.path().trim_end_matches('/'));
    parsed.set_path(&path);
    if let Some(query) = query {
        let query = [parsed.query(), Some(query)].into_iter().flatten().collect::<Vec<_>>().join("&");
        parsed.set_query(Some(&query));
    }
    Ok(parsed)
}

/// A URL without a name, a password or the values of its query.
fn shown(url: &reqwest::Url) -> String {
    let mut url = url.clone();
    // Only URLs without a host refuse this, and they were refused before.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.to_string()
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if endpoint.protocol == Protocol::Anthropic {
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
    }
    let Some(key) = endpoint.key.as_ref().filter(|key| !key.is_empty()) else { return Ok(headers) };
    let (name, value) = match endpoint.protocol {
        Protocol::Anthropic => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
        Protocol::Gemini => (HeaderName::from_static("x-goog-api-key"), key.reveal().to_owned()),
        _ => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
    };
    let variable = endpoint.key_variable.as_deref().unwrap_or("the key");
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| format!("{variable} holds characters that no key has; set it again, without line breaks"))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

/// Chooses the cryptography of TLS, which every client needs.
pub(crate) fn use_tls() {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // Refused only when the program has chosen a provider of its own, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// A client for one provider. Proxies of the system are used, except for servers on this machine.
pub(crate) fn client(url: &reqwest::Url, timeouts: Timeouts) -> Result<reqwest::Client, reqwest::Error> {
    use_tls();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("limpid/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // Another address than the one that was set is to get neither the prompt nor the key.
        .redirect(reqwest::redirect::Policy::none());
    let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
    // Without TLS and without redirects no certificate is ever looked at, and reading the system's takes a while.
    let builder = if url.scheme() == "http" { builder.tls_backend_preconfigured(no_certificates()) } else { builder };
    builder.build()
}

fn no_certificates() -> rustls::ClientConfig {
    rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
}

fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An error with its causes, which say what the error itself leaves out.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}

fn span(time: Duration) -> String {
    if time < Duration::from_secs(1) { format!("{} ms", time.as_millis()) } else { format!("{} s", time.as_secs()) }
}
