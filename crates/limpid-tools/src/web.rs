//! Getting things from the web without being led anywhere else.
//!
//! An address is checked where it counts: names are looked up by a resolver that gives the client nothing but checked
//! addresses, so that what was checked is what is connected to, and every redirect is a request of its own that is
//! checked as the first one was. Proxies are not used, since they would look names up themselves.

pub mod address;
pub mod lookup;
pub mod network;
mod page;

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use limpid_core::message::OWNERS_RULES_FORBID;
use limpid_core::policy::{Bans, Destination, NOT_OF_THE_WEB, is_capability_url};
use limpid_core::{Labelled, Sentence, Trust, causes, sentence};
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::Value;

use crate::echoed;
use crate::spelling::{ascii_text, letters, plain_address, usual_text};

pub use address::Addresses;
pub use lookup::{Lookup, SystemLookup};
pub use page::{NoPage, Page};

use lookup::{Checked, NameError};

/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// How long a request may take in all, with its redirects.
pub const TIME: Duration = Duration::from_secs(60);

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(15);

/// Bytes of a body that are read; what follows is left unread.
const BODY: usize = 2 * 1024 * 1024;

/// What is said in place of where a secret link leads on to: whoever reads it could carry the key on.
const LED_OVER_KEY: &str = "it leads over a secret link to where this call may not go; the person can open it";

/// Gets pages. The client is made when the first one is asked for.
#[derive(Clone)]
pub struct Web {
    /// What anybody may know of.
    everybodys: Reach,
    /// The same and the owner's own network.
    with_own: Reach,
    own: Arc<[IpAddr]>,
    lookup: Arc<dyn Lookup>,
    /// How long a request may take in all.
    time: Duration,
}

/// Addresses, and the client that reaches these and no others.
#[derive(Clone)]
struct Reach {
    addresses: Arc<Addresses>,
    client: Arc<OnceLock<Client>>,
}

impl Reach {
    fn new(addresses: Addresses) -> Self {
        Self { addresses: Arc::new(addresses), client: Arc::default() }
    }
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
    /// Whether the server may be one of the owner's own network. It holds for that server alone: no redirect of another one leads
    /// there.
    pub own_network: bool,
    /// Whether a name that is not there, and a name or a number that is not of the public web, get the same answer: else whoever chose it
    /// learns which ones there are in the owner's own network.
    pub hides_names: bool,
}

impl Web {
    /// A web of these addresses; names are looked up as the system does.
    pub fn new(addresses: Addresses) -> Self {
        Self::with_lookup(addresses, Arc::new(SystemLookup))
    }

    /// The same with names looked up otherwise.
    pub fn with_lookup(addresses: Addresses, lookup: Arc<dyn Lookup>) -> Self {
        let (everybodys, with_own) = (Reach::new(addresses.clone()), Reach::new(addresses));
        Self { everybodys, with_own, own: Arc::default(), lookup, time: TIME }
    }

    /// The same with addresses of the owner's own network, for requests that may reach it. Others reach none of them, also where one
    /// is of the public web.
    #[must_use]
    pub fn with_own(self, own: Vec<IpAddr>) -> Self {
        let addresses = &self.everybodys.addresses;
        let (everybodys, with_own) = (Reach::new(addresses.without(&own)), Reach::new(addresses.and(&own)));
        Self { everybodys, with_own, own: own.into(), ..self }
    }

    /// Whether the address of a call leads to the owner's own network by its words; a name has to be looked up.
    pub(crate) fn names_own(&self, arguments: &Value) -> bool {
        url_of(arguments).and_then(|url| literal(&url)).is_some_and(|address| self.own.contains(&address))
    }

    /// Whether the address of a call leads to the owner's own network. Its name is looked up, which tells a name server of it.
    pub(crate) async fn leads_to_own(&self, arguments: &Value) -> bool {
        let Some(url) = url_of(arguments).filter(|_| !self.own.is_empty()) else { return false };
        if let Some(address) = literal(&url) {
            return self.own.contains(&address);
        }
        let found = tokio::time::timeout(CONNECT, self.lookup.lookup(url.host_str().unwrap_or_default())).await;
        // What is not found now is reached only if it is found to be of the public web.
        found.is_ok_and(|found| found.is_ok_and(|found| found.iter().any(|address| self.own.contains(address))))
    }

