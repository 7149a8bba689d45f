//! Connections of whoever comes, most of whom may be strangers: how long they may take, and how many may wait.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use limpid_model::Pause;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// How long the whole header of a request may take, from the connection or the answer before.
pub(crate) const HEADER: Duration = Duration::from_secs(10);

/// Connections that have shown no token yet.
const UNPROVED: usize = 64;

/// Those of one address.
const OF_ONE: usize = 8;

/// Bytes of a header at most.
const HEADER_BYTES: usize = 64 * 1024;

/// How long to wait when the system gives no connection, for want of descriptors.
const AGAIN: Duration = Duration::from_secs(1);

/// A connection that was let in. Whoever shows a token on it proves it, and it is closed for nobody else any more.
#[derive(Clone)]
pub(crate) struct Proof(Arc<Place>);

impl Proof {
    pub(crate) fn give(&self) {
        self.0.leave();
    }
}

/// Answers until `stop` comes, then ends what is being answered.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    pause: Arc<dyn Pause>,
    stop: impl Future<Output = ()>,
) {
    let (stopping, stopped) = watch::channel(false);
    let queue = Arc::new(Queue::default());
    let mut open = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
            Some(_) = open.join_next() => continue,
        };
        match accepted {
            Ok((stream, from)) => {
                let place = Queue::enter(&queue, from.ip());
                let connection = Connection { from, place, router: router.clone(), pause: Arc::clone(&pause) };
                open.spawn(connection.answer(stream, stopped.clone()));
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(_) => pause.pause(AGAIN).await,
        }
    }
    drop(listener);
    let _ = stopping.send(true);
    while open.join_next().await.is_some() {}
}

/// Whether only this connection failed, while it was made.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// One connection, until either side ends it.
struct Connection {
    from: SocketAddr,
    place: Arc<Place>,
    router: Router,
    pause: Arc<dyn Pause>,
}

impl Connection {
    async fn answer(self, stream: TcpStream, mut stopped: watch::Receiver<bool>) {
        let Self { from, place, router, pause } = self;
        let _leaves = Leaves(&place);
        // Whether a header is waited for; while a request is answered, whoever answers it keeps the time.
        let (reads_header, mut waits) = watch::channel(true);
        let router = TowerToHyperService::new(router);
        let service = service_fn(|mut request: Request<Incoming>| {
            reads_header.send_replace(false);
            request.extensions_mut().insert(ConnectInfo(from));
            request.extensions_mut().insert(Proof(Arc::clone(&place)));
            let answered = router.call(request);
            let reads_header = &reads_header;
            async move {
                let answered = answered.await;
                reads_header.send_replace(true);
                answered
            }
        });
        let mut served =
            pin!(http1::Builder::new().max_buf_size(HEADER_BYTES).serve_connection(TokioIo::new(stream), service));
        let mut stops = false;
        loop {
            let waiting = *waits.borrow_and_update();
            let late = async {
                match waiting {
                    true => pause.pause(HEADER).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = &mut served => return,
                () = place.closed.notified() => return,
                () = late => return,
                _ = waits.changed() => {}
                Ok(_) = stopped.wait_for(|stopped| *stopped), if !stops => {
                    stops = true;
                    served.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// The connections that have shown no token yet, oldest first.
#[derive(Default)]
struct Queue(Mutex<VecDeque<Arc<Place>>>);

/// A place in the queue.
struct Place {
    queue: Arc<Queue>,
    from: IpAddr,
    closed: Notify,
}

impl Queue {
    /// Takes a place for a new connection. Where too many wait, of its address or in all, the oldest of them is closed.
    fn enter(queue: &Arc<Self>, from: IpAddr) -> Arc<Place> {
        let place = Arc::new(Place { queue: Arc::clone(queue), from: host(from), closed: Notify::new() });
        let mut waiting = queue.lock();
        let is_of_it = |other: &Arc<Place>| other.from == place.from;
        let oldest = if waiting.iter().filter(|other| is_of_it(other)).count() >= OF_ONE {
            waiting.iter().position(is_of_it)
        } else {
            (waiting.len() >= UNPROVED).then_some(0)
        };
        if let Some(oldest) = oldest.and_then(|at| waiting.remove(at)) {
            oldest.closed.notify_one();
        }
        waiting.push_back(Arc::clone(&place));
        drop(waiting);
        place
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Place>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Leaves the queue, when it is still in it.
    fn leave(&self) {
        self.queue.lock().retain(|other| !std::ptr::eq(&**other, self));
    }
}

/// Leaves the queue at the end of a connection.
struct Leaves<'a>(&'a Place);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What counts as one address: whoever has an address of IPv6 has all with the same first half.
fn host(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpSocket;
    use tokio::sync::oneshot;

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
            let router = Router::new().route("/health", get(|| async { "ok" })).route("/proved", get(proved));
            tokio::spawn(serve(listener, router, Arc::clone(&time) as Arc<dyn Pause>, std::future::pending()));
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
    #[test]
    fn an_address_of_ipv6_is_half_of_it() {
        let is_one = |one: &str, other: &str| host(one.parse().unwrap()) == host(other.parse().unwrap());
        assert!(is_one("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"));
        assert!(!is_one("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(is_one("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!is_one("10.0.0.1", "10.0.0.2"));
    }
}
