//! The server over real sockets.
#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test")]

use limpid_testkit::{Recorder, Script, Wire};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn start(script: &str) -> Recorder {
    Recorder::start(Script::parse(script).unwrap()).await.unwrap()
}

/// Sends one request and reads until the server closes.
async fn post(recorder: &Recorder, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(recorder.address()).await.unwrap();
    let size = body.len();
    let request = format!("POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {size}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

const WHOLE: &str = r#"
[[reply]]
reasoning = "Hm."
text = ["Good ", "day"]
calls = [{ name = "clock", arguments = { zone = "UTC" } }]
usage = { input = 12, cached = 4, output = 7 }
"#;

#[test]
fn one_reply_is_spoken_in_five_protocols() {
    let reply = &Script::parse(WHOLE).unwrap().reply[0];
    let spoken: Vec<String> =
        Wire::ALL.iter().map(|wire| format!("== {}\n{}", wire.name(), wire.body(reply, "m"))).collect();
    insta::assert_snapshot!(spoken.join("\n"));
}

#[tokio::test]
async fn the_request_is_kept_byte_for_byte() {
    let recorder = start(WHOLE).await;
    let body = "{\"model\" : \"m\",  \"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9\"}]}";
    let answer = post(&recorder, "/v1/chat/completions", body).await;
    assert!(answer.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{answer}");
    let [request] = &recorder.requests()[..] else { panic!("one request") };
    assert_eq!(request.body, body.as_bytes());
    assert_eq!(request.user(), "hé");
}

#[tokio::test]
async fn an_error_has_its_status_and_its_wish_to_wait() {
    let recorder = start("[[reply]]\nstatus = 429\nbody = \"{}\"\nretry_after = 3").await;
    let answer = post(&recorder, "/v1/messages", "{}").await;
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert!(answer.contains("\r\nretry-after: 3\r\n"), "{answer}");
}

#[tokio::test]
async fn a_cut_stream_ends_at_that_byte_without_an_end() {
    let recorder = start("[[reply]]\ntext = \"hello\"\ncut = 10\npiece = 4").await;
    let answer = post(&recorder, "/api/chat", "{}").await;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "4\r\n{\"mo\r\n4\r\ndel\"\r\n2\r\n:\"\r\n");
}

#[tokio::test]
async fn models_are_listed_where_clients_look() {
    let recorder = start("models = [\"a\"]\n[[reply]]\ntext = \"x\"").await;
    assert!(post(&recorder, "/v1/models", "").await.contains(r#""data":[{"id":"a","object":"model"}]"#));
    assert!(post(&recorder, "/api/tags", "").await.contains(r#""models":[{"name":"a","model":"a"}]"#));
    assert!(recorder.calls().is_empty());
}
