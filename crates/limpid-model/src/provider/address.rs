//! Addresses as people write them.

/// Whether two addresses are one: capitals of the host and a slash at the end make no difference.
pub(super) fn same_place(one: &str, other: &str) -> bool {
    let read = |url: &str| reqwest::Url::parse(with_scheme(url).trim_end_matches('/')).ok();
    read(one).is_some_and(|one| Some(one) == read(other))
}

/// An address with its scheme: Ollama's variable is often written without one.
pub(super) fn with_scheme(url: &str) -> String {
    let url = url.trim();
    if url.contains("://") { url.to_owned() } else { format!("http://{url}") }
}
