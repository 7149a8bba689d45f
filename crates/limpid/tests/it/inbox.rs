//! What other machines hand in, through the program as a person runs it.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::kit::World;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

/// A program that serves, and where it takes things in.
struct Serving {
    program: Child,
    address: String,
}

impl Serving {
    async fn start(world: &World) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_limpid"))
            .arg("serve")
            .env_clear()
            .env("LIMPID_HOME", world.home.path())
            .env("TZ", "UTC")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(program.stderr.take().unwrap()).lines();
        let address = tokio::time::timeout(Duration::from_secs(20), async {
            loop {
                let line = lines.next_line().await.unwrap().expect("it says where it listens");
                if let Some((_, address)) = line.split_once("inbox: listening on http://") {
                    return address.trim().to_owned();
                }
            }
        });
        let address = address.await.unwrap();
        // What it says later is read so that it never waits for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { program, address }
    }

    /// The status line and the body of the answer.
    async fn post(&self, kind: &str, token: &str, object: &serde_json::Value) -> (String, String) {
        let body = object.to_string();
        let request = format!(
            "POST /v1/inbox/{kind} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.trim().to_owned())
    }
}

// SUR-032 KAI-094 LES-145
#[tokio::test]
async fn what_a_phone_hands_in_is_listed_shown_and_put_aside() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    world.write("limpid.toml", "[inbox]\nsms = true\nlisten = \"127.0.0.1:0\"\n");
    let token = world.run(&["inbox", "token"]).await.out.trim().to_owned();
    assert_eq!(token.len(), 64);
    let again = world.run(&["inbox", "token"]).await;
    assert!(again.code != 0 && again.err.contains("--new"), "{again:?}");

    let mut serving = Serving::start(&world).await;
    let sms = json!({"from": "+49 151", "text": "Your parcel waits", "at": "2026-04-11T09:00:00Z", "key": "m1"});
    let (status, said) = serving.post("sms", &token, &sms).await;
    assert_eq!((status.as_str(), said.as_str()), ("HTTP/1.1 201 Created", r#"{"id":1,"stored":true}"#));
    assert!(serving.post("sms", "a-token-that-is-wrong", &sms).await.0.ends_with("401 Unauthorized"));
    assert!(serving.post("notification", &token, &sms).await.0.ends_with("403 Forbidden"));
    serving.program.kill().await.unwrap();
    let serving = Serving::start(&world).await;
    assert_eq!(serving.post("sms", &token, &sms).await.1, r#"{"id":1,"stored":false}"#);

    let list = world.run(&["inbox", "list"]).await;
    assert!(list.out.contains("2026-04-11 09:00") && list.out.contains("Your parcel waits"), "{list:?}");
    assert!(world.run(&["inbox", "show", "1"]).await.out.contains("from +49 151"));
    assert!(world.run(&["inbox", "done", "1"]).await.err.contains("1 of 1"));
    assert!(world.run(&["inbox", "list"]).await.err.contains("Nothing new."));
    assert!(world.run(&["inbox", "list", "--all", "--json"]).await.out.contains("\"text\": \"Your parcel waits\""));
}

// SEC-093
#[tokio::test]
async fn a_flood_over_http_lets_the_owners_turn_begin_and_end() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    world.write("limpid.toml", "model = \"openai/scripted\"\n[inbox]\nsms = true\nlisten = \"127.0.0.1:0\"\n");
    let token = world.run(&["inbox", "token"]).await.out.trim().to_owned();
    let serving = Arc::new(Serving::start(&world).await);
    let kept = Arc::new(AtomicUsize::new(0));
    let mut flood = JoinSet::new();
    for sender in 0..64 {
        let (serving, token, kept) = (Arc::clone(&serving), token.clone(), Arc::clone(&kept));
        flood.spawn(async move {
            for number in 0.. {
                let sms =
                    json!({"from": "Eve", "text": "Read this now. ".repeat(100), "key": format!("{sender}/{number}")});
                let (status, said) = serving.post("sms", &token, &sms).await;
                assert!(status.ends_with("201 Created"), "{status} {said}");
                kept.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    while kept.load(Ordering::SeqCst) < 100 {
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    let run = world.run(&["chat", "hi"]).await;
    let took = begun.elapsed();
    assert_eq!((run.code, run.out.trim()), (0, "Hello."), "{}", run.err);
    assert!(took < Duration::from_secs(2), "a turn took {} ms during the flood", took.as_millis());
    flood.abort_all();
}

// SEC-003
#[tokio::test]
async fn what_a_stranger_wrote_does_not_steer_the_terminal() {
    let world = World::new("[[reply]]\ntext = \"Hello.\"\n").await;
    world.write("limpid.toml", "[inbox]\nnotifications = true\n");
    let added =
        world.run(&["inbox", "add", "custom", "\u{1b}[2J\u{202e}Gone\nand on", "--title", "\u{1b}]0;x\u{7}T"]).await;
    assert_eq!(added.err.trim(), "Item 1 is kept.");
    for words in [["inbox", "list"].as_slice(), &["inbox", "show", "1"]] {
        let shown = world.run(words).await.out;
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']) && shown.contains("]0;xT"), "{shown:?}");
    }
    assert!(world.run(&["inbox", "show", "1"]).await.out.ends_with("│ [2JGone\n│ and on\n"));
}
