//! Who may ask: the right host, the token, and not too often wrong.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use limpid_runtime::AccessToken;

/// Wrong tokens that one address may present within [`WINDOW`].
const WRONG: u32 = 10;

/// How long a wrong token counts.
const WINDOW: Duration = Duration::from_secs(60);

/// Addresses that are remembered; beyond it those are forgotten that were wrong longest ago.
const REMEMBERED: usize = 1024;

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The request was meant for another host, or comes from a page of another one.
    Host,
    /// No token, or the wrong one.
    Token,
    /// Too many wrong tokens; after so many seconds the next is looked at.
    TooOften(u64),
}

/// The door. The token and the names are the owner's of now: what they revoke opens nothing from the next request on.
#[derive(Default)]
pub(crate) struct Door {
    failures: Mutex<Failures>,
}

impl Refused {
    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::TooOften(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// Why, and what to do; `advice` says how the server gets another name.
    pub(crate) fn why(self, advice: &str) -> String {
        let why = match self {
            Self::Host => return format!("this server is not called by that name; {advice}"),
            Self::Token => "no token, or the wrong one; send it as `Authorization: Bearer TOKEN`",
            Self::TooOften(_) => "too many wrong tokens; wait a minute",
        };
        why.to_owned()
    }
}

impl Door {
    /// Lets a request in or says why not. `token` reads the token that counts; none opens nothing.
    pub(crate) fn admit(
        &self,
        hosts: &Hosts,
        token: impl FnOnce() -> Option<AccessToken>,
        (from, now): (IpAddr, Instant),
        headers: &HeaderMap,
    ) -> Result<(), Refused> {
        self.admit_host(hosts, headers)?;
        let presented = said(headers, AUTHORIZATION).and_then(|value| value.split_once(' '));
        let presented = presented.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if let Some((_, presented)) = presented
            && let Some(token) = token()
            && token.is(presented.trim())
        {
            return Ok(());
        }
        // The right token opens at any time: a page in the owner's browser that asks without one must not lock out their programs.
        // To guess one is hopeless at any speed; who guesses is only slowed.
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.wait(from, now).map_or(Ok(()), |seconds| Err(Refused::TooOften(seconds)))?;
        if presented.is_some() {
            failures.count(from, now);
        }
        Err(Refused::Token)
    }

    /// Whether a request was meant for this server and comes from no page of another one.
    pub(crate) fn admit_host(&self, hosts: &Hosts, headers: &HeaderMap) -> Result<(), Refused> {
        let is_own = |origin: &str| hosts.is_origin(origin);
        if said(headers, HOST).is_some_and(|host| hosts.admit(host)) && said(headers, ORIGIN).is_none_or(is_own) {
            return Ok(());
        }
        Err(Refused::Host)
    }

    /// Somebody was wrong. Says for how many seconds they are not listened to, if they were wrong too often before.
    pub(crate) fn wrong(&self, from: IpAddr, now: Instant) -> Option<u64> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = failures.wait(from, now);
        if waits.is_none() {
            failures.count(from, now);
        }
        waits
    }
}

