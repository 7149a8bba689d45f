//! Embeddings over real sockets, from servers that behave and servers that do not.

use limpid_core::FailureClass;
use limpid_core::recall::Embedding;
use limpid_model::{Embedder, Settings, resolve_embedder};
use limpid_testkit::{Recorder, Reply, Script};
use std::sync::Arc;

async fn record(script: &str) -> Recorder {
    Recorder::start(Script::parse(script).unwrap()).await.unwrap()
}

/// A provider's embedder behind this server; `path` ends its base URL.
fn embedder(recorder: &Recorder, provider: &str, path: &str) -> Arc<dyn Embedder> {
    let base_urls = [(provider.to_owned(), format!("{}{path}", recorder.url()))].into();
    resolve_embedder(&format!("{provider}/small"), &Settings { base_urls, ..Settings::default() }).unwrap()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

// KOSHI-029
#[tokio::test]
async fn every_server_is_asked_in_openais_form_at_its_own_address() {
    let recorder = record("alike = [[\"sister\", \"family\"]]\n").await;
    for (provider, path) in [("openai", "/v1"), ("ollama", ""), ("house", "/v1/")] {
        let embedder = embedder(&recorder, provider, path);
        assert_eq!(embedder.name(), format!("{provider}/small"));
        let seen = embedder.embed(texts(&["my sister", "my family", "tap", ""])).await.unwrap();
        let cosine = |a: usize, b: usize| seen[a].as_ref().unwrap().cosine(seen[b].as_ref().unwrap());
        assert!(cosine(0, 1) > 0.99 && cosine(0, 2) < 0.01);
        assert_eq!(seen[3], None, "a text without a word has no direction");
    }
    for request in recorder.requests() {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/embeddings"));
        let body = serde_json::json!({ "model": "small", "input": ["my sister", "my family", "tap", ""] });
        assert_eq!(request.json(), body);
    }
}

// KOSHI-029
#[tokio::test]
async fn what_goes_wrong_has_its_class_and_says_what_to_do() {
    let answers = [
        ("status = 400\nbody = '{\"error\":{\"message\":\"input is too long\"}}'", FailureClass::Overflow),
        ("status = 503\nbody = \"loading\"", FailureClass::Server),
    ];
    for (answer, class) in answers {
        let recorder = record(&format!("[[reply]]\n{answer}\n")).await;
        let error = embedder(&recorder, "openai", "/v1").embed(texts(&["tea"])).await.unwrap_err();
        assert_eq!(error.class, class, "{error:?}");
        assert!(error.message.starts_with("openai/small answered "), "{}", error.message);
    }
    let gone = record("alike = [[\"tea\"]]\n").await;
    let nobody = embedder(&gone, "openai", "/v1");
    drop(gone);
    let error = nobody.embed(texts(&["tea"])).await.unwrap_err();
    assert_eq!(error.class, FailureClass::Transport, "{error:?}");
}

// KOSHI-029
#[tokio::test]
async fn answers_are_put_in_the_order_of_their_texts_or_are_no_answer() {
    let row = |index: &str, embedding: &str| format!("{{{index}\"embedding\":{embedding}}}");
    let (east, north) = ("[1,0]", "[0,1]");
    let cases = [
        (vec![row("\"index\":1,", north), row("\"index\":0,", east)], true),
        (vec![row("", east), row("", north)], true),
        (vec![row("\"index\":0,", east)], false),
        (vec![row("", "\"base64\""), row("", east)], false),
    ];
    for (rows, is_answer) in cases {
        let raw = format!("{{\"data\":[{}]}}", rows.join(","));
        let body = raw.clone();
        let recorder =
            Recorder::answering(move |_| Reply { raw: Some(body.clone()), ..Reply::default() }).await.unwrap();
        let seen = embedder(&recorder, "openai", "/v1").embed(texts(&["east", "north"])).await;
        if is_answer {
            let expected = [[1.0, 0.0], [0.0, 1.0]].map(|numbers| Embedding::new(&numbers));
            assert_eq!(seen.unwrap(), expected, "{raw}");
        } else {
            assert_eq!(seen.unwrap_err().class, FailureClass::Garbage, "{raw}");
        }
    }
}
