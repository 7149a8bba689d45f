//! Connections to mail servers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{MailError, Server};

/// How long connecting may take.
pub(super) const CONNECT: Duration = Duration::from_secs(20);

/// How long everything that is done over one connection may take.
pub(super) const WHOLE: Duration = Duration::from_secs(60);

/// A connection, whatever secures it.
pub(super) trait Link: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Link for T {}

/// Connects without TLS.
pub(super) async fn connect(server: &Server) -> Result<TcpStream, MailError> {
    let address = (server.host.as_str(), server.port);
    let stream = tokio::time::timeout(CONNECT, TcpStream::connect(address)).await;
    let stream = stream.map_err(|_| unreachable(server, "no answer in 20 seconds"))?;
    stream.map_err(|error| unreachable(server, error))
}

/// Secures a connection. Certificates are checked as the system checks them.
pub(super) async fn secure(server: &Server, stream: TcpStream) -> Result<Box<dyn Link>, MailError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| unreachable(server, error))?;
    let config = config.with_platform_verifier().map_err(|error| unreachable(server, error))?.with_no_client_auth();
    let name = ServerName::try_from(server.host.clone()).map_err(|error| unreachable(server, error))?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = tokio::time::timeout(CONNECT, connector.connect(name, stream)).await;
    let stream = stream.map_err(|_| unreachable(server, "no TLS in 20 seconds"))?;
    Ok(Box::new(stream.map_err(|error| unreachable(server, error))?))
}

pub(super) fn unreachable(server: &Server, why: impl fmt::Display) -> MailError {
    MailError::Unreachable { server: server.to_string(), why: why.to_string() }
}
