//! Hosts, how one is written, and whether one is meant.

/// Whether a destination is the one that is meant, or lies below `*.name`. Case and a last dot do not count.
///
/// ```
/// use limpid_core::policy::host_matches;
/// assert!(host_matches("*.example.com", "docs.Example.com"));
/// assert!(!host_matches("*.example.com", "example.com") && !host_matches("example.com", "evil-example.com"));
/// ```
pub fn host_matches(wanted: &str, destination: &str) -> bool {
    let (wanted, destination) = (plain(wanted), plain(destination));
    match wanted.strip_prefix("*.") {
        Some(parent) => destination.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => wanted == destination,
    }
}

fn plain(text: &str) -> String {
    text.trim_end_matches('.').to_lowercase()
}

/// How a server is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

/// A server as it is written: the scheme and the port where they are named.
pub(super) struct Server<'t> {
    pub(super) scheme: Option<Scheme>,
    pub(super) name: &'t str,
    pub(super) port: Option<u16>,
}

impl<'t> Server<'t> {
    /// Reads one; what begins with another scheme is a name of its own.
    pub(super) fn read(text: &'t str) -> Self {
        let (scheme, server) = match text.split_once("://") {
            Some((scheme, server)) if scheme.eq_ignore_ascii_case("http") => (Some(Scheme::Http), server),
            Some((scheme, server)) if scheme.eq_ignore_ascii_case("https") => (Some(Scheme::Https), server),
            _ => (None, text),
        };
        let server = if scheme.is_some() { server.trim_end_matches('/') } else { server };
        let (name, port) = name_and_port(server);
        Self { scheme, name, port }
    }

    /// Whether a rule that holds calls back names this port of it. One may name the usual port too, of either scheme.
    pub(super) fn is_at(&self, port: Option<u16>) -> bool {
        let is_usual = port.is_none() && matches!(self.port, Some(80 | 443));
        self.port.is_none() || self.port == port || is_usual
    }
}

/// A server's name and its port; the colons of an address of IPv6 stand in brackets.
fn name_and_port(text: &str) -> (&str, Option<u16>) {
    let parts = text.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
    match parts.and_then(|(name, port)| Some((name, port.parse().ok()?))) {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    }
}
