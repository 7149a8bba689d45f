//! `GET /v1/openapi.json`: what there is to ask, made from the routes themselves. It holds nothing of the owner's.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use utoipa::OpenApi;

use super::documented;

/// What is asked at another address.
#[derive(OpenApi)]
#[openapi(paths(crate::ingest::hand_in))]
struct Elsewhere;

/// What every request may be answered with besides.
const EVERYWHERE: [(&str, &str); 7] = [
    ("400", "The request says something wrong"),
    ("401", "No token, or the wrong one"),
    ("403", "The token does not open this"),
    ("408", "The request did not come in time"),
    ("413", "The request is too large"),
    ("429", "Too many wrong tokens"),
    ("503", "Too many requests are being answered"),
];

/// The document, as a text.
pub fn openapi() -> String {
    let (_, mut routes) = documented().split_for_parts();
    routes.merge(Elsewhere::openapi());
    let mut document = serde_json::to_value(routes).unwrap_or_default();
    document["info"] = json!({
        "title": "Limpid",
        "description": "Your agent, asked by programs. docs/api.md says how.",
        "license": { "name": "MIT OR Apache-2.0" },
        "version": "1",
    });
    document["servers"] = json!([{ "url": "http://127.0.0.1:7716", "description": "The address of the page" }]);
    document["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer", "description": "`limpid api token NAME` makes one" },
        "inbox": { "type": "http", "scheme": "bearer", "description": "`limpid inbox token` makes it" },
    });
    document["security"] = json!([{ "token": [] }]);
    document["tags"] = json!([
        { "name": "chat", "description": "The agent, asked as any client of OpenAI's chat completions does" },
        { "name": "conversations", "description": "What was said, and what happens" },
        { "name": "drafts", "description": "Calls that wait for the owner" },
        { "name": "memories", "description": "What the agent remembers" },
        { "name": "tasks", "description": "What is to be done later" },
        { "name": "cost", "description": "What was sent to models, and what it cost" },
        { "name": "inbox", "description": "What other machines hand in" },
        { "name": "metrics", "description": "Numbers of how the agent does" },
        { "name": "document", "description": "This document" },
    ]);
    for (status, why) in EVERYWHERE {
        document["components"]["responses"][format!("Refused{status}")] = json!({
            "description": why,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" } } },
        });
    }
    for (path, operations) in document["paths"].as_object_mut().into_iter().flatten() {
        let is_inbox = path.starts_with("/v1/inbox/");
        for (method, operation) in operations.as_object_mut().into_iter().flatten() {
            operation["operationId"] = json!(name(method, path));
            if is_inbox {
                operation["security"] = json!([{ "inbox": [] }]);
                operation["servers"] =
                    json!([{ "url": "http://127.0.0.1:7717", "description": "`listen` under [inbox] in limpid.toml" }]);
            } else {
                may_be_refused(operation);
            }
        }
    }
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    // Clients know a part of a path by its name alone.
    text.replace("/v1/models/{*id}", "/v1/models/{id}") + "\n"
}

fn may_be_refused(operation: &mut Value) {
    for (status, _) in EVERYWHERE {
        if operation["responses"].get(status).is_none() {
            operation["responses"][status] = json!({ "$ref": format!("#/components/responses/Refused{status}") });
        }
    }
}

/// A name that no other operation has.
fn name(method: &str, path: &str) -> String {
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !matches!(*word, "" | "v1"));
    words.fold(method.to_owned(), |name, word| format!("{name}_{word}"))
}

/// Shows this document
#[utoipa::path(
    get,
    path = "/v1/openapi.json",
    tag = "document",
    responses((status = 200, description = "The document", body = serde_json::Value))
)]
pub(super) async fn show() -> Response {
    ([(CONTENT_TYPE, "application/json")], openapi()).into_response()
}