fn said(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// The names under which the server may be asked. A page of a stranger's that got its own name to lead here is refused.
pub(crate) struct Hosts {
    port: String,
    /// With the port that is listened on.
    names: Vec<String>,
    /// The owner's, which another server with a port of its own may stand before.
    owners: Vec<String>,
}

/// The port that an address without one means.
const WEB: &str = "80";

impl Hosts {
    /// The address that is listened on, what this machine calls itself when that is a loopback one, the page's own name there, and
    /// the owner's names.
    pub(crate) fn new(listen: SocketAddr, page: Option<&str>, own: &[String]) -> Self {
        let owners: Vec<String> = own.iter().map(|name| name.to_ascii_lowercase()).collect();
        let mut names = owners.clone();
        names.push(literal(listen.ip()));
        if listen.ip().is_loopback() {
            names.extend(["localhost", "127.0.0.1", "[::1]"].into_iter().chain(page).map(str::to_owned));
        }
        Self { port: listen.port().to_string(), names, owners }
    }

    fn admit(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.owners.contains(&host) || self.is_here(&host)
    }

    /// Whether a name with a port, in small letters, leads here without another server in between.
    fn is_here(&self, host: &str) -> bool {
        let with_port = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        let (name, port) = with_port.unwrap_or((host, WEB));
        port == self.port && self.names.iter().any(|known| known == name)
    }

    /// Whether a page of this origin is one of this server's: asked for here, or by way of a server of the owner's with TLS.
    fn is_origin(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        match origin.split_once("://") {
            Some(("http", host)) => self.is_here(host),
            Some(("https", host)) => self.owners.iter().any(|known| known == host),
            _ => false,
        }
    }

    /// Whether a request came by way of a server of the owner's with TLS.
    pub(crate) fn is_behind_tls(&self, headers: &HeaderMap) -> bool {
        let host = said(headers, HOST).unwrap_or_default().to_ascii_lowercase();
        self.owners.contains(&host) && !self.is_here(&host)
    }
}

/// An address as it stands in a URL.
pub(crate) fn literal(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Wrong tokens by the address that they came from: how many, and since when.
#[derive(Default)]
struct Failures(HashMap<IpAddr, (u32, Instant)>);

impl Failures {
    /// Seconds until an address is listened to again; none when it is.
    fn wait(&mut self, from: IpAddr, now: Instant) -> Option<u64> {
        let (count, since) = *self.0.get(&from)?;
        let left = WINDOW.saturating_sub(now.saturating_duration_since(since));
        if left.is_zero() {
            self.0.remove(&from);
            return None;
        }
        (count >= WRONG).then(|| left.as_secs().max(1))
    }

    fn count(&mut self, from: IpAddr, now: Instant) {
        if self.0.len() >= REMEMBERED && !self.0.contains_key(&from) {
            self.0.retain(|_, (_, since)| now.saturating_duration_since(*since) < WINDOW);
            let oldest = self.0.iter().min_by_key(|(_, (_, since))| *since).map(|(address, _)| *address);
            if let Some(oldest) = oldest.filter(|_| self.0.len() >= REMEMBERED) {
                self.0.remove(&oldest);
            }
        }
        self.0.entry(from).or_insert((0, now)).0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const EVE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));
    const ADA: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));

    // SEC-030
    #[test]
    fn whoever_is_wrong_too_often_waits_and_nobody_else_does() {
        let start = Instant::now();
        let mut failures = Failures::default();
        for _ in 0..WRONG {
            assert_eq!(failures.wait(EVE, start), None);
            failures.count(EVE, start);
        }
        assert_eq!(failures.wait(EVE, start + Duration::from_secs(50)), Some(10));
        assert_eq!(failures.wait(ADA, start), None);
        assert_eq!(failures.wait(EVE, start + WINDOW), None);
        failures.count(EVE, start + WINDOW);
        assert_eq!(failures.wait(EVE, start + WINDOW), None, "it begins anew");
    }

    // SEC-030
    #[test]
    fn what_is_remembered_of_strangers_has_a_limit() {
        let start = Instant::now();
        let mut failures = Failures::default();
        for n in 0..5000_u32 {
            failures.count(IpAddr::V4(Ipv4Addr::from(n)), start + Duration::from_millis(u64::from(n)));
        }
        assert!(failures.0.len() <= REMEMBERED);
        assert!(failures.0.contains_key(&IpAddr::V4(Ipv4Addr::from(4999))));
    }

    // SEC-030
    #[test]
    fn only_its_own_names_are_its_names() {
        let local =
            Hosts::new("127.0.0.1:7717".parse().unwrap(), Some("limpid-0a.localhost"), &["Agent.Home".to_owned()]);
        for host in ["127.0.0.1:7717", "LOCALHOST:7717", "limpid-0a.localhost:7717", "[::1]:7717", "agent.home:7717"] {
            assert!(local.admit(host) && local.is_origin(&format!("http://{host}")), "{host}");
            assert!(!local.is_origin(&format!("https://{host}")), "{host}");
        }
        assert!(local.admit("agent.home") && local.is_origin("https://agent.home"));
        for host in [
            "",
            "evil.example",
            "evil.example:7717",
            "localhost",
            "[::1]",
            "localhost:80",
            "localhost:+7717",
            "limpid.localhost:7717",
        ] {
            assert!(!local.admit(host) && !local.is_origin(&format!("http://{host}")), "{host}");
        }
        // Another server of this machine, and another scheme.
        for origin in ["http://127.0.0.1", "https://localhost", "http://agent.home", "ftp://127.0.0.1:7717", "null", ""]
        {
            assert!(!local.is_origin(origin), "{origin}");
        }
        let public = Hosts::new("10.0.0.5:80".parse().unwrap(), None, &[]);
        assert!(public.admit("10.0.0.5") && public.is_origin("http://10.0.0.5") && !public.admit("localhost"));
    }
}
