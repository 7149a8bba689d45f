//! Addresses, headers and clients.

use std::sync::Once;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::{Endpoint, Timeouts};
use crate::protocol::{Adapter as _, Protocol};

/// The whole URL of the calls.
pub(super) fn endpoint_url(endpoint: &Endpoint, model: &str) -> Result<reqwest::Url, String> {
    url_of(endpoint, &endpoint.protocol.path(model))
}

/// The URL of a path behind the base URL, which may have a query.
pub(super) fn url_of(endpoint: &Endpoint, path: &str) -> Result<reqwest::Url, String> {
    let base = endpoint.base_url.trim();
    let parsed =
        reqwest::Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(mut parsed) = parsed else {
        // What is no URL may still hold a password.
        let shown = if base.contains('@') { "it" } else { base };
        return Err(format!("the base URL is not valid ({shown}); write one such as http://127.0.0.1:8080/v1"));
    };
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = format!("{}{path}", parsed.path().trim_end_matches('/'));
    parsed.set_path(&path);
    if let Some(query) = query {
        let query = [parsed.query(), Some(query)].into_iter().flatten().collect::<Vec<_>>().join("&");
        parsed.set_query(Some(&query));
    }
    if !endpoint.access.query.is_empty() {
        parsed.query_pairs_mut().extend_pairs(&endpoint.access.query);
    }
    Ok(parsed)
}

/// A URL without a name, a password or the values of its query.
pub(super) fn shown(url: &reqwest::Url) -> String {
    let mut url = url.clone();
    // Only URLs without a host refuse this, and they were refused before.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.to_string()
}

pub(super) fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if endpoint.protocol == Protocol::Anthropic {
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static(api_version(endpoint)));
    }
    for (name, value) in &endpoint.access.headers {
        let wrong = |what: &str| format!("the header \"{name}\" {what}; change it in limpid.toml");
        let known = HeaderName::try_from(name.as_str()).map_err(|_| wrong("has no name that a header can have"))?;
        let mut value = HeaderValue::try_from(value.reveal()).map_err(|_| wrong("holds a line break"))?;
        value.set_sensitive(true);
        headers.insert(known, value);
    }
    let Some(key) = endpoint.key.as_ref().filter(|key| !key.is_empty()) else { return Ok(headers) };
    let (name, value) = match (&endpoint.access.key_header, endpoint.protocol) {
        (Some(name), _) if name.eq_ignore_ascii_case("authorization") => {
            (AUTHORIZATION, format!("Bearer {}", key.reveal()))
        }
        (Some(name), _) => {
            let known = HeaderName::try_from(name.as_str());
            (known.map_err(|_| format!("\"{name}\" is not the name of a header"))?, key.reveal().to_owned())
        }
        (None, Protocol::Anthropic) => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
        (None, Protocol::Gemini) => (HeaderName::from_static("x-goog-api-key"), key.reveal().to_owned()),
        _ => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
    };
    let variable = endpoint.key_variable.as_deref().unwrap_or("the key");
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| format!("{variable} holds characters that no key has; set it again, without line breaks"))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

/// The version of Anthropic's interface: the newest at its own address. Others speak the first one, unless their owner says
/// otherwise.
fn api_version(endpoint: &Endpoint) -> &'static str {
    let url = reqwest::Url::parse(endpoint.base_url.trim()).ok();
    let is_own = url.is_some_and(|url| url.host_str() == Some("api.anthropic.com"));
    if is_own { "2026-10-21" } else { "2023-06-01" }
}

/// Chooses the cryptography of TLS, which every client needs.
pub(crate) fn use_tls() {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // Refused only when the program has chosen a provider of its own, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// A client for one provider. Proxies of the system are used, except for servers on this machine.
pub(crate) fn client(url: &reqwest::Url, timeouts: Timeouts) -> Result<reqwest::Client, reqwest::Error> {
    use_tls();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("limpid/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // Another address than the one that was set is to get neither the prompt nor the key.
        .redirect(reqwest::redirect::Policy::none());
    let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
    // Without TLS and without redirects no certificate is ever looked at, and reading the system's takes a while.
    let builder = if url.scheme() == "http" { builder.tls_backend_preconfigured(no_certificates()) } else { builder };
    builder.build()
}

fn no_certificates() -> rustls::ClientConfig {
    rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
}

pub(super) fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::ApiKey;
    use crate::provider::{Settings, endpoint};

    // MOD-075
    #[test]
    fn anthropics_newest_interface_is_asked_for_at_its_own_address_unless_the_owner_says_otherwise() {
        let version = |url: Option<&str>, own: Option<&str>| {
            let base_urls = url.map(|url| ("anthropic".to_owned(), url.to_owned())).into_iter().collect();
            let keys = [("anthropic".to_owned(), ApiKey::new("k"))].into();
            let settings = Settings { base_urls, keys, ..Settings::default() };
            let mut here = endpoint("anthropic", "m", &settings).unwrap();
            let set = own.map(|version| ("Anthropic-Version".to_owned(), ApiKey::new(version)));
            here.access.headers.extend(set);
            headers(&here).unwrap()["anthropic-version"].to_str().unwrap().to_owned()
        };
        assert_eq!(version(None, None), "2026-10-21");
        assert_eq!(version(Some("https://API.anthropic.com/v1/"), None), "2026-10-21");
        assert_eq!(version(Some("https://gateway.test/api.anthropic.com/v1"), None), "2023-06-01");
        assert_eq!(version(Some("http://127.0.0.1:4000/v1"), None), "2023-06-01");
        assert_eq!(version(None, Some("2023-06-01")), "2023-06-01");
    }
}
