//! Two hundred requests that are begun and never finished: others are answered, and none of them is kept.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const TOKEN: &str = "a-token-of-thirty-two-characters";

/// A program that serves, until the test ends.
struct Serving {
    program: Child,
    address: SocketAddr,
    _home: TempDir,
}

impl Serving {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = "[inbox]\nsms = true\nlisten = \"127.0.0.1:0\"\n";
        std::fs::write(home.path().join("limpid.toml"), config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_limpid"));
        command.arg("serve").env_clear().env("LIMPID_HOME", home.path()).env("LIMPID_INGEST_TOKEN", TOKEN);
        let mut program = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(program.stderr.take().unwrap()).lines().map_while(Result::ok);
        let at = log.find_map(|line| Some(line.split_once("listening on http://")?.1.trim().to_owned())).unwrap();
        std::thread::spawn(move || log.for_each(drop));
        Self { program, address: at.parse().unwrap(), _home: home }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

async fn sent(address: SocketAddr, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

// SEC-092
#[tokio::test]
async fn requests_that_are_never_finished_are_closed_and_others_are_answered() {
    let serving = Serving::start();
    let address = serving.address;
    let mut unfinished = Vec::new();
    for _ in 0..200 {
        unfinished.push(sent(address, "POST /v1/inbox/sms HTTP/1.1\r\nHost: x\r\n").await);
    }
    let mut health =
        sent(address, &format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")).await;
    let mut said = String::new();
    health.read_to_string(&mut said).await.unwrap();
    assert!(said.starts_with("HTTP/1.1 200 ") && said.ends_with("ok\n"), "{said}");
    // Each is closed by the other side, the last ones when their time is over.
    let all_closed = async {
        for stream in &mut unfinished {
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_closed).await.expect("some are kept");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_request_that_comes_in_pieces_is_taken() {
        let serving = Serving::start();
        let text = r#"{"text": "Hello"}"#;
        let address = serving.address;
        let mut sender = sent(address, &format!("POST /v1/inbox/sms HTTP/1.1\r\nHost: {address}\r\n")).await;
        let rest =
            format!("Authorization: Bearer {TOKEN}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", text.len());
        for piece in [rest.as_str(), &text[..5], &text[5..]] {
            sender.write_all(piece.as_bytes()).await.unwrap();
            tokio::task::yield_now().await;
        }
        let mut said = String::new();
        sender.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("HTTP/1.1 201 "), "{said}");
    }
}
