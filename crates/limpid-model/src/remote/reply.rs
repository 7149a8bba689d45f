//! One reply while it comes in: bytes from the socket, events out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use limpid_core::causes;
use reqwest::header::CONTENT_TYPE;
use tokio_util::sync::CancellationToken;

use crate::call_ids::CallIds;
use crate::errors::{Service, wait};
use crate::json_tools::JsonReply;
use crate::model::{ModelError, ModelEvent, StateRule};
use crate::protocol::{Adapter as _, Decoder, Frames, MAX_FRAME, Protocol};
use crate::searches::tells_of_pages;
use crate::wire::Originals;

/// Bytes that one reply may have.
const MAX_REPLY: usize = 64 * 1024 * 1024;

/// Bytes of an error's body that are read.
const MAX_ERROR: usize = 64 * 1024;

/// A request that is about to leave, and how its reply is read.
pub(super) struct Asked {
    pub(super) request: reqwest::RequestBuilder,
    pub(super) ids: CallIds,
    pub(super) protocol: Protocol,
    pub(super) rule: StateRule,
    /// Whether a text may begin inside the model's reasoning.
    pub(super) opened: bool,
    /// What tools and arguments are called here.
    pub(super) originals: Originals,
    pub(super) json_tools: bool,
    /// The model that is asked.
    pub(super) model: String,
    pub(super) idle: Duration,
    pub(super) service: Arc<Service>,
    pub(super) cancel: CancellationToken,
}

/// One reply while it comes in.
pub(super) struct Reply {
    request: Option<reqwest::RequestBuilder>,
    response: Option<reqwest::Response>,
    protocol: Protocol,
    frames: Frames,
    decoder: Box<dyn Decoder>,
    originals: Originals,
    json: Option<JsonReply>,
    model: String,
    idle: Duration,
    service: Arc<Service>,
    cancel: CancellationToken,
    ready: VecDeque<ModelEvent>,
    received: usize,
    seen: bool,
    /// Why it ends, once what came before has been given out.
    failed: Option<ModelError>,
    over: bool,
}

impl Reply {
    /// The reply to a request, which leaves when the first event is asked for.
    pub(super) fn to(asked: Asked) -> Self {
        let Asked { request, ids, protocol, rule, opened, originals, json_tools, model, idle, service, cancel } = asked;
        Self {
            request: Some(request),
            response: None,
            protocol,
            frames: protocol.frames(),
            decoder: protocol.decoder(ids.clone(), rule, opened),
            originals,
            json: json_tools.then(|| JsonReply::new(ids)),
            model,
            idle,
            service,
            cancel,
            ready: VecDeque::new(),
            received: 0,
            seen: false,
            failed: None,
            over: false,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if self.cancel.is_cancelled() && !self.over {
                self.over = true;
                self.failed = None;
                return Some(Err(self.service.cancelled()));
            }
            if let Some(event) = self.ready.pop_front() {
                self.over |= matches!(event, ModelEvent::End(_));
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                self.over = true;
                return Some(Err(error));
            }
            if self.over {
                return None;
            }
            self.failed = self.advance().await.err();
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
            let headers = response.headers().clone();
            let body = self.read_some(&mut response).await?;
            let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            return Err(self.service.status_error(status, &body, wait::asked(header, &body)));
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
        if tells_of_pages(payload) {
            events.push(ModelEvent::Searched);
        }
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
        let events = events.into_iter().filter(|event| *event != ModelEvent::Model(self.model.clone()));
        let events: Vec<ModelEvent> = events.collect();
        self.seen |= !events.is_empty();
        for event in events {
            let events = match &mut self.json {
                Some(json) => json.feed(event),
                None => vec![event],
            };
            for mut event in events {
                if let ModelEvent::Call(call) = &mut event {
                    self.originals.restore(call);
                }
                self.ready.push_back(event);
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

fn span(time: Duration) -> String {
    if time < Duration::from_secs(1) { format!("{} ms", time.as_millis()) } else { format!("{} s", time.as_secs()) }
}
