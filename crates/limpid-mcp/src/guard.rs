//! What stands between a connection and whatever comes over it: a limit on messages that nobody asked for, and an end to the
//! question which revision of the protocol a server speaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::model::{ServerJsonRpcMessage, ServerNotification, ServerRequest};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::time::{Instant, sleep_until};

/// How long a server may take to say that it speaks the newer revision. One of an older revision may say nothing at all.
pub(crate) const PROBE: Duration = Duration::from_secs(2);

/// Messages that a server may send unasked between two questions of ours; one that sends more is let go.
const UNASKED: u32 = 10_000;

/// A transport with these limits.
pub(crate) struct Guarded<T> {
    inner: T,
    /// Whether the first question is given up when there is no answer to it soon.
    probes: bool,
    probe: Option<Probe>,
    unasked: Arc<AtomicU32>,
}

/// The question that is open, and when it ends.
struct Probe {
    id: RequestId,
    until: Instant,
    is_over: bool,
}

impl<T> Guarded<T> {
    pub(crate) fn new(inner: T, probes: bool) -> Self {
        Self { inner, probes, probe: None, unasked: Arc::default() }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Guarded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            self.unasked.store(0, Ordering::Relaxed);
            if self.probes && matches!(request.request, ClientRequest::DiscoverRequest(_)) {
                self.probe = Some(Probe { id: request.id.clone(), until: Instant::now() + PROBE, is_over: false });
            }
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let until = self.probe.as_ref().filter(|probe| !probe.is_over).map(|probe| probe.until);
            let message = tokio::select! {
                message = self.inner.receive() => message?,
                () = async { sleep_until(until.unwrap_or_else(Instant::now)).await }, if until.is_some() => {
                    let probe = self.probe.as_mut()?;
                    probe.is_over = true;
                    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer", None);
                    return Some(ServerJsonRpcMessage::error(error, Some(probe.id.clone())));
                }
            };
            match &message {
                JsonRpcMessage::Response(response) if self.is_probe(&response.id) => {
                    if !self.end_probe() {
                        continue;
                    }
                }
                JsonRpcMessage::Error(error) if error.id.as_ref().is_some_and(|id| self.is_probe(id)) => {
                    if !self.end_probe() {
                        continue;
                    }
                }
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                    if self.unasked.fetch_add(1, Ordering::Relaxed) >= UNASKED {
                        return None;
                    }
                    if !is_heard(&message) {
                        continue;
                    }
                }
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

impl<T> Guarded<T> {
    fn is_probe(&self, id: &RequestId) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.id == *id)
    }

    /// Ends the question. Returns whether it was still open: an answer that comes too late is none.
    fn end_probe(&mut self) -> bool {
        self.probe.as_mut().is_some_and(|probe| !std::mem::replace(&mut probe.is_over, true))
    }
}

/// Whether a message that nobody asked for means anything here. What a server logs, for one, is not read.
fn is_heard(message: &ServerJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Notification(notification) => !matches!(
            notification.notification,
            ServerNotification::LoggingMessageNotification(_)
                | ServerNotification::ProgressNotification(_)
                | ServerNotification::CustomNotification(_)
                | ServerNotification::TaskStatusNotification(_)
        ),
        JsonRpcMessage::Request(request) => !matches!(request.request, ServerRequest::CustomRequest(_)),
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
    }
}
