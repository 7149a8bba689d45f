//! Engines over a real socket, with answers in the form of each.

use std::sync::Arc;

use crate::kit::{Server, Told, context, page, told};
use limpid_core::Trust;
use limpid_formats::Parser;
use limpid_tools::search::{Brave, DuckDuckGo, SearchEngine, Searxng};
use limpid_tools::{Tool, WebSearch};
use serde_json::json;

async fn search(engine: impl SearchEngine + 'static, arguments: serde_json::Value) -> Result<Told, String> {
    told(WebSearch::new(Arc::new(engine), Parser::in_this_process()).run(&context(Trust::Owner), arguments).await)
}

/// A server that answers well, emptily or badly by what is looked for.
async fn engine(kind: &'static str, good: &'static str, empty: &'static str) -> Server {
    Server::start("127.0.0.1", 0, move |path| match path {
        path if path.contains("q=nothing") => page("200 OK", kind, empty),
        path if path.contains("q=refused") => page("403 Forbidden", kind, "{}"),
        path if path.contains("q=limit") => page("429 Too Many Requests", kind, "{}"),
        path if path.contains("q=garbage") => page("200 OK", kind, "<html><p>Are you a person?</p></html>"),
        _ => page("200 OK", kind, good),
    })
    .await
}

const SEARXNG: &str = include_str!("answers/searxng.json");
const BRAVE: &str = include_str!("answers/brave.json");
const DUCKDUCKGO: &str = include_str!("answers/duckduckgo.html");

// PICO-093
#[tokio::test]
async fn every_engine_gives_hits_none_or_says_that_it_failed() {
    let searxng = engine("application/json", SEARXNG, r#"{"results": [], "unresponsive_engines": []}"#).await;
    let brave = engine("application/json", BRAVE, r#"{"type": "search"}"#).await;
    let duck = engine("text/html", DUCKDUCKGO, r#"<div class="no-results">No results.</div>"#).await;
    let engines: [(&str, Arc<dyn SearchEngine>); 3] = [
        ("searxng", Arc::new(Searxng::new(&searxng.url("/")))),
        ("brave", Arc::new(Brave::new("key-1", Some(&brave.url(""))).unwrap())),
        ("duckduckgo", Arc::new(DuckDuckGo::new(Some(&duck.url("")), Parser::in_this_process()))),
    ];
    let mut shown = String::new();
    for (name, engine) in &engines {
        for query in ["green tea", "nothing", "refused", "limit", "garbage"] {
            let tool = WebSearch::new(Arc::clone(engine), Parser::in_this_process());
            let found = told(tool.run(&context(Trust::Owner), json!({ "query": query, "count": 2 })).await);
            let found = match found {
                Ok(found) => format!("{} ({:?})", found.text, found.trust),
                Err(error) => format!("error: {error}"),
            };
            shown.push_str(&format!("== {name}, {query}\n{found}\n"));
        }
    }
    insta::assert_snapshot!(shown);
    assert!(brave.requests().iter().all(|head| head.contains("x-subscription-token: key-1")));
    assert!(searxng.requests()[0].starts_with("GET /search?q=green+tea&format=json "), "{}", searxng.requests()[0]);
}

// PICO-093
#[tokio::test]
async fn an_engine_whose_own_engines_are_silent_has_failed_and_a_dead_one_too() {
    let silent = r#"{"results": [], "unresponsive_engines": [["a", "timeout"], ["b", "timeout"]]}"#;
    let server = engine("application/json", silent, silent).await;
    let error = search(Searxng::new(&server.url("")), json!({ "query": "tea" })).await.unwrap_err();
    assert!(error.contains("none of its engines answers (2 failed)"), "{error}");
    let port = server.address.port();
    drop(server);
    let gone = Searxng::new(&format!("http://127.0.0.3:{port}"));
    let error = search(gone, json!({ "query": "tea" })).await.unwrap_err();
    assert!(error.starts_with("the search itself failed"), "{error}");
}

// PICO-093
#[tokio::test]
async fn one_to_ten_hits_five_when_nothing_is_said() {
    let rows: Vec<_> =
        (0..12).map(|n| json!({ "url": format!("https://{n}.test/"), "title": n.to_string() })).collect();
    let body = json!({ "results": rows }).to_string();
    let server = Server::start("127.0.0.1", 0, move |_| page("200 OK", "application/json", &body)).await;
    let count = async |arguments| {
        search(Searxng::new(&server.url("")), arguments).await.map(|found| found.text.matches("https://").count())
    };
    assert_eq!(count(json!({ "query": "tea" })).await, Ok(5));
    assert_eq!(count(json!({ "query": "tea", "count": 10 })).await, Ok(10));
    assert_eq!(count(json!({ "query": "tea", "count": 0 })).await, Err("`count` is 1 to 10".to_owned()));
    assert_eq!(count(json!({ "query": "tea", "count": 11 })).await, Err("`count` is 1 to 10".to_owned()));
    assert_eq!(count(json!({ "query": " " })).await, Err("`query` must not be blank".to_owned()));
}
