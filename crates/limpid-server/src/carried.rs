//! What is asked for is carried out whole, also when whoever asked hangs up in the middle of it.

use std::panic::resume_unwind;

use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// Runs a request that changes something in a task of its own: a server drops what it does for a connection with the connection, and
/// a message that was taken out and not yet put in again, or a turn that began and that nobody follows, would be left.
pub(crate) async fn to_the_end(request: Request, next: Next) -> Response {
    if *request.method() == Method::GET || *request.method() == Method::HEAD {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The process ends.
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::body::Body;
    use axum::routing::post;
    use axum::{Router, middleware};
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use tokio::sync::{Mutex, oneshot};

    use super::*;

    // SUR-020
    #[tokio::test]
    async fn a_change_is_carried_out_though_its_client_hangs_up_in_the_middle() {
        let ((began, has_begun), (go_on, goes_on)) = (oneshot::channel(), oneshot::channel::<()>());
        let (changed, has_changed) = oneshot::channel();
        let parts = Arc::new(Mutex::new(Some((began, goes_on, changed))));
        let change = post(move || async move {
            let (began, goes_on, changed) = parts.lock().await.take().unwrap();
            began.send(()).unwrap();
            goes_on.await.unwrap();
            changed.send(()).unwrap();
        });
        let router: Router = Router::new().route("/", change).layer(middleware::from_fn(to_the_end));
        let request = Request::post("/").body(Body::empty()).unwrap();
        let asked = tokio::spawn(TowerToHyperService::new(router).call(request));
        has_begun.await.unwrap();
        asked.abort();
        assert!(asked.await.unwrap_err().is_cancelled());
        go_on.send(()).unwrap();
        has_changed.await.unwrap();
    }
}
