//! Who is let in: a program that shows its token.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tokio::sync::OwnedSemaphorePermit;

use super::error::ApiError;
use super::state::Api;
use super::tokens::ApiRole;
use crate::listener::Proof;

/// How long somebody may take to send their request.
const BODY: Duration = Duration::from_secs(30);

/// Bytes of a request.
const MOST: usize = 4 * 1024 * 1024;

/// A place among the requests that are answered at once, until its last holder is gone.
#[derive(Clone)]
pub(super) struct Place(#[expect(dead_code, reason = "it is held")] Arc<OwnedSemaphorePermit>);

/// Lets a program in whose token is known, with its whole request.
pub(super) async fn admit(
    State(api): State<Arc<Api>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Extension(proof): Extension<Proof>,
    request: Request,
    next: Next,
) -> Response {
    let token = presented(request.headers());
    let Some(program) = token.and_then(|token| api.tokens.knows(token)) else {
        return refuse(&api, from, token.is_some());
    };
    proof.give();
    // From here on no text repeats it.
    api.page.agent.learn_secret("api token", token.unwrap_or_default());
    if !may(program.role, request.uri().path()) {
        let why = "the token of this program does not open this; `limpid api token` makes one that does";
        return ApiError::new(StatusCode::FORBIDDEN, why).into_response();
    }
    let (mut parts, body) = request.into_parts();
    let body = tokio::select! {
        body = to_bytes(body, MOST) => body,
        () = api.page.pause.pause(BODY) => {
            let why = "the request did not come within 30 seconds";
            return ApiError::new(StatusCode::REQUEST_TIMEOUT, why).into_response();
        }
    };
    let Ok(body) = body else {
        return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 4 MiB").into_response();
    };
    // A program that sends slowly takes nobody's place.
    let Some(place) = api.enter(&program) else {
        let why = "too many requests are being answered; ask again";
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, why).after(1).into_response();
    };
    parts.extensions.insert(Place(Arc::new(place)));
    parts.extensions.insert(program);
    next.run(Request::from_parts(parts, Body::from(body))).await
}

/// What each may ask for; who sits at no program of the owner's may only chat.
fn may(role: ApiRole, path: &str) -> bool {
    let is_chat = ["/v1/chat/", "/v1/models", "/v1/openapi.json"].iter().any(|begin| path.starts_with(begin));
    match role {
        ApiRole::Owner => true,
        ApiRole::Program => is_chat,
        ApiRole::Metrics => path == "/metrics",
    }
}

fn refuse(api: &Api, from: SocketAddr, was_wrong: bool) -> Response {
    // A page in the owner's browser that asks without a token must not lock their programs out.
    if was_wrong && let Some(seconds) = api.door.wrong(from.ip(), Instant::now()) {
        let why = "too many wrong tokens; wait a minute";
        return ApiError::new(StatusCode::TOO_MANY_REQUESTS, why).after(seconds).into_response();
    }
    let why = "no token, or the wrong one; `limpid api token NAME` makes one, and it is sent as `Authorization: Bearer TOKEN`";
    let error = ApiError::new(StatusCode::UNAUTHORIZED, why).code("invalid_api_key");
    let mut response = error.into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn presented(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
