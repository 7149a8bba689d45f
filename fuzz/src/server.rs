//! What other machines send to the server.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use limpid_model::RealPause;
use limpid_runtime::{Agent, AgentOptions, Config, Environment, Home};
use limpid_server::Server;
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;

const TOKEN: &str = "a-token-of-thirty-two-characters";

const CONFIG: &str = "[inbox]\nlisten = \"127.0.0.1:0\"\nsms = true\nnotifications = true\nmail = true\n";

/// What may be handed in, by the path.
const KINDS: [&str; 4] = ["sms", "notification", "mail", "custom"];

/// A server that answers as long as the process lives.
struct Open {
    address: SocketAddr,
    runtime: Runtime,
    _home: TempDir,
}

static OPEN: LazyLock<Open> = LazyLock::new(|| {
    let home = tempfile::tempdir().expect("a folder");
    let runtime = Runtime::new().expect("a runtime");
    let server = runtime.block_on(async {
        let agent = Agent::open(AgentOptions {
            config: Config::parse(CONFIG, "limpid.toml").expect("the settings are right"),
            environment: Environment::new([("LIMPID_INGEST_TOKEN".to_owned(), TOKEN.to_owned())]),
            ..AgentOptions::new(Home::new(home.path()))
        });
        Server::bind(&agent.expect("an agent"), Arc::new(RealPause))
            .await
            .expect("an address")
            .expect("sources are open")
    });
    let address = server.address();
    runtime.spawn(server.run(std::future::pending()));
    Open { address, runtime, _home: home }
});

/// What somebody sends: with the token, as the body of something that is handed in; or raw, as anybody may. The server answers
/// what it can, and goes on answering.
pub(crate) fn http(bytes: &[u8]) {
    let Some((how, rest)) = bytes.split_first() else { return };
    match KINDS.get(usize::from(*how) % (2 * KINDS.len())) {
        Some(kind) => {
            // Under one key, so that the store does not fill.
            let head = format!(
                "POST /v1/inbox/{kind} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nIdempotency-Key: {kind}\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n",
                OPEN.address,
                rest.len()
            );
            let Some(answer) = answer(&[head.as_bytes(), rest].concat(), false) else { return };
            let status = answer.split(' ').nth(1).unwrap_or_default();
            assert!(["200", "201", "413", "422"].contains(&status), "{answer:?}");
        }
        None => {
            answer(rest, true);
            let health = format!("GET /health HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", OPEN.address);
            let Some(healthy) = answer(health.as_bytes(), false) else { return };
            assert!(healthy.ends_with("ok\n"), "{healthy:?}");
        }
    }
}

/// A connection to the server. One who leaves comes from an address of their own: wrong tokens shut the door to it for a while.
fn connect(leaves: bool) -> io::Result<TcpStream> {
    if !(leaves && cfg!(target_os = "linux")) {
        return TcpStream::connect(OPEN.address);
    }
    let stream = OPEN.runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::new(127, 0, 0, 2), 0).into())?;
        socket.connect(OPEN.address).await
    })?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// What the server answers to some bytes until it closes; to one who `leaves`, perhaps nothing. None: the machine had no
/// address left for another connection.
fn answer(bytes: &[u8], leaves: bool) -> Option<String> {
    let mut stream = match connect(leaves) {
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => return None,
        stream => stream.expect("the server listens"),
    };
    stream.set_read_timeout(Some(Duration::from_secs(9))).expect("a socket has a timeout");
    // It may have heard enough before everything was sent.
    let _ = stream.write_all(bytes);
    if leaves {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Some(String::from_utf8_lossy(&answer).into_owned())
}
