//! `POST /v1/inbox/{sms|notification|mail|custom}`: other machines hand in what came to them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use limpid_model::Pause;
use limpid_runtime::Agent;
use limpid_runtime::inbox::{IngestError, IngestKind, MAX_BODY, Malformed};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::door::{Door, Hosts, Refused};
use crate::listener::Proof;

/// How long somebody may take to send their object.
const BODY: Duration = Duration::from_secs(30);

/// The header by which a sender may give the key of what they send.
const KEY: &str = "idempotency-key";

/// How this server gets another name.
const HOSTS: &str = "add the name to `hosts` under [inbox] in limpid.toml";

/// What the entry works with.
pub(crate) struct Entry {
    pub(crate) agent: Agent,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    pub(crate) door: Door,
    pub(crate) pause: Arc<dyn Pause>,
}

/// What was handed in.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is there for the document")]
struct HandedIn {
    /// Its number.
    id: i64,
    /// Whether it is new; the same key is kept once.
    stored: bool,
}

/// Why it was not taken.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is there for the document")]
struct NotTaken {
    error: String,
}

/// Takes one object in
///
/// docs/inbox.md says what an object of each kind holds.
#[utoipa::path(
    post,
    path = "/v1/inbox/{kind}",
    tag = "inbox",
    params(
        ("kind" = String, Path, description = "`sms`, `notification`, `mail` or `custom`"),
        ("Idempotency-Key" = Option<String>, Header, description = "What makes it the same object when it is sent again")
    ),
    request_body(content = Object, content_type = "application/json"),
    responses(
        (status = 200, description = "It was there already", body = HandedIn),
        (status = 201, description = "It is kept", body = HandedIn),
        (status = 401, description = "No token, or the wrong one", body = NotTaken),
        (status = 403, description = "The source is off", body = NotTaken),
        (status = 404, description = "There is no such kind", body = NotTaken),
        (status = 413, description = "It is too large", body = NotTaken),
        (status = 422, description = "It is not what an object of this kind holds", body = NotTaken),
        (status = 429, description = "Too much was handed in, or too many wrong tokens; `Retry-After` says when", body = NotTaken),
        (status = 503, description = "It cannot be kept now; send it again later", body = NotTaken)
    )
)]
pub(crate) async fn hand_in(
    State(entry): State<Arc<Entry>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Extension(proof): Extension<Proof>,
    Path(kind): Path<String>,
    request: Request,
) -> Response {
    let agent = &entry.agent;
    let hosts = Hosts::new(entry.address, None, &agent.config().inbox.hosts);
    // A token that cannot be read opens nothing; why, the log and `doctor` say.
    let token = || agent.inbox().token().ok().flatten();
    if let Err(refused) = entry.door.admit(&hosts, token, (from.ip(), Instant::now()), request.headers()) {
        return refuse(refused, HOSTS);
    }
    proof.give();
    let Some(kind) = IngestKind::parse(&kind) else {
        return error(StatusCode::NOT_FOUND, "there are mail, sms, notification and custom");
    };
    let key = request.headers().get(KEY).and_then(|key| key.to_str().ok()).map(str::to_owned);
    let body = tokio::select! {
        body = to_bytes(request.into_body(), MAX_BODY) => body,
        () = entry.pause.pause(BODY) => return error(StatusCode::REQUEST_TIMEOUT, "the object did not come within 30 seconds"),
    };
    let Ok(body) = body else {
        return error(StatusCode::PAYLOAD_TOO_LARGE, &Malformed::TooLong.to_string());
    };
    match entry.agent.inbox().ingest(kind, &body, key.as_deref()).await {
        Ok(kept) => {
            let status = if kept.fresh { StatusCode::CREATED } else { StatusCode::OK };
            answer(status, &json!({ "id": kept.id.0, "stored": kept.fresh }))
        }
        Err(why) => {
            let mut response = error(status_of(&why), &why.to_string());
            if let IngestError::Full { seconds } = why {
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            response
        }
    }
}

fn status_of(why: &IngestError) -> StatusCode {
    match why {
        IngestError::Off(_) => StatusCode::FORBIDDEN,
        IngestError::Malformed(Malformed::TooLong) => StatusCode::PAYLOAD_TOO_LARGE,
        IngestError::Malformed(_) => StatusCode::UNPROCESSABLE_ENTITY,
        IngestError::Full { .. } => StatusCode::TOO_MANY_REQUESTS,
        // A sender that tries again later loses nothing.
        IngestError::Agent(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Says why somebody is not let in; `advice` is how the server gets another name.
pub(crate) fn refuse(refused: Refused, advice: &str) -> Response {
    let mut response = error(refused.status(), &refused.why(advice));
    if let Refused::TooOften(seconds) = refused {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer that says what went wrong.
pub(crate) fn error(status: StatusCode, why: &str) -> Response {
    answer(status, &json!({ "error": why }))
}

fn answer(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(format!("{value}\n")));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
