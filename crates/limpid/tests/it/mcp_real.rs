//! Servers that nobody here wrote, in a chat of the program: one that remembers, one that reads files, and one that drives a
//! browser.

use std::sync::{Arc, Mutex};

use limpid_testkit::{Recorded, Reply, real_mcp_server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::kit::World;

/// The folder of packages with the server that drives a browser, and the browser.
const BROWSER: [&str; 2] = ["LIMPID_TEST_MCP_BROWSER", "LIMPID_TEST_CHROMIUM"];

/// The program with a model that answers by a function, and all requests that it got.
async fn world(answer: impl Fn(&Recorded) -> Value + Send + Sync + 'static) -> (World, Arc<Mutex<Vec<Recorded>>>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&sent);
    let reply = move |request: &Recorded| -> Reply {
        kept.lock().unwrap().push(request.clone());
        serde_json::from_value(answer(request)).unwrap()
    };
    let mut world = World::answering(reply).await;
    world.set("PATH", &std::env::var("PATH").unwrap_or_default());
    world.write("limpid.toml", "[tools]\ndefer = false\n");
    (world, sent)
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// Adds a server, and declares that these of its tools only look.
async fn add(world: &World, name: &str, words: &[String], look: &[&str]) {
    let mut line: Vec<&str> = vec!["mcp", "add", name, "--yes", "--"];
    line.extend(words.iter().map(String::as_str));
    world.done(&line).await;
    let file = world.home.path().join("limpid.toml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    for tool in look {
        text.push_str(&format!("\n[mcp.servers.{name}.tools.{tool}]\neffect = \"look\"\n"));
    }
    std::fs::write(file, text).unwrap();
}

/// Results of tools that a request brings back, in order.
fn results(request: &Recorded) -> Vec<String> {
    let body = request.json();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let tools = messages.into_iter().filter(|message| message["role"] == "tool");
    tools.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

// SUR-034
#[tokio::test]
async fn servers_that_remember_and_read_files_work_in_a_chat() {
    let (Some(memory), Some(files)) = (real_mcp_server("memory"), real_mcp_server("filesystem")) else { return };
    let notes = tempfile::tempdir().unwrap();
    std::fs::write(notes.path().join("tea.txt"), "Ada drinks tea at four.").unwrap();
    let path = notes.path().join("tea.txt").display().to_string();
    let (world, sent) = world(move |request| match results(request).len() {
        0 => call("files__read_text_file", &json!({ "path": path })),
        1 => call(
            "memory__create_entities",
            &json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": ["drinks tea"] }] }),
        ),
        2 => call("memory__read_graph", &json!({})),
        _ => json!({ "text": "Done." }),
    })
    .await;
    let files: Vec<String> = files.into_iter().chain([notes.path().display().to_string()]).collect();
    add(&world, "files", &files, &["read_text_file"]).await;
    let kept = notes.path().join("graph.jsonl").display().to_string();
    let mut line = vec!["mcp", "add", "memory", "--yes", "--env"];
    let variable = format!("MEMORY_FILE_PATH={kept}");
    line.extend([variable.as_str(), "--"]);
    line.extend(memory.iter().map(String::as_str));
    world.done(&line).await;
    let file = world.home.path().join("limpid.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let more = "\n[mcp.servers.memory.tools.create_entities]\neffect = \"remember\"\n[mcp.servers.memory.tools.read_graph]\neffect = \"look\"\n";
    std::fs::write(file, text + more).unwrap();
    world.done(&["chat", "Remember who drinks tea."]).await;
    let last = results(sent.lock().unwrap().last().unwrap());
    assert!(last[0].contains("Ada drinks tea at four."), "{last:?}");
    assert!(last[2].contains("drinks tea") && last[2].contains("[untrusted "), "{last:?}");
    assert!(std::fs::read_to_string(kept).unwrap().contains("Ada"));
}

/// A page with a form; it answers whoever sends the form, and keeps what was sent.
async fn page() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 8192];
            let count = stream.read(&mut head).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..count]).into_owned();
            let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
            kept.lock().unwrap().push(target.clone());
            let body = if target.contains("name=") {
                "<title>Thanks</title><p>Your kettle is on its way.</p>"
            } else {
                "<title>Kettles</title><h1>Kettle K7</h1><form action=/order><label>Name <input name=name></label>\
                 <button>Order</button></form>"
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, asked)
}

/// The name by which the browser knows something of a page: `textbox "Name" [ref=e5]`. A boundary may write the bracket otherwise.
fn reference(snapshot: &str, what: &str) -> Option<String> {
    let line = snapshot.lines().find(|line| line.contains(what))?;
    let rest = line.split("ref=").nth(1)?;
    Some(rest.chars().take_while(char::is_ascii_alphanumeric).collect())
}

// SUR-034
#[tokio::test]
async fn a_browser_reads_a_page_and_fills_its_form_in_a_chat() {
    let [Some(packages), Some(chromium)] = BROWSER.map(|name| std::env::var(name).ok()) else {
        eprintln!("skipped: {BROWSER:?} are not set, so no browser was driven");
        return;
    };
    let (url, asked) = page().await;
    let (world, sent) = world(move |request| {
        let said = results(request);
        let seen = said.iter().rev().find(|text| text.contains("textbox")).cloned().unwrap_or_default();
        match said.len() {
            0 => call("browser__browser_navigate", &json!({ "url": url })),
            1 => call("browser__browser_snapshot", &json!({})),
            2 => {
                let field = reference(&seen, "textbox").unwrap_or_default();
                call(
                    "browser__browser_type",
                    &json!({ "element": "Name", "target": field, "text": "Ada", "submit": true }),
                )
            }
            3 => call("browser__browser_snapshot", &json!({})),
            _ => json!({ "text": "Ordered." }),
        }
    })
    .await;
    let words = [
        "node",
        &format!("{packages}/@playwright/mcp/cli.js"),
        "--headless",
        "--isolated",
        "--no-sandbox",
        "--executable-path",
        &chromium,
    ];
    let words = words.map(str::to_owned);
    add(&world, "browser", &words, &["browser_navigate", "browser_snapshot", "browser_type"]).await;
    world.done(&["chat", "Order a kettle for Ada."]).await;
    let last = results(sent.lock().unwrap().last().unwrap());
    assert!(last[1].contains("Kettle K7") && last[1].contains("[untrusted "), "{last:#?}");
    assert!(asked.lock().unwrap().iter().any(|target| target.contains("/order?name=Ada")), "{last:#?}");
    assert!(last[3].contains("Your kettle is on its way."), "{last:#?}");
}