    /// The same with another time that a request may take in all.
    #[must_use]
    pub fn within(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Gets what stands at an address, following redirects.
    ///
    /// # Errors
    /// What is wrong with the address, or what went wrong on the way, and whether the way led over a secret link.
    pub async fn get(&self, url: &str, ask: &Ask) -> Result<Page, NoPage> {
        // Kept outside of what a time-out drops.
        let mut over_key = false;
        let page = match parse(url) {
            Ok(mut url) => {
                // It never leaves, and one that is too long would keep all from leaving.
                url.set_fragment(None);
                tokio::time::timeout(self.time, self.follow(url, ask, &mut over_key))
                    .await
                    .unwrap_or_else(|_| Err(sentence!("no whole answer within {} s", self.time.as_secs())))
            }
            Err(why) => Err(why),
        };
        match page {
            Ok(page) => Ok(Page { over_key, ..page }),
            Err(why) => Err(NoPage { why, over_key }),
        }
    }

    /// Notes in `over_key` whether it was led over a secret link, as soon as it is, since anything may fail afterwards.
    async fn follow(&self, mut url: Url, ask: &Ask, over_key: &mut bool) -> Result<Page, Sentence> {
        let mut reach = if ask.own_network { &self.with_own } else { &self.everybodys };
        for hop in 0..=REDIRECTS {
            let response = self.one(reach, &url, ask, hop).await?;
            let Some(place) = place_of(&response) else {
                return page::read(response, url, BODY).await;
            };
            let next = joined(&url, &place);
            // As it was written too: what is no address of the web may be a key all the same.
            *over_key |= is_capability_url(&place);
            *over_key |= next.as_ref().is_ok_and(|next| is_capability_url(next.as_str()));
            let is_secret = *over_key;
            let told = |why: Sentence| if is_secret { Sentence::from(LED_OVER_KEY) } else { why };
            let next = next.map_err(told)?;
            if let Some(why) = leaves(&url, &next).filter(|_| !ask.other_hosts) {
                let next = Labelled::outside(next);
                return Err(told(sentence!("it leads {}; ask for {} itself if you need it", why, next)));
            }
            if !is_same_server(&url, &next) {
                reach = &self.everybodys;
            }
            let host = server_of(next.as_str()).unwrap_or_else(|| Destination::host(""));
            if ask.bans.forbid(&host) || ask.bans.forbid_address(next.as_str(), compared) {
                let next = if is_secret { "a secret link".to_owned() } else { next.into() };
                return Err(sentence!("it leads to {}, which {}", Labelled::outside(next), OWNERS_RULES_FORBID));
            }
            url = next;
        }
        Err(sentence!("it leads on and on; {} redirects were followed", REDIRECTS))
    }

    /// One request. A host that is an address is checked here; names are checked as they are looked up.
    async fn one(&self, reach: &Reach, url: &Url, ask: &Ask, hop: usize) -> Result<Response, Sentence> {
        if let Some(address) = literal(url)
            && !reach.addresses.admit(address, &self.lookup.own_networks())
        {
            return Err(if ask.hides_names { NOT_OF_THE_WEB.into() } else { address::refusal(address) });
        }
        let request = self.client(reach)?.get(url.clone()).headers(ask.headers.clone());
        request.send().await.map_err(|error| {
            let error = error.without_url();
            match of_name(&error) {
                // Whoever leads on has chosen the name.
                Some(_) if ask.hides_names || hop > 0 => NOT_OF_THE_WEB.into(),
                // The layers above only say that something was sent.
                Some(why) => Labelled::outside(why.to_string()).into(),
                None => Labelled::outside(causes(&error)).into(),
            }
        })
    }

    fn client<'r>(&self, reach: &'r Reach) -> Result<&'r Client, Sentence> {
        if let Some(client) = reach.client.get() {
            return Ok(client);
        }
        use_tls();
        let resolver = Checked { lookup: Arc::clone(&self.lookup), addresses: Arc::clone(&reach.addresses) };
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
        Ok(reach.client.get_or_init(|| client))
    }
}

