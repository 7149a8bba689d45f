//! Fetches a file over HTTP, from where an earlier try ended.

use futures_util::StreamExt;
use limpid_core::causes;
use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::part::Part;
use super::pull::{FetchSettings, Progress, PullError};
use crate::remote::use_tls;

/// Where a file of the hub is.
#[derive(Clone, Copy)]
pub(super) struct From<'a> {
    pub(super) address: &'a str,
    /// Owner and name, for errors.
    pub(super) repository: &'a str,
    /// Its bytes, when they are known.
    pub(super) bytes: Option<u64>,
}

/// Fills `part` with a file of the hub.
pub(super) async fn fetch(
    from: From<'_>,
    part: &mut Part<'_>,
    settings: &FetchSettings,
    cancel: &CancellationToken,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), PullError> {
    let expected = from.bytes;
    let mut bytes = part.end()?;
    if expected.is_some_and(|expected| bytes >= expected) {
        if expected == Some(bytes) {
            return Ok(());
        }
        part.clear()?;
        bytes = 0;
    }
    let response = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(PullError::Interrupted),
        response = ask(from.address, from.repository, bytes, settings) => response?,
    };
    if bytes > 0 && !goes_on(&response, bytes) {
        part.clear()?;
        bytes = 0;
    }
    let total = expected.or(response.content_length().map(|rest| bytes + rest));
    progress(Progress { bytes, total });

    let mut stream = response.bytes_stream();
    loop {
        let next = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(PullError::Interrupted),
            next = timeout(settings.idle, stream.next()) => next,
        };
        let broke_off = |why: String| PullError::BrokeOff { bytes, why };
        let chunk = match next {
            Err(_) => return Err(broke_off(format!("nothing came for {} s", settings.idle.as_secs()))),
            Ok(Some(Err(error))) => return Err(broke_off(causes(&error))),
            Ok(Some(Ok(chunk))) => chunk,
            Ok(None) if total.is_some_and(|total| bytes < total) => return Err(broke_off("the hub closed it".into())),
            Ok(None) => return Ok(()),
        };
        part.write(&chunk)?;
        bytes += chunk.len() as u64;
        progress(Progress { bytes, total });
        if expected.is_some_and(|expected| bytes > expected) {
            part.clear()?;
            return Err(PullError::BrokeOff { bytes: 0, why: "more came than the file has".into() });
        }
    }
}

/// Asks the hub for what is at an address, from a byte on. The token goes to the hub alone: where it sends the program
/// elsewhere, the client leaves the header out.
pub(super) async fn ask(
    address: &str,
    repository: &str,
    from: u64,
    settings: &FetchSettings,
) -> Result<Response, PullError> {
    let unreachable = |why: String| PullError::Unreachable { place: settings.hub.clone(), why };
    let client = client(settings).map_err(|error| unreachable(causes(&error)))?;
    let mut request = client.get(address);
    if let Some(token) = settings.token.as_ref().filter(|token| !token.is_empty()) {
        request = request.bearer_auth(token.reveal());
    }
    if from > 0 {
        request = request.header(RANGE, format!("bytes={from}-"));
    }
    let response = match timeout(settings.patience, request.send()).await {
        Err(_) => return Err(unreachable(format!("it did not answer within {} s", settings.patience.as_secs()))),
        Ok(Err(error)) => return Err(unreachable(root(&error))),
        Ok(Ok(response)) => response,
    };
    match response.status() {
        status if status.is_success() => Ok(response),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(PullError::Gated {
            hub: settings.hub.clone(),
            repository: repository.to_owned(),
            status: response.status().as_u16(),
            has_token: settings.token.is_some(),
        }),
        StatusCode::NOT_FOUND => {
            let why = "the hub has no such repository or file; check owner, name and letters".to_owned();
            Err(PullError::NotOnHub { repository: repository.to_owned(), why })
        }
        status => Err(unreachable(format!("it answered {status} for {address}"))),
    }
}

/// Whether an answer is the rest of the file from this byte on.
fn goes_on(response: &Response, from: u64) -> bool {
    let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
    response.status() == StatusCode::PARTIAL_CONTENT && range.is_some_and(|r| r.starts_with(&format!("bytes {from}-")))
}

fn client(settings: &FetchSettings) -> reqwest::Result<Client> {
    use_tls();
    Client::builder()
        .user_agent(concat!("limpid/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(settings.patience)
        .build()
}

/// The first cause of an error: that a name is unknown or a connection refused says more than that sending failed.
fn root(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}
