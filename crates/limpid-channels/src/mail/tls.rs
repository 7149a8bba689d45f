//! Connections to mail servers.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use limpid_core::causes;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::link::{Link, Protocol};
use super::{MailError, Roots, Said, Server};

/// How long connecting may take.
pub(super) const CONNECT: Duration = Duration::from_secs(20);

/// How long everything that is done over one connection may take.
pub(super) const WHOLE: Duration = Duration::from_secs(60);

/// Connects without TLS.
pub(super) async fn connect(server: &Server, protocol: Protocol) -> Result<Link, MailError> {
    let address = (server.host.as_str(), server.port);
    let stream = tokio::time::timeout(CONNECT, TcpStream::connect(address)).await;
    let stream = stream.map_err(|_| unreachable(server, "no answer in 20 seconds"))?;
    Ok(Link::new(protocol, stream.map_err(|error| unreachable(server, error))?))
}

/// Secures a connection. Certificates are checked as the system checks them, or against the owner's own authorities.
pub(super) async fn secure(server: &Server, roots: Option<&Roots>, plain: Link) -> Result<Link, MailError> {
    let (protocol, stream) = plain.into_parts();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| unreachable(server, error))?;
    let config = match roots {
        Some(roots) => config.with_root_certificates(roots.store()),
        None => config.with_platform_verifier().map_err(|error| unreachable(server, error))?,
    };
    let config = config.with_no_client_auth();
    let name = ServerName::try_from(server.host.clone()).map_err(|error| unreachable(server, error))?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = tokio::time::timeout(CONNECT, connector.connect(name, stream)).await;
    let stream = stream.map_err(|_| unreachable(server, "no TLS in 20 seconds"))?;
    Ok(Link::new(protocol, stream.map_err(|error| failed(server, &error))?))
}

/// Why there is no connection; a certificate that is not trusted is told from everything else.
pub(super) fn failed(server: &Server, error: &(dyn Error + 'static)) -> MailError {
    match certificate_error(error) {
        Some(error) => MailError::Certificate { server: server.to_string(), why: Said::new(untrusted(error)) },
        None => unreachable(server, causes(error)),
    }
}

/// What is wrong with a certificate, when that is what an error comes from.
fn certificate_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    if let Some(rustls::Error::InvalidCertificate(error)) = error.downcast_ref() {
        return Some(error);
    }
    // An error of input and output does not count what it holds among its causes.
    let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    held.and_then(|error| certificate_error(error)).or_else(|| certificate_error(error.source()?))
}

fn untrusted(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired; whoever runs the server renews it".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is made out to another name; name the server as its certificate does".to_owned()
        }
        // An authority that only bears the same name makes a signature that does not fit.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "nobody whom this account trusts has signed it; name the authority's file with `ca` if it is your own"
                .to_owned()
        }
        other => other.to_string(),
    }
}

pub(super) fn unreachable(server: &Server, why: impl fmt::Display) -> MailError {
    MailError::Unreachable { server: server.to_string(), why: Said::new(why) }
}
