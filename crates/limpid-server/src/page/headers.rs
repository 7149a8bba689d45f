//! What a browser may do with what it gets: nothing comes from elsewhere, nothing runs that is not a file of ours, and nobody
//! else may frame or keep it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;

use super::door::is_inside;
use super::state::Page;
use crate::ingest::refuse;
use crate::listener::Proof;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How this server gets another name.
const HOSTS: &str = "add the name to `hosts` under [page] in limpid.toml";

/// Looks at the name by which the page is asked, and adds the headers to every answer.
pub(super) async fn add(
    State(page): State<Arc<Page>>,
    Extension(proof): Extension<Proof>,
    request: Request,
    next: Next,
) -> Response {
    // A connection that fetches scripts is the browser's, too.
    if is_inside(&page, request.headers()) {
        proof.give();
    }
    let mut response = match page.door.admit_host(&page.hosts, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refuse(refused, HOSTS),
    };
    let headers = response.headers_mut();
    let own = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        // Firefox looks up the hosts of links before anybody presses them; a host's name can say what the agent has read.
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in own {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
