//! Connections of whoever comes, most of whom may be strangers: how long they may take, and how many may wait.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use limpid_model::Pause;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use self::phase::{Answer, Asked, Phase, Until};

mod phase;

/// Connections that have shown no token yet.
pub(crate) const UNPROVED: usize = 64;

/// Those of one address, where others can reach the server.
pub(crate) const OF_ONE: usize = 8;

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

/// Answers until `stop` comes, then ends what is being answered. Of one address so many may wait who have shown no token yet.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    pause: Arc<dyn Pause>,
    of_one: usize,
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
                let place = Queue::enter(&queue, from.ip(), of_one);
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
        let (now, mut phases) = watch::channel(Phase::Header);
        let now = Arc::new(now);
        let router = TowerToHyperService::new(router);
        let service = service_fn(|request: Request<Incoming>| {
            let mut request = request.map(|body| Asked::begin(body, &now));
            request.extensions_mut().insert(ConnectInfo(from));
            request.extensions_mut().insert(Proof(Arc::clone(&place)));
            let answered = router.call(request);
            let until = Until(Arc::clone(&now));
            async move {
                let answered: Result<Response<Body>, _> = answered.await;
                answered.map(|response| response.map(|body| Answer::new(body, until)))
            }
        });
        let mut served =
            pin!(http1::Builder::new().max_buf_size(HEADER_BYTES).serve_connection(TokioIo::new(stream), service));
        let mut stops = false;
        loop {
            let phase = *phases.borrow_and_update();
            let late = async {
                match phase.limit() {
                    Some(limit) => pause.pause(limit).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = &mut served => return,
                () = place.closed.notified() => return,
                () = late => return,
                _ = phases.changed() => {}
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
    fn enter(queue: &Arc<Self>, from: IpAddr, of_one: usize) -> Arc<Place> {
        let place = Arc::new(Place { queue: Arc::clone(queue), from: host(from), closed: Notify::new() });
        let mut waiting = queue.lock();
        let is_of_it = |other: &Arc<Place>| other.from == place.from;
        let oldest = if waiting.iter().filter(|other| is_of_it(other)).count() >= of_one {
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
mod tests;
