//! Getting things from the web without being led anywhere else.
//!
//! An address is checked where it counts: names are looked up by a resolver that gives the client nothing but checked
//! addresses, so that what was checked is what is connected to, and every redirect is a request of its own that is
//! checked as the first one was. Proxies are not used, since they would look names up themselves.

pub mod address;
pub mod lookup;
mod page;

use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use limpid_core::policy::{Bans, Destination};
use limpid_core::{Labelled, Sentence, Trust, causes, sentence};
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use crate::echoed;

pub use address::Addresses;
pub use lookup::{Lookup, SystemLookup};
pub use page::Page;

use lookup::Checked;

/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// How long a request may take in all, with its redirects.
pub const TIME: Duration = Duration::from_secs(60);

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(15);

/// Bytes of a body that are read; what follows is left unread.
const BODY: usize = 2 * 1024 * 1024;

/// Gets pages. The client is made when the first one is asked for.
#[derive(Clone)]
pub struct Web {
    addresses: Arc<Addresses>,
    lookup: Arc<dyn Lookup>,
    client: Arc<OnceLock<Client>>,
    /// How long a request may take in all.
    time: Duration,
}

/// How a page is asked for.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Headers besides those of every request.
    pub headers: HeaderMap,
    /// Whether a redirect may lead to another host.
    pub other_hosts: bool,
    /// Where it may not, whatever host that is.
    pub bans: Bans,
}

impl Web {
    /// A web of these addresses; names are looked up as the system does.
    pub fn new(addresses: Addresses) -> Self {
        Self::with_lookup(addresses, Arc::new(SystemLookup))
    }

    /// The same with names looked up otherwise.
    pub fn with_lookup(addresses: Addresses, lookup: Arc<dyn Lookup>) -> Self {
        Self { addresses: Arc::new(addresses), lookup, client: Arc::default(), time: TIME }
    }

    /// The same with another time that a request may take in all.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Gets what stands at an address, following redirects.
    ///
    /// # Errors
    /// A sentence: what is wrong with the address, or what went wrong on the way.
    pub async fn get(&self, url: &str, ask: &Ask) -> Result<Page, Sentence> {
        let url = parse(url)?;
        tokio::time::timeout(self.time, self.follow(url, ask))
            .await
            .map_err(|_| sentence!("no whole answer within {} s", self.time.as_secs()))?
    }

    async fn follow(&self, mut url: Url, ask: &Ask) -> Result<Page, Sentence> {
        for _ in 0..=REDIRECTS {
            let response = self.one(&url, &ask.headers).await?;
            let Some(next) = redirect(&url, &response)? else { return page::read(response, url, BODY).await };
            // Another port is another server; that of another scheme is the same one, when both are the usual ones.
            if !ask.other_hosts && (next.host_str(), next.port()) != (url.host_str(), url.port()) {
                return Err(sentence!(
                    "it leads to another host; ask for {} itself if you need it",
                    Labelled::outside(next)
                ));
            }
            if ask.bans.forbid(&Destination::host(&host_of(next.as_str()).unwrap_or_default())) {
                return Err(sentence!("it leads to {}, which the owner's rules forbid", Labelled::outside(next)));
            }
            url = next;
        }
        Err(sentence!("it leads on and on; {} redirects were followed", REDIRECTS))
    }

    /// One request. A host that is an address is checked here; names are checked as they are looked up.
    async fn one(&self, url: &Url, headers: &HeaderMap) -> Result<Response, Sentence> {
        if let Some(address) = literal(url)
            && !self.addresses.admit(address)
        {
            return Err(address::refusal(address));
        }
        let request = self.client()?.get(url.clone()).headers(headers.clone());
        request.send().await.map_err(|error| Labelled::outside(causes(&error.without_url())).into())
    }

    fn client(&self) -> Result<&Client, Sentence> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        use_tls();
        let resolver = Checked { lookup: Arc::clone(&self.lookup), addresses: Arc::clone(&self.addresses) };
        let client = Client::builder()
            .user_agent(concat!("Mozilla/5.0 (compatible; limpid/", env!("CARGO_PKG_VERSION"), ")"))
            .connect_timeout(CONNECT)
            // A kept connection would go to an address that was checked for another request.
            .pool_max_idle_per_host(0)
            .redirect(Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(resolver))
            .build()
            .map_err(|error| echoed(causes(&error)))?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// An address of the web.
pub(crate) fn parse(url: &str) -> Result<Url, Sentence> {
    let parsed =
        Url::parse(url.trim()).map_err(|error| sentence!("`{}` is no web address: {}", echoed(url), echoed(error)))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(sentence!("`{}` is no web address; it must begin with http:// or https://", echoed(url)));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("an address with a name or a password in it is not used".into());
    }
    Ok(parsed)
}

/// An address in its normal form, as two of them are compared: scheme, host, port, path and query. What stands behind `#`
/// never leaves, and does not count. None when it is no address of the web.
pub fn address_of(url: &str) -> Option<String> {
    let mut url = parse(url).ok()?;
    url.set_fragment(None);
    Some(url.into())
}

/// The host of an address with its port when that is not the usual one: what rules and approvals name.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let url = parse(url).ok()?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Where a response leads to; none when it is the answer.
fn redirect(from: &Url, response: &Response) -> Result<Option<Url>, Sentence> {
    if !response.status().is_redirection() {
        return Ok(None);
    }
    let Some(place) = response.headers().get(LOCATION).and_then(|place| place.to_str().ok()) else { return Ok(None) };
    let next = from.join(place).map_err(|error| {
        sentence!("it leads to `{}`, which is no address: {}", Labelled::outside(place), Labelled::outside(error))
    })?;
    parse(next.as_str()).map(Some).map_err(|wrong| wrong.join(Trust::Outside))
}

fn literal(url: &Url) -> Option<std::net::IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

/// Chooses the cryptography of TLS, which every client needs.
pub(crate) fn use_tls() {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // Refused only when the program has chosen a provider of its own, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
