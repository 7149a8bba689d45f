//! Serving over streamable HTTP: one path that a router mounts. Who may ask is decided before it.

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::answering::Answering;
use super::lends::Lends;

/// Bytes of one message of a client.
const BODY: usize = 4 * 1024 * 1024;

/// What answers at the path, without sessions: nothing that is lent asks a client back, so a client has nothing to keep open.
pub type Endpoint = StreamableHttpService<Answering, NeverSessionManager>;

/// Under which names a server is asked, and until when.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it listens: its names are this address, and those of the loopback where it is one.
    pub address: SocketAddr,
    /// Further names, such as that of a server with TLS before this one.
    pub names: Vec<String>,
    /// Ends what is under way.
    pub stop: CancellationToken,
}

/// What answers with what is lent.
pub fn endpoint(lends: Arc<dyn Lends>, options: HttpOptions) -> Endpoint {
    let config = settings(options).with_legacy_session_mode(false).with_json_response(true);
    service(Answering::new(lends), NeverSessionManager::default(), config)
}

/// The settings of every server: bounded messages, and pages of other sites are refused.
pub fn settings(options: HttpOptions) -> StreamableHttpServerConfig {
    let HttpOptions { address, mut names, stop } = options;
    names.push(match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    });
    if address.ip().is_loopback() {
        names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
    }
    let origins = names.iter().flat_map(|name| [format!("http://{name}:*"), format!("https://{name}:*")]);
    let origins: Vec<String> = origins.collect();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(names)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(BODY)
        .with_cancellation_token(stop)
}

/// A server of any handler.
pub fn service<H, M>(handler: H, sessions: M, config: StreamableHttpServerConfig) -> StreamableHttpService<H, M>
where
    H: ServerHandler + Clone,
    M: SessionManager,
{
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), config)
}
