//! Names of hosts, looked up and checked in one step.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{Addresses, refusal};

/// Looks up the addresses of a host.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// The addresses of a name.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Looks names up as the system does.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// What the client asks for addresses. It gets those that were checked and no others, so nobody can answer one way when
/// a name is checked and another way when it is connected to.
pub(super) struct Checked {
    pub(super) lookup: Arc<dyn Lookup>,
    pub(super) addresses: Arc<Addresses>,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, addresses) = (Arc::clone(&self.lookup), Arc::clone(&self.addresses));
        Box::pin(async move {
            let found = lookup.lookup(name.as_str()).await?;
            // One that may not be is one too many: the name is not what it says.
            if let Some(wrong) = found.iter().find(|address| !addresses.admit(**address)) {
                return Err(refusal(*wrong).text().into());
            }
            let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(found)
        })
    }
}
