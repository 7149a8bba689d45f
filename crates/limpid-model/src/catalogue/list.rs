//! Fetching a list of models that others publish.

use std::time::Duration;

use limpid_core::causes;

use super::import::LARGEST_LIST;
use crate::remote::{Timeouts, client};

/// How long a list may take, from the request to its last byte.
const PATIENCE: Duration = Duration::from_mins(2);

/// Fetches a list; [`Table::import`](super::Table::import) reads it.
///
/// # Errors
/// When it cannot be fetched: says why and what to do.
pub async fn fetch_list(url: &str) -> Result<String, String> {
    let failed = |why: String| {
        format!("{url} cannot be fetched: {why}. Check the connection, or give a file that you have: --from FILE")
    };
    tokio::time::timeout(PATIENCE, fetch(url))
        .await
        .map_err(|_| failed(format!("it took longer than {} s", PATIENCE.as_secs())))?
        .map_err(failed)
}

async fn fetch(url: &str) -> Result<String, String> {
    let address = reqwest::Url::parse(url).map_err(|error| causes(&error))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err("it is not a web address".to_owned());
    }
    let client = client(&address, Timeouts::default()).map_err(|error| causes(&error))?;
    let lost = |error: reqwest::Error| causes(&error.without_url());
    let mut response = client.get(address).send().await.map_err(lost)?;
    if !response.status().is_success() {
        return Err(format!("the server answered {}", response.status().as_u16()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LARGEST_LIST {
            return Err(format!("it is larger than {} MB", LARGEST_LIST >> 20));
        }
    }
    String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
}
