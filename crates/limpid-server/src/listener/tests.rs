use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

use super::phase::{BODY, HEADER};
use super::*;

const BEGUN: &[u8] = b"GET /health HTTP/1.1\r\nHost: x\r\n";

/// Time that passes when the test says so.
#[derive(Default)]
struct Held {
    now: Mutex<Duration>,
    waiting: Mutex<Vec<(Duration, oneshot::Sender<()>)>>,
    asked: AtomicUsize,
}

impl Pause for Held {
    fn pause(&self, time: Duration) -> futures_util::future::BoxFuture<'static, ()> {
        let (end, ended) = oneshot::channel();
        self.waiting.lock().unwrap().push((*self.now.lock().unwrap() + time, end));
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { drop(ended.await) })
    }
}

impl Held {
    fn pass(&self, time: Duration) {
        let mut now = self.now.lock().unwrap();
        *now += time;
        let mut waiting = self.waiting.lock().unwrap();
        let due = waiting.extract_if(.., |(due, _)| *due <= *now).collect::<Vec<_>>();
        for (_, end) in due {
            let _ = end.send(());
        }
    }

    /// Waits until so many waits have begun.
    async fn begun(&self, count: usize) {
        while self.asked.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }
}

struct Bench {
    address: SocketAddr,
    time: Arc<Held>,
}

impl Bench {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, time) = (listener.local_addr().unwrap(), Arc::new(Held::default()));
        let proved = |proof: axum::Extension<Proof>| async move {
            proof.give();
            "proved"
        };
        let form = |body: Bytes| async move { format!("{} bytes", body.len()) };
        let router = Router::new()
            .route("/health", get(|| async { "ok" }))
            .route("/proved", get(proved))
            .route("/form", post(form));
        tokio::spawn(serve(listener, router, Arc::clone(&time) as Arc<dyn Pause>, OF_ONE, std::future::pending()));
        Self { address, time }
    }

    async fn from(&self, host: [u8; 4], bytes: &[u8]) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((host, 0).into()).unwrap();
        let mut stream = socket.connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }
}

/// The answer to the end of the request that was begun; none when the connection is closed.
async fn finished(stream: &mut TcpStream) -> Option<String> {
    let _ = stream.write_all(b"\r\n").await;
    let mut answer = [0; 1024];
    let read = stream.read(&mut answer).await.ok().filter(|read| *read > 0)?;
    Some(String::from_utf8_lossy(&answer[..read]).into_owned())
}

// SEC-092
#[tokio::test]
async fn of_one_address_eight_wait_and_of_all_sixty_four() {
    let bench = Bench::new().await;
    let mut one = Vec::new();
    for _ in 0..12 {
        one.push(bench.from([127, 0, 0, 1], BEGUN).await);
    }
    bench.time.begun(12).await;
    for (at, stream) in one.iter_mut().enumerate().take(4) {
        assert_eq!(finished(stream).await, None, "{at}");
    }
    let mut others = Vec::new();
    for host in 2..=15 {
        for _ in 0..4 {
            others.push(bench.from([127, 0, 0, host], BEGUN).await);
        }
    }
    bench.time.begun(12 + 56).await;
    others.push(bench.from([127, 0, 0, 99], BEGUN).await);
    bench.time.begun(12 + 57).await;
    assert_eq!(finished(&mut one[4]).await, None, "the oldest of all");
    for stream in one.iter_mut().skip(5).chain(&mut others) {
        assert!(finished(stream).await.is_some_and(|answer| answer.ends_with("ok")));
    }
}

// SEC-092
#[tokio::test]
async fn a_header_has_ten_seconds_and_whoever_was_proved_is_closed_for_nobody() {
    let bench = Bench::new().await;
    let mut proved = bench.from([127, 0, 0, 1], b"GET /proved HTTP/1.1\r\nHost: x\r\n").await;
    assert!(finished(&mut proved).await.is_some_and(|answer| answer.ends_with("proved")));
    bench.time.begun(2).await;
    bench.time.pass(HEADER / 2);
    let mut flood = Vec::new();
    for _ in 0..200 {
        flood.push(bench.from([127, 0, 0, 1], BEGUN).await);
    }
    bench.time.begun(202).await;
    let mut health = bench.from([127, 0, 0, 1], BEGUN).await;
    assert!(finished(&mut health).await.is_some_and(|answer| answer.ends_with("ok")));
    proved.write_all(BEGUN).await.unwrap();
    assert!(finished(&mut proved).await.is_some_and(|answer| answer.ends_with("ok")), "on the connection it had");
    bench.time.begun(205).await;
    bench.time.pass(HEADER);
    for stream in flood.iter_mut().chain([&mut proved, &mut health]) {
        assert_eq!(finished(stream).await, None);
    }
}

// SEC-092
#[tokio::test]
async fn a_body_has_thirty_seconds() {
    const FORM: &[u8] = b"POST /form HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab";
    let bench = Bench::new().await;
    let (mut slow, mut late) = (bench.from([127, 0, 0, 1], FORM).await, bench.from([127, 0, 0, 1], FORM).await);
    // A wait for the header of each, and one for its body.
    bench.time.begun(4).await;
    bench.time.pass(BODY - Duration::from_secs(1));
    assert!(finished(&mut slow).await.is_some_and(|answer| answer.ends_with("4 bytes")), "its last bytes came in time");
    bench.time.pass(Duration::from_secs(1));
    assert_eq!(finished(&mut late).await, None);
}

// SEC-092
#[test]
fn an_address_of_ipv6_is_half_of_it() {
    let is_one = |one: &str, other: &str| host(one.parse().unwrap()) == host(other.parse().unwrap());
    assert!(is_one("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
    assert!(!is_one("2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert!(is_one("::ffff:10.0.0.1", "10.0.0.1"));
    assert!(!is_one("10.0.0.1", "10.0.0.2"));
}
