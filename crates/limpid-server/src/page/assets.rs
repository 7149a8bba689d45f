//! Style sheets and scripts of the page. They are in the binary, and their addresses hold a hash of them, so that a browser keeps
//! them and a new version is fetched at once.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest, Sha256};

const FILES: &[(&str, &str, &str)] = &[
    ("sheet.css", CSS, SHEET),
    ("ui.css", CSS, include_str!("../../assets/ui.css")),
    ("inspector.css", CSS, include_str!("../../assets/inspector.css")),
    ("editor.js", SCRIPT, include_str!("../../assets/editor.js")),
    ("inspector.js", SCRIPT, include_str!("../../assets/inspector.js")),
    ("shell.js", SCRIPT, include_str!("../../assets/shell.js")),
    ("around.js", SCRIPT, include_str!("../../assets/around.js")),
    ("asked.js", SCRIPT, include_str!("../../assets/asked.js")),
    ("attach.js", SCRIPT, include_str!("../../assets/attach.js")),
    ("copy.js", SCRIPT, include_str!("../../assets/copy.js")),
    ("chat.js", SCRIPT, include_str!("../../assets/chat.js")),
    ("first.js", SCRIPT, include_str!("../../assets/first.js")),
    ("list.js", SCRIPT, include_str!("../../assets/list.js")),
    ("paste.js", SCRIPT, include_str!("../../assets/paste.js")),
    ("put_away.js", SCRIPT, include_str!("../../assets/put_away.js")),
    ("title.js", SCRIPT, include_str!("../../assets/title.js")),
    ("unsent.js", SCRIPT, include_str!("../../assets/unsent.js")),
    ("ui.js", SCRIPT, include_str!("../../assets/ui.js")),
    ("values.js", SCRIPT, include_str!("../../assets/values.js")),
    ("settings.js", SCRIPT, include_str!("../../assets/settings.js")),
];

/// The style of every screen in one file: a screen waits for its style before it shows anything, and the next one has it already.
const SHEET: &str = concat!(
    include_str!("../../assets/tokens.css"),
    include_str!("../../assets/page.css"),
    include_str!("../../assets/own.css"),
);

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    FILES.iter().for_each(|(_, _, text)| hash.update(text));
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// What stands in the addresses of these files.
pub(crate) fn version() -> &'static str {
    &VERSION
}

/// `GET /assets/{version}/{name}`
pub(crate) async fn file(Path((asked, name)): Path<(String, String)>) -> Response {
    let Some((_, kind, text)) = FILES.iter().find(|(known, ..)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = Response::new(Body::from(*text));
    // An address of another version may be asked for by a page that was open while the program changed.
    let kept = if asked == version() { "public, max-age=31536000, immutable" } else { "no-store" };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    response
}
