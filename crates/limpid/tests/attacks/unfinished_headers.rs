//! Two hundred requests that are begun and never finished: others are answered, and none of them is kept.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Ends the program with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
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
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("limpid.toml"), "[inbox]\nsms = true\nlisten = \"127.0.0.1:0\"\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_limpid"));
    command.arg("serve").env_clear().env("LIMPID_HOME", home.path()).env("LIMPID_INGEST_TOKEN", "t".repeat(32));
    let mut serving = Serving(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut log = BufReader::new(serving.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let at = log.find_map(|line| Some(line.split_once("listening on http://")?.1.trim().to_owned())).unwrap();
    let address: SocketAddr = at.parse().unwrap();
    std::thread::spawn(move || log.for_each(drop));
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
