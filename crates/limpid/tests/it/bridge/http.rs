//! The same tools over HTTP, to whoever has the token.

use std::time::Duration;

use limpid_testkit::{mcp_proxy, real_mcp_client};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::silent;
use crate::kit::World;

/// The program as a server over HTTP, and its port.
pub(crate) async fn over_http(world: &World, more: &[&str]) -> (Child, u16) {
    let words = [&["mcp", "serve", "--http", "127.0.0.1:0"], more].concat();
    let mut child = world.start(&words);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = said.next_line().await.unwrap().unwrap();
    let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
    tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
    (child, port)
}

/// Sends one request as it stands; returns status and body.
async fn request(port: u16, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let mut text = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{text}\r\n").as_bytes()).await.unwrap();
    // A server that refuses may not read it to its end.
    let _ = stream.write_all(body.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}")).parse().unwrap();
    (status, answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned()))
}

// SUR-033 SEC-030
#[tokio::test]
pub(crate) async fn over_http_only_whoever_has_the_token_and_comes_from_here_is_answered() {
    let world = silent().await;
    let (mut child, port) = over_http(&world, &[]).await;
    let token = std::fs::read_to_string(world.home.path().join("data/mcp.token")).unwrap();
    assert!(token.trim().len() >= 32);
    let bearer = format!("Bearer {}", token.trim());
    let here = format!("127.0.0.1:{port}");
    let kind = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    } })
    .to_string();
    let with = |host: &'static str, more: &[(&'static str, &'static str)]| {
        let host = if host.is_empty() { here.clone() } else { host.to_owned() };
        let mut headers: Vec<(String, String)> = vec![("Host".to_owned(), host)];
        headers.extend(kind.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        headers
    };
    let ask = async |headers: Vec<(String, String)>, body: &str| {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        request(port, "POST", &headers, body).await
    };
    let token = |mut headers: Vec<(String, String)>| {
        headers.push(("Authorization".to_owned(), bearer.clone()));
        headers
    };
    let (status, body) = ask(token(with("", &[])), &hello).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"name\":\"Limpid\""), "{body}");
    assert_eq!(ask(with("", &[]), &hello).await.0, 401);
    assert_eq!(ask(with("", &[("Authorization", "Bearer 0123456789abcdef0123456789abcdef")]), &hello).await.0, 401);
    // Whoever guesses too often waits; the right token opens all the same.
    for _ in 0..12 {
        ask(with("", &[("Authorization", "Bearer 0123456789abcdef0123456789abcdef")]), &hello).await;
    }
    assert_eq!(ask(with("", &[("Authorization", "Bearer 0123456789abcdef0123456789abcdef")]), &hello).await.0, 429);
    assert_eq!(ask(token(with("", &[])), &hello).await.0, 200);
    // A page of a stranger's, whose name leads here, or which asks for this address.
    assert_eq!(ask(token(with("evil.example", &[])), &hello).await.0, 421);
    assert_eq!(ask(token(with("", &[("Origin", "https://evil.example")])), &hello).await.0, 421);
    assert_eq!(ask(token(with("", &[("Origin", "null")])), &hello).await.0, 421);
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(5 * 1024 * 1024));
    assert_eq!(ask(token(with("", &[])), &large).await.0, 413);
    assert!((400..500).contains(&ask(token(with("", &[])), "this is not JSON").await.0));
    // A token that the owner took away opens nothing from the next request on.
    std::fs::remove_file(world.home.path().join("data/mcp.token")).unwrap();
    assert_eq!(ask(token(with("", &[])), &hello).await.0, 429, "it is like any other wrong one");
    child.kill().await.unwrap();
    let run = world.run(&["mcp", "serve", "--http", "0.0.0.0:0"]).await;
    assert!(run.code != 0 && run.err.contains("--public"), "{run:?}");
}

// SUR-033
#[tokio::test]
async fn the_protocols_own_client_uses_it_over_http_and_the_end_is_an_end() {
    for (mode, revision) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let world = silent().await;
        let (mut child, port) = over_http(&world, &[]).await;
        let proxy = mcp_proxy(world.home.path(), port, &world.home.path().join("data/mcp.token")).unwrap();
        let mut proxy = Command::new(&proxy[0])
            .args(&proxy[1..])
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(proxy.stdout.take().unwrap()).lines();
        let url = format!("http://127.0.0.1:{}/mcp", said.next_line().await.unwrap().unwrap());
        let steps = json!([
            { "list": "tools" },
            { "call": "memory_store", "with": { "key": "tea", "content": "Ada drinks tea at four." } },
            { "call": "memory_query", "with": { "query": "tea" } },
            { "call": "create_goal", "with": { "description": "Ship it" } },
        ]);
        let Some(words) = real_mcp_client(world.home.path(), mode, &steps, &[&url]).unwrap() else { return };
        let ran = Command::new(&words[0]).args(&words[1..]).output().await.unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let lines = String::from_utf8(ran.stdout).unwrap();
        let said: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(said[0]["revision"], revision);
        assert!(said[1]["tools"].as_array().unwrap().len() > 15);
        assert!(said[3]["content"][0]["text"].as_str().unwrap().contains("Ada drinks tea at four."));
        assert!(said[4]["content"][0]["text"].as_str().unwrap().contains("kept as draft 1"));
        let id = child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
        let ended = tokio::time::timeout(Duration::from_secs(20), child.wait()).await.unwrap().unwrap();
        assert!(ended.success(), "{ended}");
    }
}
