//! A connection to a server of the test's own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use limpid_mcp::{Address, Change, Changed, Connection, How, McpError, Program, Revision, Server};
use limpid_testkit::McpScript;
use serde_json::{Value, json};

/// How a test connects: with time enough for a busy machine.
pub(crate) fn how() -> How {
    How { helper: None, revision: None, time: Duration::from_secs(60), changed: Changed::default(), login: None }
}

/// A program that is started by these words.
pub(crate) fn program(words: &[String], folder: &Path) -> Server {
    let variables = ["PATH", "HOME"].map(|name| (name.to_owned(), std::env::var(name).unwrap_or_default()));
    let (command, arguments) = (words[0].clone(), words[1..].to_vec());
    Server::Program(Program { command, arguments, variables: variables.into(), folder: folder.to_owned() })
}

/// A tool as a server lists it.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("about {name}"), "inputSchema": { "type": "object" } })
}

async fn connected(
    offers: &Value,
    way: &str,
    how: &How,
) -> (tempfile::TempDir, McpScript, Result<Connection, McpError>) {
    let folder = tempfile::tempdir().unwrap();
    let script = McpScript::write(folder.path(), offers).unwrap();
    let connection = Connection::open(&program(&script.words(way), folder.path()), how).await;
    (folder, script, connection)
}

// SUR-034
#[tokio::test]
async fn both_revisions_of_the_protocol_are_spoken() {
    let offers = json!({
        "tools": [tool("echo")], "prompts": { "plan": "Plan it." }, "resources": { "memo:1": "Tea." },
    });
    let (old, new) = (Revision::Handshake, Revision::Discovery);
    for (way, revision) in [("", old), ("modern", new), ("mute", old), ("late", new)] {
        let (_folder, _script, connection) = connected(&offers, way, &how()).await;
        let connection = connection.unwrap();
        assert_eq!(connection.revision(), revision, "{way}");
        let tools = connection.tools().await.unwrap();
        assert_eq!(
            (tools.items[0].name.as_str(), tools.items[0].description.as_str()),
            ("echo", "about echo"),
            "{way}"
        );
        let arguments = json!({ "a": 1 }).as_object().unwrap().clone();
        let answer = connection.call("echo", arguments, None).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.failed), ("echo {\"a\": 1}", false), "{way}");
        assert_eq!(connection.prompts().await.unwrap().items[0].name, "plan", "{way}");
        assert_eq!(connection.prompt("plan").await.unwrap(), "Plan it.", "{way}");
        assert_eq!(connection.resources().await.unwrap().items[0].uri, "memo:1", "{way}");
        assert_eq!(connection.resource("memo:1").await.unwrap(), "memo:1:\nTea.", "{way}");
        // One that is late has to begin twice; in a new folder it would be late again.
        if way == "late" {
            continue;
        }
        // What was remembered is not asked again: a server that is silent on the question costs two seconds once.
        let (_folder, _script, again) = connected(&offers, way, &How { revision: Some(revision), ..how() }).await;
        assert_eq!(again.unwrap().revision(), revision, "{way}");
    }
}

// SUR-034
#[tokio::test]
async fn a_server_tells_that_its_lists_have_changed() {
    let (told, heard) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (count_tools, count_prompts) = (Arc::clone(&told), Arc::clone(&heard));
    let changed = Changed::new(move |change| {
        let count = if change == Change::Tools { &count_tools } else { &count_prompts };
        count.fetch_add(1, Ordering::SeqCst);
    });
    let (_folder, script, connection) =
        connected(&json!({ "tools": [tool("change")] }), "", &How { changed, ..how() }).await;
    let connection = connection.unwrap();
    script.offer(&json!({ "tools": [tool("change"), tool("new")] })).unwrap();
    connection.call("change", serde_json::Map::new(), None).await.unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while told.load(Ordering::SeqCst) == 0 || heard.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < until, "nobody was told");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(connection.tools().await.unwrap().items.len(), 2);
}

// SEC-042
#[tokio::test]
async fn a_server_that_cannot_be_used_says_why() {
    let nothing = json!({});
    let (_folder, _script, dead) = connected(&nothing, "dies", &how()).await;
    assert_eq!(dead.err().unwrap(), McpError::Gone("No such thing.\n".to_owned()));
    let short = How { time: Duration::from_millis(300), revision: Some(Revision::Handshake), ..how() };
    let (folder, _script, silent) = connected(&nothing, "silent", &short).await;
    assert_eq!(silent.err().unwrap(), McpError::Silent(short.time));
    let missing = Connection::open(&program(&["no-such-program".to_owned()], folder.path()), &how()).await;
    let told = missing.err().unwrap().sentence("desk");
    assert!(told.text().starts_with("the MCP server `desk` cannot be started or reached: no-such-program"), "{told:?}");
}

// SUR-034
#[tokio::test]
async fn a_server_is_spoken_to_over_http_with_the_headers_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let script = McpScript::write(folder.path(), &json!({ "tools": [tool("echo")] })).unwrap();
    let words = script.words("http");
    let mut server = tokio::process::Command::new(&words[0])
        .args(&words[1..])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = tokio::io::BufReader::new(server.stdout.take().unwrap());
    let mut port = String::new();
    tokio::io::AsyncBufReadExt::read_line(&mut lines, &mut port).await.unwrap();
    let at = |headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Server::Address(Address { url: format!("http://127.0.0.1:{}/mcp", port.trim()), headers })
    };
    let connection = Connection::open(&at(&[("authorization", "Bearer secret")]), &how()).await.unwrap();
    assert_eq!(connection.revision(), Revision::Handshake);
    assert_eq!(connection.tools().await.unwrap().items[0].name, "echo");
    assert_eq!(connection.call("echo", serde_json::Map::new(), None).await.unwrap().text, "echo {}");
    let refused = Connection::open(&at(&[]), &how()).await.err().unwrap();
    assert!(matches!(refused, McpError::NoConnection(_) | McpError::NeedsLogin), "{refused:?}");
    let wrong = Connection::open(&at(&[("a b", "c")]), &how()).await.err().unwrap();
    assert!(matches!(wrong, McpError::Unreachable(_)), "{wrong:?}");
}