/// What stands in the place of a secret begins with this.
const SECRET: &str = "[secret ";

/// An address of the web.
pub(crate) fn parse(url: &str) -> Result<Url, Sentence> {
    // Its server would learn that a guess was right.
    if url.contains(SECRET) {
        return Err("an address from which a secret was taken out is not opened".into());
    }
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

/// The address that a call names; none where it names none of the web.
fn url_of(arguments: &Value) -> Option<Url> {
    parse(arguments.get("url")?.as_str()?).ok()
}

/// What is wrong with the name of a host, where that is why nothing came.
fn of_name(error: &reqwest::Error) -> Option<&NameError> {
    let first: &(dyn Error + 'static) = error;
    std::iter::successors(Some(first), |&error| error.source()).find_map(|error| error.downcast_ref())
}

/// An address in its normal form, as two of them are compared: scheme, host, port, path and query. What stands behind `#`
/// never leaves, and does not count. None when it is no address of the web.
pub fn address_of(url: &str) -> Option<String> {
    let mut url = parse(url).ok()?;
    url.set_fragment(None);
    Some(url.into())
}

/// Whether a redirect stays at its server. Another port is another one; that of another scheme is the same one, when both are the usual
/// ones.
fn is_same_server(from: &Url, to: &Url) -> bool {
    (to.host_str(), to.port()) == (from.host_str(), from.port())
}

/// Where a redirect leads that does not stay at its server as it was asked; none where it does. Without encryption anybody on the way
/// answers.
fn leaves(from: &Url, to: &Url) -> Option<&'static str> {
    match (is_same_server(from, to), from.scheme(), to.scheme()) {
        (false, ..) => Some("to another host"),
        (true, "https", "http") => Some("from https to http"),
        (true, ..) => None,
    }
}

/// The forms in which a redirect's address and one of a rule are compared, as those of a call are.
fn compared(address: &str) -> [String; 5] {
    let plain = plain_address(address).unwrap_or_else(|| address.to_owned());
    [address.to_owned(), plain, usual_text(address), ascii_text(address), letters(address)]
}

/// Arguments with their address as rules are compared with it, where they have one.
pub(crate) fn with_address(arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    if let Some(url) = arguments.get_mut("url")
        && let Some(address) = url.as_str().and_then(plain_address)
    {
        *url = address.into();
    }
    arguments
}

/// The server of an address: what rules and approvals name.
pub(crate) fn server_of(url: &str) -> Option<Destination> {
    let scheme = parse(url).ok()?.scheme().to_owned();
    Some(Destination::host(&format!("{scheme}://{}", host_of(url)?)))
}

/// The host of an address with its port when that is not the usual one, as people read it.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let url = parse(url).ok()?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Where a response says that it leads to; none when it is the answer.
fn place_of(response: &Response) -> Option<String> {
    let place = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    place.to_str().ok().map(str::to_owned)
}

/// The address that such a place is, seen from another one.
fn joined(from: &Url, place: &str) -> Result<Url, Sentence> {
    let next = from.join(place).map_err(|error| {
        sentence!("it leads to `{}`, which is no address: {}", Labelled::outside(place), Labelled::outside(error))
    })?;
    parse(next.as_str()).map_err(|wrong| wrong.join(Trust::Outside))
}

fn literal(url: &Url) -> Option<IpAddr> {
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

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-068 SEC-071
    #[test]
    fn a_redirect_stays_at_its_server_where_host_port_and_encryption_do() {
        let leaves = |from: &str, to: &str| leaves(&Url::parse(from).unwrap(), &Url::parse(to).unwrap());
        for (from, to, leads) in [
            ("http://tea.test/a", "http://tea.test/b", None),
            ("http://tea.test/a", "https://tea.test/b", None),
            ("https://tea.test/a", "http://tea.test/a", Some("from https to http")),
            ("https://tea.test/a", "https://tea.test:8443/a", Some("to another host")),
            ("https://tea.test/a", "http://rain.test/a", Some("to another host")),
        ] {
            assert_eq!(leaves(from, to), leads, "{from} {to}");
        }
    }
}
