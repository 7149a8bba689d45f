//! Names of hosts, looked up and checked in one step.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{Addresses, refusal};
use super::network::{Network, own_networks};

/// Looks up the addresses of a host.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// The addresses of a name.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// The networks that this machine is in.
    fn own_networks(&self) -> Vec<Network>;
}

/// Looks names up as the system does.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }

    fn own_networks(&self) -> Vec<Network> {
        own_networks()
    }
}

/// Why a name could not be resolved. What that says of the owner's own network is for nobody else.
#[derive(Debug)]
pub(super) struct NameError(String);

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NameError {}

/// What the system says, without the name of the function that said it.
fn not_found(host: &str, error: &io::Error) -> NameError {
    let said = error.to_string();
    let why = said.strip_prefix("failed to lookup address information: ").unwrap_or(&said);
    NameError(format!("the host {host} was not found: {why}"))
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
            let found = lookup.lookup(name.as_str()).await.map_err(|error| not_found(name.as_str(), &error))?;
            let own = lookup.own_networks();
            // One that may not be is one too many: the name is not what it says.
            if let Some(wrong) = found.iter().find(|address| !addresses.admit(**address, &own)) {
                return Err(NameError(refusal(*wrong).text().to_owned()).into());
            }
            let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(found)
        })
    }
}
