//! What came over a wire: the status and its reason, headers, redirects, bodies that are not what they say, broken answers.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{CANARY, Caller, everything, told};

/// Every way in which a server can fail, and one in which it answers, with a canary in each field that it chooses.
const WAYS: [(&str, &str); 14] = [
    ("answers", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nCANARY"),
    (
        "answers with hits",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\
         {\"results\":[{\"title\":\"CANARY\",\"url\":\"https://CANARY.test/\",\"content\":\"CANARY\"}]}",
    ),
    (
        "answers with JSON",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"CANARY\":\"CANARY\",\"city\":\"CANARY\"}",
    ),
    (
        "answers with an error of JSON",
        "HTTP/1.1 200 OK\r\n\r\n{\"error\":\"CANARY\",\"unresponsive_engines\":[[\"CANARY\",\"CANARY\"]],\"results\":[]}",
    ),
    ("answers with broken JSON", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"CANARY\":"),
    ("refuses", "HTTP/1.1 503 CANARY\r\nX-CANARY: CANARY\r\nContent-Type: text/plain\r\n\r\nCANARY"),
    ("has an unknown type", "HTTP/1.1 200 CANARY\r\nContent-Type: CANARY/CANARY\r\n\r\nCANARY"),
    ("is binary", "HTTP/1.1 200 OK\r\nContent-Type: application/CANARY\r\n\r\n\0\u{1}CANARY"),
    ("leads to another scheme", "HTTP/1.1 302 CANARY\r\nLocation: ftp://CANARY.test/CANARY\r\n\r\n"),
    ("leads to a forbidden address", "HTTP/1.1 302 CANARY\r\nLocation: http://10.0.0.1/CANARY\r\n\r\n"),
    ("leads to a name and a password", "HTTP/1.1 302 Found\r\nLocation: http://CANARY:CANARY@127.0.0.1/\r\n\r\n"),
    ("leads nowhere", "HTTP/1.1 302 Found\r\nLocation: http://[CANARY\r\n\r\n"),
    ("speaks no HTTP", "CANARY CANARY CANARY\r\n\r\n"),
    ("breaks off", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5000\r\n\r\nCANARY"),
];

/// A server that answers every request in the way that is set.
async fn server() -> (String, Arc<Mutex<&'static str>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let way = Arc::new(Mutex::new(""));
    let answer = Arc::clone(&way);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.read(&mut [0; 8192]).await;
            let answer = answer.lock().unwrap().replace("CANARY", CANARY);
            let _ = client.write_all(answer.as_bytes()).await;
        }
    });
    (url, way)
}

// SEC-051
#[tokio::test]
async fn whatever_a_server_says_is_read_in_a_boundary() {
    let (url, way) = server().await;
    let caller = Caller::new(&everything(&url)).await;
    let agent = caller.bench.agent();
    let tools = [
        ("web_fetch", json!({ "url": format!("{url}/page") })),
        ("web_search", json!({ "query": "tea" })),
        ("get_location_from_ip", json!({})),
        ("send_sms", json!({ "to": "+491701234", "text": "hi" })),
    ];
    let mut rows = Vec::new();
    for (tool, arguments) in &tools {
        for (name, answer) in WAYS {
            *way.lock().unwrap() = answer;
            rows.push((format!("{tool}, which {name}"), caller.shows(&agent, tool, arguments.clone()).await));
        }
    }
    insta::assert_snapshot!(told(&rows));
}
